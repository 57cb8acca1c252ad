//! Worked examples, each small enough to enumerate by hand.

use super::calls::Call;
use super::meetings::MEETINGS;
use super::naive::{Threads, deadlocks};
use super::semaphores::PermitKind;
use super::{STATES_MAX, search, shapes};
use anyorder_predict::{DeadlockEvidence, Deadlocks};
use anyorder_trace::{EventKind, Mailbox, Mode, Op, TaskId, Trace, TraceBuilder};
use std::collections::{BTreeMap, BTreeSet};

/// An example: its events, and the deadlocks by the places of their requests, from 1.
pub(super) struct Example {
    name: &'static str,
    text: &'static str,
    deadlocks: &'static [&'static [usize]],
    /// Whether all sections can keep the order of their locks.
    in_order: bool,
}

pub(super) const fn example(
    name: &'static str,
    text: &'static str,
    deadlocks: &'static [&'static [usize]],
) -> Example {
    Example { name, text, deadlocks, in_order: true }
}

/// `racq` and `rrel` are of readers, `tacq` is an attempt; `p` and `v` take and give a permit, `tp`
/// and `fp` are attempts to take one.
const EXAMPLES: &[Example] = &[
    example(
        "D1",
        "T1.acq(A) T1.acq(B) T1.rel(B) T1.rel(A) T2.acq(B) T2.acq(A) T2.rel(A) T2.rel(B)",
        &[&[2, 6]],
    ),
    example(
        "D2",
        "T1.acq(G) T1.acq(A) T1.acq(B) T1.rel(B) T1.rel(A) T1.rel(G) T2.acq(G) T2.acq(B) \
         T2.acq(A) T2.rel(A) T2.rel(B) T2.rel(G)",
        &[],
    ),
    example(
        "D2b",
        "T1.acq(G) T1.acq(A) T1.rel(G) T1.acq(B) T1.rel(B) T1.rel(A) T2.acq(G) T2.acq(B) \
         T2.acq(A) T2.rel(A) T2.rel(B) T2.rel(G)",
        &[&[4, 9]],
    ),
    example(
        "D3",
        "T0.fork(T1) T1.acq(A) T1.acq(B) T1.rel(B) T1.rel(A) T0.join(T1) T0.fork(T2) \
         T2.acq(B) T2.acq(A) T2.rel(A) T2.rel(B)",
        &[],
    ),
    example(
        "D3b",
        "T1.acq(A) T1.fork(T2) T1.acq(B) T1.rel(B) T1.rel(A) T2.acq(B) T2.acq(A) T2.rel(A) \
         T2.rel(B)",
        &[&[3, 7]],
    ),
    example(
        "D4",
        "T1.acq(A) T1.acq(B) T1.rel(B) T1.rel(A) T1.w(x) T2.r(x) T2.acq(B) T2.acq(A) \
         T2.rel(A) T2.rel(B)",
        &[],
    ),
    // Nothing depends on what is read, or a branch does.
    example(
        "D4 free",
        "T3.branch(b) T1.acq(A) T1.acq(B) T1.rel(B) T1.rel(A) T1.w(x) T2.r(x) T2.acq(B) T2.acq(A) \
         T2.rel(A) T2.rel(B)",
        &[&[3, 9]],
    ),
    example(
        "D4 tested",
        "T1.acq(A) T1.acq(B) T1.rel(B) T1.rel(A) T1.w(x) T2.r(x) T2.branch(b) T2.acq(B) T2.acq(A) \
         T2.rel(A) T2.rel(B)",
        &[],
    ),
    example(
        "D4b",
        "T1.acq(A) T1.w(x) T1.acq(B) T1.rel(B) T1.rel(A) T2.r(x) T2.acq(B) T2.acq(A) \
         T2.rel(A) T2.rel(B)",
        &[&[3, 8]],
    ),
    example(
        "D4c",
        "T3.w(x) T1.acq(A) T1.acq(B) T1.rel(B) T1.rel(A) T2.r(x) T2.acq(B) T2.acq(A) T2.rel(A) \
         T2.rel(B)",
        &[&[3, 8]],
    ),
    example(
        "D4d",
        "T1.acq(A) T1.acq(B) T1.rel(B) T1.rel(A) T1.w(x) T1.acq(A) T1.acq(B) T1.rel(B) T1.rel(A) \
         T2.r(x) T2.acq(B) T2.acq(A) T2.rel(A) T2.rel(B)",
        &[&[7, 12]],
    ),
    example(
        "D5",
        "T1.acq(A) T1.acq(B) T1.rel(B) T1.rel(A) T2.acq(B) T2.acq(C) T2.rel(C) T2.rel(B) \
         T3.acq(C) T3.acq(A) T3.rel(A) T3.rel(C)",
        &[&[2, 6, 10]],
    ),
    example(
        "D6",
        "T1.acq(G) T1.w(y) T1.acq(A) T1.acq(B) T1.rel(B) T1.rel(A) T1.rel(G) T2.r(y) \
         T2.acq(G) T2.rel(G) T2.acq(B) T2.acq(A) T2.rel(A) T2.rel(B)",
        &[],
    ),
    Example {
        in_order: false,
        ..example(
            "D6 free",
            "T3.branch(b) T1.acq(G) T1.w(y) T1.acq(A) T1.acq(B) T1.rel(B) T1.rel(A) T1.rel(G) T2.r(y) \
         T2.acq(G) T2.rel(G) T2.acq(B) T2.acq(A) T2.rel(A) T2.rel(B)",
            &[&[5, 13]],
        )
    },
    example(
        "X2",
        "T1.acq(A) T1.acq(B) T1.rel(B) T1.acq(C) T1.acq(D) T1.rel(D) T1.rel(C) T1.rel(A) \
         T2.acq(B) T2.acq(A) T2.rel(A) T2.acq(D) T2.acq(C) T2.rel(C) T2.rel(D) T2.rel(B)",
        &[&[2, 10]],
    ),
    Example {
        in_order: false,
        ..example(
            "D7",
            "T2.acq(G) T2.acq(B) T2.acq(A) T2.rel(A) T2.rel(B) T2.rel(G) T1.acq(G) T1.rel(G) \
         T1.acq(A) T1.acq(B) T1.rel(B) T1.rel(A)",
            &[&[3, 10]],
        )
    },
    example(
        "D7b",
        "T1.acq(G) T1.rel(G) T1.acq(A) T1.acq(B) T1.rel(B) T1.rel(A) T2.acq(G) T2.acq(B) \
         T2.acq(A) T2.rel(A) T2.rel(B) T2.rel(G)",
        &[&[4, 9]],
    ),
    example(
        "D11",
        "T1.acq(A) T1.acq(A) T1.acq(B) T1.rel(B) T1.rel(A) T1.rel(A) T2.acq(B) T2.acq(A) \
         T2.rel(A) T2.rel(B)",
        &[&[3, 8]],
    ),
    example(
        "D11b",
        "T1.acq(A) T1.acq(B) T1.acq(A) T1.rel(A) T1.rel(B) T1.rel(A) T2.acq(A) T2.acq(B) \
         T2.rel(B) T2.rel(A)",
        &[],
    ),
    example(
        "D12",
        "T1.acq(A) T1.acq(B) T1.rel(A) T1.acq(C) T1.rel(B) T1.rel(C) T2.acq(C) T2.acq(A) \
         T2.rel(A) T2.rel(C)",
        &[],
    ),
    example(
        "D12b",
        "T1.acq(A) T1.acq(B) T1.rel(A) T1.acq(C) T1.rel(B) T1.rel(C) T2.acq(C) T2.acq(A) \
         T2.rel(A) T2.rel(C) T3.acq(A) T3.acq(B) T3.rel(B) T3.rel(A)",
        &[&[4, 8, 12]],
    ),
    example("D13", "T0.fork(T1) T1.acq(A) T1.rel(A) T0.acq(A) T0.join(T1) T0.rel(A)", &[&[2, 5]]),
    example("D13c", "T0.fork(T1) T1.acq(A) T1.rel(A) T2.acq(A) T2.join(T1) T2.rel(A)", &[&[2, 5]]),
    // Who asks for B has not started T1 yet.
    example(
        "D13d",
        "T0.acq(A) T0.acq(B) T0.fork(T1) T0.rel(B) T0.rel(A) T1.acq(A) T1.rel(A) T2.acq(B) \
         T2.join(T1) T2.rel(B)",
        &[],
    ),
    example(
        "D13b",
        "T0.fork(T1) T1.acq(A) T1.acq(B) T1.rel(B) T1.rel(A) T0.acq(B) T0.join(T1) T0.rel(B)",
        &[&[3, 7]],
    ),
    example(
        "D14b",
        "T1.acq(B) T1.wait(c) T1.rel(B) T2.acq(B) T2.signal(c) T2.rel(B) T1.acq(B) T1.wake(c) \
         T1.rel(B)",
        &[],
    ),
    example(
        "D14d",
        "T1.acq(B) T1.r(p) T1.wait(c) T1.rel(B) T2.acq(B) T2.w(p) T2.signal(c) T2.rel(B) \
         T1.acq(B) T1.wake(c) T1.r(p) T1.rel(B)",
        &[],
    ),
    example(
        "D14",
        "T2.acq(A) T2.rel(A) T1.acq(A) T1.acq(B) T1.wait(c) T1.rel(B) T2.acq(B) T2.signal(c) \
         T2.rel(B) T1.acq(B) T1.wake(c) T1.rel(B) T1.rel(A)",
        &[&[1, 10]],
    ),
    // The signal that woke T1 can come too early, and the next one is T2's.
    Example {
        in_order: false,
        ..example(
            "D21",
            "T2.acq(A) T2.rel(A) T1.acq(A) T1.wait(c) T3.signal(c) T2.signal(c) T1.wake(c) T1.rel(A)",
            &[&[1, 7]],
        )
    },
    // The same, but T3 reads what T1 writes before it gives back B.
    example(
        "D21b",
        "T2.acq(A) T2.rel(A) T1.acq(A) T1.acq(B) T1.w(p) T1.wait(c) T1.rel(B) T3.acq(B) T3.r(p) \
         T3.signal(c) T3.rel(B) T2.signal(c) T1.acq(B) T1.wake(c) T1.rel(B) T1.rel(A)",
        &[],
    ),
    // No test depends on what T3 reads, so its signal can come before the wait.
    Example {
        in_order: false,
        ..example(
            "D21b free",
            "T4.branch(b) T2.acq(A) T2.rel(A) T1.acq(A) T1.acq(B) T1.w(p) T1.wait(c) T1.rel(B) \
             T3.acq(B) T3.r(p) T3.signal(c) T3.rel(B) T2.signal(c) T1.acq(B) T1.wake(c) T1.rel(B) \
             T1.rel(A)",
            &[&[2, 14]],
        )
    },
    // T3 tests it, and then it gives the signal only after the write.
    example(
        "D21b tested",
        "T2.acq(A) T2.rel(A) T1.acq(A) T1.acq(B) T1.w(p) T1.wait(c) T1.rel(B) T3.acq(B) T3.r(p) \
         T3.branch(b) T3.signal(c) T3.rel(B) T2.signal(c) T1.acq(B) T1.wake(c) T1.rel(B) T1.rel(A)",
        &[],
    ),
    // Another thread can give the signal, and needs nothing that T1 or T2 have.
    example(
        "D21c",
        "T2.acq(A) T2.rel(A) T2.signal(c) T1.acq(A) T1.wait(c) T2.broadcast(c) T1.wake(c) T1.rel(A) \
         T1.w(x) T3.r(x) T3.signal(c)",
        &[],
    ),
    // The thread that T2 starts later also gives a signal.
    example(
        "D21d",
        "T1.acq(A) T1.wait(c) T3.fork(T2) T2.signal(c) T1.wake(c) T1.rel(A) T3.acq(A) T3.rel(A) \
         T3.fork(T4) T4.signal(c) T2.acq(A)",
        &[],
    ),
    example(
        "D21e",
        "T2.acq(A) T2.rel(A) T2.fork(T4) T4.signal(c) T1.acq(A) T1.wait(c) T2.signal(c) T1.wake(c) \
         T1.rel(A)",
        &[&[1, 8]],
    ),
    // Three threads: a lock, a signal and an end.
    example(
        "D22",
        "T0.fork(T3) T2.wait(c) T3.acq(A) T3.signal(c) T3.rel(A) T2.wake(c) T1.acq(A) T1.join(T2) \
         T1.rel(A)",
        &[&[3, 6, 8]],
    ),
    // Two threads wait for a signal of each other.
    example("D23", "T1.wait(c) T2.signal(c) T2.wait(d) T1.wake(c) T1.signal(d) T2.wake(d)", &[]),
    Example {
        in_order: false,
        ..example(
            "D23b",
            "T1.w(x) T1.wait(c) T2.wait(d) T3.signal(c) T3.signal(d) T1.wake(c) T1.signal(d) T2.wake(d) \
         T2.signal(c)",
            &[&[6, 8]],
        )
    },
    example(
        "D16",
        "T1.acq(A) T1.acq(B) T1.rel(B) T1.rel(A) T1.acq(B) T1.acq(A) T1.rel(A) T1.rel(B) \
         T2.acq(C) T2.rel(C)",
        &[],
    ),
    example(
        "D17",
        "T0.acq(G) T0.fork(T1) T1.acq(A) T1.acq(B) T1.rel(B) T1.rel(A) T0.join(T1) T0.rel(G) \
         T2.acq(G) T2.acq(B) T2.acq(A) T2.rel(A) T2.rel(B) T2.rel(G)",
        &[],
    ),
    example(
        "D17b",
        "T0.acq(A) T0.fork(T1) T1.acq(B) T1.rel(B) T0.join(T1) T0.rel(A) T2.acq(B) T2.acq(A) \
         T2.rel(A) T2.rel(B)",
        &[&[3, 5, 8]],
    ),
    example(
        "D19",
        "T1.acq(A) T1.tacq(B) T1.rel(B) T1.rel(A) T2.acq(B) T2.acq(A) T2.rel(A) T2.rel(B)",
        &[],
    ),
    example(
        "R1",
        "T1.racq(A) T1.racq(B) T1.rrel(B) T1.rrel(A) T2.racq(B) T2.racq(A) T2.rrel(A) \
         T2.rrel(B)",
        &[],
    ),
    example(
        "R2",
        "T1.racq(A) T1.acq(B) T1.rel(B) T1.rrel(A) T2.racq(B) T2.acq(A) T2.rel(A) T2.rrel(B)",
        &[&[2, 6]],
    ),
    example(
        "R3",
        "T1.acq(A) T1.racq(B) T1.rrel(B) T1.rel(A) T2.acq(B) T2.racq(A) T2.rrel(A) T2.rel(B)",
        &[&[2, 6]],
    ),
    example(
        "R4",
        "T1.racq(A) T1.racq(B) T1.rrel(B) T1.rrel(A) T2.racq(B) T2.acq(A) T2.rel(A) \
         T2.rrel(B)",
        &[],
    ),
    example("R5", "T1.racq(A) T1.racq(A) T1.rrel(A) T1.rrel(A) T2.acq(A) T2.rel(A)", &[]),
    example(
        "R6",
        "T1.racq(A) T1.racq(B) T1.rrel(B) T1.rrel(A) T2.racq(B) T2.racq(A) T2.rrel(A) \
         T2.rrel(B) T3.acq(A) T3.rel(A) T4.acq(B) T4.rel(B)",
        &[],
    ),
    example(
        "R7",
        "T1.racq(A) T1.rrel(A) T2.racq(A) T2.rrel(A) T1.racq(A) T1.acq(A) T1.rel(A) \
         T1.rrel(A)",
        &[],
    ),
    example(
        "R8",
        "T1.racq(G) T1.acq(A) T1.acq(B) T1.rel(B) T1.rel(A) T1.rrel(G) T2.racq(G) T2.acq(B) \
         T2.acq(A) T2.rel(A) T2.rel(B) T2.rrel(G)",
        &[&[3, 9]],
    ),
    example(
        "R8b",
        "T1.racq(G) T1.acq(A) T1.acq(B) T1.rel(B) T1.rel(A) T1.rrel(G) T2.racq(G) T2.acq(B) \
         T2.acq(A) T2.rel(A) T2.rel(B) T2.rrel(G) T3.acq(G) T3.rel(G)",
        &[&[3, 9]],
    ),
    example(
        "R9",
        "T1.racq(G) T1.acq(A) T1.acq(B) T1.rel(B) T1.rel(A) T1.rrel(G) T2.acq(G) T2.acq(B) \
         T2.acq(A) T2.rel(A) T2.rel(B) T2.rel(G)",
        &[],
    ),
    example("D18", "T1.acq(A) T2.acq(B) T1.req(B) T2.req(A)", &[&[3, 4]]),
    example("D18b", "T1.acq(A) T2.acq(B) T1.req(B) T2.req(A) T1.exit() T2.exit()", &[&[3, 4]]),
    // The run goes on behind a request: the place of waiting is the acquire, and where nothing
    // follows that takes the lock, nobody knows whether the thread waited.
    example("D18c", "T1.acq(A) T2.acq(B) T1.req(B) T1.w(x) T2.req(A)", &[]),
    example(
        "D18d",
        "T1.req(A) T1.acq(A) T1.req(B) T1.acq(B) T1.rel(B) T1.rel(A) T2.acq(B) T2.req(A)",
        &[&[4, 8]],
    ),
    example("D18e", "T1.racq(A) T2.racq(B) T1.rreq(B) T2.rreq(A)", &[]),
    example("D18f", "T1.racq(A) T2.racq(B) T1.req(B) T2.req(A)", &[&[3, 4]]),
    example("D18g", "T1.acq(A) T2.acq(B) T1.treq(B) T2.req(A)", &[]),
    example("D18h", "T1.acq(A) T1.acq(B) T2.acq(C) T1.req(B) T2.req(A)", &[]),
    // A permit, and a lock.
    example(
        "S1",
        "T1.acq(A) T1.p(s) T1.v(s) T1.rel(A) T2.p(s) T2.acq(A) T2.rel(A) T2.v(s)",
        &[&[2, 6]],
    ),
    // Two permits were taken at a time.
    example(
        "S1b",
        "T3.p(s) T1.acq(A) T1.p(s) T1.v(s) T1.rel(A) T2.p(s) T2.acq(A) T2.rel(A) T2.v(s) T3.v(s)",
        &[],
    ),
    // Who takes a permit and keeps it may come first.
    example(
        "S1c",
        "T1.acq(A) T1.p(s) T1.v(s) T1.rel(A) T2.p(s) T2.acq(A) T2.rel(A) T2.v(s) T3.p(s) T4.p(s)",
        &[&[2, 6]],
    ),
    // Who has given the permit back must come first.
    Example {
        in_order: false,
        ..example(
            "S1d",
            "T2.p(s) T2.acq(A) T2.rel(A) T2.v(s) T1.p(s) T1.v(s) T1.acq(A) T1.p(s) T1.v(s) T1.rel(A)",
            &[&[2, 8]],
        )
    },
    // Two permits: a third thread has one, and asks for the other.
    example(
        "S1e",
        "T3.p(s) T3.p(s) T3.v(s) T3.v(s) T1.acq(A) T1.p(s) T1.v(s) T1.rel(A) T2.p(s) T2.acq(A) \
         T2.rel(A) T2.v(s)",
        &[&[6, 10]],
    ),
    // Who gives the permit needs the lock of the one that waits for it.
    example("S2", "T2.acq(A) T2.rel(A) T2.v(s) T1.acq(A) T1.p(s) T1.rel(A)", &[&[1, 5]]),
    example("S2b", "T2.v(s) T2.acq(A) T2.rel(A) T1.acq(A) T1.p(s) T1.rel(A)", &[]),
    example("S2c", "T3.v(s) T2.acq(A) T2.rel(A) T2.v(s) T1.acq(A) T1.p(s) T1.rel(A)", &[]),
    // Who gives another one has to take it first.
    example(
        "S2d",
        "T2.acq(A) T2.rel(A) T2.p(s) T2.v(s) T1.acq(A) T1.p(s) T1.v(s) T1.rel(A) T3.p(s)",
        &[],
    ),
    // A permit comes from outside, and it cannot be taken away again.
    example(
        "S2e",
        "T2.acq(A) T2.rel(A) T2.v(s) T1.acq(A) T1.w(x) T3.r(x) T3.v(s) T1.p(s) T1.rel(A) \
         T3.acq(A) T3.rel(A) T3.p(s)",
        &[],
    ),
    // Who gives it from outside needs the lock first, as the one of the deadlock does.
    example(
        "S2f",
        "T2.acq(A) T2.rel(A) T2.v(s) T3.acq(A) T3.rel(A) T3.v(s) T1.acq(A) T1.p(s) T1.rel(A)",
        &[&[1, 8], &[4, 8]],
    ),
    // One permit each of two semaphores.
    example("S3", "T1.p(s) T1.p(t) T1.v(t) T1.v(s) T2.p(t) T2.p(s) T2.v(s) T2.v(t)", &[&[2, 6]]),
    example(
        "S3b",
        "T1.p(g) T1.p(s) T1.p(t) T1.v(t) T1.v(s) T1.v(g) T2.p(g) T2.p(t) T2.p(s) T2.v(s) T2.v(t) \
         T2.v(g)",
        &[],
    ),
    // A circle with an end.
    example(
        "S4",
        "T0.fork(T1) T1.p(s) T1.acq(A) T1.rel(A) T1.v(s) T0.p(s) T0.join(T1) T0.v(s)",
        &[&[2, 7]],
    ),
    example(
        "D20",
        "T1.acq(F0) T1.acq(F1) T1.rel(F1) T1.rel(F0) T2.acq(F1) T2.acq(F2) T2.rel(F2) \
         T2.rel(F1) T3.acq(F2) T3.acq(F3) T3.rel(F3) T3.rel(F2) T4.acq(F3) T4.acq(F4) \
         T4.rel(F4) T4.rel(F3) T5.acq(F4) T5.acq(F0) T5.rel(F0) T5.rel(F4)",
        &[&[2, 6, 10, 14, 18]],
    ),
];

