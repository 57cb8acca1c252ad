//! The relations of handlers and tasks in a trace, computed once for all steps of a proof and for
//! all schedules.

use crate::android::Orders;
use crate::ends::Ends;
use crate::lists::Lists;
use crate::proof::RuleSet;
use crate::strays::{Stray, strays};
use crate::view::View;
use crate::wakes::{Match, matches};
use anyorder_trace::{Action, Event, EventId, EventKind, HandlerId, TaskId, TaskKind, Trace};
use std::collections::{HashMap, HashSet};

/// What a handler runs without interruption: a posted task, or the thread code between two of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Unit {
    Task(TaskId),
    /// By the number of `get` events of the handler before it in the trace.
    Piece(HandlerId, u32),
}

/// The relations of handlers and tasks in a trace.
#[derive(Default)]
pub(crate) struct TraceIndex {
    /// By event of the trace.
    pub(crate) facts: Vec<Facts>,
    /// By unit, the number of its events.
    pub(crate) sizes: HashMap<Unit, u32>,
    pub(crate) loop_points: HashMap<HandlerId, EventId>,
    /// The first `attach` that names the handler.
    pub(crate) attaches: HashMap<HandlerId, EventId>,
    /// By handler, its events, its forks; by barrier, its events.
    pub(crate) of_handler: Lists,
    pub(crate) forks: Lists,
    pub(crate) barriers: Lists,
    /// By fork, the first event of the forked handler after it.
    pub(crate) first_after_fork: HashMap<EventId, EventId>,
    /// By acquiring atomic read, the first write of the release sequence that it sees: of its
    /// location before it, and all later ones before it are atomic rmws.
    pub(crate) sequence: HashMap<EventId, EventId>,
    /// By trigger, the last switch of its input before it, if that is an `enable`.
    pub(crate) enables: HashMap<EventId, EventId>,
    pub(crate) triggers: HashMap<TaskId, Vec<Event>>,
    pub(crate) wakes: HashMap<EventId, Match>,
    /// Releases of what their handler does not hold in the trace.
    pub(crate) strays: HashMap<EventId, Stray>,
    /// What a cancel, a disable or an exit ends.
    pub(crate) ends: Ends,
    /// The component rules, if requested.
    pub(crate) components: Option<Orders>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    /// The previous event in program order.
    pub(crate) previous: Option<EventId>,
    pub(crate) unit: Unit,
}

impl TraceIndex {
    /// Builds the index of a trace. Linear, times a logarithm if there are conditions.
    pub(crate) fn new(trace: &Trace) -> TraceIndex {
        let view = View { trace };
        let loop_points = loop_points(view);
        let wakes = matches(trace);
        let mut index =
            TraceIndex { loop_points, wakes, strays: strays(view), ..TraceIndex::default() };
        for event in view.events() {
            match event.action() {
                Action::Attach(handler) => {
                    index.attaches.entry(handler).or_insert(event.id);
                }
                Action::Trigger(_) => index.triggers.entry(event.task).or_default().push(event),
                _ => {}
            }
        }
        index.lists(view);
        index.last_ones(view);
        index.facts = facts(view, &index.loop_points);
        for fact in &index.facts {
            *index.sizes.entry(fact.unit).or_insert(0) += 1;
        }
        index.ends = index.ends_of(trace);
        index
    }

    fn ends_of(&self, trace: &Trace) -> Ends {
        let mut begun = HashSet::new();
        let firsts = (0..).map(EventId).zip(&self.facts);
        let firsts = firsts.filter(|(_, fact)| begun.insert(fact.unit)).map(|(event, _)| event);
        Ends::of_tasks(trace, firsts, self.components.as_ref())
    }

    fn lists(&mut self, view: View<'_>) {
        let (mut of_handler, mut forks, mut barriers) = (Vec::new(), Vec::new(), Vec::new());
        for event in view.events() {
            of_handler.extend(view.handler(event.task).map(|handler| (handler.0, event.id.0)));
            match event.action() {
                Action::Fork(handler) => forks.push((handler.0, event.id.0)),
                Action::Barrier(barrier) => barriers.push((barrier.0, event.id.0)),
                _ => {}
            }
        }
        self.of_handler = Lists::new(of_handler);
        self.forks = Lists::new(forks);
        self.barriers = Lists::new(barriers);
        let mut first: HashMap<HandlerId, EventId> = HashMap::new();
        for event in view.events().rev() {
            if let Action::Fork(handler) = event.action()
                && let Some(after) = first.get(&handler)
            {
                self.first_after_fork.insert(event.id, *after);
            }
            if let Some(handler) = view.handler(event.task) {
                first.insert(handler, event.id);
            }
        }
    }

