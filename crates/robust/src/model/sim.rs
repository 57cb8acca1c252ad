//! A run in which events and their tasks follow one another, and some stop half-way.

use super::ids::{InvocationNumber, OccurrenceId, StepId};
use super::mailboxes::{Waiting, deliverable};
use anyorder_system::{
    Access, AccessKind, AsyncSystem, HandlerOrder, InvocationId, InvocationStep, Lane,
    PostedInvocation,
};
use anyorder_trace::LocationId;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The number of `init` among the events of a run.
pub(crate) const INIT: u32 = u32::MAX;

/// The length up to which runs, queues and the like count as short: their work is bounded by the
/// number of states. What tasks that post themselves make grows without end.
pub(crate) const SHORT: usize = 64;

/// What became of an invocation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Status {
    /// It has not begun.
    Pending,
    /// It runs.
    Running,
    /// It has ended.
    Ended,
    /// It has begun and goes no further.
    Stopped,
    /// It does not begin.
    Skipped,
    /// It was taken back before it began.
    Cancelled,
}

/// An invocation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Invocation {
    pub(crate) id: InvocationId,
    /// The occurrence of an event that it belongs to.
    pub(crate) event: OccurrenceId,
    /// The step that posted it; none for the code of an event, and for what `init` posted.
    pub(crate) posted_by: Option<StepId>,
    /// Whether `init` posted it.
    pub(crate) by_init: bool,
    /// The name of the task, or of the event.
    pub(crate) task: Arc<str>,
    /// How many invocations of this task its step posted before.
    pub(crate) ordinal: u32,
    pub(crate) lane: Lane,
    /// Whether it goes before what its handler has.
    pub(crate) front: bool,
    /// When it is due.
    pub(crate) due: u64,
    /// Its delay.
    pub(crate) delay: u64,
}

/// A step of an invocation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Step {
    pub(crate) invocation: InvocationNumber,
    /// Which step of its invocation it is, from 0.
    pub(crate) number: u32,
    pub(crate) alternative: u32,
    pub(crate) accesses: Vec<Access>,
    /// The invocations that it posted.
    pub(crate) posted: Vec<InvocationNumber>,
    /// Those that it took back.
    pub(crate) cancelled: Vec<InvocationId>,
    pub(crate) ended: bool,
}

/// An occurrence of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Occurrence {
    /// The event.
    pub(crate) event: u32,
    /// Its code.
    pub(crate) invocation: InvocationNumber,
}

/// The beginning of a run: `init`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Beginning {
    /// Its alternative.
    pub(crate) alternative: u32,
    /// Whether it is a step of schedules.
    pub(crate) is_step: bool,
    pub(crate) accesses: Vec<Access>,
}

/// A run so far. Cheap to copy: what has happened is shared.
#[derive(Clone, Debug)]
pub(crate) struct Sim<S> {
    pub(crate) state: S,
    pub(crate) beginning: Arc<Beginning>,
    pub(crate) invocations: Vec<Arc<Invocation>>,
    pub(crate) status: Vec<Status>,
    pub(crate) steps: Vec<Arc<Step>>,
    pub(crate) events: Vec<Occurrence>,
    /// What the present event has still to run, in the reverse of the depth-first order.
    pub(crate) todo: Vec<InvocationNumber>,
    /// Where the children of the invocation that runs belong in `todo`.
    pub(crate) place: usize,
    /// The virtual time.
    pub(crate) clock: u64,
    /// The invocation that runs.
    pub(crate) current: Option<InvocationNumber>,
    /// The number of steps of the invocation that runs.
    taken: u32,
}

/// How a run goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    /// An invocation may begin.
    Begin(InvocationNumber),
    /// The running invocation takes a step.
    Continue(InvocationNumber),
    /// The event is over.
    Over,
}

impl<S> Sim<S> {
    /// Returns an invocation.
    #[inline]
    pub(crate) fn invocation(&self, number: InvocationNumber) -> &Arc<Invocation> {
        &self.invocations[number.index()]
    }

    /// Returns what became of an invocation.
    #[inline]
    pub(crate) fn status_of(&self, number: InvocationNumber) -> Status {
        self.status[number.index()]
    }

    /// Returns a step.
    #[inline]
    pub(crate) fn step(&self, id: StepId) -> &Arc<Step> {
        &self.steps[id.index()]
    }

    /// Returns the occurrence that a step belongs to.
    #[inline]
    pub(crate) fn occurrence_of(&self, step: &Step) -> OccurrenceId {
        self.invocation(step.invocation).event
    }

    /// Returns the event of an occurrence.
    #[inline]
    pub(crate) fn event_of(&self, occurrence: OccurrenceId) -> u32 {
        self.events[occurrence.index()].event
    }
}

