//! Traces that no program could have produced: an analysis ends with an error or a result, never
//! with a panic.

use anyorder_common::random::{Random, Rng};
use anyorder_predict::{
    Analysis, CandidateOptions, Conditions, EdcAnalysis, HbAnalysis, PredictError, StreamEvent,
};
use anyorder_trace::{EventKind, Mailbox, Mode, Op, SiteId, Tables, TraceBuilder};

fn tables() -> Tables {
    let mut b = TraceBuilder::new();
    for name in ["A", "B", "C"] {
        let handler = b.handler(name, Mailbox::Fifo).expect("room");
        b.task("t", handler).expect("room");
    }
    let task = b.initial(anyorder_trace::HandlerId(0));
    for name in ["x", "y", "z", "u"] {
        b.read(task, name).expect("room");
        b.acquire(task, name, Mode::EXCLUSIVE).expect("room");
        b.on_condition(task, EventKind::Wait, name).expect("room");
    }
    b.interner.tables
}

fn random_step(rng: &mut Rng, event: u64, bound: usize) -> StreamEvent {
    let kind = EventKind::ALL[rng.index(EventKind::ALL.len())];
    let kind = if rng.percent(40) { EventKind::Write } else { kind };
    let kind =
        if rng.percent(30) { [EventKind::Acquire, EventKind::Release][rng.index(2)] } else { kind };
    StreamEvent {
        event,
        op: Op::new(kind, Mode::from_bits(rng.index(8) as u8)),
        task: rng.index(6.min(bound)) as u32,
        operand: rng.index(bound) as u32,
        site: SiteId::UNKNOWN,
        refers: rng.percent(20).then(|| rng.bits() % 50),
    }
}

#[test]
fn anything_may_happen_in_a_trace() {
    let tables = tables();
    let options =
        CandidateOptions { violations_max: 3, open_max: 2, ..CandidateOptions::default() };
    let (mut refused, mut ended, mut lost) = (0, 0, 0);
    for seed in 1..=4_000 {
        let mut analyses: [Box<dyn Analysis>; 2] = [
            Box::new(HbAnalysis::new(Conditions, options)),
            Box::new(EdcAnalysis::new(Conditions, options)),
        ];
        for analysis in &mut analyses {
            analysis.grow(&tables).expect("small");
            let mut rng = Rng::new(9_000_000 + seed);
            let bound = if rng.percent(50) { 4 } else { 9 };
            let result = (0..120)
                .try_for_each(|event| analysis.step(&tables, random_step(&mut rng, event, bound)));
            match result {
                Err(PredictError::Unknown { .. }) => refused += 1,
                Err(error) => panic!("{error}"),
                Ok(()) => ended += 1,
            }
            let report = analysis.finish();
            assert!(report.violations.len() <= 2 * 3, "so many of each kind");
            lost += report.counts.candidates_lost;
        }
    }
    println!("{refused} refused, {ended} ended, {lost} candidates lost");
    assert!(refused > 0 && ended > 0 && lost > 0);
}
