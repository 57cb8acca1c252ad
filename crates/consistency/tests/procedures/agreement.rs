//! All procedures against each other and the oracles, on small random traces of every kind.

use crate::tests::procedures::support::{
    REFUTE, all_orders, by_all_orders, check_witness, control, mailboxes, orders_count, timed,
    verdict,
};
use anyorder_consistency::testing::{
    FlatRules, NotFull, Rules, check_full, enumerate_by, flat_by, schedule_once,
};
use anyorder_consistency::{
    Answer, ConsistencyStats, Effort, FromTrace, Limit, MailboxRule, PartialTrace, Procedure,
    Unsupported,
};
use anyorder_testkit::consistency::{
    Counters, Kind, Mailbox, Problem, Shape, axiomatic, brute_force, random_partial,
};
use anyorder_trace::Trace;
use std::thread;

/// Traces of each shape.
const SEEDS: u64 = 300;

/// The most orders tried with the full problem.
const ORDERS_MAX: u64 = 800;

#[test]
fn all_procedures_agree_with_brute_force() {
    let seeds = anyorder_testkit::effort::seeds(SEEDS);
    let mut counters = Counters::default();
    thread::scope(|scope| {
        let threads: Vec<_> = (0..2)
            .map(|part| {
                let seeds = seeds.clone();
                scope.spawn(move || {
                    let mut counters = Counters::default();
                    for shape in &Shape::ALL {
                        for seed in seeds.part(part, 2) {
                            compare(shape, seed, &mut counters);
                        }
                    }
                    counters
                })
            })
            .collect();
        for thread in threads {
            counters.merge(&thread.join().expect("a comparison failed; see above"));
        }
    });
    println!("{counters}");
    for kind in Kind::ALL {
        for answer in [true, false] {
            let enough = counters.of(kind, answer) > 0 || !kind.can_be(answer);
            assert!(enough, "{kind:?} was never {answer}");
        }
    }
    let named = [
        "full over all orders",
        "flat",
        "flat inconsistent",
        "flat without saturation",
        "flat configurations",
        "flat decisions",
        "flat dead ends",
        "refuted by saturation",
        "refuted after a decision",
        "conflicts",
        "decisions",
        "propagations",
        "bag",
        "delayed",
        "timed",
        "nested refused",
        "open coherence refused",
        "scheduled at once",
        "scheduled, coherence open",
        "not scheduled, though consistent",
    ];
    for name in named {
        assert!(counters.named(name) > 0, "never happened: {name}");
    }
    let full = counters.named("full over all orders");
    assert!(full * 100 > counters.named("compared") * 90, "too few with all orders");
}

fn compare(shape: &Shape, seed: u64, counters: &mut Counters) {
    let trace = random_partial(seed, shape);
    compare_under(shape, seed, &trace, shape.mailbox, counters);
    // Every trace is also a problem under other mailboxes.
    let other = match seed % 4 {
        0 => Mailbox::Bag,
        1 => Mailbox::Delayed,
        2 => Mailbox::Fifo,
        _ => return,
    };
    if other != shape.mailbox {
        compare_under(shape, seed, &trace, other, counters);
    }
}

fn compare_under(
    shape: &Shape,
    seed: u64,
    trace: &Trace,
    mailbox: Mailbox,
    counters: &mut Counters,
) {
    let place = format!("shape {} seed {seed} mailbox {mailbox:?}", shape.name);
    let infer_coherence = shape.kind == Kind::Unordered;
    let options = FromTrace { mailboxes: mailboxes(mailbox), infer_coherence };
    let question = PartialTrace::from_trace(trace, &options).expect("the trace has a meaning").0;
    if !question.open.is_empty() {
        refuse(&question, &place);
        if let Some(order) = schedule_once(&question, &control()).expect("nothing stops it") {
            check_witness(trace, &question, &order);
            counters.add("scheduled, coherence open", 1);
        }
        counters.add("open coherence refused", 1);
        return;
    }
    counters.add("compared", 1);
    let expected = brute_force(&Problem::of(trace, mailbox)).is_some();
    if seed.is_multiple_of(8) && orders_count(&question) <= ORDERS_MAX {
        assert_eq!(
            axiomatic(&Problem::of(trace, mailbox)).is_some(),
            expected,
            "{place}: the oracles"
        );
    }
    let own = shape.mailbox == mailbox;
    if own {
        counters.verdict(shape.kind, expected);
    }
    counters.add("bag", u64::from(mailbox == Mailbox::Bag));
    counters.add("delayed", u64::from(mailbox == Mailbox::Delayed));
    counters.add("timed", u64::from(mailbox == Mailbox::Delayed && timed(&question)));
    let run = || {
        compare_schedule(trace, &question, expected, counters);
        let stats = compare_enumerate(trace, &question, expected, counters);
        compare_flat(trace, &question, expected, &stats, counters);
        if orders_count(&question) <= ORDERS_MAX {
            assert_eq!(by_all_orders(trace, &question), expected, "full");
            counters.add("full over all orders", 1);
        }
    };
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
    assert!(result.is_ok(), "{place}: see above; expected {expected}");
}