/// Examples in which no cycle has to be decided: by what the threads hold, there is none.
const NO_CYCLES: &[&str] = &["D2", "D19", "R1", "R4", "R5", "R6", "R9"];

fn all() -> impl Iterator<Item = &'static Example> {
    EXAMPLES.iter().chain(MEETINGS)
}

/// Returns the examples, and whether they have no cycle to decide.
pub(super) fn traces() -> impl Iterator<Item = (Trace, bool)> {
    all().map(|one| (read(one.text), NO_CYCLES.contains(&one.name)))
}

/// Reads events like `T1.acq(A)`, in the order in which they happened.
pub(super) fn read(text: &str) -> Trace {
    let mut b = TraceBuilder::new();
    let mut threads: BTreeMap<String, (u32, TaskId)> = BTreeMap::new();
    let mut thread = |b: &mut TraceBuilder, name: &str| {
        *threads.entry(name.to_owned()).or_insert_with(|| {
            let handler = b.handler(name, Mailbox::None).expect("room");
            (handler.0, b.initial(handler))
        })
    };
    for event in text.split_whitespace() {
        let (name, rest) = event.split_once('.').expect("a thread");
        let (what, operand) = rest.trim_end_matches(')').split_once('(').expect("an operand");
        let task = thread(&mut b, name).1;
        let (acquire, release) = (EventKind::Acquire, EventKind::Release);
        let (kind, mode) = match what {
            "acq" => (acquire, Mode::EXCLUSIVE),
            "racq" => (acquire, Mode::SHARED),
            "tacq" => (acquire, Mode::TRY_EXCLUSIVE),
            "req" => (EventKind::Request, Mode::EXCLUSIVE),
            "rreq" => (EventKind::Request, Mode::SHARED),
            "treq" => (EventKind::Request, Mode::TRY_EXCLUSIVE),
            "exit" => {
                b.push(task, EventKind::Exit.into(), 0);
                continue;
            }
            "rel" => (release, Mode::EXCLUSIVE),
            "rrel" => (release, Mode::SHARED),
            "fork" | "join" => {
                let kind = if what == "fork" { EventKind::Fork } else { EventKind::Join };
                let other = thread(&mut b, operand).0;
                b.push(task, kind.into(), other);
                continue;
            }
            "r" => {
                b.read(task, operand).expect("room");
                continue;
            }
            "w" => {
                b.write(task, operand).expect("room");
                continue;
            }
            "branch" => {
                let name = b.interner.name("branch").expect("room");
                b.push(task, EventKind::Other.into(), name.0);
                continue;
            }
            "p" | "tp" | "fp" | "v" => {
                let kind = match what {
                    "p" => PermitKind::Waits,
                    "tp" => PermitKind::Takes,
                    "fp" => PermitKind::Fails,
                    _ => PermitKind::Gives,
                };
                Call::Permit(kind).push(&mut b, task, operand, None);
                continue;
            }
            "nrecv" => {
                Call::Recv.push(&mut b, task, operand, Some(None));
                continue;
            }
            "send" | "recv" | "close" | "add" | "done" | "await" | "set" | "get" | "cancel"
            | "cancelled" => {
                let call = match what {
                    "send" => Call::Send,
                    "recv" => Call::Recv,
                    "close" => Call::Close,
                    "add" => Call::Add,
                    "done" => Call::Done,
                    "await" => Call::Wait,
                    "set" => Call::Set,
                    "get" => Call::Get,
                    "cancel" => Call::Cancel,
                    _ => Call::Cancelled,
                };
                call.push(&mut b, task, operand, None);
                continue;
            }
            "barrier" => {
                b.on_condition(task, EventKind::Barrier, operand).expect("room");
                continue;
            }
            "wait" | "wake" | "signal" | "broadcast" => {
                let kind = match what {
                    "wait" => EventKind::Wait,
                    "wake" => EventKind::Wake,
                    "broadcast" => EventKind::Broadcast,
                    _ => EventKind::Signal,
                };
                b.on_condition(task, kind, operand).expect("room");
                continue;
            }
            other => panic!("unknown operation {other}"),
        };
        let lock = b.interner.name(operand).expect("room");
        let lock = b.interner.lock(lock).expect("room");
        b.push(task, Op::new(kind, mode), lock.0);
    }
    b.finish()
}

