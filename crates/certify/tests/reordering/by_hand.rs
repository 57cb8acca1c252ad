//! Each reason to refuse a witness, on a smallest trace; invalid traces; and long traces.

use anyorder_certify::{
    ClaimedWitness, Lanes, NoCalls, ReorderingChecker, ReorderingError, WitnessForm,
    check_reordering,
};
use anyorder_common::random::{Random, Rng};
use anyorder_testkit::script;
use anyorder_trace::{
    Columns, EventId, EventKind, Mailbox, Mode, Op, SiteId, Tables, TaskId, Trace, TraceBuilder,
};
use std::time::Instant;

fn claim(form: WitnessForm, pair: (u32, u32), order: &[EventId]) -> ClaimedWitness<'_> {
    let (first, second) = (EventId(pair.0), EventId(pair.1));
    ClaimedWitness { form, first, second, prefix: 0, order }
}

fn ids(order: &[u32]) -> Vec<EventId> {
    order.iter().copied().map(EventId).collect()
}

fn error(trace: &str, form: WitnessForm, pair: (u32, u32), order: &[u32]) -> String {
    let trace = script(trace);
    let order = ids(order);
    let answer = check_reordering(&trace.trace, &NoCalls, claim(form, pair, &order));
    answer.map_or_else(|error: ReorderingError| error.to_string(), |()| "accepted".to_owned())
}

const TWO_SECTIONS: &str = "handler S none
    handler T none
    S acquire m
    S write x
    S release m
    T acquire m
    T write x
    T release m";

#[test]
fn two_sections_change_places() {
    use WitnessForm::{CoEnabled, Last, Reversed};
    let all = [3, 4, 5, 0, 1];
    for form in [Reversed, Last] {
        assert_eq!(error(TWO_SECTIONS, form, (1, 4), &all), "accepted");
    }
    let not_behind = "place 5, event 4: does not stand at the end";
    assert_eq!(error(TWO_SECTIONS, CoEnabled, (1, 4), &all), not_behind);
    let held = "place 2, event 0: the lock is held since event 3";
    assert_eq!(error(TWO_SECTIONS, Reversed, (1, 4), &[3, 4, 0, 1, 5]), held);
    let not_last = "place 6, event 1: does not stand at the end";
    assert_eq!(error(TWO_SECTIONS, Last, (1, 4), &[3, 4, 5, 0, 1, 2]), not_last);
    assert_eq!(error(TWO_SECTIONS, Reversed, (1, 4), &[3, 4, 5, 0, 1, 2]), "accepted");
    let early = "place 0, event 4: event 3 must come first (po)";
    assert_eq!(error(TWO_SECTIONS, Reversed, (1, 4), &[4]), early);
    let missing = "place 3, event 1: not in the sequence";
    assert_eq!(error(TWO_SECTIONS, Reversed, (1, 4), &[3, 4, 5]), missing);
    let same = "place 6, event 1: the two actions are not reversed";
    assert_eq!(error(TWO_SECTIONS, Reversed, (1, 4), &[0, 1, 2, 3, 4, 5]), same);
    assert_eq!(
        error(TWO_SECTIONS, Reversed, (4, 1), &[0, 1, 2, 3, 4]),
        same.replace("6, event 1", "5, event 4")
    );
    let twice = "place 1, event 3: happens twice";
    assert_eq!(error(TWO_SECTIONS, Reversed, (1, 4), &[3, 3]), twice);
    let unknown = "place 0, event 9: no such event";
    assert_eq!(error(TWO_SECTIONS, Reversed, (1, 4), &[9]), unknown);
}

#[test]
fn causes_come_first() {
    let forked = "handler S none
        handler T none
        S fork T
        T write x";
    let early = "place 0, event 1: event 0 must come first (fork)";
    assert_eq!(error(forked, WitnessForm::CoEnabled, (0, 1), &[1, 0]), early);
    let joined = forked.replace("fork T", "read y").replace("T write x", "T write x\nS join T");
    let early = "place 1, event 2: event 1 must come first (join)";
    assert_eq!(error(&joined, WitnessForm::Last, (1, 2), &[0, 2, 1]), early);
    let barrier = "handler S none
        handler T none
        S barrier b
        T barrier b";
    let early = "place 0, event 1: event 0 must come first (barrier)";
    assert_eq!(error(barrier, WitnessForm::CoEnabled, (0, 1), &[1, 0]), early);
}

#[test]
fn what_is_read_stays_but_for_the_last_actions() {
    let text = "handler S none
        handler T none
        S write x
        T read x";
    let observes = "place 0, event 1: observes no write, in the trace event 0";
    assert_eq!(error(text, WitnessForm::Reversed, (0, 1), &[1, 0]), observes);
    assert_eq!(error(text, WitnessForm::Last, (0, 1), &[1, 0]), observes);
    assert_eq!(error(text, WitnessForm::CoEnabled, (0, 1), &[1, 0]), "accepted");
    let bytes = "handler S none
        handler T none
        S write 8+4
        T write 10+1
        S read 8+4
        T write 8+8";
    let observes = "place 1, event 2: observes event 0, in the trace event 1";
    assert_eq!(error(bytes, WitnessForm::Last, (1, 2), &[0, 2, 1]), observes);
    assert_eq!(error(bytes, WitnessForm::CoEnabled, (1, 2), &[0, 2, 1]), "accepted");
    let overwritten = "place 3, event 2: observes event 3, in the trace event 0";
    assert_eq!(error(bytes, WitnessForm::Reversed, (2, 3), &[0, 1, 3, 2]), overwritten);
    assert_eq!(error(bytes, WitnessForm::Last, (2, 3), &[0, 1, 3, 2]), "accepted");
}

