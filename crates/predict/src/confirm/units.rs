//! Event-driven traces: the units that handlers run without interruption, and the required
//! predecessors of each.
//!
//! A *unit* is a posted task, a burst, or a piece of thread code between two tasks of its handler.
//! `docs/happens-before.md`, section 1, defines thread code, loop points and enabling.

use super::chains::{HandlerChains, Link, NONE};
use super::components::is_of_component;
use anyorder_trace::{
    Event, EventId, EventKind, HandlerId, Mailbox, Position, TaskId, TaskKind, Trace,
};
use std::collections::{HashMap, HashSet};

/// The units of a trace.
#[derive(Clone, Debug, Default)]
pub(super) struct Units {
    /// For each event, its unit.
    of: Vec<u32>,
    /// For each unit: its handler if that runs one unit at a time, and its last event.
    handler: Vec<u32>,
    last: Vec<u32>,
    loop_points: Vec<u32>,
    attaches: HashMap<u32, u32>,
    /// For each task, the events that enabled the inputs that caused it.
    enables: HashMap<u32, Vec<u32>>,
    triggers: HashMap<u32, u32>,
    /// During the pass, for each handler: its units, forks and joins, and its last thread code.
    handlers: HandlerChains,
    code: Vec<u32>,
    /// By unit and handler: the last post from the unit to the handler.
    posts: HashMap<(u32, u32), TaskId>,
    /// By task: an earlier task that the same unit posted and that precedes it.
    ahead: HashMap<u32, TaskId>,
    cancelled: HashSet<u32>,
}

/// Returns the `get` of a task that was posted and has begun.
pub(super) fn get_of(trace: &Trace, task: TaskId) -> Option<u32> {
    if task.index() >= trace.tasks_count() || !trace.ran_from_mailbox(task) {
        return None;
    }
    trace.span(task).get.some().map(|get| get.0)
}

/// Returns the `post` of a task that was posted and has begun.
pub(super) fn post_of(trace: &Trace, task: TaskId) -> Option<u32> {
    get_of(trace, task)?;
    trace.span(task).post.some().map(|post| post.0)
}

/// Returns whether the fifo rule puts `first` before `second`, if `first` is posted earlier and
/// both are pending. A witness may violate the rule if the recorded run did.
pub(super) fn goes_first(trace: &Trace, first: TaskId, second: TaskId) -> bool {
    let tasks = &trace.tables().tasks;
    let (one, two) = (tasks[first.index()], tasks[second.index()]);
    let in_time = one.delay == 0 || (two.delay != 0 && one.delay <= two.delay);
    let posted_in_order = post_of(trace, first) < post_of(trace, second);
    let ran_otherwise = posted_in_order && get_of(trace, first) > get_of(trace, second);
    two.position == Position::Back && in_time && !ran_otherwise
}

/// Returns the handler of a mailbox whose tasks wait for one another.
pub(super) fn mailbox_of(trace: &Trace, task: TaskId) -> Option<HandlerId> {
    let handler = trace.span(task).handler.some()?;
    let mailbox = trace.tables().handlers.get(handler.index())?.mailbox;
    (mailbox != Mailbox::Bag).then_some(handler)
}

impl Units {
    /// Finds the units of a trace in two passes. With `components`, inputs of components have rules
    /// of their own.
    pub(super) fn new(trace: &Trace, components: bool) -> Units {
        let handlers = trace.tables().handlers.len();
        let mut units = Units {
            loop_points: vec![NONE; handlers],
            handlers: HandlerChains::new(handlers),
            code: vec![NONE; handlers],
            ..Units::default()
        };
        units.find_points(trace, components);
        units.number(trace);
        units
    }

    fn is_code(trace: &Trace, event: Event) -> Option<usize> {
        let kind = trace.tables().tasks[event.task.index()].kind;
        let handler = trace.span(event.task).handler.some()?.index();
        (kind == TaskKind::Initial).then_some(handler)
    }

    fn find_points(&mut self, trace: &Trace, components: bool) {
        let handlers = self.loop_points.len();
        let (mut loops, mut last) = (vec![NONE; handlers], vec![NONE; handlers]);
        let mut before_get = vec![None; handlers];
        let mut switched: HashMap<u32, Option<u32>> = HashMap::new();
        for event in trace.events() {
            let id = event.id.0;
            if get_of(trace, event.task) == Some(id)
                && let Some(handler) = trace.span(event.task).handler.some()
                && let Some(before) = before_get.get_mut(handler.index())
            {
                before.get_or_insert(last[handler.index()]);
            }
            if let Some(handler) = Units::is_code(trace, event)
                && handler < handlers
            {
                last[handler] = id;
                if event.kind() == EventKind::Loop && loops[handler] == NONE {
                    loops[handler] = id;
                }
            }
            match event.kind() {
                EventKind::Enable => drop(switched.insert(event.operand, Some(id))),
                EventKind::Disable => drop(switched.insert(event.operand, None)),
                EventKind::Trigger if components && is_of_component(trace, event.operand) => {}
                EventKind::Trigger => {
                    if let Some(Some(enable)) = switched.get(&event.operand) {
                        self.triggers.insert(id, *enable);
                        if trace.event(EventId(*enable)).task != event.task {
                            self.enables.entry(event.task.0).or_default().push(*enable);
                        }
                    }
                }
                EventKind::Attach => drop(self.attaches.entry(event.operand).or_insert(id)),
                EventKind::Cancel => drop(self.cancelled.insert(event.operand)),
                _ => {}
            }
        }
        for handler in 0..handlers {
            if let Some(before) = before_get[handler] {
                let explicit = loops[handler];
                self.loop_points[handler] = if explicit == NONE { before } else { explicit };
            }
        }
    }