impl<S: Clone> Sim<S> {
    /// Begins every run of a program, each by an alternative of `init`. What `init` posts belongs
    /// to an event of its own, which comes first.
    /// A beginning that fails is none.
    pub(crate) fn all<A: AsyncSystem<State = S>>(
        system: &A,
        beginnings: Vec<InvocationStep<S>>,
    ) -> Vec<Sim<S>> {
        let is_step = system.init_is_step();
        let beginnings = (0..).zip(beginnings).filter(|(_, init)| init.failure.is_none());
        beginnings.map(|(number, init)| Sim::new(system, init, (number, is_step))).collect()
    }

    fn new<A: AsyncSystem<State = S>>(
        system: &A,
        init: InvocationStep<S>,
        (alternative, is_step): (u32, bool),
    ) -> Sim<S> {
        let mut sim = Sim {
            state: init.state,
            beginning: Arc::new(Beginning { alternative, is_step, accesses: init.accesses }),
            invocations: Vec::new(),
            status: Vec::new(),
            steps: Vec::new(),
            events: Vec::new(),
            todo: Vec::new(),
            place: 0,
            clock: 0,
            current: None,
            taken: 0,
        };
        if !init.posted.is_empty() {
            sim.events.push(Occurrence { event: INIT, invocation: InvocationNumber(0) });
            sim.todo = sim.post(system, &init.posted, OccurrenceId(0), None);
            sim.take_back(&init.cancelled);
            sim.todo.reverse();
        }
        sim
    }

    /// Adds invocations. Returns their numbers.
    fn post<A: AsyncSystem<State = S>>(
        &mut self,
        system: &A,
        posts: &[PostedInvocation],
        event: OccurrenceId,
        posted_by: Option<StepId>,
    ) -> Vec<InvocationNumber> {
        let mut posted: Vec<InvocationNumber> = Vec::with_capacity(posts.len());
        for one in posts {
            let twins = posted.iter().filter(|other| *self.invocation(**other).task == *one.task);
            let ordinal = twins.count() as u32;
            let number = InvocationNumber::at(self.invocations.len());
            let delayed = order_of(system, one.lane) == Some(HandlerOrder::Delayed) && !one.front;
            let delay = if delayed { one.delay } else { 0 };
            self.invocations.push(Arc::new(Invocation {
                id: one.invocation,
                event,
                posted_by,
                by_init: posted_by.is_none(),
                task: one.task.as_str().into(),
                ordinal,
                lane: one.lane,
                front: one.front,
                due: self.clock.saturating_add(delay),
                delay,
            }));
            self.status.push(Status::Pending);
            posted.push(number);
        }
        posted
    }

    fn take_back(&mut self, cancelled: &[InvocationId]) {
        for id in cancelled {
            if let Some(position) = self.invocations.iter().position(|one| one.id == *id) {
                self.remove(InvocationNumber::at(position));
                self.status[position] = Status::Cancelled;
            }
        }
    }

    /// Begins an occurrence of an event by its first step.
    pub(crate) fn start<A: AsyncSystem<State = S>>(
        self,
        system: &A,
        event: u32,
        (alternative, step): (u32, &InvocationStep<S>),
    ) -> Sim<S> {
        let mut next = self;
        let info = &system.events()[event as usize];
        let invocation = InvocationNumber::at(next.invocations.len());
        next.invocations.push(Arc::new(Invocation {
            id: step.invocation,
            event: OccurrenceId::at(next.events.len()),
            posted_by: None,
            by_init: false,
            task: info.name.as_str().into(),
            ordinal: 0,
            lane: info.lane,
            front: false,
            due: next.clock,
            delay: 0,
        }));
        next.status.push(Status::Running);
        next.events.push(Occurrence { event, invocation });
        next.current = Some(invocation);
        next.place = next.todo.len();
        next.taken = 0;
        next.push(system, alternative, step);
        next
    }

    /// Takes a step of the running invocation, or of one that begins.
    pub(crate) fn take<A: AsyncSystem<State = S>>(
        self,
        system: &A,
        invocation: InvocationNumber,
        alternative: u32,
        step: &InvocationStep<S>,
    ) -> Sim<S> {
        let mut next = self;
        if next.current != Some(invocation) {
            // What a mailbox delivers need not be the first one that is pending.
            let place = next.todo.iter().position(|one| *one == invocation);
            next.place = place.unwrap_or(next.todo.len());
            next.remove(invocation);
            next.current = Some(invocation);
            next.taken = 0;
            next.status[invocation.index()] = Status::Running;
            next.clock = next.clock.max(next.invocation(invocation).due);
        }
        next.push(system, alternative, step);
        next
    }

