//! How much the search looks at: large traces, and all pairs of small ones. `cargo test -p anyorder-predict --test confirm_speed -- --ignored
//! --nocapture`, with `EVENTS`, `PAIRS` and so on in the environment, tells times of larger ones.

mod common;

use anyorder_predict::{
    Analysis, Answer, ConfirmOptions, ConfirmStats, Confirmer, EdcAnalysis, MemoryOnly,
    NoCommunication, Options, run,
};
use anyorder_system::Cancel;
use anyorder_trace::{EventId, Trace, TraceBlocks};
use common::Rng;
use common::generate::{Shape, trace};
use std::collections::BTreeMap;
use std::time::Instant;

fn number(name: &str, otherwise: usize) -> usize {
    std::env::var(name).map_or(otherwise, |number| number.parse().expect("a number"))
}

fn random(events: usize) -> Trace {
    let shape = Shape {
        events: number("EVENTS", events),
        threads: number("THREADS", 8),
        locks: number("LOCKS", 16),
        variables: number("VARIABLES", events.min(2_000_000) / 100 + 50),
        locking: number("LOCKING", 30),
        other: 0,
        atomic: 0,
        shared: number("SHARED", 0),
        ranges: false,
        guarded: number("FREE", 0) == 0,
    };
    trace(&mut Rng::new(number("SEED", 1) as u64), shape)
}

/// Tries pairs; returns what it took, and what became of them.
fn try_all(trace: &Trace, pairs: &[(u32, u32)]) -> (ConfirmStats, String) {
    let start = Instant::now();
    let mut nothing = NoCommunication;
    let mut confirmer = Confirmer::new(trace, &mut nothing, ConfirmOptions::default());
    let prepared = start.elapsed();
    let mut answers: BTreeMap<String, usize> = BTreeMap::new();
    let (start, mut longest) = (Instant::now(), 0);
    for (a, b) in pairs {
        let now = Instant::now();
        let answer = confirmer.confirm(EventId(*a), EventId(*b), &Cancel::new());
        longest = longest.max(now.elapsed().as_millis());
        let text = match answer {
            Answer::Confirmed(w) => {
                let kept = ["whole", "behind a prefix"][usize::from(w.prefix > 0)];
                let shortest = ["", ", shortest"][usize::from(w.shortest)];
                format!("{} {kept}{shortest}", w.form.word())
            }
            other => format!("{other:?}"),
        };
        *answers.entry(text).or_default() += 1;
    }
    let stats = confirmer.stats();
    let text = format!(
        "{} events prepared in {prepared:?}; {} pairs {answers:#?} {stats:?} in {:?}, the longest {longest} ms",
        trace.len(),
        pairs.len(),
        start.elapsed()
    );
    (stats, text)
}

fn candidates(trace: &Trace, most: usize) -> Vec<(u32, u32)> {
    let mut edc = EdcAnalysis::new(MemoryOnly, Options::default());
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
            let (stats, text) = try_all(&trace, &pairs);
            println!("{text}");
            stats.events / pairs.len() as u64
        })
        .collect();
    println!("{per_pair:?}");
    assert!(per_pair[1] < 5 * per_pair[0].max(50_000), "{per_pair:?}");
}

#[test]
#[ignore = "takes long"]
fn candidates_of_a_large_trace() {
    let trace = random(1_000_000);
    let pairs = candidates(&trace, number("PAIRS", 1000));
    println!("{}", try_all(&trace, &pairs).1);
}

/// Exhaustive search: nothing but a look at the pair tells most pairs that cannot change places.
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
    let (stats, text) = try_all(&trace, &pairs);
    println!("{text}");
    assert!(pairs.len() > 200, "{}", pairs.len());
    assert!(stats.events < 20_000 * pairs.len() as u64, "{stats:?}");
}
