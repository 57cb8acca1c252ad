//! The holders of locks.

use crate::wellformed::{S, X, check, run};
use anyorder_trace::{EventKind, HandlerId, TraceBuilder};

#[test]
fn a_lock_is_released_by_who_holds_it() {
    check(
        |b, ui, io| {
            b.acquire(b.initial(ui), "l", X).unwrap();
            b.release(b.initial(io), "l", X).unwrap();
            b.release(b.initial(ui), "l", X).unwrap();
        },
        &["!event `2` releases lock `l`, which handler `io` does not hold; handler `ui` has it"],
    );
    check(
        |b, ui, _| {
            b.acquire(b.initial(ui), "l", X).unwrap();
            b.release(b.initial(ui), "l", X).unwrap();
            b.release(b.initial(ui), "l", X).unwrap();
        },
        &["!event `3` releases lock `l`, which handler `ui` does not hold"],
    );
    // Taken twice, released twice; and by another task of the same handler.
    check(
        |b, ui, io| {
            b.acquire(b.initial(ui), "l", X).unwrap();
            b.acquire(b.initial(ui), "l", X).unwrap();
            let task = run(b, io, ui, "t");
            b.release(task, "l", X).unwrap();
            b.release(task, "l", X).unwrap();
        },
        &[],
    );
}

#[test]
fn shared_locks_are_counted_by_handler() {
    check(
        |b, ui, io| {
            b.acquire(b.initial(ui), "l", S).unwrap();
            b.acquire(b.initial(io), "l", S).unwrap();
            b.release(b.initial(ui), "l", S).unwrap();
            b.release(b.initial(io), "l", S).unwrap();
        },
        &[],
    );
    check(
        |b, ui, io| {
            b.acquire(b.initial(ui), "l", S).unwrap();
            b.release(b.initial(ui), "l", S).unwrap();
            b.release(b.initial(io), "l", S).unwrap();
        },
        &["!event `3` releases lock `l`, which handler `io` does not hold"],
    );
    // Recorders that do not record the mode of a release.
    check(
        |b, ui, _| {
            b.acquire(b.initial(ui), "l", S).unwrap();
            b.release(b.initial(ui), "l", X).unwrap();
        },
        &[],
    );
}

#[test]
fn a_lock_is_held_by_one_handler_at_a_time() {
    check(
        |b, ui, io| {
            b.acquire(b.initial(ui), "l", X).unwrap();
            b.acquire(b.initial(io), "l", X).unwrap();
        },
        &["event `2` takes lock `l` while handler `ui` has it"],
    );
    check(
        |b, ui, io| {
            b.acquire(b.initial(ui), "l", S).unwrap();
            b.acquire(b.initial(io), "l", X).unwrap();
        },
        &["event `2` takes lock `l` while a reader on another handler has it"],
    );
    check(
        |b, ui, io| {
            b.acquire(b.initial(ui), "l", X).unwrap();
            b.release(b.initial(ui), "l", X).unwrap();
            b.acquire(b.initial(io), "l", X).unwrap();
            b.acquire(b.initial(io), "l", S).unwrap();
            b.acquire(b.initial(ui), "other", X).unwrap();
        },
        &[],
    );
}

#[test]
fn a_destroyed_lock_is_held_by_nobody() {
    let destroy = |b: &mut TraceBuilder, ui: HandlerId, lock: u32| {
        b.push(b.initial(ui), EventKind::Destroy.into(), lock);
    };
    check(
        |b, ui, io| {
            b.acquire(b.initial(io), "l", X).unwrap();
            destroy(b, ui, 0);
            b.acquire(b.initial(ui), "l", X).unwrap();
            b.release(b.initial(io), "l", X).unwrap();
        },
        &["!event `4` releases lock `l`, which handler `io` does not hold; handler `ui` has it"],
    );
    check(
        |b, ui, io| {
            b.acquire(b.initial(io), "l", X).unwrap();
            b.acquire(b.initial(ui), "other", X).unwrap();
            destroy(b, ui, 1);
            b.release(b.initial(io), "l", X).unwrap();
        },
        &[],
    );
}
