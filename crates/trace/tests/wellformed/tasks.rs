//! The lives of tasks.

use crate::wellformed::{check, run};
use anyorder_trace::{
    EventKind, HandlerId, Mailbox, Position, TaskDef, TaskId, TaskKind, TraceBuilder,
};

#[test]
fn a_task_is_posted_before_it_begins() {
    check(
        |b, ui, _| {
            let task = b.task("t", ui).unwrap();
            b.get(task).unwrap();
        },
        &["!event `1` begins task `t`, which was never posted"],
    );
    check(
        |b, ui, io| {
            let task = b.task("t", ui).unwrap();
            b.get(task).unwrap();
            b.post(b.initial(io), task).unwrap();
        },
        &["!event `1` begins task `t` before its post, event `2`"],
    );
    check(
        |b, ui, io| {
            run(b, io, ui, "t");
        },
        &[],
    );
}

#[test]
fn a_task_is_posted_once_and_begins_once() {
    check(
        |b, ui, io| {
            let task = b.task("t", ui).unwrap();
            b.post(b.initial(io), task).unwrap();
            b.post(b.initial(io), task).unwrap();
        },
        &["!event `2` posts task `t` again, after event `1`"],
    );
    check(
        |b, ui, io| {
            let task = run(b, io, ui, "t");
            b.get(task).unwrap();
        },
        &["!event `3` begins task `t` again, after event `2`"],
    );
    check(
        |b, ui, io| {
            let task = run(b, io, ui, "t");
            b.end(task).unwrap();
            run(b, io, ui, "t");
        },
        &[],
    );
    check(
        |b, ui, _| {
            b.push(b.initial(ui), EventKind::Get.into(), 0);
        },
        &["!event `1` begins `ui`, which is not posted"],
    );
}

#[test]
fn a_task_begins_with_its_get_and_ends_with_its_end() {
    check(
        |b, ui, io| {
            let task = b.task("t", ui).unwrap();
            b.post(b.initial(io), task).unwrap();
            b.write(task, "x").unwrap();
            b.get(task).unwrap();
        },
        &["!event `2` belongs to task `t` before its get"],
    );
    check(
        |b, ui, io| {
            let task = run(b, io, ui, "t");
            b.end(task).unwrap();
            b.write(task, "x").unwrap();
            b.write(task, "x").unwrap();
        },
        &["!event `4` comes behind the end of task `t`, event `3`"],
    );
    check(
        |b, ui, io| {
            let task = run(b, io, ui, "t");
            b.write(task, "x").unwrap();
            b.end(task).unwrap();
            b.write(b.initial(ui), "x").unwrap();
        },
        &[],
    );
}

#[test]
fn a_task_is_on_one_handler() {
    check(
        |b, ui, io| {
            let task = b.task("t", ui).unwrap();
            b.post(b.initial(io), task).unwrap();
            b.push(task, EventKind::Get.into(), io.0);
        },
        &["!event `2` begins task `t` on handler `io`, though it is one of `ui`"],
    );
    // Only the get of this task gives its handler.
    check(
        |b, _, io| {
            let task = b.task("t", HandlerId::NONE).unwrap();
            b.post(b.initial(io), task).unwrap();
            b.push(task, EventKind::Get.into(), io.0);
        },
        &[],
    );
}

#[test]
fn a_handler_runs_one_task_at_a_time() {
    check(
        |b, ui, io| {
            let first = run(b, io, ui, "first");
            run(b, io, ui, "second");
            b.end(first).unwrap();
        },
        &["!event `4` begins task `second` while handler `ui` runs task `first`"],
    );
    // On another handler; and after a task without an end of its own.
    check(
        |b, ui, io| {
            let first = run(b, io, ui, "first");
            let other = run(b, ui, io, "other");
            b.end(first).unwrap();
            run(b, io, ui, "second");
            b.write(other, "x").unwrap();
            run(b, io, ui, "third");
        },
        &[],
    );
}

#[test]
fn a_cancelled_task_does_not_begin() {
    let cancel = |b: &mut TraceBuilder, by: HandlerId, task: TaskId| {
        b.push(b.initial(by), EventKind::Cancel.into(), task.0);
    };
    check(
        |b, ui, io| {
            let task = b.task("t", ui).unwrap();
            b.post(b.initial(io), task).unwrap();
            cancel(b, io, task);
            b.get(task).unwrap();
        },
        &["!event `3` begins task `t`, cancelled by event `2`"],
    );
    check(
        |b, ui, io| {
            let task = b.task("t", ui).unwrap();
            b.post(b.initial(io), task).unwrap();
            cancel(b, io, task);
            let late = run(b, io, ui, "late");
            cancel(b, io, late);
        },
        &[],
    );
}

/// Posts two tasks from `io`, and begins them in the other order.
fn reversed(b: &mut TraceBuilder, io: HandlerId, first: TaskId, second: TaskId) {
    b.post(b.initial(io), first).unwrap();
    b.post(b.initial(io), second).unwrap();
    for task in [second, first] {
        b.get(task).unwrap();
        b.end(task).unwrap();
    }
}

#[test]
fn a_mailbox_keeps_the_order_of_a_poster() {
    let said =
        ["event `5` begins task `a` behind one that the same poster posted later, with event `2`"];
    for (mailbox, expected) in
        [(Mailbox::Fifo, &said[..]), (Mailbox::Delayed, &said[..]), (Mailbox::Bag, &[])]
    {
        check(
            |b, ui, io| {
                b.interner.tables.handlers[ui.index()].mailbox = mailbox;
                let (first, second) = (b.task("a", ui).unwrap(), b.task("b", ui).unwrap());
                reversed(b, io, first, second);
            },
            expected,
        );
    }
    // A delay, a post to the front, another poster: no order is promised.
    check(
        |b, ui, io| {
            let (first, second) = (b.delayed_task("a", ui, 5).unwrap(), b.task("b", ui).unwrap());
            reversed(b, io, first, second);
            let name = b.interner.name("front").unwrap();
            let front = b
                .interner
                .push_task(TaskDef {
                    name,
                    kind: TaskKind::Posted,
                    handler: ui,
                    delay: 0,
                    position: Position::Front,
                })
                .unwrap();
            let back = b.task("back", ui).unwrap();
            reversed(b, io, back, front);
            let (mine, other) = (b.task("mine", ui).unwrap(), b.task("other", ui).unwrap());
            b.post(b.initial(io), mine).unwrap();
            b.post(b.initial(ui), other).unwrap();
            b.get(other).unwrap();
            b.get(mine).unwrap();
        },
        &[],
    );
}
