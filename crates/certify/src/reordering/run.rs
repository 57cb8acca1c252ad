//! Runs the program along a witness.

use super::calls::{CallIndex, CallRun, Calls};
use super::error::{ReorderingError, ReorderingReason};
use super::index::{Index, NONE};
use super::memory::{LastWrites, Observation, Piece};
use super::permits::PermitWait;
use super::sections::OpenSections;
use super::{ClaimedWitness, Lanes, WitnessForm};
use crate::ends::EndsRun;
use crate::index::TraceIndex;
use crate::lists::Pointers;
use crate::schedule::{ScheduleError, ScheduleReason, check_with_index};
use anyorder_system::Cancel;
use anyorder_trace::{Event, EventId, EventKind, LocationId, LockId, Trace};
use rustc_hash::FxHashMap;

/// Checks witnesses of one trace.
pub struct ReorderingChecker<'t> {
    index: Index<'t>,
    lanes: Lanes,
    /// The index for schedules, if tasks can be reordered.
    schedules: Option<TraceIndex>,
    /// By event, the last check that contained it.
    stamps: Vec<u32>,
    checks: u32,
}

impl std::fmt::Debug for ReorderingChecker<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReorderingChecker").field("lanes", &self.lanes).finish_non_exhaustive()
    }
}

