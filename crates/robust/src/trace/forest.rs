//! The forest of invocations of a trace, and the events at its roots.
//!
//! An *invocation* is one run of code: a posted task, the code of a thread, a burst of the
//! environment. A looper's own code is cut: one invocation up to its loop point, and one for each
//! piece between two of its tasks. The parent of an invocation is the one that posted it or forked
//! it. Without a parent, it is the root of an *event*:
//!
//! - a task without a recorded post, and a task that the environment posted or forked: a handler
//!   that is not tracked, such as a binder thread of Android;
//! - the code of a thread that was alive from the start;
//! - each piece of a looper's code between its tasks. A native callback runs there, such as the
//!   delivery of an input: it continues no other work;
//! - each burst of the environment.
//!
//! A parent posts or forks before its child begins. So parents come first in the order of first
//! events, and there is no cycle. In a trace that is not well-formed, a post or fork that comes too
//! late counts as none.

use anyorder_system::{Control, Stopped};
use anyorder_trace::{EventId, EventKind, HandlerId, TaskId, TaskKind, Trace};

/// How many steps are taken between two polls.
pub(super) const STRIDE: usize = 1 << 16;

/// An invocation: its position in [`Forest::invocations`].
pub type InvocationIndex = u32;

/// The absent index.
pub(super) const NONE: u32 = u32::MAX;

/// One run of code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Invocation {
    /// Its task.
    pub task: TaskId,
    /// The handler that runs it.
    pub handler: HandlerId,
    /// Its first event.
    pub first: EventId,
    /// The post or fork that created it; `NONE` for the root of an event.
    pub created: EventId,
    /// The invocation that created it; `u32::MAX` for the root of an event.
    pub parent: InvocationIndex,
    /// The event that it belongs to: its position in the order of first events.
    pub event: u32,
}

/// All invocations and events of a trace.
#[derive(Clone, Debug, Default)]
pub struct Forest {
    /// The invocations, sorted by task, then by first event.
    pub invocations: Vec<Invocation>,
    /// The invocations of each task, as a range.
    of_task: Vec<(u32, u32)>,
    /// All invocations in depth-first preorder, children in the order of their creation. Those of
    /// one event are consecutive, its root first; events come in the order of their first events.
    preorder: Vec<InvocationIndex>,
    /// By event: its first position in `preorder`, and behind the last one the total.
    starts: Vec<u32>,
}

impl Forest {
    /// Finds the invocations and the events of a trace. Time: linear, and n log n in the tasks.
    ///
    /// # Errors
    ///
    /// Fails if it was stopped.
    pub fn new(trace: &Trace, control: &Control<'_>) -> Result<Forest, Stopped> {
        let mut forest = Forest::default();
        // Each task has an invocation, and entries in the tables of its order.
        control.check_memory(0, trace.tasks_count() as u64 * 64)?;
        forest.cut(trace, control)?;
        forest.find_parents(trace, control)?;
        forest.order(control)?;
        Ok(forest)
    }