    fn push<A: AsyncSystem<State = S>>(
        &mut self,
        system: &A,
        alternative: u32,
        step: &InvocationStep<S>,
    ) {
        let invocation = self.current.unwrap_or(InvocationNumber(0));
        let event = self.invocation(invocation).event;
        let posted = self.post(system, &step.posted, event, Some(StepId::at(self.steps.len())));
        self.take_back(&step.cancelled);
        self.state = step.state.clone();
        let (number, ended) = (self.taken, step.ended);
        let (accesses, cancelled) = (step.accesses.clone(), step.cancelled.clone());
        let record = Step { invocation, number, alternative, accesses, posted, cancelled, ended };
        self.steps.push(Arc::new(record));
        self.taken += 1;
        if ended {
            self.leave(Status::Ended);
        }
    }

    /// Ends the running invocation in some way. What it posted takes its place.
    pub(crate) fn leave(&mut self, status: Status) {
        let Some(invocation) = self.current.take() else { return };
        self.status[invocation.index()] = status;
        let steps = self.steps.iter().rev().take(self.taken as usize);
        let pending = |posted: &&InvocationNumber| self.status_of(**posted) == Status::Pending;
        let posted: Vec<InvocationNumber> =
            steps.flat_map(|step| step.posted.iter().rev()).filter(pending).copied().collect();
        self.todo.splice(self.place..self.place, posted);
    }

    /// Returns what a step of this run costs: 1 for a short run. A long run is copied, and its
    /// queues are gone through.
    pub(crate) fn work(&self) -> u64 {
        1 + ((self.steps.len() + self.todo.len()) / SHORT) as u64
    }

    /// Skips an invocation that has not begun.
    pub(crate) fn skip(&mut self, invocation: InvocationNumber) {
        self.remove(invocation);
        self.status[invocation.index()] = Status::Skipped;
    }

    fn remove(&mut self, invocation: InvocationNumber) {
        let mut todo = self.todo.iter();
        let Some(position) = todo.position(|pending| *pending == invocation) else { return };
        self.todo.remove(position);
        if position < self.place {
            self.place -= 1;
        }
    }

    /// Returns what comes next in the reference order: the first pending invocation, depth-first,
    /// that its handler may take and that is due; if none is due, of those that are due first.
    pub(crate) fn next<A: AsyncSystem<State = S>>(&self, system: &A) -> Next {
        if let Some(invocation) = self.current {
            return Next::Continue(invocation);
        }
        let waiting = |number: &InvocationNumber| {
            let Invocation { lane, front, due, .. } = **self.invocation(*number);
            Waiting { lane, order: order_of(system, lane), front, due, post: number.0 }
        };
        let pending: Vec<Waiting> = self.todo.iter().rev().map(waiting).collect();
        let delivered: Vec<&Waiting> = pending
            .iter()
            .zip(deliverable(&pending))
            .filter_map(|(waiting, is_delivered)| is_delivered.then_some(waiting))
            .collect();
        let least = delivered.iter().map(|waiting| waiting.due).min();
        let now = least.map_or(self.clock, |least| self.clock.max(least));
        match delivered.into_iter().find(|waiting| waiting.due <= now) {
            Some(waiting) => Next::Begin(InvocationNumber(waiting.post)),
            None => Next::Over,
        }
    }
}

/// Returns the order of the handler of a lane, if it has one.
pub(crate) fn order_of<A: AsyncSystem>(system: &A, lane: Lane) -> Option<HandlerOrder> {
    match lane {
        Lane::Handler(handler) => system.handlers().get(handler as usize).map(|one| one.order),
        Lane::Own => None,
    }
}

/// Returns whether two accesses conflict: the same location, and not only reads.
pub(crate) fn conflict(a: &Access, b: &Access) -> bool {
    a.location == b.location && (a.kind != AccessKind::Read || b.kind != AccessKind::Read)
}

/// Returns whether some accesses of two steps conflict.
pub(crate) fn conflicts(a: &[Access], b: &[Access]) -> bool {
    a.iter().any(|a| b.iter().any(|b| conflict(a, b)))
}

/// For each location, the last accesses: what a later access conflicts with directly. The
/// transitive closure of these is that of all conflicts.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastAccesses<T> {
    of: FxHashMap<LocationId, (Option<T>, Vec<T>)>,
}

impl<T: Copy + PartialEq> LastAccesses<T> {
    pub(crate) fn new() -> LastAccesses<T> {
        LastAccesses { of: FxHashMap::default() }
    }

    /// Adds an access, and calls `each` with every earlier one that it directly conflicts with.
    pub(crate) fn add(&mut self, access: &Access, who: T, mut each: impl FnMut(T)) {
        let (write, reads) = self.of.entry(access.location).or_insert((None, Vec::new()));
        write.iter().for_each(|other| each(*other));
        if access.kind == AccessKind::Read {
            if reads.last() != Some(&who) {
                reads.push(who);
            }
        } else {
            reads.drain(..).for_each(&mut each);
            *write = Some(who);
        }
    }
}
