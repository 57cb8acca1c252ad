//! Events that end what others made possible: a `cancel`, a `disable`, the `exit` of a handler;
//! `docs/witnesses.md`, rule 6.
//!
//! A *beginning* (the first event of a task, a trigger) does not come after one of its ends, unless
//! the event that *opened* it (a post, an enable) stands between the two. Where the trace itself
//! has it otherwise, the end does not bind that beginning.

use crate::android::Orders;
use crate::view::View;
use anyorder_trace::{
    Action, Event, EventId, HandlerId, InputFamily, InputId, TaskId, TaskKind, Trace,
};
use std::collections::{HashMap, HashSet};

/// What an end ends.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Ended {
    /// A task that waits.
    Task(TaskId),
    /// An input that is possible.
    Input(InputId),
    /// A handler that takes tasks.
    Handler(HandlerId),
    /// An idle handler, by instance and queue.
    Idle(u64, u64),
    /// A receiver of broadcasts.
    Receiver(u64),
}

/// What has to be possible for an event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beginning {
    /// The event that made it possible, if one is known.
    opened: Option<EventId>,
    of: Ended,
}

/// The ends of a trace.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    beginnings: HashMap<EventId, Vec<Beginning>>,
    openings: HashSet<EventId>,
    ended_by: HashMap<EventId, Ended>,
    /// In trace order.
    ends: HashMap<Ended, Vec<EventId>>,
}

impl Ends {
    /// Finds the ends for an order of threads.
    pub(crate) fn of_threads(trace: &Trace) -> Ends {
        let mut ends = Ends::default();
        ends.tasks(View { trace });
        ends.inputs(View { trace }, false, None);
        ends
    }

    /// Finds the ends for an order of tasks; with the rules of components, if they are given.
    pub(crate) fn of_tasks(
        trace: &Trace,
        first_of_units: impl Iterator<Item = EventId>,
        components: Option<&Orders>,
    ) -> Ends {
        let view = View { trace };
        let mut ends = Ends::default();
        ends.tasks(view);
        ends.inputs(view, true, components);
        ends.exits(view, first_of_units);
        ends
    }

    fn end(&mut self, end: EventId, of: Ended) {
        self.ended_by.insert(end, of);
        self.ends.entry(of).or_default().push(end);
    }

    fn begins(&mut self, event: EventId, opened: Option<EventId>, of: Ended) {
        let opened = opened.filter(|opened| *opened < event);
        self.openings.extend(opened);
        self.beginnings.entry(event).or_default().push(Beginning { opened, of });
    }

    fn tasks(&mut self, view: View<'_>) {
        let mut cancelled = HashSet::new();
        for event in view.events() {
            let Action::Cancel(task) = event.action() else { continue };
            self.end(event.id, Ended::Task(task));
            if let Some(first) = view.span(task).and_then(|span| span.first.some())
                && cancelled.insert(task)
            {
                self.begins(first, view.post(task), Ended::Task(task));
            }
        }
    }

    /// With `tasks`, a task that an input triggers does not begin either.
    fn inputs(&mut self, view: View<'_>, tasks: bool, components: Option<&Orders>) {
        let mut enabled: HashMap<InputId, EventId> = HashMap::new();
        for event in view.events() {
            if components.is_some() && is_of_component(view, event) {
                continue;
            }
            match event.action() {
                Action::Enable(input) => drop(enabled.insert(input, event.id)),
                Action::Disable(input) => {
                    enabled.remove(&input);
                    self.end(event.id, Ended::Input(input));
                }
                Action::Trigger(input) => {
                    let Some(enable) = enabled.get(&input).copied() else { continue };
                    self.triggered(view, tasks, event, (enable, Ended::Input(input)));
                }
                _ => {}
            }
        }
        let Some(components) = components else { return };
        for &(end, of) in components.ends() {
            self.end(end, of);
        }
        for &(trigger, opened, of) in components.opened() {
            self.triggered(view, tasks, view.event(trigger), (opened, of));
        }
    }

    fn triggered(
        &mut self,
        view: View<'_>,
        tasks: bool,
        trigger: Event,
        (opened, of): (EventId, Ended),
    ) {
        self.begins(trigger.id, Some(opened), of);
        let get = view.get(trigger.task).filter(|get| opened < *get && *get < trigger.id);
        if let Some(get) = get.filter(|_| tasks && view.task_of(opened) != trigger.task) {
            self.begins(get, Some(opened), of);
        }
    }