    /// Returns the number of events.
    #[must_use]
    pub fn events_count(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Returns the invocations of an event in depth-first preorder: its root first.
    ///
    /// # Panics
    ///
    /// Panics if there is no such event.
    #[must_use]
    pub fn of_event(&self, event: u32) -> &[InvocationIndex] {
        let at = |i: usize| self.starts[i] as usize;
        &self.preorder[at(event as usize)..at(event as usize + 1)]
    }

    /// Returns the invocation at the root of an event.
    ///
    /// # Panics
    ///
    /// Panics if there is no such event.
    #[must_use]
    pub fn root(&self, event: u32) -> &Invocation {
        &self.invocations[self.of_event(event)[0] as usize]
    }

    /// Returns the invocation of an event of the trace. Logarithmic in the pieces of its task.
    #[inline]
    #[must_use]
    pub fn invocation_of(&self, task: TaskId, event: EventId) -> InvocationIndex {
        let (start, end) = self.of_task[task.index()];
        if end - start == 1 {
            return start;
        }
        let pieces = &self.invocations[start as usize..end as usize];
        start + (pieces.partition_point(|piece| piece.first <= event) as u32).saturating_sub(1)
    }

    /// Makes the invocations, without parents and events.
    fn cut(&mut self, trace: &Trace, control: &Control<'_>) -> Result<(), Stopped> {
        let loopers = Loopers::new(trace, control)?;
        let mut pieces = loopers.pieces(trace, control)?;
        pieces.sort_unstable();
        let mut pieces = pieces.into_iter().peekable();
        self.of_task.reserve_exact(trace.tasks_count());
        for task in trace.task_ids() {
            if task.index() % STRIDE == 0 {
                control.check()?;
            }
            let span = trace.span(task);
            let start = self.invocations.len() as u32;
            let mut push = |first: EventId| {
                self.invocations.push(Invocation {
                    task,
                    handler: span.handler,
                    first,
                    created: EventId::NONE,
                    parent: NONE,
                    event: NONE,
                });
            };
            if let Some(first) = span.first.some() {
                push(first);
                while let Some((_, piece)) = pieces.next_if(|(of, _)| *of == task) {
                    if piece > first {
                        push(piece);
                    }
                }
            }
            self.of_task.push((start, self.invocations.len() as u32));
        }
        Ok(())
    }

    /// Finds the parent of each invocation.
    fn find_parents(&mut self, trace: &Trace, control: &Control<'_>) -> Result<(), Stopped> {
        let tables = trace.tables();
        // The initial task of each handler.
        let mut initial = vec![TaskId::NONE; tables.handlers.len()];
        for task in trace.task_ids() {
            let def = &tables.tasks[task.index()];
            if def.kind == TaskKind::Initial
                && let Some(slot) = initial.get_mut(def.handler.index())
            {
                *slot = task;
            }
        }
        let columns = trace.columns();
        for row in 0..trace.len() {
            if row % STRIDE == 0 {
                control.check()?;
            }
            let child = match columns.ops[row].kind() {
                EventKind::Post => TaskId(columns.operands[row]),
                EventKind::Fork => {
                    let forked = initial.get(columns.operands[row] as usize);
                    forked.copied().unwrap_or(TaskId::NONE)
                }
                _ => continue,
            };
            let (task, event) = (columns.tasks[row], EventId(row as u32));
            let Some(&(start, end)) = self.of_task.get(child.index()) else { continue };
            let handler = trace.span(task).handler;
            let tracked = tables.handlers.get(handler.index()).is_some_and(|h| !h.untracked);
            let by_burst = tables.tasks[task.index()].kind == TaskKind::Burst;
            if start == end || !tracked || by_burst {
                continue;
            }
            let parent = self.invocation_of(task, event);
            let invocation = &mut self.invocations[start as usize];
            if invocation.created.is_none() && event < invocation.first {
                invocation.created = event;
                invocation.parent = parent;
            }
        }
        Ok(())
    }

    /// Numbers the events, and puts their invocations into preorder.
    fn order(&mut self, control: &Control<'_>) -> Result<(), Stopped> {
        control.check()?;
        let count = self.invocations.len();
        let mut by_first: Vec<InvocationIndex> = (0..count as u32).collect();
        by_first.sort_unstable_by_key(|i| self.invocations[*i as usize].first);
        control.check()?;
        // Children are linked last to first, so that a stack pops them first to last.
        let mut created: Vec<InvocationIndex> =
            (0..count as u32).filter(|i| self.invocations[*i as usize].parent != NONE).collect();
        created.sort_unstable_by_key(|i| self.invocations[*i as usize].created);
        let mut last_child = vec![NONE; count];
        let mut earlier_sibling = vec![NONE; count];
        for child in created {
            let parent = self.invocations[child as usize].parent as usize;
            earlier_sibling[child as usize] = last_child[parent];
            last_child[parent] = child;
        }
        control.check()?;
        let mut stack = Vec::new();
        for root in by_first {
            if self.invocations[root as usize].parent != NONE {
                continue;
            }
            let event = self.starts.len() as u32;
            self.starts.push(self.preorder.len() as u32);
            stack.push(root);
            while let Some(next) = stack.pop() {
                self.invocations[next as usize].event = event;
                self.preorder.push(next);
                let mut child = last_child[next as usize];
                while child != NONE {
                    stack.push(child);
                    child = earlier_sibling[child as usize];
                }
            }
        }
        self.starts.push(self.preorder.len() as u32);
        Ok(())
    }
}

/// The handlers that run posted tasks, with their loop points.
struct Loopers {
    /// By handler: whether it runs a posted task.
    serves: Vec<bool>,
    /// By handler: its first `loop` event, or else its last initial event before its first `get`;
    /// `NONE` without either.
    points: Vec<EventId>,
}

impl Loopers {
    fn new(trace: &Trace, control: &Control<'_>) -> Result<Loopers, Stopped> {
        let handlers = trace.tables().handlers.len();
        let mut serves = vec![false; handlers];
        let mut last_initial = vec![EventId::NONE; handlers];
        let mut before_get = vec![EventId::NONE; handlers];
        let mut loops = vec![EventId::NONE; handlers];
        for event in trace.events() {
            if event.id.index() % STRIDE == 0 {
                control.check()?;
            }
            let handler = trace.span(event.task).handler.index();
            if handler >= handlers {
                continue;
            }
            if event.kind() == EventKind::Get && !serves[handler] {
                serves[handler] = true;
                before_get[handler] = last_initial[handler];
            }
            if trace.tables().tasks[event.task.index()].kind == TaskKind::Initial {
                last_initial[handler] = event.id;
                if event.kind() == EventKind::Loop && loops[handler].is_none() {
                    loops[handler] = event.id;
                }
            }
        }
        let points =
            loops.into_iter().zip(before_get).map(|(at, before)| at.some().unwrap_or(before));
        Ok(Loopers { serves, points: points.collect() })
    }

    /// Returns the first events of the pieces of loopers' code behind their loop points.
    fn pieces(
        &self,
        trace: &Trace,
        control: &Control<'_>,
    ) -> Result<Vec<(TaskId, EventId)>, Stopped> {
        let mut pieces = Vec::new();
        // By handler: whether a task began since the current piece did.
        let mut ended = vec![true; self.serves.len()];
        for event in trace.events() {
            if event.id.index() % STRIDE == 0 {
                control.check()?;
            }
            let handler = trace.span(event.task).handler.index();
            if handler >= self.serves.len() || !self.serves[handler] {
                continue;
            }
            if event.kind() == EventKind::Get {
                ended[handler] = true;
            }
            let point = self.points[handler];
            let behind = point.is_none() || event.id > point;
            let own = trace.tables().tasks[event.task.index()].kind == TaskKind::Initial;
            if own && behind && std::mem::replace(&mut ended[handler], false) {
                pieces.push((event.task, event.id));
            }
        }
        Ok(pieces)
    }
}
