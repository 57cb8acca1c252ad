//! Section 1: program order and the loop point.

use super::rules::{RuleName, RuleSet};
use super::view::{Edges, View};
use anyorder_trace::{EventId, EventKind, HandlerId, TaskKind};

pub(super) fn edges(view: View<'_>, out: &mut Edges<'_>) {
    let threads = out.rules.set == RuleSet::Threads;
    for task in view.trace.task_ids() {
        let own = match view.kind(task) {
            TaskKind::Posted => !threads,
            TaskKind::Burst => true,
            TaskKind::Initial => false,
        };
        if own {
            let events: Vec<EventId> =
                view.events().filter(|e| e.task == task).map(|e| e.id).collect();
            out.chain(RuleName::ProgramOrder, &events);
        }
    }
    for handler in view.handlers() {
        if threads {
            let kinds = [TaskKind::Initial, TaskKind::Posted];
            out.chain(RuleName::ProgramOrder, &view.events_of(handler, &kinds));
        } else {
            thread_code(view, handler, out);
        }
    }
}

/// The thread code of one handler, cut into pieces by the tasks it runs.
fn thread_code(view: View<'_>, handler: HandlerId, out: &mut Edges<'_>) {
    let code = view.events_of(handler, &[TaskKind::Initial]);
    let gets: Vec<EventId> = view
        .posted_tasks()
        .into_iter()
        .filter(|m| view.handler(*m) == handler)
        .filter_map(|m| view.get(m))
        .collect();
    let Some(first_get) = gets.iter().copied().min() else {
        out.chain(RuleName::ProgramOrder, &code);
        return;
    };
    let loop_point =
        loop_event(view, handler).or_else(|| code.iter().copied().filter(|e| *e < first_get).max());
    let (before, behind): (Vec<EventId>, Vec<EventId>) =
        code.into_iter().partition(|e| Some(*e) <= loop_point);
    out.chain(RuleName::ProgramOrder, &before);
    for (i, event) in behind.iter().enumerate() {
        let starts_piece = i == 0 || gets.iter().any(|get| behind[i - 1] < *get && *get < *event);
        let from = if starts_piece { loop_point } else { Some(behind[i - 1]) };
        out.add(RuleName::ProgramOrder, from, *event);
    }
    for get in gets {
        out.add(RuleName::Loop, loop_point, get);
    }
}

/// The pieces of a handler's thread code: everything up to the loop point, and each piece after it.
/// One piece if it runs no posted task.
pub(super) fn pieces(view: View<'_>, handler: HandlerId) -> Vec<Vec<EventId>> {
    let code = view.events_of(handler, &[TaskKind::Initial]);
    let tasks = view.posted_tasks().into_iter().filter(|m| view.handler(*m) == handler);
    let gets: Vec<EventId> = tasks.filter_map(|m| view.get(m)).collect();
    let Some(first_get) = gets.iter().copied().min() else { return vec![code] };
    let loop_point =
        loop_event(view, handler).or_else(|| code.iter().copied().filter(|e| *e < first_get).max());
    let (before, behind): (Vec<EventId>, Vec<EventId>) =
        code.into_iter().partition(|e| Some(*e) <= loop_point);
    let mut pieces = vec![before];
    for (i, event) in behind.iter().enumerate() {
        let starts = i == 0 || gets.iter().any(|get| behind[i - 1] < *get && *get < *event);
        match pieces.last_mut().filter(|_| !starts) {
            Some(piece) => piece.push(*event),
            None => pieces.push(vec![*event]),
        }
    }
    pieces
}

/// The first `loop` event in the handler's thread code.
pub(super) fn loop_event(view: View<'_>, handler: HandlerId) -> Option<EventId> {
    view.events_of(handler, &[TaskKind::Initial])
        .into_iter()
        .find(|e| view.trace.event(*e).kind() == EventKind::Loop)
}