/// A schedule is a run. One is found for most consistent traces, and for none of the others.
fn compare_schedule(
    trace: &Trace,
    question: &PartialTrace,
    expected: bool,
    counters: &mut Counters,
) {
    match schedule_once(question, &control()).expect("nothing stops it") {
        Some(order) => {
            assert!(expected, "a schedule of an inconsistent trace");
            check_witness(trace, question, &order);
            counters.add("scheduled at once", 1);
        }
        None => counters.add("not scheduled, though consistent", u64::from(expected)),
    }
}

/// Only the solver searches for an order of writes that is not given: the other procedures must
/// refuse.
fn refuse(question: &PartialTrace, place: &str) {
    let ask = |procedure: Procedure| procedure.decide(question, REFUTE, &control()).err();
    assert_eq!(ask(Procedure::Enumerate), Some(Unsupported::OpenCoherence), "{place}");
    let flat = ask(Procedure::Flat);
    let nested = question.nested().is_some() && matches!(flat, Some(Unsupported::Nested { .. }));
    assert!(nested || flat == Some(Unsupported::OpenCoherence), "{place}: {flat:?}");
    all_orders(question, &mut |orders| {
        assert_eq!(check_full(question, orders).err(), Some(NotFull::OpenCoherence), "{place}");
        true
    });
}

fn compare_enumerate(
    trace: &Trace,
    question: &PartialTrace,
    expected: bool,
    counters: &mut Counters,
) -> ConsistencyStats {
    let outcome =
        Procedure::Enumerate.decide(question, REFUTE, &control()).expect("coherence is given");
    assert_eq!(verdict(trace, question, &outcome, false), expected, "enumerate");
    let stats = outcome.stats;
    counters.add("conflicts", stats.conflicts);
    counters.add("decisions", stats.decisions);
    counters.add("propagations", stats.propagations);
    if !expected {
        let name =
            if stats.decisions > 0 { "refuted after a decision" } else { "refuted by saturation" };
        counters.add(name, 1);
    }
    // A request for reasons changes nothing else.
    let silent = enumerate_by(question, Rules::ALL, Effort::default(), &control());
    let silent = silent.expect("coherence is given");
    assert_eq!(silent.stats, stats);
    assert_eq!(matches!(silent.answer, Answer::Consistent(_)), expected);
    if stats.conflicts > 0 {
        let effort = Effort { conflicts: Some(stats.conflicts - 1), ..Effort::default() };
        let bounded =
            Procedure::Enumerate.decide(question, effort, &control()).expect("coherence is given");
        // The last conflict may be one without decisions: then it is an answer nevertheless.
        let unknown = matches!(bounded.answer, Answer::Unknown(Limit::Conflicts));
        assert!(
            unknown || matches!(bounded.answer, Answer::Inconsistent(None)),
            "{:?}",
            bounded.answer
        );
    }
    stats
}

fn compare_flat(
    trace: &Trace,
    question: &PartialTrace,
    expected: bool,
    stats: &ConsistencyStats,
    counters: &mut Counters,
) {
    let flat = Procedure::Flat.decide(question, REFUTE, &control());
    if question.nested().is_some() {
        assert!(matches!(flat, Err(Unsupported::Nested { .. })));
        counters.add("nested refused", 1);
        return;
    }
    let outcome = flat.expect("coherence is given and nothing nested");
    assert_eq!(verdict(trace, question, &outcome, true), expected, "flat");
    assert_eq!(outcome.stats.pairs, stats.pairs);
    counters.add("flat", 1);
    counters.add("flat inconsistent", u64::from(!expected));
    let rules = FlatRules { saturate: false, ..FlatRules::ALL };
    let plain = flat_by(question, rules, Effort::default(), &control()).expect("as before");
    assert_eq!(verdict(trace, question, &plain, true), expected, "flat without saturation");
    counters.add("flat without saturation", 1);
    counters.add("flat configurations", plain.stats.candidates);
    counters.add("flat decisions", plain.stats.decisions);
    counters.add("flat dead ends", plain.stats.conflicts);
    counters.add("flat saturated configurations", outcome.stats.candidates);
    counters.add("flat saturated dead ends", outcome.stats.conflicts);
    assert!(question.mailboxes == MailboxRule::Fifo || plain.stats.candidates < 1_000_000);
}