    /// Finds the last writes and switches before the events that need them.
    fn last_ones(&mut self, view: View<'_>) {
        let mut writes: HashMap<u32, EventId> = HashMap::new();
        let mut switches: HashMap<u32, Event> = HashMap::new();
        for event in view.events() {
            let (id, kind) = (event.id, event.kind());
            if kind.reads()
                && event.mode().acquires()
                && let Some(write) = writes.get(&event.operand)
            {
                self.sequence.insert(id, *write);
            }
            if kind.writes()
                && !(event.op.continues_sequence() && writes.contains_key(&event.operand))
            {
                writes.insert(event.operand, id);
            }
            match kind {
                EventKind::Enable | EventKind::Disable => {
                    switches.insert(event.operand, event);
                }
                EventKind::Trigger => {
                    let last = switches.get(&event.operand);
                    let enable = last.filter(|last| last.kind() == EventKind::Enable);
                    enable.and_then(|enable| self.enables.insert(id, enable.id));
                }
                _ => {}
            }
        }
    }

    /// The same, with the rules of Android's components.
    pub(crate) fn with_components(trace: &Trace) -> TraceIndex {
        let mut index =
            TraceIndex { components: Some(Orders::new(trace)), ..TraceIndex::new(trace) };
        index.ends = index.ends_of(trace);
        index
    }

    /// The rule set that determines what enables an input.
    pub(crate) fn rules(&self) -> RuleSet {
        if self.components.is_some() { RuleSet::Android } else { RuleSet::Mailbox }
    }
}

/// The loop point of each handler that has one: its first `loop` event, else its last thread code
/// before its first `get`. Handlers without posted tasks have none.
fn loop_points(view: View<'_>) -> HashMap<HandlerId, EventId> {
    let mut first_loops: HashMap<HandlerId, EventId> = HashMap::new();
    let mut first_gets: HashMap<HandlerId, EventId> = HashMap::new();
    // The last thread code before the first `get`.
    let mut points: HashMap<HandlerId, EventId> = HashMap::new();
    for event in view.events() {
        let Some(handler) = view.handler(event.task) else { continue };
        if view.get(event.task) == Some(event.id) {
            first_gets.entry(handler).or_insert(event.id);
        }
        if view.kind_of(event.id) == Some(TaskKind::Initial) {
            if event.kind() == EventKind::Loop {
                first_loops.entry(handler).or_insert(event.id);
            }
            if !first_gets.contains_key(&handler) {
                points.insert(handler, event.id);
            }
        }
    }
    points.extend(first_loops);
    points.retain(|handler, _| first_gets.contains_key(handler));
    points
}

/// Finds the unit of each event and its predecessor in program order, in one pass.
fn facts(view: View<'_>, loop_points: &HashMap<HandlerId, EventId>) -> Vec<Facts> {
    let mut gets: HashMap<HandlerId, u32> = HashMap::new();
    let mut last_of_task: HashMap<TaskId, EventId> = HashMap::new();
    // The last thread code of each handler, and the number of `get` events before it.
    let mut last_code: HashMap<HandlerId, (EventId, u32)> = HashMap::new();
    let mut facts = Vec::with_capacity(view.trace.len());
    for event in view.events() {
        let handler = view.handler(event.task);
        if let Some(handler) = handler.filter(|_| view.get(event.task) == Some(event.id)) {
            *gets.entry(handler).or_insert(0) += 1;
        }
        let thread_code = handler.filter(|_| view.kind_of(event.id) == Some(TaskKind::Initial));
        let Some(handler) = thread_code else {
            let previous = last_of_task.insert(event.task, event.id);
            facts.push(Facts { previous, unit: Unit::Task(event.task) });
            continue;
        };
        let count = gets.get(&handler).copied().unwrap_or(0);
        let point = loop_points.get(&handler).copied();
        let previous = match last_code.insert(handler, (event.id, count)) {
            Some((last, _)) if point.is_some_and(|point| event.id <= point) => Some(last),
            Some((last, then)) if then == count && point.is_none_or(|point| last > point) => {
                Some(last)
            }
            _ => point.filter(|&point| point < event.id),
        };
        facts.push(Facts { previous, unit: Unit::Piece(handler, count) });
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_testkit::{Shape, random_trace};

    /// The definition of the loop point.
    fn loop_point(view: View<'_>, handler: HandlerId) -> Option<EventId> {
        let of_handler = |e: &Event| view.handler(e.task) == Some(handler);
        let is_code = |e: &Event| view.kind_of(e.id) == Some(TaskKind::Initial) && of_handler(e);
        let is_get = |e: &Event| view.get(e.task) == Some(e.id) && of_handler(e);
        let first_get = view.events().find(is_get)?;
        let first_loop = view.events().find(|e| e.kind() == EventKind::Loop && is_code(e));
        let last_code = || view.events().rfind(|e| is_code(e) && e.id < first_get.id);
        first_loop.or_else(last_code).map(|e| e.id)
    }

    #[test]
    fn loop_points_are_those_of_the_definition() {
        let mut found = 0;
        for seed in 0..600 {
            let trace = random_trace(seed, &Shape::medium());
            let view = View { trace: &trace };
            let all = loop_points(view);
            for handler in (0..trace.tables().handlers.len() as u32).map(HandlerId) {
                let one = loop_point(view, handler);
                assert_eq!(all.get(&handler).copied(), one, "seed {seed}");
                found += u32::from(one.is_some());
            }
        }
        assert!(found > 100, "{found}");
    }
}
