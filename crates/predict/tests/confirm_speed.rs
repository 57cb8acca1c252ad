//! The work of the search: long traces, and all pairs of small ones. `cargo bench -p
//! anyorder-predict --bench confirm` prints times.

use crate::common;

use anyorder_common::random::Rng;
use anyorder_predict::{
    Analysis, CandidateOptions, ConfirmOptions, ConfirmStats, Confirmer, EdcAnalysis, MemoryOnly,
    NoCommunication, run,
};
use anyorder_system::Cancel;
use anyorder_trace::{EventId, Trace, TraceBlocks};
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