#[test]
fn a_signal_before_its_wait_wakes_nobody() {
    let text = "handler S none
        handler T none
        S wait c
        T signal c
        S wake c";
    let early = "place 2, event 2: wakes from event 1, which comes before the wait 0";
    assert_eq!(error(text, WitnessForm::Reversed, (0, 1), &[1, 0, 2]), early);
    assert_eq!(error(text, WitnessForm::Reversed, (0, 1), &[1, 0]), "accepted");
}

#[test]
fn a_prefix_must_be_a_run() {
    let held = "handler S none
        handler T none
        S acquire m
        T acquire m
        S write x
        T write x";
    let trace = script(held).trace;
    let mut checker = ReorderingChecker::new(&trace, &NoCalls, Lanes::Handlers);
    let order = ids(&[3, 2]);
    let pair = claim(WitnessForm::Reversed, (2, 3), &order);
    let error = checker.check(ClaimedWitness { prefix: 2, ..pair }).unwrap_err();
    assert_eq!(error.to_string(), "place 2, event 2: the prefix is no run");
    let error = checker.check(ClaimedWitness { prefix: u32::MAX, ..pair }).unwrap_err();
    assert_eq!(error.to_string(), "place 2, event 2: the prefix is no run");
    // With the lock taken in the prefix.
    let order = ids(&[1, 3, 2]);
    let pair = claim(WitnessForm::Reversed, (2, 3), &order);
    let error = checker.check(ClaimedWitness { prefix: 1, ..pair }).unwrap_err();
    assert_eq!(error.to_string(), "place 0, event 1: the lock is held since event 0");
}

/// Arbitrary columns cause no panic.
#[test]
fn garbage_is_answered() {
    let mut rng = Rng::new(5);
    let (mut accepted, mut rejected) = (0, 0);
    for _ in 0..2_000 {
        let mut b = TraceBuilder::new();
        for name in ["S", "T"] {
            b.handler(name, Mailbox::Fifo).expect("room");
        }
        let mut columns = Columns::default();
        for row in 0..rng.below(12) as u32 {
            let kind = EventKind::ALL[rng.index(EventKind::ALL.len())];
            let op = Op::new(kind, Mode::from_bits(rng.below(8) as u8));
            let operand = rng.pick(&[0, 1, 2, 7, u32::MAX - 1, u32::MAX]);
            columns.push(op, TaskId(rng.pick(&[0, 1, 1, 0, 9, u32::MAX])), operand, SiteId(0));
            if rng.percent(20) {
                columns.refers.push(row, rng.pick(&[0, 1, 5, u64::MAX, 1 << 32]));
            }
        }
        let tables = if rng.percent(80) { b.finish().tables().clone() } else { Tables::default() };
        let trace = Trace::new(tables, columns);
        for lanes in [Lanes::Handlers, Lanes::Tasks] {
            let mut checker = ReorderingChecker::new(&trace, &NoCalls, lanes);
            for _ in 0..4 {
                let pair = (rng.below(4) as u32, rng.below(13) as u32);
                let order: Vec<EventId> = match rng.percent(50) {
                    true => ids(&[pair.1, pair.0]),
                    false => (0..rng.below(6)).map(|_| EventId(rng.below(14) as u32)).collect(),
                };
                let form = rng.pick(&WitnessForm::ALL);
                let prefix = rng.pick(&[0, 0, 1, 3, u32::MAX]);
                match checker.check(ClaimedWitness { prefix, ..claim(form, pair, &order) }) {
                    Ok(()) => accepted += 1,
                    Err(_) => rejected += 1,
                }
            }
        }
    }
    println!("{accepted} accepted, {rejected} rejected");
    assert!(accepted > 0 && rejected > 0);
}

/// A long trace: one pass over it, and then many short witnesses and a long one.
#[test]
fn many_witnesses_of_a_long_trace() {
    const ROUNDS: u32 = 25_000;
    let mut b = TraceBuilder::new();
    let tasks: Vec<TaskId> = (0..8)
        .map(|at| {
            let handler = b.handler(&format!("T{at}"), Mailbox::None).expect("room");
            b.initial(handler)
        })
        .collect();
    for round in 0..ROUNDS {
        for (at, task) in tasks.iter().enumerate() {
            let lock = format!("m{}", (round as usize + at) % 16);
            b.acquire(*task, &lock, Mode::EXCLUSIVE).expect("room");
            b.write(*task, &format!("x{}", (round as usize + at) % 1_000)).expect("room");
            b.release(*task, &lock, Mode::EXCLUSIVE).expect("room");
        }
    }
    let trace = b.finish();
    let begin = Instant::now();
    let mut checker = ReorderingChecker::new(&trace, &NoCalls, Lanes::Handlers);
    let indexed = begin.elapsed();
    let begin = Instant::now();
    // Swaps neighbouring sections: those of two threads in the same round.
    for at in 0..10_000 {
        let prefix = (at * 37 % (ROUNDS - 1)) * 24;
        let order = ids(&[3, 4, 5, 0, 1].map(|event| prefix + event));
        let pair = (prefix + 1, prefix + 4);
        let claim = ClaimedWitness { prefix, ..claim(WitnessForm::Reversed, pair, &order) };
        assert_eq!(checker.check(claim), Ok(()));
    }
    let short = begin.elapsed();
    let begin = Instant::now();
    let len = trace.len() as u32;
    let mut order: Vec<EventId> = (0..len - 6).map(EventId).collect();
    order.extend(ids(&[len - 3, len - 2, len - 1, len - 6, len - 5]));
    let pair = claim(WitnessForm::Last, (len - 5, len - 2), &order);
    assert_eq!(checker.check(pair), Ok(()));
    let long = begin.elapsed();
    println!("{len} events: {indexed:?}; 10,000 witnesses: {short:?}; a long one: {long:?}");
}
