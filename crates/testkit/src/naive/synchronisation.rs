//! Section 1: attach, post, fork, join, lock, wake, barrier, atomic.

use super::rules::RuleName;
use super::view::{Edges, View};
use anyorder_trace::{Action, Event, EventId, EventKind};

pub(super) fn edges(view: View<'_>, out: &mut Edges<'_>) {
    attach(view, out);
    post(view, out);
    fork_join(view, out);
    wake(view, out);
    barrier(view, out);
    atomic(view, out);
}

fn attach(view: View<'_>, out: &mut Edges<'_>) {
    for handler in view.handlers() {
        let Some(attach) = view.events().find(|e| e.action() == Action::Attach(handler)) else {
            continue;
        };
        for event in view.events() {
            if let Action::Post(posted) = event.action()
                && view.handler(posted) == handler
                && view.handler(event.task) != handler
            {
                out.add(RuleName::Attach, attach.id, event.id);
            }
        }
    }
}

fn post(view: View<'_>, out: &mut Edges<'_>) {
    for task in view.posted_tasks() {
        out.add(RuleName::Post, view.post(task), view.get(task));
    }
    for event in view.events() {
        if let Action::Cancel(task) = event.action() {
            out.add(RuleName::Cancel, view.post(task), event.id);
        }
    }
}

fn fork_join(view: View<'_>, out: &mut Edges<'_>) {
    for event in view.events() {
        match event.action() {
            Action::Fork(handler) => {
                let first =
                    view.events().find(|e| e.id > event.id && view.handler(e.task) == handler);
                out.add(RuleName::Fork, event.id, first.map(|e| e.id));
            }
            Action::Join(handler) => {
                for earlier in view.events().filter(|e| e.id < event.id) {
                    let is_fork = earlier.action() == Action::Fork(handler);
                    if is_fork || view.handler(earlier.task) == handler {
                        out.add(RuleName::Join, earlier.id, event.id);
                    }
                }
            }
            _ => {}
        }
    }
}

/// The edges of locks from each release to later acquires.
pub(super) fn lock(view: View<'_>, out: &mut Edges<'_>) {
    for release in view.events() {
        let Action::Release(lock, release_mode) = release.action() else { continue };
        for acquire in view.events().filter(|e| e.id > release.id) {
            let Action::Acquire(taken, acquire_mode) = acquire.action() else { continue };
            let shared = release_mode.is_shared() && acquire_mode.is_shared();
            let other = view.handler(release.task) != view.handler(acquire.task);
            if taken == lock && other && !shared {
                out.add(RuleName::Lock, release.id, acquire.id);
            }
        }
    }
}

fn wake(view: View<'_>, out: &mut Edges<'_>) {
    let mut matched: Vec<EventId> = Vec::new();
    for wake in view.events() {
        let Action::Wake(condition) = wake.action() else { continue };
        if let Some(source) = view.refers(wake.id) {
            out.add(RuleName::WakeRefers, source, wake.id);
            matched.push(source);
            continue;
        }
        let wait = view
            .events()
            .filter(|e| {
                e.id < wake.id && e.task == wake.task && e.action() == Action::Wait(condition)
            })
            .last();
        let candidate = view.events().find(|e| {
            let fits = match e.action() {
                Action::Signal(c) => c == condition && !matched.contains(&e.id),
                Action::Broadcast(c) => c == condition,
                _ => false,
            };
            fits && e.id < wake.id && wait.is_none_or(|wait| e.id > wait.id)
        });
        if let Some(source) = candidate {
            out.add(RuleName::WakeMatched, source.id, wake.id);
            matched.push(source.id);
        }
    }
}

fn barrier(view: View<'_>, out: &mut Edges<'_>) {
    for x in view.events().filter(|e| e.kind() == EventKind::Barrier) {
        for y in view.events().filter(|y| y.kind() == EventKind::Barrier && y.id > x.id) {
            if x.operand == y.operand && x.task != y.task {
                out.add(RuleName::Barrier, x.id, y.id);
            }
        }
    }
}

fn atomic(view: View<'_>, out: &mut Edges<'_>) {
    let acquires =
        |e: &Event| matches!(e.kind(), EventKind::Read | EventKind::Rmw) && e.mode().acquires();
    for read in view.events().filter(acquires) {
        let writes = view
            .events()
            .filter(|w| w.id < read.id && w.kind().writes() && w.location() == read.location());
        for write in writes.collect::<Vec<_>>().into_iter().rev() {
            if write.mode().releases() {
                out.add(RuleName::Atomic, write.id, read.id);
            }
            if write.kind() != EventKind::Rmw || !write.mode().is_atomic() {
                break;
            }
        }
    }
}
