//! Handlers that begin, exit and wait for one another.

use crate::wellformed::check;
use anyorder_trace::{EventKind, HandlerId, TraceBuilder};

#[test]
fn a_handler_runs_behind_its_fork_and_before_its_join() {
    let on = TraceBuilder::on_handler;
    check(
        |b, ui, io| {
            b.write(b.initial(io), "x").unwrap();
            on(b, b.initial(ui), EventKind::Fork, io);
        },
        &["!event `2` forks handler `io`, which has run before, since event `1`"],
    );
    check(
        |b, ui, io| {
            on(b, b.initial(ui), EventKind::Join, io);
            b.write(b.initial(io), "x").unwrap();
        },
        &["!event `1` joins handler `io`, which goes on until event `2`"],
    );
    // Recorders mark the beginnings and the ends of all threads at the top and at the bottom.
    check(
        |b, ui, io| {
            on(b, b.initial(io), EventKind::Begin, io);
            on(b, b.initial(ui), EventKind::Fork, io);
            on(b, b.initial(io), EventKind::Begin, io);
            on(b, b.initial(ui), EventKind::Join, io);
            on(b, b.initial(io), EventKind::Exit, io);
        },
        &[],
    );
    check(
        |b, ui, io| {
            on(b, b.initial(ui), EventKind::Fork, io);
            on(b, b.initial(io), EventKind::Begin, io);
            on(b, b.initial(io), EventKind::Exit, io);
            on(b, b.initial(ui), EventKind::Join, io);
        },
        &[],
    );
}

#[test]
fn a_wake_follows_a_signal() {
    let on = |b: &mut TraceBuilder, handler: HandlerId, kind: EventKind, name: &str| {
        b.on_condition(b.initial(handler), kind, name).unwrap();
    };
    check(
        |b, ui, io| {
            on(b, io, EventKind::Signal, "c");
            on(b, ui, EventKind::Wake, "c");
            on(b, ui, EventKind::Wake, "c");
            on(b, ui, EventKind::Wake, "d");
        },
        &[
            "event `3` wakes from condition `c`, which nobody signalled",
            "event `4` wakes from condition `d`, which nobody signalled",
        ],
    );
    check(
        |b, ui, io| {
            on(b, io, EventKind::Broadcast, "c");
            on(b, ui, EventKind::Wake, "c");
            on(b, ui, EventKind::Wake, "c");
        },
        &[],
    );
    let refers = |to: u64| {
        move |b: &mut TraceBuilder, ui: HandlerId, io: HandlerId| {
            on(b, io, EventKind::Signal, "c");
            on(b, io, EventKind::Signal, "d");
            on(b, ui, EventKind::Wake, "c");
            b.columns.refers.push(2, to);
        }
    };
    check(refers(0), &[]);
    for wrong in [1, 2, 3, u64::MAX] {
        let expected = format!(
            "!event `3` wakes from condition `c` by event number {wrong}, which is no earlier signal of it"
        );
        check(refers(wrong), &[&expected]);
    }
}