impl<'t> ReorderingChecker<'t> {
    /// Builds the index of a trace, in near linear time and memory.
    #[must_use]
    pub fn new(trace: &'t Trace, calls: &'t dyn Calls, lanes: Lanes) -> ReorderingChecker<'t> {
        let made = ReorderingChecker::new_until(trace, calls, lanes, &Cancel::new());
        made.expect("nothing stops it")
    }

    /// Works like [`new`](Self::new); `None` once the job is stopped. It looks after each pass over
    /// the trace.
    #[must_use]
    pub fn new_until(
        trace: &'t Trace,
        calls: &'t dyn Calls,
        lanes: Lanes,
        cancel: &Cancel,
    ) -> Option<ReorderingChecker<'t>> {
        let index = Index::new_until(trace, calls, lanes, cancel)?;
        let schedules = match lanes {
            Lanes::Handlers => None,
            Lanes::Tasks => Some(TraceIndex::new(trace)),
            Lanes::Components => Some(TraceIndex::with_components(trace)),
        };
        let stamps = vec![0; trace.len()];
        Some(ReorderingChecker { index, lanes, schedules, stamps, checks: 0 })
    }

    /// Checks a witness; the module lists the conditions.
    ///
    /// # Errors
    ///
    /// Names the first event that cannot come at its position, or a violation of the form.
    pub fn check(&mut self, witness: ClaimedWitness<'_>) -> Result<(), ReorderingError> {
        self.check_until(witness, &Cancel::new())
    }

    /// The same, until it is stopped.
    ///
    /// # Errors
    ///
    /// As [`check`](ReorderingChecker::check); the reason is [`ReorderingReason::Stopped`] if the
    /// check was stopped.
    pub fn check_until(
        &mut self,
        witness: ClaimedWitness<'_>,
        cancel: &Cancel,
    ) -> Result<(), ReorderingError> {
        let ClaimedWitness { first, prefix, order, .. } = witness;
        let whole = |reason| ReorderingError { place: order.len(), event: first, reason };
        self.begin_run(prefix).map_err(whole)?;
        let exempt = exempt(&witness);
        // Events that may observe something else are at the end, so no later event depends on them.
        if matches!(witness.form, WitnessForm::Last | WitnessForm::CoEnabled) {
            check_form(&witness)?;
        }
        self.check_tasks(prefix, order, cancel)?;
        let mut run = self.run(prefix);
        for (place, &event) in order.iter().enumerate() {
            let may_differ = exempt.contains(&Some(event));
            let checked = cancel.check().map_err(ReorderingReason::from);
            checked
                .and_then(|()| run.step(event, may_differ))
                .map_err(|reason| ReorderingError { place, event, reason })?;
        }
        match witness.form {
            WitnessForm::Overtakes => self.check_overtakes(&witness),
            WitnessForm::Reversed => check_form(&witness),
            WitnessForm::Last | WitnessForm::CoEnabled => Ok(()),
        }
    }

    /// Begins the check of a sequence after the first `prefix` events of the trace.
    pub(super) fn begin_run(&mut self, prefix: u32) -> Result<(), ReorderingReason> {
        self.begin();
        let doubt = self.index.rounds.first_irregular();
        match prefix > self.index.sections.broken_at || doubt.is_some_and(|first| prefix > first) {
            true => Err(ReorderingReason::Prefix),
            false => Ok(()),
        }
    }

    /// Returns a run that is about to begin.
    pub(super) fn run(&mut self, prefix: u32) -> Run<'_, 't> {
        Run {
            index: &self.index,
            lanes: self.lanes,
            prefix,
            stamps: &mut self.stamps,
            now: self.checks,
            waiting: Default::default(),
            open: OpenSections::default(),
            writes: LastWrites::default(),
            places: FxHashMap::default(),
            calls: CallRun::default(),
            signals: FxHashMap::default(),
            ends: EndsRun::default(),
        }
    }

    pub(super) fn trace(&self) -> &'t Trace {
        self.index.trace
    }

    /// Returns the arrivals of the round of an event of a barrier.
    pub(super) fn arrivals(&self, event: EventId) -> &[u32] {
        self.index.rounds.round(event.0)
    }

    pub(super) fn lanes(&self) -> Lanes {
        self.lanes
    }

    fn begin(&mut self) {
        if self.checks == u32::MAX {
            self.stamps.fill(0);
            self.checks = 0;
        }
        self.checks += 1;
    }

    /// Checks that the order ends with the `get` of the second action's task, and contains the post
    /// but not the `get` of the first action's task.
    fn check_overtakes(&self, witness: &ClaimedWitness<'_>) -> Result<(), ReorderingError> {
        let &ClaimedWitness { first, second, prefix, order, .. } = witness;
        let trace = self.index.trace;
        let error = |event, reason| Err(ReorderingError { place: order.len(), event, reason });
        if first >= second || second.index() >= trace.len() {
            return error(first, ReorderingReason::NotReversed);
        }
        let tasks = [first, second].map(|event| trace.event(event).task);
        if tasks.iter().any(|task| task.index() >= trace.tasks_count()) {
            return error(first, ReorderingReason::Missing);
        }
        let [one, two] = tasks.map(|task| trace.span(task));
        let (Some(waits), Some(post)) = (one.get.some(), one.post.some()) else {
            return error(first, ReorderingReason::Missing);
        };
        let is_in = |event: EventId| event.0 < prefix || order.contains(&event);
        if self.lanes == Lanes::Handlers
            || waits == two.get
            || one.handler != two.handler
            || is_in(waits)
        {
            return error(first, ReorderingReason::NotReversed);
        }
        if !is_in(post) {
            return error(post, ReorderingReason::Missing);
        }
        // The task that waits must be able to run after the other one.
        let place = |event: EventId| match event.0 < prefix {
            true => Some(event.index()),
            false => order.iter().position(|e| *e == event).map(|at| prefix as usize + at),
        };
        // What opens it can come after the ends as long as it has not come.
        let is_open = |opened: Option<EventId>| opened.is_none_or(|opened| place(opened).is_some());
        let comes = |end: EventId, opened: Option<EventId>| match place(end) {
            Some(at) => is_open(opened) && opened.and_then(place) < Some(at),
            None => is_open(opened) && trace.event(end).task == tasks[1],
        };
        if self.schedules.as_ref().is_some_and(|index| index.ends.is_ended(waits, comes)) {
            return error(first, ReorderingReason::NotReversed);
        }
        match order.last() {
            Some(last) if Some(*last) == two.get.some() => Ok(()),
            _ => error(second, ReorderingReason::NotLast),
        }
    }

    fn check_tasks(
        &self,
        prefix: u32,
        order: &[EventId],
        cancel: &Cancel,
    ) -> Result<(), ReorderingError> {
        let Some(schedules) = &self.schedules else { return Ok(()) };
        let whole = (0..prefix).map(EventId).chain(order.iter().copied());
        check_with_index(self.index.trace, schedules, whole, cancel).map_err(|error| {
            let ScheduleError { place, event, reason } = error;
            let place = place.saturating_sub(prefix as usize);
            let reason = match reason {
                ScheduleReason::Stopped(reason) => ReorderingReason::Stopped(reason),
                reason => ReorderingReason::Schedule(reason),
            };
            ReorderingError { place, event, reason }
        })
    }
}

