//! Traces of real sizes: those recorded under FIFO are consistent, and the counters of the search
//! stay small.

use crate::tests::solver::support::{check_witness, control, partial};
use anyorder_consistency::{Answer, ConsistencyStats, Effort, MailboxRule, Procedure};
use anyorder_generate::{
    Family, PAPER_ROWS, Request, RunMailbox, generate, generate_sized, generate_with_run,
};
use anyorder_trace::Trace;

/// Decides a trace that is consistent, and checks the witness.
fn consistent(name: &str, trace: &Trace, rule: MailboxRule) -> ConsistencyStats {
    let question = partial(trace, rule);
    let outcome =
        Procedure::Solver.decide(&question, Effort::default(), &control()).expect("for all traces");
    let Answer::Consistent(order) = &outcome.answer else {
        panic!("{name}: recorded, but {:?}", outcome.answer)
    };
    check_witness(trace, &question, order);
    outcome.stats
}

#[test]
fn every_recorded_family_is_consistent() {
    for family in Family::ALL.into_iter().filter(|family| family.is_recorded()) {
        let size = if family == Family::Android { 3_000 } else { 8 };
        for mailbox in RunMailbox::ALL {
            let request = Request { mailbox, seed: 3, ..Request::new(family, size) };
            let made = generate_with_run(&request).expect("a size that can be met");
            let rule = match mailbox {
                RunMailbox::Fifo => MailboxRule::Fifo,
                RunMailbox::Bag => MailboxRule::Bag,
            };
            let stats = consistent(family.name(), &made.trace, rule);
            assert_eq!(stats.events, made.trace.len() as u64);
        }
    }
}

#[test]
fn the_rows_of_the_paper_need_no_search() {
    for row in PAPER_ROWS {
        let counts = row.counts;
        let trace = generate_sized(counts.events, counts.messages, counts.handlers, 1)
            .expect("sizes that can be met");
        let stats = consistent(row.name, &trace, MailboxRule::Fifo);
        assert_eq!(
            (stats.events, stats.messages, stats.handlers),
            (counts.events, counts.messages, counts.handlers),
            "{}",
            row.name
        );
        assert!(stats.conflicts <= 20 && stats.candidates <= 10, "{}: {stats:?}", row.name);
    }
    // The rows that Algorithm 2 of the paper did not finish, including MessageLoop(8).
    let trace = generate(&Request::new(Family::MessageLoop, 8)).expect("a size that can be met");
    let stats = consistent("MessageLoop(8)", &trace, MailboxRule::Fifo);
    assert_eq!((stats.events, stats.pairs, stats.conflicts), (3670, 0, 0));
}

#[test]
fn a_large_trace_leaves_pairs_open_that_nobody_asks_for() {
    let trace = generate_sized(100_000, 1_000, 16, 1).expect("sizes that can be met");
    let stats = consistent("android", &trace, MailboxRule::Fifo);
    assert!(stats.pairs >= 10_000, "{stats:?}");
    assert!(stats.variables <= 1_000 && stats.conflicts <= 1_000, "{stats:?}");
}
