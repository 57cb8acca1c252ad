//! Which events wait for which, so that a run of the program comes to a witness.
//!
//! The witness is a run: some events that happen as in the trace, then `order`. Two events of
//! `order` *conflict* if they touch the same memory and one writes, ask for one lock and one of
//! them exclusively, signal or wait for one condition, or call one object. A run of the program
//! that keeps the order of all conflicting events of `order` is the same to each thread. So the
//! later one of two conflicting events waits for the earlier one, but where this follows from the
//! program order, forks, joins, and what waits already. An acquire waits until the earlier acquire
//! has passed, not for the release: the lock itself does the rest.
//!
//! Then the goal: the first action waits until the second has passed; both accesses of a race wait
//! until the other one is reached; each request of a deadlock until all others are. The threads
//! that take part stop at the first event that the witness does not have until then.
//!
//! Where the witness has a beginning, and where holds would be too many, the threads that take part
//! first come to the end of it by themselves: the first event of each in the rest waits for the
//! last one of the others in the beginning.
//!
//! An event that cannot wait (a thread has no hook there) waits for nothing: the plan is weaker
//! there, and the run may differ. The front end looks at what has happened in it.
//!
//! **Cost.** Events of `order` times their threads, and what [`Conflicts`] takes.

use super::clocks::Clocks;
use super::conflicts::Conflicts;
use anyorder_trace::{Action, Event, EventId, EventKind, Trace};
use std::collections::{BTreeMap, HashMap, HashSet};

/// A moment of an operation in the run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Moment {
    /// Its thread has come to it.
    Reached = 1,
    /// Its thread waits on a condition.
    Waiting = 2,
    /// It is over.
    Passed = 3,
}

/// What the program does at an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operation {
    /// Its number; several events can be one operation.
    pub id: u32,
    /// The moment by which the event has happened.
    pub moment: Moment,
    /// Whether the thread can be held before this event happens.
    pub can_wait: bool,
}

/// The end of a witness.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GoalEnd<'w> {
    /// The first action of the trace is the last event, and comes after the second.
    Reversed {
        /// The action that came first.
        first: EventId,
        /// The other.
        second: EventId,
    },
    /// Both threads come to their accesses; these are the last two events.
    Together {
        /// The access that came first.
        first: EventId,
        /// The other.
        second: EventId,
    },
    /// All threads come to their requests, which are not among the events.
    Deadlock(&'w [EventId]),
}

/// A witness to come to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Goal<'w> {
    /// How many of the trace's first events come before `order`.
    pub prefix: u32,
    /// The events after them.
    pub order: &'w [EventId],
    /// Its end.
    pub end: GoalEnd<'w>,
}

/// An event that waits for another one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Hold {
    /// Who waits.
    pub event: EventId,
    /// For whom.
    pub other: EventId,
    /// For which moment of `other`.
    pub until: Moment,
}

/// A witness that is too long for a plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the witness has too many events and threads for a plan")]
pub struct TooLong;

/// Returns who waits for whom, in the order of the witness; then the goal. With more than
/// `holds_max` of them, the part of `order` in which all is as in the trace is left to the program.
///
/// # Errors
///
/// Fails if events times threads of `order` are more than 2^26, or if there are too many holds
/// even so.
pub fn holds(
    trace: &Trace,
    goal: &Goal<'_>,
    operation: &dyn Fn(EventId) -> Option<Operation>,
    holds_max: usize,
) -> Result<Vec<Hold>, TooLong> {
    let all = holds_from(trace, goal, operation, 0)?;
    if all.len() <= holds_max {
        return Ok(all);
    }
    // Up to the first event that the trace has before one that stands before it here.
    let pairs = goal.order.windows(2);
    let same = pairs.take_while(|pair| pair[0] < pair[1]).count() + 1;
    let rest = holds_from(trace, goal, operation, same)?;
    if rest.len() > holds_max { Err(TooLong) } else { Ok(rest) }
}

/// Returns the holds of the goal alone: a weaker plan, for programs whose threads share their work
/// in another way in each run. The first action, or the section around it that the second one needs
/// too, waits until the second one has passed; nothing else is held. Linear in the trace.
#[must_use]
pub fn goal_holds(
    trace: &Trace,
    goal: &Goal<'_>,
    operation: &dyn Fn(EventId) -> Option<Operation>,
) -> Vec<Hold> {
    let hold = |event: EventId, other: EventId, until: Moment| Hold { event, other, until };
    match goal.end {
        GoalEnd::Reversed { first, second } => {
            let moment = operation(second).map_or(Moment::Passed, |operation| operation.moment);
            vec![hold(enclosing(trace, first, second, operation), second, moment)]
        }
        GoalEnd::Together { first, second } => {
            vec![hold(first, second, Moment::Reached), hold(second, first, Moment::Reached)]
        }
        GoalEnd::Deadlock(requests) => {
            let others = |request: &EventId| {
                let request = *request;
                let others = requests.iter().filter(move |other| **other != request);
                others.map(move |other| hold(request, *other, Moment::Reached))
            };
            requests.iter().flat_map(others).collect()
        }
    }
}