/// The events that may observe something else.
fn exempt(witness: &ClaimedWitness<'_>) -> [Option<EventId>; 2] {
    match witness.form {
        WitnessForm::Reversed | WitnessForm::Overtakes => [None, None],
        WitnessForm::Last => [Some(witness.first), None],
        WitnessForm::CoEnabled => [Some(witness.first), Some(witness.second)],
    }
}

fn check_form(witness: &ClaimedWitness<'_>) -> Result<(), ReorderingError> {
    let &ClaimedWitness { form, first, second, order, .. } = witness;
    let error = |event, reason| ReorderingError { place: order.len(), event, reason };
    let place_of = |event: EventId| {
        let place = order.iter().position(|other| *other == event);
        place.ok_or_else(|| error(event, ReorderingReason::Missing))
    };
    let (place_first, place_second) = (place_of(first)?, place_of(second)?);
    if first >= second || place_first < place_second {
        return Err(error(first, ReorderingReason::NotReversed));
    }
    let end = order.len() - 1;
    if form != WitnessForm::Reversed && place_first != end {
        return Err(error(first, ReorderingReason::NotLast));
    }
    if form == WitnessForm::CoEnabled && place_second + 1 != end {
        return Err(error(second, ReorderingReason::NotLast));
    }
    Ok(())
}

/// What an event waits for.
#[derive(Clone, Copy)]
enum Waiting {
    /// The events of a handler.
    Handler,
    /// The forks of a handler.
    Forks,
    /// The events of a barrier.
    Barrier,
}

pub(super) struct Run<'r, 't> {
    index: &'r Index<'t>,
    lanes: Lanes,
    prefix: u32,
    stamps: &'r mut [u32],
    now: u32,
    /// By what is waited for.
    waiting: [Pointers; 3],
    open: OpenSections,
    writes: LastWrites,
    /// By event that another one asks for ([`Index::is_placed`]): how many of these had happened.
    places: FxHashMap<EventId, usize>,
    calls: CallRun,
    /// By condition, its signals and broadcasts, in order.
    signals: FxHashMap<u32, Vec<EventId>>,
    ends: EndsRun,
}

impl<'r, 't> Run<'r, 't> {
    pub(super) fn call_index(&self) -> &'r CallIndex<'t> {
        &self.index.calls
    }

    /// Returns whether a call could return after all events so far, if its rule is the only one.
    pub(super) fn could_return(&mut self, wait: &PermitWait<'_>) -> bool {
        let of = (&wait.call, wait.at, self.prefix);
        self.calls.could_return(&self.index.calls, self.index.trace, of)
    }
}

impl Run<'_, '_> {
    /// Returns the arrivals of the round of an event of a barrier.
    pub(super) fn arrivals(&self, event: EventId) -> &[u32] {
        self.index.rounds.round(event.0)
    }

    pub(super) fn has_happened(&self, event: u32) -> bool {
        event < self.prefix || self.stamps[event as usize] == self.now
    }

    pub(super) fn event(&self, id: EventId) -> Event {
        self.index.trace.event(id)
    }

    /// Fails unless the earlier events of an event's lane have happened.
    pub(super) fn comes_after_its_lane(&self, id: EventId) -> Result<(), ReorderingReason> {
        self.after(Some(self.index.previous[id.index()]), "po")
    }

