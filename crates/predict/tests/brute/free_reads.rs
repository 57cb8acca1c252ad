//! Where reads may see anything, a trace is as one in which they are writes that nobody sees, and
//! attempts that failed only requests.

use crate::brute::generate::{Flavour, RandomSource, trace};
use crate::brute::types::{TraceCalls, Types};
use crate::brute::{STATES_MAX, all_pairs};
use anyorder_predict::{Answer, ConfirmOptions, Confirmer, GaveUp, SpecifiedCommunication};
use anyorder_system::Cancel;
use anyorder_testkit::Reorderings;
use anyorder_trace::{EventId, EventKind, Op, Trace};

fn without_reads(t: &Trace) -> Trace {
    let mut columns = t.columns().clone();
    for op in &mut columns.ops {
        match op.kind() {
            kind if kind.reads() => *op = Op::new(EventKind::Write, op.mode()),
            EventKind::Refused => *op = Op::new(EventKind::Request, op.mode()),
            _ => {}
        }
    }
    Trace::new(t.tables().clone(), columns)
}

#[test]
fn free_reads_are_as_writes_that_nobody_sees() {
    let types = Types::new();
    let (mut confirmed, mut impossible, mut freed, mut kept_by_calls) = (0, 0, 0, 0);
    for seed in anyorder_testkit::effort::sampled(800, 4_000) {
        let mut rng = RandomSource::new(seed);
        let flavour = Flavour::of(seed);
        let t = trace(&mut rng, flavour, 8);
        let plain = without_reads(&t);
        let observes = TraceCalls::new(&types, &plain);
        let brute = Reorderings::new(&plain, &observes);
        let best = brute.best(&observes, &all_pairs(&plain), STATES_MAX).expect("a small trace");
        let calls = || {
            let of_types = anyorder_predict::Types::built_in().expect("they are tested");
            SpecifiedCommunication::new(of_types, &t)
        };
        let (mut of_free, mut of_bound) = (calls(), calls());
        let (options, cancel) = (ConfirmOptions::default(), Cancel::new());
        let mut free = Confirmer::with_free_reads(&t, &mut of_free, options, &cancel);
        let mut bound = Confirmer::new(&t, &mut of_bound, options);
        let has_calls = t.events().any(|event| event.kind() == EventKind::Invoke);
        for (a, b) in all_pairs(&t) {
            let (first, second) = (EventId(a as u32), EventId(b as u32));
            let is_bound = bound.confirm(first, second, &cancel) == Answer::Impossible;
            match free.confirm(first, second, &cancel) {
                Answer::Confirmed(_) => {
                    assert!(best.contains_key(&(a, b)), "seed {seed}, {flavour:?}: {a}, {b}");
                    confirmed += 1;
                    freed += u64::from(is_bound);
                }
                Answer::Unconfirmed(GaveUp::Barrier) => {}
                Answer::Unconfirmed(why) => panic!("seed {seed}, {flavour:?}: {why:?}"),
                Answer::Impossible => {
                    assert!(!best.contains_key(&(a, b)), "seed {seed}, {flavour:?}: {a}, {b}");
                    assert!(is_bound, "seed {seed}, {flavour:?}: {a}, {b}");
                    impossible += 1;
                    kept_by_calls += u64::from(has_calls);
                }
            }
        }
    }
    println!(
        "{confirmed} confirmed, {freed} of them not as recorded; {impossible} impossible, {kept_by_calls} with calls"
    );
    assert!(freed > 100 && kept_by_calls > 100, "{freed} {kept_by_calls}");
}