/// Returns where a thread is held before an event: at the first acquire of a section around it
/// whose lock the other event's thread takes on its way, else at the event.
fn enclosing(
    trace: &Trace,
    event: EventId,
    other: EventId,
    operation: &dyn Fn(EventId) -> Option<Operation>,
) -> EventId {
    let (own, others) = (trace.handler_of(event), trace.handler_of(other));
    let mut open: Vec<(u32, EventId)> = Vec::new();
    let mut taken: HashSet<u32> = HashSet::new();
    for one in trace.events().take(other.index().max(event.index())) {
        let handler = trace.handler_of(one.id);
        match one.action() {
            Action::Acquire(lock, _) if handler == others && one.id < other => {
                taken.insert(lock.0);
            }
            Action::Acquire(lock, _) if handler == own && one.id < event => {
                open.push((lock.0, one.id));
            }
            Action::Release(lock, _) if handler == own && one.id < event => {
                if let Some(at) = open.iter().rposition(|(held, _)| *held == lock.0) {
                    open.remove(at);
                }
            }
            _ => {}
        }
    }
    let can_wait = |id: EventId| operation(id).is_some_and(|operation| operation.can_wait);
    let mut around = open.into_iter().filter(|(lock, id)| taken.contains(lock) && can_wait(*id));
    around.next().map_or(event, |(_, acquire)| acquire)
}

/// Returns the holds of a witness of which the first `free` events of `order` are left to the
/// program.
fn holds_from(
    trace: &Trace,
    goal: &Goal<'_>,
    operation: &dyn Fn(EventId) -> Option<Operation>,
    free: usize,
) -> Result<Vec<Hold>, TooLong> {
    let mut plan = Plan::new(trace, goal, operation).ok_or(TooLong)?;
    plan.begin(free);
    for (at, event) in goal.order.iter().enumerate() {
        plan.add(at, trace.event(*event), at < free);
    }
    plan.end();
    Ok(plan.holds)
}

struct Plan<'p> {
    trace: &'p Trace,
    goal: &'p Goal<'p>,
    operation: &'p dyn Fn(EventId) -> Option<Operation>,
    /// By handler, for those of `order`.
    threads: BTreeMap<u32, usize>,
    clocks: Clocks,
    conflicts: Conflicts,
    /// By lock and thread: the place of its last release.
    released: HashMap<(u32, usize), usize>,
    /// By handler: the place of its fork.
    forked: HashMap<u32, usize>,
    /// By thread: the place of its last event.
    last: HashMap<usize, usize>,
    holds: Vec<Hold>,
}