    /// Fails unless the forks of an event's handler have happened.
    pub(super) fn comes_after_forks(&mut self, event: Event) -> Result<(), ReorderingReason> {
        match self.index.handler_of[event.id.index()] {
            NONE => Ok(()),
            handler => self.after_all(Waiting::Forks, handler, event, "fork"),
        }
    }

    /// Fails unless the memory of an event has been allocated.
    pub(super) fn comes_after_alloc(&self, event: Event) -> Result<(), ReorderingReason> {
        self.after(self.index.allocs.get(&event.id.0).copied(), "alloc")
    }

    /// Returns the acquires of the open sections that exclude the section of an acquire.
    pub(super) fn excluding(&mut self, acquire: Event, lock: LockId) -> Vec<u32> {
        self.open.excluding(&self.index.sections, (acquire.id, self.prefix), lock)
    }

    /// Returns the acquires of the open sections of a lock, and whether they are exclusive.
    pub(super) fn open_sections(&mut self, lock: LockId) -> Vec<(u32, bool)> {
        self.open.of_lock(&self.index.sections, self.prefix, lock)
    }

    pub(super) fn step(&mut self, id: EventId, may_differ: bool) -> Result<(), ReorderingReason> {
        if id.index() >= self.stamps.len() {
            return Err(ReorderingReason::Unknown);
        }
        if self.has_happened(id.0) {
            return Err(ReorderingReason::Twice);
        }
        let event = self.index.trace.event(id);
        if self.lanes == Lanes::Handlers {
            self.comes_after_its_lane(id)?;
        }
        self.causes(event)?;
        let ended = self.ends.step(&self.index.ends, self.prefix, id);
        ended.map_err(|by| ReorderingReason::Ended { by })?;
        let lock = (event.kind(), LockId(event.operand));
        if let Some(since) = self.open.step(&self.index.sections, (id, self.prefix), lock) {
            return Err(ReorderingReason::Held { since });
        }
        self.wakes(event)?;
        if !may_differ {
            self.reads(event)?;
            self.times_out(event)?;
            let (sections, at) = (&self.index.sections, (id, self.prefix));
            if event.kind() == EventKind::Refused && !self.open.is_met(sections, at, lock.1) {
                return Err(ReorderingReason::Free);
            }
        }
        self.calls.step(&self.index.calls, self.index.trace, (id, self.prefix), may_differ)?;
        self.happens(event);
        Ok(())
    }

    fn happens(&mut self, event: Event) {
        self.stamps[event.id.index()] = self.now;
        if event.kind().writes() {
            self.writes.set(self.index.footprints.of(LocationId(event.operand)), event.id.0);
        }
        if self.index.is_placed[event.id.index()] {
            self.places.insert(event.id, self.places.len());
        }
        if matches!(event.kind(), EventKind::Signal | EventKind::Broadcast) {
            self.signals.entry(event.operand).or_default().push(event.id);
        }
    }

    fn after(&self, first: Option<u32>, rule: &'static str) -> Result<(), ReorderingReason> {
        match first {
            Some(first) if first != NONE && !self.has_happened(first) => {
                Err(ReorderingReason::TooEarly { first: EventId(first), rule })
            }
            _ => Ok(()),
        }
    }

    fn causes(&mut self, event: Event) -> Result<(), ReorderingReason> {
        let (index, id) = (self.index, event.id);
        self.comes_after_forks(event)?;
        match event.kind() {
            EventKind::Join => {
                self.after_all(Waiting::Handler, event.operand, event, "join")?;
                self.after_all(Waiting::Forks, event.operand, event, "join")?;
            }
            EventKind::Barrier => {
                self.after_all(Waiting::Barrier, event.operand, event, "barrier")?;
                if index.rounds.is_irregular(event.operand) {
                    return Err(ReorderingReason::Barrier);
                }
                let mut arrivals = index.rounds.before(id.0).iter();
                arrivals.try_for_each(|event| self.after(Some(*event), "arrival"))?;
            }
            EventKind::Get => self.after(index.post_of(id).map(|post| post.0), "post")?,
            EventKind::Cancel => self.after(index.post_of_cancelled(event), "cancel")?,
            EventKind::Trigger => self.after(index.enables.get(&id).map(|e| e.0), "enable")?,
            _ => {}
        }
        self.comes_after_alloc(event)
    }

