//! Every kind of small random trace: the same answer as brute force; each witness is replayed, each
//! refutation is checked.

use crate::tests::solver::support::{REFUTE, control, mailboxes, verdict};
use anyorder_consistency::{FromTrace, PartialTrace, Procedure};
use anyorder_testkit::consistency::{
    Counters, Kind, Mailbox, Problem, Shape, brute_force, random_partial,
};
use anyorder_testkit::effort::Seeds;

/// Seeds per shape and mailbox.
fn seeds() -> Seeds {
    anyorder_testkit::effort::sampled(750, 1_500)
}

/// All mailboxes. Without delays, delayed equals FIFO, so only one trace in eight is decided under
/// it.
fn rules(shape: &Shape, seed: u64) -> Vec<Mailbox> {
    let mut rules = vec![Mailbox::Fifo, Mailbox::Bag, Mailbox::Delayed];
    let eighth = seed.is_multiple_of(8);
    rules.retain(|&rule| rule == shape.mailbox || rule != Mailbox::Delayed || eighth);
    rules
}

fn check(seed: u64, shape: &Shape, counters: &mut Counters) {
    let trace = random_partial(seed, shape);
    for rule in rules(shape, seed) {
        let expected = brute_force(&Problem::of(&trace, rule)).is_some();
        let options = FromTrace {
            mailboxes: mailboxes(rule),
            infer_coherence: shape.kind == Kind::Unordered,
        };
        let partial =
            PartialTrace::from_trace(&trace, &options).expect("the trace has a meaning").0;
        let outcome =
            Procedure::Solver.decide(&partial, REFUTE, &control()).expect("for all traces");
        let found = verdict(&trace, &partial, &outcome, false);
        assert_eq!(found, expected, "seed {seed}, shape {}, mailbox {rule:?}", shape.name);
        if rule == shape.mailbox {
            counters.verdict(shape.kind, found);
        }
        let stats = outcome.stats;
        let decided = !found && stats.conflicts > 0 && stats.decisions > 0;
        counters.add("inconsistent only after a decision failed", u64::from(decided));
        counters.add("inconsistent by saturation", u64::from(!found && stats.decisions == 0));
        counters.add("consistent after a conflict", u64::from(found && stats.conflicts > 0));
        counters
            .add("consistent at the first candidate", u64::from(found && stats.candidates <= 2));
        counters
            .add("consistent after several candidates", u64::from(found && stats.candidates > 2));
        counters.add("pairs left by saturation", u64::from(stats.pairs > 0));
        counters.add(
            "all pairs decided by saturation",
            u64::from(stats.pairs == 0 && stats.pairs_total > 0),
        );
    }
}

#[test]
fn the_solver_agrees_with_brute_force() {
    let seeds = seeds();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut counters = Counters::default();
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads)
            .map(|thread| {
                let seeds = seeds.part(thread, threads);
                scope.spawn(move || {
                    let mut counters = Counters::default();
                    for seed in seeds {
                        for shape in &Shape::ALL {
                            let run =
                                std::panic::AssertUnwindSafe(|| check(seed, shape, &mut counters));
                            if let Err(panic) = std::panic::catch_unwind(run) {
                                eprintln!("at seed {seed}, shape {}", shape.name);
                                std::panic::resume_unwind(panic);
                            }
                        }
                    }
                    counters
                })
            })
            .collect();
        for handle in handles {
            counters.merge(&handle.join().expect("see the message above"));
        }
    });
    println!("{counters}");
    counters.assert_none_is_zero();
}
