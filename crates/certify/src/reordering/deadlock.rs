//! Checks that a run ends in a deadlock: `docs/deadlocks.md`.

use super::error::{ReorderingError, ReorderingReason};
use super::permits::PermitWait;
use super::run::{ReorderingChecker, Run};
use super::{ClaimedDeadlock, Lanes};
use crate::wakes::matches;
use anyorder_system::Cancel;
use anyorder_trace::{EventId, EventKind, LockId, TaskKind, Trace};
use std::collections::{HashMap, HashSet};

/// What keeps the order of its events: a handler, or a task.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Lane {
    Handler(u32),
    Task(u32),
}

impl Lane {
    fn of(trace: &Trace, event: EventId) -> Lane {
        let task = trace.event(event).task;
        let def = trace.tables().tasks.get(task.index());
        match def.and_then(|def| Some((def.handler.some()?, def.kind))) {
            Some((handler, TaskKind::Initial | TaskKind::Posted)) => Lane::Handler(handler.0),
            _ => Lane::Task(task.0),
        }
    }
}

impl ReorderingChecker<'_> {
    /// Checks that a sequence of events is a run of the program, and that it ends in a deadlock:
    /// each request is the next event of its lane and cannot happen. An acquire meets a section of
    /// the next request's lane that is open and excludes it, and so does a request with which its
    /// lane ends; a join waits for the handler of the next request; who waits at a barrier does so
    /// for an arrival of the next lane; who waits for a signal has missed all those that need no
    /// request, and the next lane has one to give; and a call that waits cannot return, the next
    /// lane has a call that gives what it waits for, and no other lane can come to one. Only for
    /// traces whose tasks stay in order.
    ///
    /// # Errors
    ///
    /// Names the first event that cannot come at its position, or the request that need not wait.
    pub fn check_deadlock(
        &mut self,
        claimed: ClaimedDeadlock<'_>,
        cancel: &Cancel,
    ) -> Result<(), ReorderingError> {
        let ClaimedDeadlock { requests, prefix, order } = claimed;
        let trace = self.trace();
        let at_end = |event, reason| ReorderingError { place: order.len(), event, reason };
        let first = requests.first().copied().unwrap_or(EventId(0));
        if let Some(unknown) = requests.iter().find(|request| request.index() >= trace.len()) {
            return Err(at_end(*unknown, ReorderingReason::Unknown));
        }
        let lanes: Vec<Lane> = requests.iter().map(|request| Lane::of(trace, *request)).collect();
        let is_repeated = |at: usize| lanes[..at].contains(&lanes[at]);
        let is_cycle = requests.len() > 1 && !(0..lanes.len()).any(is_repeated);
        if !is_cycle || self.lanes() != Lanes::Handlers {
            return Err(at_end(first, ReorderingReason::NoCycle));
        }
        self.begin_run(prefix).map_err(|reason| at_end(first, reason))?;
        let may_permit = |request: &EventId| trace.event(*request).kind() == EventKind::Invoke;
        let awaits: Vec<Option<SignalWait>> =
            requests.iter().map(|request| signal_wait(trace, *request)).collect();
        // Only where someone waits for a signal or for what a call gives; linear in the trace.
        let waits_for_gift = awaits.iter().any(Option::is_some) || requests.iter().any(may_permit);
        let needs = match waits_for_gift {
            true => self.needs(requests),
            false => Vec::new(),
        };
        let mut run = self.run(prefix);
        for (place, &event) in order.iter().enumerate() {
            let checked = cancel.check().map_err(ReorderingReason::from);
            checked.and_then(|()| run.step(event, false)).map_err(|reason| ReorderingError {
                place,
                event,
                reason,
            })?;
        }
        for (at, &request) in requests.iter().enumerate() {
            let next = (at + 1) % requests.len();
            run.is_next(request).map_err(|reason| at_end(request, reason))?;
            let follower = (requests[next], lanes[next]);
            let misses = awaits[at]
                .is_some_and(|wait| misses(trace, wait, (prefix, order), (&needs, follower)));
            let misses =
                misses || run.has_no_permit(trace, (request, requests), (&needs, follower));
            if !misses {
                run.waits(trace, request, follower).map_err(|reason| at_end(request, reason))?;
            }
        }
        Ok(())
    }

    /// Returns for each event whether it needs a request: it is one or stands after one in its
    /// lane, or after a fork of its lane, a join of a lane, or an arrival of its round at a
    /// barrier, that does.
    fn needs(&self, requests: &[EventId]) -> Vec<bool> {
        let trace = self.trace();
        let mut lanes: HashMap<Lane, bool> = HashMap::new();
        let (mut forked, mut over): (HashSet<u32>, HashSet<u32>) = Default::default();
        let mut needs = Vec::with_capacity(trace.len());
        for event in trace.events() {
            let handler = trace.handler_of(event.id).0;
            let joins = event.kind() == EventKind::Join
                && (over.contains(&event.operand) || forked.contains(&event.operand));
            let mut arrivals = self.arrivals(event.id).iter();
            let meets = arrivals.any(|arrival| needs.get(*arrival as usize) == Some(&true));
            let of_lane = lanes.entry(Lane::of(trace, event.id)).or_default();
            *of_lane |= meets || joins || forked.contains(&handler) || requests.contains(&event.id);
            if *of_lane {
                over.insert(handler);
                if event.kind() == EventKind::Fork {
                    forked.insert(event.operand);
                }
            }
            needs.push(*of_lane);
        }
        needs
    }
}

