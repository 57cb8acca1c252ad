//! The work of the search: long traces, and all pairs of small ones. `cargo bench -p
//! anyorder-predict --bench confirm` prints times.

use crate::common;

use anyorder_common::random::Rng;
use anyorder_predict::{
    Analysis, CandidateOptions, ConfirmOptions, ConfirmStats, Confirmer, EdcAnalysis, MemoryOnly,
    NoCommunication, run,
};
use anyorder_system::Cancel;
use anyorder_trace::{EventId, Mailbox, Mode, Trace, TraceBlocks, TraceBuilder};
use common::generate::{Shape, trace};

fn random(events: usize) -> Trace {
    trace(&mut Rng::new(1), Shape::large(events))
}

/// Tries pairs; returns the work.
fn try_all(trace: &Trace, pairs: &[(u32, u32)]) -> ConfirmStats {
    let mut nothing = NoCommunication;
    let mut confirmer = Confirmer::new(trace, &mut nothing, ConfirmOptions::default());
    for (a, b) in pairs {
        confirmer.confirm(EventId(*a), EventId(*b), &Cancel::new());
    }
    confirmer.stats()
}

fn candidates(trace: &Trace, most: usize) -> Vec<(u32, u32)> {
    let mut edc = EdcAnalysis::new(MemoryOnly, CandidateOptions::default());
    run(&mut TraceBlocks::new(trace), &mut [&mut edc], |_| {}).expect("the trace is right");
    let report = edc.finish();
    let all: Vec<(u32, u32)> =
        report.violations.iter().map(|v| (v.first.event as u32, v.second.event as u32)).collect();
    let step = (all.len() / most).max(1);
    all.into_iter().step_by(step).take(most).collect()
}

/// The work for a candidate depends on its window, and not on the length of the trace.
#[test]
fn work_follows_the_windows() {
    let per_pair: Vec<u64> = [20_000, 200_000]
        .into_iter()
        .map(|events| {
            let trace = random(events);
            let pairs = candidates(&trace, 20);
            assert!(pairs.len() >= 10);
            try_all(&trace, &pairs).events / pairs.len() as u64
        })
        .collect();
    println!("{per_pair:?}");
    assert!(per_pair[1] < 5 * per_pair[0].max(50_000), "{per_pair:?}");
}

/// One lock for all, and a race at the ends of the threads: the witness keeps the order of the
/// sections, and no solver has to find it.
#[test]
fn sections_before_a_race_keep_their_order() {
    const THREADS: usize = 4;
    let mut b = TraceBuilder::new();
    let tasks: Vec<_> = (0..THREADS)
        .map(|thread| b.handler(&format!("T{thread}"), Mailbox::None).expect("room"))
        .collect();
    let tasks: Vec<_> = tasks.into_iter().map(|handler| b.initial(handler)).collect();
    let (mut row, mut races) = (0, Vec::new());
    for task in tasks {
        for _ in 0..300 {
            b.acquire(task, "m", Mode::EXCLUSIVE).expect("it is free");
            b.read(task, "n").expect("room");
            b.write(task, "n").expect("room");
            b.release(task, "m", Mode::EXCLUSIVE).expect("it is held");
        }
        row += 4 * 300;
        b.read(task, "x").expect("room");
        b.write(task, "x").expect("room");
        races.push(row);
        row += 2;
    }
    let trace = b.finish();
    let mut pairs = Vec::new();
    for (at, second) in races.iter().enumerate() {
        pairs.extend(races[..at].iter().map(|first| (*first + 1, *second)));
    }
    for pair in pairs {
        let stats = try_all(&trace, &[pair]);
        println!("{pair:?}: {stats:?}");
        assert!(stats.rounds <= 2 && stats.rounds <= 2 * stats.closed, "{pair:?}: {stats:?}");
    }
}

/// Exhaustive search: a check of the pair alone refutes most pairs that cannot be reversed.
#[test]
fn all_pairs_of_a_small_trace() {
    let trace = random(1500);
    let mut pairs = Vec::new();
    for b in 0..trace.len() as u32 {
        for a in 0..b {
            let (x, y) = (trace.event(EventId(a)), trace.event(EventId(b)));
            let conflict = x.kind().is_access()
                && y.kind().is_access()
                && (x.kind().writes() || y.kind().writes())
                && x.operand == y.operand
                && trace.handler_of(x.id) != trace.handler_of(y.id);
            if conflict {
                pairs.push((a, b));
            }
        }
    }
    pairs.truncate(20_000);
    let stats = try_all(&trace, &pairs);
    println!("{} pairs, {stats:?}", pairs.len());
    assert!(pairs.len() > 200, "{}", pairs.len());
    assert!(stats.events < 20_000 * pairs.len() as u64, "{stats:?}");
}
