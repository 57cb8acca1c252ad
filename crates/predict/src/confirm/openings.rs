//! What makes events possible: the post of a cancelled task, the enabling of a trigger. And what
//! ends that: cancels, disables, exits (`docs/witnesses.md`, rule 6).

use super::chains::NONE;
use super::clause::{Atom, Clause};
use super::confirmer::Reorders;
use super::question::Question;
use super::replay::between;
use anyorder_hb::{Beginning, EndScope, Ends};
use anyorder_system::Cancel;
use anyorder_trace::{Event, EventId, EventKind, TaskId, Trace};
use std::collections::HashMap;

/// The most clauses from one event.
const FROM_ONE: usize = 32;

/// The openings and ends of a trace.
#[derive(Clone, Debug, Default)]
pub(super) struct Openings {
    ends: Ends,
    /// By post, the cancels of its task.
    cancels: HashMap<u32, Vec<u32>>,
    /// During the pass over the trace, where only handlers can change places: the enabled inputs.
    enabled: Option<HashMap<u32, u32>>,
}

impl Openings {
    pub(super) fn new(trace: &Trace, reorders: Reorders, cancel: &Cancel) -> Openings {
        let scope = match reorders {
            Reorders::Threads => EndScope::Handlers,
            Reorders::Tasks => EndScope::Tasks,
            Reorders::Components => EndScope::Components,
        };
        let mut openings =
            Openings { ends: Ends::new_until(trace, scope, cancel), ..Openings::default() };
        openings.enabled = (scope == EndScope::Handlers).then(HashMap::new);
        for event in trace.events() {
            if event.id.0.is_multiple_of(1 << 12) && cancel.reason().is_some() {
                break;
            }
            if event.kind() == EventKind::Cancel
                && let Some(post) = post_of_cancelled(trace, event)
            {
                openings.cancels.entry(post).or_default().push(event.id.0);
            }
        }
        openings
    }

    /// Returns the event that opens what the next event of the trace needs.
    pub(super) fn take(&mut self, trace: &Trace, event: Event) -> Option<u32> {
        let enabled = self.enabled.as_mut();
        match event.kind() {
            EventKind::Cancel => return post_of_cancelled(trace, event),
            EventKind::Enable => drop(enabled?.insert(event.operand, event.id.0)),
            EventKind::Disable => drop(enabled?.remove(&event.operand)),
            EventKind::Trigger => return enabled?.get(&event.operand).copied(),
            _ => {}
        }
        None
    }

    /// Returns whether nothing can be ended.
    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the events that open what an event begins.
    pub(super) fn opened(&self, event: u32) -> impl Iterator<Item = u32> + '_ {
        let beginnings = self.ends.beginnings_at(EventId(event)).iter();
        beginnings.filter_map(|beginning| beginning.opened.map(|opened| opened.0))
    }

    /// Returns the cancels of the task that an event posts.
    pub(super) fn cancels(&self, post: u32) -> &[u32] {
        self.cancels.get(&post).map_or(&[], Vec::as_slice)
    }
}

/// The post of the task that an event cancels, if it comes before.
fn post_of_cancelled(trace: &Trace, cancel: Event) -> Option<u32> {
    let task = TaskId(cancel.operand);
    let post = (task.index() < trace.tasks_count()).then(|| trace.span(task).post)?;
    post.some().filter(|post| *post < cancel.id).map(|post| post.0)
}

/// The ends that came during the replay of an order, by list.
#[derive(Clone, Debug, Default)]
pub(super) struct EndsCame {
    came: HashMap<u32, Vec<u32>>,
}

impl EndsCame {
    pub(super) fn begin(&mut self) {
        self.came.clear();
    }

    /// Processes the next event of an order that begins after the events before `start`.
    pub(super) fn take(
        &mut self,
        openings: &Openings,
        (event, start): (u32, u32),
        place: &dyn Fn(u32) -> Option<u64>,
        broken: &mut Vec<Clause>,
    ) {
        let ends = &openings.ends;
        for beginning in ends.beginnings_at(EventId(event)) {
            let opened = opened(beginning);
            let has_opened = opened != NONE && place(opened).is_some();
            for end in self.since(openings, beginning, start, place) {
                broken.push(between(opened, end, event));
                if opened != NONE && !has_opened {
                    // The end may come before the opening, which then comes before the event.
                    let before = Atom::Before(opened, event);
                    broken.push(vec![Atom::Before(event, end), Atom::Out(event), before]);
                }
            }
        }
        if let Some(list) = ends.list_of(EventId(event)) {
            self.came.entry(list).or_default().push(event);
        }
    }

    /// Returns the ends that came after the opening of a beginning, or its first ones.
    fn since<'a>(
        &'a self,
        openings: &'a Openings,
        beginning: &'a Beginning,
        start: u32,
        place: &'a dyn Fn(u32) -> Option<u64>,
    ) -> impl Iterator<Item = u32> + 'a {
        let opened = beginning.opened.and_then(|opened| place(opened.0));
        let all = openings.ends.list(beginning.list);
        let earlier = all[..all.partition_point(|end| end.0 < start)].iter().map(|end| end.0);
        let came = self.came.get(&beginning.list).map_or(&[][..], Vec::as_slice);
        let latest_first = came.iter().copied().rev().chain(earlier.rev());
        let since = latest_first.take_while(move |end| place(*end) > opened);
        since.filter(|end| beginning.is_bound_by(EventId(*end))).take(FROM_ONE)
    }

    /// Finds the ends after which the event that a question leaves out could not come any more:
    /// those that came, and those in the rest of the task that comes first.
    pub(super) fn at_end(
        &self,
        (openings, trace): (&Openings, &Trace),
        question: &Question,
        start: u32,
        place: &dyn Fn(u32) -> Option<u64>,
        broken: &mut Vec<Clause>,
    ) {
        let (Some(never), Some(last)) = (question.never, question.tail.last()) else { return };
        let task = trace.event(EventId(*last)).task;
        for beginning in openings.ends.beginnings_at(EventId(never)) {
            if beginning.opened.is_some_and(|opened| place(opened.0).is_none()) {
                // What opens it can still come, after the ends.
                continue;
            }
            let opened = opened(beginning);
            for end in self.since(openings, beginning, start, place) {
                broken.push(vec![Atom::Out(end), Atom::Before(end, opened)]);
            }
            let mut rest = openings.ends.list(beginning.list).iter();
            let comes = |end: &&EventId| {
                trace.event(**end).task == task
                    && place(end.0).is_none()
                    && beginning.is_bound_by(**end)
            };
            if rest.any(|end| comes(&end)) {
                broken.push(Vec::new());
            }
        }
    }
}

fn opened(beginning: &Beginning) -> u32 {
    beginning.opened.map_or(NONE, |opened| opened.0)
}