    fn exits(&mut self, view: View<'_>, first_of_units: impl Iterator<Item = EventId>) {
        let mut exited = HashSet::new();
        for event in view.events().filter(|event| event.action() == Action::Exit) {
            if view.kind_of(event.id) == Some(TaskKind::Initial)
                && let Some(handler) = view.handler(event.task)
            {
                exited.insert(handler);
                self.end(event.id, Ended::Handler(handler));
            }
        }
        for first in first_of_units {
            if view.kind_of(first) != Some(TaskKind::Burst)
                && let Some(handler) = view.handler_of(first).filter(|h| exited.contains(h))
            {
                self.begins(first, None, Ended::Handler(handler));
            }
        }
    }

    /// Returns whether an event could not come any more after others. `comes` says whether an end
    /// is one of them, and comes after what opened the event.
    pub(crate) fn is_ended(
        &self,
        event: EventId,
        comes: impl Fn(EventId, Option<EventId>) -> bool,
    ) -> bool {
        self.beginnings.get(&event).into_iter().flatten().any(|beginning| {
            let ends = self.ends.get(&beginning.of).into_iter().flatten().copied();
            let mut binding = ends.filter(|end| binds(*beginning, event, *end));
            binding.any(|end| comes(end, beginning.opened))
        })
    }

    /// Returns the beginnings of some events, with what opened them, and the ends that bind them.
    pub(crate) fn of<'e>(
        &'e self,
        holds: impl Fn(EventId) -> bool + 'e,
    ) -> impl Iterator<Item = (EventId, Option<EventId>, Ended, EventId)> + 'e {
        let of_events = self.beginnings.iter().filter(move |(event, _)| holds(**event));
        of_events.flat_map(move |(event, beginnings)| {
            beginnings.iter().flat_map(move |beginning| {
                let ends = self.ends.get(&beginning.of).into_iter().flatten().copied();
                let binding = ends.filter(move |end| binds(*beginning, *event, *end));
                binding.map(move |end| (*event, beginning.opened, beginning.of, end))
            })
        })
    }
}

/// Whether an end binds a beginning: the trace itself does not have it between that and its
/// opening.
fn binds(beginning: Beginning, event: EventId, end: EventId) -> bool {
    let is_behind = beginning.opened.is_none_or(|opened| opened < end);
    !(is_behind && end < event)
}

fn is_of_component(view: View<'_>, event: Event) -> bool {
    let family = view.input_of(event).map(|input| input.family);
    matches!(
        family,
        Some(
            InputFamily::Lifecycle
                | InputFamily::Service
                | InputFamily::Broadcast
                | InputFamily::Idle
        )
    )
}

/// The ends and openings met along an order.
#[derive(Debug, Default)]
pub(crate) struct EndsRun {
    /// In their order.
    came: HashMap<Ended, Vec<EventId>>,
    places: HashMap<EventId, usize>,
}

impl EndsRun {
    /// Goes one event further in an order whose first `prefix` events are those of the trace and
    /// are not gone through.
    ///
    /// # Errors
    ///
    /// Returns the event that has ended what the event needs.
    pub(crate) fn step(&mut self, ends: &Ends, prefix: u32, event: EventId) -> Result<(), EventId> {
        let place = |event: EventId| match event.0 < prefix {
            true => Some(event.index()),
            false => self.places.get(&event).map(|place| prefix as usize + place),
        };
        for beginning in ends.beginnings.get(&event).into_iter().flatten() {
            let opened = beginning.opened.and_then(place);
            let all = ends.ends.get(&beginning.of).map_or(&[][..], Vec::as_slice);
            let earlier = &all[..all.partition_point(|end| end.0 < prefix)];
            let came = self.came.get(&beginning.of).map_or(&[][..], Vec::as_slice);
            let latest_first = came.iter().rev().chain(earlier.iter().rev());
            // Before the opening nothing binds any more.
            let since = latest_first.take_while(|end| opened.is_none() || place(**end) > opened);
            if let Some(end) = since.copied().find(|end| binds(*beginning, event, *end)) {
                return Err(end);
            }
        }
        let next = self.places.len();
        if let Some(of) = ends.ended_by.get(&event) {
            self.came.entry(*of).or_default().push(event);
            self.places.insert(event, next);
        } else if ends.openings.contains(&event) {
            self.places.insert(event, next);
        }
        Ok(())
    }
}
