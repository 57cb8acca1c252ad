//! Large generated traces.

mod common;

use anyorder_predict::{
    Analysis, Answer, ConfirmOptions, Confirmer, EdcAnalysis, MemoryOnly, NoCommunication, Options,
    run,
};
use anyorder_system::Cancel;
use anyorder_trace::{EventId, TraceBlocks};
use common::Rng;
use common::generate::{Shape, trace};
use std::collections::BTreeMap;

#[test]
#[ignore = "large"]
fn large() {
    let number = |name: &str, other: usize| {
        std::env::var(name).map_or(other, |s| s.parse().expect("a number"))
    };
    let shape = Shape {
        events: number("EVENTS", 1_000_000),
        threads: number("THREADS", 8),
        locks: number("LOCKS", 16),
        variables: number("VARIABLES", 20_000),
        locking: number("LOCKING", 30),
        other: 0,
        atomic: 0,
        shared: number("SHARED", 0),
        ranges: false,
        guarded: number("FREE", 0) == 0,
    };
    let trace = trace(&mut Rng::new(number("SEED", 1) as u64), shape);
    let mut edc = EdcAnalysis::new(MemoryOnly, Options::default());
    run(&mut TraceBlocks::new(&trace), &mut [&mut edc], |_| {}).expect("the trace is right");
    let report = edc.finish();
    println!("{} events, {} candidates, {:?}", trace.len(), report.violations.len(), report.counts);
    let start = std::time::Instant::now();
    let mut nothing = NoCommunication;
    let mut confirmer = Confirmer::new(&trace, &mut nothing, ConfirmOptions::default());
    println!("prepared in {:?}", start.elapsed());
    let mut answers: BTreeMap<String, usize> = BTreeMap::new();
    let most = number("PAIRS", 1000);
    let step = (report.violations.len() / most).max(1);
    let start = std::time::Instant::now();
    for v in report.violations.iter().step_by(step).take(most) {
        let (a, b) = (EventId(v.first.event as u32), EventId(v.second.event as u32));
        let before = confirmer.stats();
        let now = std::time::Instant::now();
        let answer = confirmer.confirm(a, b, &Cancel::new());
        let after = confirmer.stats();
        if now.elapsed().as_millis() > 200 {
            println!(
                "{} {} {:?}: {} windows {} rounds {} events {} conflicts",
                a.0, b.0, now.elapsed(), after.windows - before.windows,
                after.rounds - before.rounds, after.events - before.events,
                after.conflicts - before.conflicts,
            );
        }
        let text = match answer {
            Answer::Confirmed(w) => {
                format!("{:?} {} {} {}", v.kind, w.form.word(), w.shortest, w.prefix > 0)
            }
            other => format!("{:?} {other:?}", v.kind),
        };
        *answers.entry(text).or_default() += 1;
    }
    println!("{answers:#?} {:?} in {:?}", confirmer.stats(), start.elapsed());
}

#[test]
#[ignore = "large"]
fn all_pairs() {
    let number = |name: &str, other: usize| {
        std::env::var(name).map_or(other, |s| s.parse().expect("a number"))
    };
    let shape = Shape {
        events: number("EVENTS", 3000),
        threads: 6,
        locks: 6,
        variables: 100,
        locking: 40,
        other: 2,
        atomic: 0,
        shared: 10,
        ranges: false,
        guarded: number("FREE", 0) == 0,
    };
    let trace = trace(&mut Rng::new(number("SEED", 1) as u64), shape);
    let mut nothing = NoCommunication;
    let mut confirmer = Confirmer::new(&trace, &mut nothing, ConfirmOptions::default());
    let mut answers: BTreeMap<String, usize> = BTreeMap::new();
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
    let start = std::time::Instant::now();
    for (a, b) in &pairs {
        let answer = confirmer.confirm(EventId(*a), EventId(*b), &Cancel::new());
        let text = match answer {
            Answer::Confirmed(w) => format!("{} {} {}", w.form.word(), w.shortest, w.prefix > 0),
            other => format!("{other:?}"),
        };
        *answers.entry(text).or_default() += 1;
    }
    println!("{} events {} pairs {answers:#?} {:?} in {:?}", trace.len(), pairs.len(), confirmer.stats(), start.elapsed());
}
