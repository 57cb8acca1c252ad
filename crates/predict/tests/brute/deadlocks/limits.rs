//! Beyond its limits the search leaves deadlocks out, and says so.

use super::examples::read;
use super::search_by;
use anyorder_predict::{DeadlockCut, DeadlockEvidence, Deadlocks, WaitsFor};

/// A deadlock with a wait for a signal, and one of two locks.
const EVENTS: &str = "T2.acq(A) T2.rel(A) T1.acq(A) T1.wait(c) T2.signal(c) T1.wake(c) T1.rel(A) \
    T1.acq(C) T1.acq(D) T1.rel(D) T1.rel(C) T2.acq(D) T2.acq(C) T2.rel(C) T2.rel(D)";

#[test]
fn beyond_the_limit_no_waits_for_permits_are_looked_for() {
    // The semaphores of which a thread has a permit to give change four times: one, two, one, none.
    let trace = read("T1.p(s) T1.p(t) T1.v(t) T1.v(s) T2.p(t) T2.p(s) T2.v(s) T2.v(t)");
    for most in 0..12 {
        let deadlocks = search_by(&trace, |confirmer| confirmer.with_signals_max(most));
        let is_whole = most >= 8;
        let cuts: &[DeadlockCut] = if is_whole { &[] } else { &[DeadlockCut::Cycles] };
        assert_eq!(deadlocks.found.len(), usize::from(is_whole), "at most {most}");
        assert_eq!(&*deadlocks.cuts, cuts, "at most {most}");
    }
}

/// Returns how many deadlocks have a wait for a signal, and how many have none.
fn counts(found: &Deadlocks) -> [usize; 2] {
    let confirmed = found.found.iter().map(|one| {
        assert!(matches!(one.evidence, DeadlockEvidence::Confirmed { .. }), "{one:?}");
        one.requests.iter().any(|of| matches!(of.waits_for, WaitsFor::Signal(_)))
    });
    let signals = confirmed.filter(|is| *is).count();
    [signals, found.found.len() - signals]
}

#[test]
fn beyond_the_limit_no_waits_for_signals_are_looked_for() {
    // Without forks there are no clocks, and one request is made where a signal is to come: the
    // first lock of T2. Each fork gives its thread a clock of three numbers, besides the first.
    let forked = format!("T0.fork(T1) T0.fork(T2) {EVENTS}");
    for (text, least) in [(EVENTS, 1), (&forked, 9)] {
        let trace = read(text);
        for most in 0..12 {
            let found = search_by(&trace, |confirmer| confirmer.with_signals_max(most));
            let is_whole = most >= least;
            assert_eq!(counts(&found), [usize::from(is_whole), 1], "at most {most}: {text}");
            let cuts: &[DeadlockCut] = if is_whole { &[] } else { &[DeadlockCut::Cycles] };
            assert_eq!(&*found.cuts, cuts, "at most {most}: {text}");
        }
    }
}
