//! Two real Android logs: their counts, and that the recorded order is allowed.

use crate::tests::from_trace::common::{delayed, fifo};
use anyorder_consistency::{Kept, Overtakings, PartialTrace};
use anyorder_formats::droidracer::DroidRacerReader;
use anyorder_trace::Trace;
use std::path::PathBuf;

fn real(app: &str) -> Trace {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("../../data/droidracer").join(app).join("trace.txt");
    let text = std::fs::read(&path).expect("the log is there");
    Trace::read(&mut DroidRacerReader::new(&text[..])).expect("a trace")
}

/// The order of the log respects every given order, runs messages one at a time and initial ones
/// first. Returns how many pairs of messages ran against the rule of their mailbox.
fn check(trace: &Trace, partial: &PartialTrace) -> u64 {
    assert!(partial.backward.is_empty() && partial.open.is_empty());
    for order in &partial.given {
        let (from, to) = (partial.events[order.from as usize], partial.events[order.to as usize]);
        assert!(from < to, "{order:?}: {} {}", trace.label(from), trace.label(to));
    }
    let first = |id: u32| partial.events[partial.messages[id as usize].slots.start as usize];
    let last = |id: u32| partial.events[partial.messages[id as usize].slots.end as usize - 1];
    let post = |id: u32| Some(partial.events[partial.messages[id as usize].post? as usize]);
    let initial = partial.initial();
    let mut against = 0;
    for (handler, posted) in partial.posted().into_iter().enumerate() {
        for (i, &m) in posted.iter().enumerate() {
            if let Some(initial) = initial[handler] {
                assert!(last(initial) < first(m));
            }
            for &n in &posted[i + 1..] {
                assert!(last(m) < first(n), "messages are numbered as they ran, one at a time");
                if let (Some(before), Some(after)) = (post(n), post(m)) {
                    against += u64::from(before < after && partial.keeps(n, m));
                }
            }
        }
    }
    against
}

#[test]
fn real_logs_are_orders_of_their_partial_traces() {
    for (app, expected) in [("twitter", twitter()), ("RemindMe", remind_me())] {
        let trace = real(app);
        let (partial, kept) = delayed(&trace);
        let against = check(&trace, &partial);
        let (plain, _) = fifo(&trace).expect("a partial trace");
        let against_fifo = check(&trace, &plain);
        let numbers = Numbers {
            messages: partial.messages.len(),
            handlers: partial.handlers,
            pairs: partial.pairs(),
            given: partial.given.len(),
            against,
            against_fifo,
        };
        let overtakings = Overtakings::of(&partial).expect("few pairs");
        assert_eq!(Overtakings::of(&plain), Some(overtakings));
        assert_eq!((overtakings.total(), overtakings.unexplained), (against_fifo, against));
        eprintln!("{app}: {overtakings:?}");
        eprintln!("{app}: {numbers:?} {kept:?}");
        assert_eq!((numbers, kept), expected);
    }
}

#[derive(PartialEq, Eq, Debug)]
struct Numbers {
    messages: usize,
    handlers: u32,
    pairs: u64,
    given: usize,
    /// Pairs of messages that ran against the rule of delayed mailboxes.
    against: u64,
    /// Pairs of messages that ran against plain fifo: delays and idle work explain them.
    against_fifo: u64,
}

fn twitter() -> (Numbers, Kept) {
    (
        Numbers {
            messages: 157,
            handlers: 60,
            pairs: 4278,
            given: 1832,
            against: 0,
            against_fifo: 28,
        },
        Kept {
            events: 16968,
            handlers: 29,
            posted: 97,
            initial: 26,
            reads: 13780,
            writes: 1852,
            forks: 25,
            pieces: 3,
            exits: 4,
            bursts: 27,
            never_begun: 7,
            delayed: 23,
            idle: 2,
            locks: 727,
            conditions: 24,
            inputs: 0,
            attaches: 5,
            ..Kept::default()
        },
    )
}

fn remind_me() -> (Numbers, Kept) {
    (
        Numbers {
            messages: 236,
            handlers: 60,
            pairs: 15400,
            given: 723,
            against: 7,
            against_fifo: 61,
        },
        Kept {
            events: 10346,
            handlers: 8,
            posted: 176,
            initial: 4,
            reads: 8005,
            writes: 1400,
            forks: 3,
            pieces: 13,
            bursts: 43,
            never_begun: 11,
            delayed: 29,
            idle: 5,
            locks: 122,
            conditions: 10,
            inputs: 0,
            attaches: 1,
            ..Kept::default()
        },
    )
}