    fn number(&mut self, trace: &Trace) {
        let handlers = self.loop_points.len();
        let mut gets = vec![0_u32; handlers];
        let mut of_task = vec![NONE; trace.tables().tasks.len()];
        let mut pieces: HashMap<(usize, u32), u32> = HashMap::new();
        for event in trace.events() {
            let id = event.id.0;
            let handler = trace.span(event.task).handler;
            if get_of(trace, event.task) == Some(id)
                && let Some(gets) = gets.get_mut(handler.0 as usize)
            {
                *gets += 1;
            }
            let next = self.handler.len() as u32;
            let unit = match Units::is_code(trace, event).filter(|h| *h < handlers) {
                Some(handler) => *pieces.entry((handler, gets[handler])).or_insert(next),
                None => {
                    let of = &mut of_task[event.task.index()];
                    if *of == NONE {
                        *of = next;
                    }
                    *of
                }
            };
            if unit == next {
                let is_burst = trace.tables().tasks[event.task.index()].kind == TaskKind::Burst;
                self.handler.push(if is_burst { NONE } else { handler.0 });
                self.last.push(id);
            }
            self.last[unit as usize] = id;
            self.of.push(unit);
        }
    }

    /// Returns the number of units.
    pub(super) fn len(&self) -> usize {
        self.handler.len()
    }

    /// Returns the handler that runs an event's unit without interruption, and the last event of
    /// the unit.
    pub(super) fn turn(&self, event: u32) -> (u32, u32) {
        let unit = self.of[event as usize] as usize;
        (self.handler[unit], self.last[unit])
    }

    /// Processes the next event. Calls `before` with events that come before it in every run.
    pub(super) fn take(
        &mut self,
        trace: &Trace,
        event: Event,
        before: &mut dyn FnMut(u32),
    ) -> Link {
        let id = event.id.0;
        let unit = self.of[id as usize];
        let handler = trace.span(event.task).handler;
        let at = handler.0 as usize;
        let previous = self.handlers.take(event, (unit, at), before);
        if let Some(code) = Units::is_code(trace, event).and_then(|h| self.code.get_mut(h)) {
            let last = std::mem::replace(code, id);
            let point = self.loop_points[at];
            if previous == NONE {
                // The first event of its piece.
                let first = if point != NONE && id <= point { last } else { point };
                if first != NONE && first < id {
                    before(first);
                }
            }
        }
        match event.kind() {
            EventKind::Post => self.post(trace, event, unit, before),
            EventKind::Get if get_of(trace, event.task) == Some(id) => {
                let post = post_of(trace, event.task).filter(|post| *post < id);
                let point = self.loop_points.get(at).copied().filter(|point| *point < id);
                post.into_iter().chain(point).for_each(&mut *before);
                self.enabled(event.task, id, before);
                // One unit posted both tasks in this order, and the handler took them in this
                // order.
                let ahead = self.ahead.get(&event.task.0).and_then(|task| get_of(trace, *task));
                let ended = ahead.map(|get| self.last[self.of[get as usize] as usize]);
                ended.filter(|last| *last < id).into_iter().for_each(before);
            }
            EventKind::Trigger => {
                if let Some(enable) = self.triggers.get(&id) {
                    before(*enable);
                }
            }
            _ => {}
        }
        let owner = if handler.is_none() { self.code.len() as u32 + unit } else { handler.0 };
        Link { chain: unit, previous, owner }
    }

    fn enabled(&self, task: TaskId, event: u32, before: &mut dyn FnMut(u32)) {
        let enables = self.enables.get(&task.0).into_iter().flatten();
        enables.filter(|enable| **enable < event).for_each(|enable| before(*enable));
    }

    fn post(&mut self, trace: &Trace, event: Event, unit: u32, before: &mut dyn FnMut(u32)) {
        let (id, task) = (event.id.0, TaskId(event.operand));
        if task.index() >= trace.tasks_count() {
            return;
        }
        let (to, from) = (trace.span(task).handler, trace.span(event.task).handler);
        if !to.is_none()
            && to != from
            && let Some(attach) = self.attaches.get(&to.0).filter(|attach| **attach < id)
        {
            before(*attach);
        }
        if get_of(trace, task).is_some() {
            self.enabled(task, id, before);
        }
        if post_of(trace, task) == Some(id)
            && !self.cancelled.contains(&task.0)
            && let Some(to) = mailbox_of(trace, task)
            && let Some(other) = self.posts.insert((unit, to.0), task)
            && goes_first(trace, other, task)
        {
            self.ahead.insert(task.0, other);
        }
    }
}