/// A wait for a signal of a condition.
#[derive(Clone, Copy)]
struct SignalWait {
    wait: EventId,
    condition: u32,
}

/// Returns the wait for a signal that keeps a thread before an event: its events between a wait and
/// the matched wake are first releases, before this one, and then acquires and requests.
fn signal_wait(trace: &Trace, id: EventId) -> Option<SignalWait> {
    let task = trace.event(id).task;
    let of_task = |other: &EventId| trace.event(*other).task == task;
    let mut later = (id.0..trace.len() as u32).map(EventId).filter(of_task);
    let takes = |other: EventId| {
        matches!(trace.event(other).kind(), EventKind::Acquire | EventKind::Request)
    };
    let wake = later.find(|other| !takes(*other))?;
    let mut earlier = (0..id.0).rev().map(EventId).filter(of_task);
    let wait = earlier.find(|other| trace.event(*other).kind() != EventKind::Release)?;
    let condition = trace.event(wait).operand;
    let ends =
        trace.event(wake).kind() == EventKind::Wake && trace.event(wake).operand == condition;
    if trace.event(wait).kind() != EventKind::Wait || !ends {
        return None;
    }
    let found = matches(trace).remove(&wake)?;
    let is_of = gives(trace, found.signal, condition);
    (found.wait == Some(wait) && is_of).then_some(SignalWait { wait, condition })
}

fn gives(trace: &Trace, id: EventId, condition: u32) -> bool {
    let event = trace.event(id);
    matches!(event.kind(), EventKind::Signal | EventKind::Broadcast) && event.operand == condition
}

/// Returns whether a wait has missed all signals that need no request, and the lane of the next
/// request has one that does.
fn misses(
    trace: &Trace,
    SignalWait { wait, condition }: SignalWait,
    (prefix, order): (u32, &[EventId]),
    (needs, (next, lane)): (&[bool], (EventId, Lane)),
) -> bool {
    let mut places: HashMap<EventId, usize> =
        (0..prefix).map(|at| (EventId(at), at as usize)).collect();
    places.extend(order.iter().enumerate().map(|(at, id)| (*id, prefix as usize + at)));
    let Some(begun) = places.get(&wait) else { return false };
    let all = trace.events().map(|event| event.id).filter(|id| gives(trace, *id, condition));
    let all: Vec<EventId> = all.collect();
    let is_over = |id: &EventId| match places.get(id) {
        Some(place) => place < begun,
        None => needs[id.index()],
    };
    all.iter().all(is_over) && all.iter().any(|id| *id >= next && Lane::of(trace, *id) == lane)
}

/// Returns whether a lane has nothing after an event but its exit: it asked, and the trace does not
/// say that it went on.
fn is_last(trace: &Trace, id: EventId) -> bool {
    let lane = Lane::of(trace, id);
    let mut later = (id.0 + 1..trace.len() as u32).map(EventId);
    later
        .all(|other| trace.event(other).kind() == EventKind::Exit || Lane::of(trace, other) != lane)
}

