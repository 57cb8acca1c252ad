//! Chooses the tasks and handlers of a trace that a page shows.

use super::timeline::Budget;
use anyorder_trace::{EventId, HandlerId, TaskId, Trace};
use std::collections::{BTreeMap, BTreeSet};

/// The choice.
#[derive(Debug)]
pub(super) struct Choice {
    /// The handlers, in the order of the trace.
    pub(super) lanes: Vec<HandlerId>,
    /// The tasks, ordered by their first event.
    pub(super) tasks: Vec<TaskId>,
    /// The number of tasks that ran, shown or not.
    pub(super) tasks_total: usize,
    /// The number of handlers that ran a task.
    pub(super) lanes_total: usize,
    /// Tasks on shown handlers without a box.
    pub(super) merged: Vec<TaskId>,
}

/// Follows the posts from a task back to code that no post started: the task itself first. The
/// chain has at most `max` tasks. A post after its task's first event, as in traces that are not
/// well-formed, is not followed. So each task of the chain begins before the one that it posts, and
/// the chain is finite.
pub(super) fn chain(trace: &Trace, task: TaskId, max: usize) -> Vec<TaskId> {
    let mut chain = vec![task];
    let mut current = task;
    while chain.len() < max {
        let span = trace.span(current);
        if span.post.is_none() || span.post >= span.first {
            break;
        }
        current = trace.event(span.post).task;
        chain.push(current);
    }
    chain
}

/// Chooses the tasks and handlers to show: `involved` first, then the busiest. O(t log t) for `t`
/// tasks.
pub(super) fn choose(trace: &Trace, involved: &BTreeSet<TaskId>, budget: &Budget) -> Choice {
    let handlers = trace.tables().handlers.len();
    let ran: Vec<TaskId> =
        trace.task_ids().filter(|task| !trace.span(*task).first.is_none()).collect();
    let lane_of = |task: TaskId| trace.span(task).handler.some().filter(|h| h.index() < handlers);
    let mut events: BTreeMap<HandlerId, (bool, u64)> = BTreeMap::new();
    for task in &ran {
        let Some(handler) = lane_of(*task) else { continue };
        let entry = events.entry(handler).or_insert((false, 0));
        entry.0 |= involved.contains(task);
        entry.1 += length(trace, *task);
    }
    let lanes_total = events.len();
    let mut lanes: Vec<(HandlerId, (bool, u64))> = events.into_iter().collect();
    lanes.sort_by_key(|(handler, (involved, events))| (!involved, u64::MAX - events, *handler));
    lanes.truncate(budget.lanes_max);
    let shown: BTreeSet<HandlerId> = lanes.into_iter().map(|(handler, _)| handler).collect();
    let mut tasks: Vec<TaskId> = ran
        .iter()
        .copied()
        .filter(|task| lane_of(*task).is_some_and(|handler| shown.contains(&handler)))
        .collect();
    tasks.sort_by_key(|task| (!involved.contains(task), u64::MAX - length(trace, *task), *task));
    let merged = tasks.split_off(budget.tasks_max.min(tasks.len()));
    tasks.sort_by_key(|task| (trace.span(*task).first, *task));
    Choice {
        lanes: shown.into_iter().collect(),
        tasks,
        tasks_total: ran.len(),
        lanes_total,
        merged,
    }
}

/// Returns the number of positions from a task's first event to its last.
fn length(trace: &Trace, task: TaskId) -> u64 {
    let span = trace.span(task);
    u64::from(span.last.0.saturating_sub(span.first.0)) + 1
}

/// Counts the running tasks in each of `buckets` equal parts of the trace. O(tasks + buckets).
pub(super) fn density(trace: &Trace, tasks: &[TaskId], buckets: usize) -> Vec<u32> {
    let bucket = |event: EventId| event.index() * buckets / trace.len().max(1);
    let mut change = vec![0_i64; buckets + 1];
    for task in tasks {
        let span = trace.span(*task);
        change[bucket(span.first)] += 1;
        change[(bucket(span.last) + 1).min(buckets)] -= 1;
    }
    let mut running = 0_i64;
    change
        .into_iter()
        .take(buckets)
        .map(|step| {
            running += step;
            u32::try_from(running).unwrap_or(0)
        })
        .collect()
}
