//! Worked examples of waits at objects and barriers.

use super::examples::{Example, example};

/// `send`, `recv` (`nrecv` of a closed channel) and `close` are of channels; `add`, `done` and
/// `await` of wait groups, `set` and `get` of futures, `cancel` and `cancelled` of contexts.
pub(super) const MEETINGS: &[Example] = &[
    // Who waits at a channel, a wait group, a future or a context, with a lock that the other one
    // takes.
    example("C1", "T2.acq(L) T2.rel(L) T2.send(c) T1.acq(L) T1.recv(c) T1.rel(L)", &[&[1, 5]]),
    example(
        "C1 closed",
        "T1.recv(d) T2.acq(L) T2.rel(L) T2.close(d) T2.send(c) T1.acq(L) T1.recv(c) T1.rel(L)",
        &[&[2, 7]],
    ),
    example(
        "C2",
        "T2.acq(L) T2.rel(L) T1.acq(L) T1.send(c) T2.recv(c) T1.send(c) T1.rel(L) T2.recv(c)",
        &[&[1, 6]],
    ),
    example(
        "C3",
        "T1.add(w) T2.acq(L) T2.rel(L) T2.done(w) T1.acq(L) T1.await(w) T1.rel(L)",
        &[&[2, 6]],
    ),
    // A third thread adds work, and ends it.
    example(
        "C3 more",
        "T1.add(w) T3.add(w) T3.done(w) T2.acq(L) T2.rel(L) T2.done(w) T1.acq(L) T1.await(w) \
         T1.rel(L)",
        &[&[4, 8]],
    ),
    example("C4", "T2.acq(L) T2.rel(L) T2.set(f) T1.acq(L) T1.get(f) T1.rel(L)", &[&[1, 5]]),
    example(
        "C5",
        "T2.acq(L) T2.rel(L) T2.cancel(x) T1.acq(L) T1.cancelled(x) T1.rel(L)",
        &[&[1, 5]],
    ),
    // Who receives a value, and then closes the channel, has that to give; but not where a value
    // can come before.
    example(
        "C6 closed",
        "T3.acq(L) T3.rel(L) T3.send(c) T2.acq(L) T2.rel(L) T2.recv(c) T2.close(c) T1.acq(L) \
         T1.nrecv(c) T1.rel(L)",
        &[&[1, 9], &[4, 9]],
    ),
    example(
        "C6",
        "T3.send(c) T2.acq(L) T2.rel(L) T2.recv(c) T2.close(c) T1.acq(L) T1.nrecv(c) T1.rel(L)",
        &[],
    ),
    example(
        "C6b",
        "T3.send(c) T1.acq(L) T1.recv(c) T1.rel(L) T2.acq(L) T2.rel(L) T2.send(c) T2.recv(c) \
         T2.close(c)",
        &[],
    ),
    // A thread outside sends; the sender comes first by a fork, by a flag; a gate; no lock is held.
    example(
        "C7",
        "T2.acq(L) T2.rel(L) T2.send(c) T3.send(c) T1.acq(L) T1.recv(c) T1.rel(L) T1.recv(c)",
        &[],
    ),
    example("C8", "T2.acq(L) T2.rel(L) T2.fork(T1) T2.send(c) T1.acq(L) T1.recv(c) T1.rel(L)", &[]),
    example(
        "C9",
        "T2.acq(L) T2.w(x) T2.rel(L) T2.send(c) T1.r(x) T1.acq(L) T1.recv(c) T1.rel(L)",
        &[],
    ),
    example(
        "C10",
        "T2.acq(G) T2.acq(L) T2.rel(L) T2.send(c) T2.rel(G) T1.acq(G) T1.acq(L) T1.recv(c) \
         T1.rel(L) T1.rel(G)",
        &[&[1, 8]],
    ),
    example("C11", "T2.acq(L) T2.rel(L) T2.send(c) T1.recv(c) T1.acq(L) T1.rel(L)", &[]),
    // Each waits for the other at a channel; a third one forwards.
    example(
        "C12",
        "T2.acq(L) T2.rel(L) T2.send(d) T3.recv(d) T3.send(c) T1.acq(L) T1.recv(c) T1.rel(L)",
        &[&[1, 4, 7]],
    ),
    // Who waits at a barrier, with a lock that another one takes before it arrives.
    example(
        "B1",
        "T2.acq(L) T2.rel(L) T1.acq(L) T1.barrier(b) T2.barrier(b) T1.rel(L)",
        &[&[1, 4]],
    ),
    // In the second round; the sections of the first one are no request.
    example(
        "B1 twice",
        "T2.acq(L) T2.rel(L) T1.w(x) T1.barrier(b) T2.barrier(b) T2.acq(L) T2.rel(L) T1.acq(L) \
         T1.barrier(b) T2.barrier(b) T1.rel(L)",
        &[&[6, 9]],
    ),
    // It has arrived; nobody holds a lock there; the lock is taken behind the barrier; a flag.
    example(
        "B2",
        "T2.w(x) T1.acq(L) T1.barrier(b) T2.barrier(b) T1.rel(L) T2.acq(L) T2.rel(L)",
        &[],
    ),
    example(
        "B2 twice",
        "T2.w(x) T1.acq(L) T2.barrier(b) T1.barrier(b) T1.rel(L) T2.acq(L) T2.rel(L) T1.w(y) \
         T1.barrier(b) T2.barrier(b)",
        &[],
    ),
    example("B3", "T2.acq(L) T2.rel(L) T1.acq(L) T1.rel(L) T1.barrier(b) T2.barrier(b)", &[]),
    example(
        "B4",
        "T2.acq(L) T2.w(x) T2.rel(L) T1.r(x) T1.acq(L) T1.barrier(b) T2.barrier(b) T1.rel(L)",
        &[],
    ),
    // Who has to pass the barrier first cannot send.
    example(
        "B5",
        "T2.acq(L) T2.rel(L) T2.w(x) T3.w(y) T2.barrier(b) T3.barrier(b) T3.send(c) T2.send(c) \
         T1.acq(L) T1.recv(c) T1.recv(c) T1.rel(L)",
        &[&[1, 10], &[1, 6, 10]],
    ),
    // The fork is the arrival of who has no other.
    example(
        "B6",
        "T2.acq(L) T2.rel(L) T2.fork(T3) T1.acq(L) T1.barrier(b) T3.barrier(b) T1.rel(L)",
        &[&[1, 5]],
    ),
];
