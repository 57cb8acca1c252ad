//! Section 6: reads that only guard.

use super::view::View;
use anyorder_trace::{EventId, EventKind, LocationId, SiteId, TaskId, TaskKind, Trace};

/// Returns whether the race of two accesses is on a read that only guards.
#[must_use]
pub fn only_guards(trace: &Trace, a: EventId, b: EventId) -> bool {
    is_guard(trace, a, b) || is_guard(trace, b, a)
}

fn is_guard(trace: &Trace, read: EventId, write: EventId) -> bool {
    let (r, w) = (trace.event(read), trace.event(write));
    let Some(location) = r.location().filter(|at| w.location() == Some(*at)) else { return false };
    let one_handler = trace.handler_of(read) == trace.handler_of(write);
    let posted = trace.tables().tasks[r.task.index()].kind == TaskKind::Posted;
    if !posted || !one_handler || r.kind() != EventKind::Read || !w.kind().writes() {
        return false;
    }
    let Some(code) = code(trace, r.task, location) else { return false };
    let of_code = |task: &TaskId| code_of(trace, *task, location) == Some(code.clone());
    let tasks: Vec<TaskId> = trace.task_ids().filter(of_code).collect();
    only_guard(trace, location, &tasks)
}

type Code = (SiteId, String);

fn first_read(trace: &Trace, task: TaskId, location: LocationId) -> Option<EventId> {
    let reads = |e: &anyorder_trace::Event| {
        e.task == task && e.kind() == EventKind::Read && e.location() == Some(location)
    };
    trace.events().find(reads).map(|e| e.id)
}

fn code(trace: &Trace, task: TaskId, location: LocationId) -> Option<Code> {
    let site = trace.event(first_read(trace, task, location)?).site;
    let name: String = trace.task_name(task).chars().filter(|c| !c.is_ascii_digit()).collect();
    Some(if site == SiteId(0) { (site, name) } else { (site, String::new()) })
}

fn code_of(trace: &Trace, task: TaskId, location: LocationId) -> Option<Code> {
    let posted = trace.tables().tasks[task.index()].kind == TaskKind::Posted;
    if posted { code(trace, task, location) } else { None }
}

fn only_guard(trace: &Trace, location: LocationId, tasks: &[TaskId]) -> bool {
    let view = View { trace };
    let of = |task: TaskId| view.events().filter(move |e| e.task == task);
    let effect = |kind: EventKind| {
        use EventKind::{
            Acquire, Alloc, Begin, Choice, End, Exit, Get, Read, Refused, Release, Request, Return,
            Trigger,
        };
        let none =
            [Read, Get, Begin, End, Exit, Acquire, Release, Refused, Request, Return, Choice];
        !none.contains(&kind) && kind != Trigger && kind != Alloc
    };
    let in_task = [EventKind::Write, EventKind::Rmw, EventKind::Invoke];
    let (mut late_ones, mut acting) = (0, 0);
    for &task in tasks {
        let read = first_read(trace, task, location).expect("it reads the location");
        let Some((request, link)) = request(view, task) else { return false };
        let writes =
            |e: &anyorder_trace::Event| e.kind().writes() && e.location() == Some(location);
        let requested = of(request).any(|e| writes(&e) && e.id < link);
        let effects: Vec<_> = of(task).filter(|e| effect(e.kind())).collect();
        if !requested || of(task).any(|e| writes(&e)) || effects.iter().any(|e| e.id < read) {
            return false;
        }
        let last = view.events().filter(|e| writes(e) && e.id < read).last();
        if last.is_none_or(|write| write.task != request) {
            let mut reads = of(task).filter(|e| e.kind() == EventKind::Read);
            let reads_more = reads.any(|e| e.id > read && e.location() != Some(location));
            if !effects.is_empty() || reads_more {
                return false;
            }
            late_ones += 1;
        } else {
            if effects.iter().any(|e| !in_task.contains(&e.kind())) {
                return false;
            }
            acting += u32::from(!effects.is_empty());
        }
    }
    late_ones > 0 && acting > 0
}

/// The nearest task of the handler on the chain of posts and forks, and its post or fork.
fn request(view: View<'_>, task: TaskId) -> Option<(TaskId, EventId)> {
    let handler = view.handler(task);
    let mut at = task;
    for _ in 0..view.trace.len() {
        let of = view.handler(at);
        let forks = |e: &anyorder_trace::Event| e.kind() == EventKind::Fork && e.operand == of.0;
        let link = view.post(at).or_else(|| view.events().find(forks).map(|e| e.id))?;
        at = view.trace.event(link).task;
        if view.handler(at) == handler {
            return Some((at, link));
        }
    }
    None
}