impl Run<'_, '_> {
    /// Fails unless an event can be the next one of its lane, whether or not it can happen.
    fn is_next(&mut self, id: EventId) -> Result<(), ReorderingReason> {
        if self.has_happened(id.0) {
            return Err(ReorderingReason::Twice);
        }
        let event = self.event(id);
        self.comes_after_its_lane(id)?;
        self.comes_after_forks(event)?;
        match event.kind() {
            EventKind::Join | EventKind::Barrier => Ok(()),
            _ => self.comes_after_alloc(event),
        }
    }

    /// Returns whether a request is a call that waits for ever: it cannot return, each call that
    /// gives what it waits for has happened, needs a request, or is kept: it or an event before it
    /// in its lane has not happened, and takes what a request waits for and needs it, or takes a
    /// lock that excludes it in the lane of a request; and the next lane has such a call from its
    /// request on, and does not take before what it gives.
    fn has_no_permit(
        &mut self,
        trace: &Trace,
        (id, requests): (EventId, &[EventId]),
        (needs, (next, lane)): (&[bool], (EventId, Lane)),
    ) -> bool {
        let index = self.call_index();
        let Some(wait) = PermitWait::of(trace, index, id) else { return false };
        let all = || (0..trace.len() as u32).map(EventId);
        let others = requests.iter().filter_map(|request| PermitWait::of(trace, index, *request));
        let others: Vec<PermitWait<'_>> = others.collect();
        let members: Vec<Lane> = requests.iter().map(|id| Lane::of(trace, *id)).collect();
        // The lanes that go no further, as far as the trace was looked at.
        let mut kept: HashSet<Lane> = HashSet::new();
        let mut is_over = |other: &EventId| {
            let has_happened = self.has_happened(other.0);
            let takes = |of: &PermitWait<'_>| of.is_taken(trace, index, *other);
            let lock = LockId(trace.event(*other).operand);
            let excluding = match trace.event(*other).kind() {
                EventKind::Acquire if !has_happened => self.excluding(trace.event(*other), lock),
                _ => Vec::new(),
            };
            let mut excluding = excluding.into_iter().map(|of| Lane::of(trace, EventId(of)));
            let is_excluded = excluding.any(|lane| members.contains(&lane));
            if !has_happened && (is_excluded || others.iter().any(takes)) {
                kept.insert(Lane::of(trace, *other));
            }
            has_happened || needs[other.index()] || kept.contains(&Lane::of(trace, *other))
        };
        let later = all().skip(next.index()).filter(|other| Lane::of(trace, *other) == lane);
        wait.has_gift(trace, index, later)
            && all().all(|other| is_over(&other) || !wait.is_given(trace, index, other))
            && !self.could_return(&wait)
    }

    /// Fails unless a request waits for a lane, whose next event is another request.
    fn waits(
        &mut self,
        trace: &Trace,
        id: EventId,
        (next, lane): (EventId, Lane),
    ) -> Result<(), ReorderingReason> {
        let event = self.event(id);
        let is_kept = match event.kind() {
            // An attempt does not wait.
            EventKind::Acquire if event.mode().bits() < 2 => self
                .excluding(event, LockId(event.operand))
                .into_iter()
                .any(|acquire| Lane::of(trace, EventId(acquire)) == lane),
            EventKind::Request if event.mode().bits() < 2 && is_last(trace, id) => {
                let own = Lane::of(trace, id);
                let exclusive = !event.mode().is_shared();
                let open = self.open_sections(LockId(event.operand)).into_iter();
                let open: Vec<(Lane, bool)> =
                    open.map(|(at, of)| (Lane::of(trace, EventId(at)), of)).collect();
                open.iter().all(|(other, _)| *other != own)
                    && open.iter().any(|(other, of)| *other == lane && (*of || exclusive))
            }
            EventKind::Barrier => self.arrivals(id).iter().any(|arrival| {
                !self.has_happened(*arrival) && Lane::of(trace, EventId(*arrival)) == lane
            }),
            EventKind::Join => trace.handler_of(next).0 == event.operand && next < id,
            _ => false,
        };
        if is_kept { Ok(()) } else { Err(ReorderingReason::Granted { next }) }
    }
}