impl<'p> Plan<'p> {
    fn new(
        trace: &'p Trace,
        goal: &'p Goal<'p>,
        operation: &'p dyn Fn(EventId) -> Option<Operation>,
    ) -> Option<Plan<'p>> {
        let mut threads = BTreeMap::new();
        for event in goal.order {
            let next = threads.len();
            threads.entry(trace.handler_of(*event).0).or_insert(next);
        }
        let clocks = Clocks::new(threads.len(), goal.order.len())?;
        Some(Plan {
            trace,
            goal,
            operation,
            threads,
            clocks,
            conflicts: Conflicts::default(),
            released: HashMap::new(),
            forked: HashMap::new(),
            last: HashMap::new(),
            holds: Vec::new(),
        })
    }

    fn thread(&self, event: EventId) -> usize {
        self.threads[&self.trace.handler_of(event).0]
    }

    /// Lets the first event of each thread in the rest wait for the last ones before it.
    fn begin(&mut self, free: usize) {
        let prefix = (0..self.goal.prefix).map(EventId);
        let before = prefix.chain(self.goal.order.iter().copied().take(free));
        let mut last: BTreeMap<u32, EventId> = BTreeMap::new();
        for event in before {
            let handler = self.trace.handler_of(event).0;
            if self.threads.contains_key(&handler) && (self.operation)(event).is_some() {
                last.insert(handler, event);
            }
        }
        let mut waits: HashSet<u32> = HashSet::new();
        for event in self.goal.order.iter().skip(free) {
            let handler = self.trace.handler_of(*event).0;
            let can_wait = (self.operation)(*event).is_some_and(|of| of.can_wait);
            if !can_wait || !waits.insert(handler) {
                continue;
            }
            for (_, other) in last.iter().filter(|(of, _)| **of != handler) {
                let until = self.moment(*other);
                self.holds.push(Hold { event: *event, other: *other, until });
            }
        }
    }

    fn add(&mut self, at: usize, event: Event, is_free: bool) {
        let thread = self.thread(event.id);
        self.clocks.begin(thread);
        let handler = self.trace.handler_of(event.id).0;
        if !self.last.contains_key(&thread)
            && let Some(fork) = self.forked.get(&handler)
        {
            self.clocks.join(*fork, thread);
        }
        match event.action() {
            Action::Join(child) => {
                let ended = self.threads.get(&child.0).and_then(|child| self.last.get(child));
                if let Some(ended) = ended {
                    self.clocks.join(*ended, thread);
                }
            }
            Action::Fork(child) => drop(self.forked.insert(child.0, at)),
            Action::Release(lock, _) => drop(self.released.insert((lock.0, thread), at)),
            _ => {}
        }
        let others = self.conflicts.add(self.trace, event, thread as u32, at as u32);
        if !is_free && (self.operation)(event.id).is_some_and(|operation| operation.can_wait) {
            for other in others {
                self.wait(event, other as usize, thread);
            }
        }
        self.last.insert(thread, at);
    }

    /// Lets an event wait for an earlier one of `order`, unless it comes before anyway.
    fn wait(&mut self, event: Event, at: usize, thread: usize) {
        let other = self.goal.order[at];
        let other_thread = self.thread(other);
        let Some(operation) = (self.operation)(other) else { return };
        if self.clocks.is_before((other_thread, at), thread) || self.is_goal(event.id, other) {
            return;
        }
        self.holds.push(Hold { event: event.id, other, until: operation.moment });
        self.clocks.join(at, thread);
        // Whoever has the lock after the other one has it after its release.
        if let Action::Acquire(lock, _) = event.action()
            && let Some(release) = self.released.get(&(lock.0, other_thread)).copied()
            && release > at
        {
            self.clocks.join(release, thread);
        }
    }

    /// Returns whether two events are the accesses of a race: they do not wait for each other to
    /// be over.
    fn is_goal(&self, event: EventId, other: EventId) -> bool {
        match self.goal.end {
            GoalEnd::Together { first, second } => event == first && other == second,
            _ => false,
        }
    }

    /// Adds the holds at the end of the witness.
    fn end(&mut self) {
        let requests: &[EventId] = match &self.goal.end {
            GoalEnd::Deadlock(requests) => requests,
            _ => &[],
        };
        // What has to happen before the threads that take part go on.
        let over: Vec<(EventId, Moment)> = match self.goal.end {
            GoalEnd::Reversed { first, second } => {
                self.hold(first, second, self.moment(second));
                vec![(first, self.moment(first))]
            }
            GoalEnd::Together { first, second } => {
                self.hold(first, second, Moment::Reached);
                self.hold(second, first, Moment::Reached);
                vec![(first, Moment::Reached), (second, Moment::Reached)]
            }
            GoalEnd::Deadlock(requests) => {
                for request in requests {
                    for other in requests.iter().filter(|other| *other != request) {
                        self.hold(*request, *other, Moment::Reached);
                    }
                }
                requests.iter().map(|request| (*request, Moment::Reached)).collect()
            }
        };
        for stop in self.stops(requests) {
            for (event, moment) in &over {
                self.hold(stop, *event, *moment);
            }
        }
    }

    fn moment(&self, event: EventId) -> Moment {
        (self.operation)(event).map_or(Moment::Passed, |operation| operation.moment)
    }

    fn hold(&mut self, event: EventId, other: EventId, until: Moment) {
        let hold = Hold { event, other, until };
        if !self.holds.contains(&hold) {
            self.holds.push(hold);
        }
    }

    /// Returns, for each thread that takes part, the first event at which it can wait that the
    /// witness does not have. A thread with a request stands there.
    fn stops(&self, requests: &[EventId]) -> Vec<EventId> {
        let order: HashSet<EventId> = self.goal.order.iter().copied().collect();
        let is_in = |event: EventId| event.0 < self.goal.prefix || order.contains(&event);
        let known: HashSet<u32> = self
            .goal
            .order
            .iter()
            .filter_map(|event| (self.operation)(*event).map(|operation| operation.id))
            .collect();
        let mut open: HashSet<u32> = self.threads.keys().copied().collect();
        for request in requests {
            open.remove(&self.trace.handler_of(*request).0);
        }
        let mut stops = Vec::new();
        for event in self.trace.events().skip(self.goal.prefix as usize) {
            let handler = self.trace.handler_of(event.id).0;
            if !open.contains(&handler) || is_in(event.id) || event.kind() == EventKind::Begin {
                continue;
            }
            let operation = (self.operation)(event.id);
            if operation.is_some_and(|of| of.can_wait && !known.contains(&of.id)) {
                open.remove(&handler);
                stops.push(event.id);
            }
        }
        stops
    }
}