    /// Fails if an event of a list that precedes `event` in the trace has not happened.
    fn after_all(
        &mut self,
        what: Waiting,
        number: u32,
        event: Event,
        rule: &'static str,
    ) -> Result<(), ReorderingReason> {
        let lists = match what {
            Waiting::Handler => &self.index.of_handler,
            Waiting::Forks => &self.index.forks,
            Waiting::Barrier => &self.index.barriers,
        };
        let (stamps, now, prefix) = (&*self.stamps, self.now, self.prefix);
        let has_happened = |event: u32| event < prefix || stamps[event as usize] == now;
        let pointers = &mut self.waiting[what as usize];
        let missing = lists.first_open(number, pointers, prefix, has_happened);
        self.after(missing.filter(|missing| *missing < event.id.0), rule)
    }

    fn reads(&self, event: Event) -> Result<(), ReorderingReason> {
        if !event.kind().reads() {
            return Ok(());
        }
        let now = self.writes.pieces(self.index.footprints.of(LocationId(event.operand)));
        let one;
        let then: &[Piece] = match self.index.sources.of(event.id.0) {
            Observation::Unknown => return Err(ReorderingReason::TooManyPieces),
            Observation::Free => return Ok(()),
            Observation::Pieces(pieces) => pieces,
            Observation::One(last) => {
                one = [Piece { start: 0, end: u64::MAX, last }];
                &one
            }
        };
        let mut then = then.iter().copied().peekable();
        for piece in now {
            while let Some(part) = then.peek().copied() {
                // Bytes that the order has not written have their last write in the prefix: the one
                // in the trace, if that is in the prefix.
                let agrees = match (piece.last, part.last) {
                    (None, Some(event)) => event < self.prefix,
                    (now, then) => now == then,
                };
                if !agrees {
                    let [now, then] = [piece.last, part.last].map(|event| event.map(EventId));
                    return Err(ReorderingReason::Observes { now, then });
                }
                if part.end > piece.end {
                    break;
                }
                then.next();
                if part.end == piece.end {
                    break;
                }
            }
        }
        Ok(())
    }

    fn wakes(&self, event: Event) -> Result<(), ReorderingReason> {
        let Some(found) = self.index.matches.get(&event.id) else { return Ok(()) };
        self.after(Some(found.signal.0), "wake")?;
        let Some(wait) = found.wait else { return Ok(()) };
        // The wait precedes its signal in the trace, so if the signal is in the prefix, so is the
        // wait.
        let is_before = match (self.places.get(&wait), self.places.get(&found.signal)) {
            (Some(wait), Some(signal)) => wait < signal,
            (None, _) => true,
            (Some(_), None) => false,
        };
        match is_before {
            true => Ok(()),
            false => Err(ReorderingReason::WokenEarly { signal: found.signal, wait }),
        }
    }

    /// Fails if a signal came before the time-out of a wait.
    fn times_out(&self, event: Event) -> Result<(), ReorderingReason> {
        let Some(wait) = self.index.timeouts.get(&event.id) else { return Ok(()) };
        let since = self.places.get(wait);
        let signals = self.signals.get(&event.operand).into_iter().flatten();
        let comes = |signal: &&EventId| {
            let was_there = wait < *signal && **signal < event.id;
            !was_there && self.places.get(*signal) > since
        };
        match signals.rev().find(comes) {
            Some(signal) => Err(ReorderingReason::WokenInTime { by: *signal }),
            None => Ok(()),
        }
    }
}
