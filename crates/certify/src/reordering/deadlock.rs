//! Checks that a run ends in a deadlock: `docs/deadlocks.md`.

use super::error::{ReorderingError, ReorderingReason};
use super::run::{ReorderingChecker, Run};
use super::{ClaimedDeadlock, Lanes};
use anyorder_system::Cancel;
use anyorder_trace::{EventId, EventKind, LockId, TaskKind, Trace};

/// What keeps the order of its events: a handler, or a task.
#[derive(Clone, Copy, PartialEq, Eq)]
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
    /// lane ends; a join waits for the handler of the next request. Only for traces whose tasks
    /// stay in order.
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
            run.is_next(request)
                .and_then(|()| run.waits(trace, request, (requests[next], lanes[next])))
                .map_err(|reason| at_end(request, reason))?;
        }
        Ok(())
    }
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
            EventKind::Join => Ok(()),
            _ => self.comes_after_alloc(event),
        }
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
            EventKind::Join => trace.handler_of(next).0 == event.operand && next < id,
            _ => false,
        };
        if is_kept { Ok(()) } else { Err(ReorderingReason::Granted { next }) }
    }
}