fn in_order(found: &Deadlocks) -> impl Iterator<Item = bool> {
    found
        .found
        .iter()
        .map(|one| matches!(one.evidence, DeadlockEvidence::Confirmed { in_order: true, .. }))
}

#[test]
fn the_examples_have_their_deadlocks() {
    for example in all() {
        let trace = read(example.text);
        let threads = Threads::new(&trace);
        let naive = deadlocks(&threads, STATES_MAX).expect("few states");
        let least = |requests: &[usize]| {
            let mut requests = requests.to_vec();
            requests.sort_unstable();
            requests
        };
        let cycles: BTreeSet<Vec<usize>> = (naive.cycles.iter())
            .map(|cycle| least(&cycle.iter().map(|event| event + 1).collect::<Vec<usize>>()))
            .collect();
        let wanted: BTreeSet<Vec<usize>> = example.deadlocks.iter().map(|c| least(c)).collect();
        assert_eq!(cycles, wanted, "{}", example.name);
        let found = search(&trace, example.name);
        assert_eq!(shapes(&threads, &found)[0], naive.shapes, "{}", example.name);
        assert!(in_order(&found).all(|is| is == example.in_order), "{}", example.name);
        let silent = NO_CYCLES.contains(&example.name);
        assert!(!silent || found.cycles == 0, "{}: {}", example.name, found.cycles);
    }
}

#[test]
fn many_events_of_one_shape_are_one_deadlock() {
    let [one, two] =
        ["T1.acq(A) T1.acq(B) T1.rel(B) T1.rel(A) ", "T2.acq(B) T2.acq(A) T2.rel(A) T2.rel(B) "];
    let trace = read(&(one.repeat(25) + &two.repeat(25)));
    let found = search(&trace, "one shape");
    assert_eq!((found.found.len(), found.found[0].choices), (1, 625));
}

/// Each thread also holds a lock of its own, so that no two of them count as one.
#[test]
fn many_threads_at_the_same_locks_are_all_listed() {
    let sections = |threads: std::ops::Range<usize>, [outer, inner]: [&str; 2]| -> String {
        let section = |t| {
            format!(
                "T{t}.acq(G{t}) T{t}.acq({outer}) T{t}.acq({inner}) T{t}.rel({inner}) \
                 T{t}.rel({outer}) T{t}.rel(G{t}) "
            )
        };
        threads.map(section).collect()
    };
    let trace = read(&(sections(0..9, ["A", "B"]) + &sections(9..18, ["B", "A"])));
    let found = search(&trace, "eighteen threads");
    assert_eq!((found.cycles, found.found.len(), found.cuts.len()), (81, 81, 0));
}
