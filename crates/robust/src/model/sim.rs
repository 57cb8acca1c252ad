//! A run in which events and their tasks follow one another, and some stop half-way.

use anyorder_system::{
    Access, AccessKind, AsyncSystem, HandlerOrder, InvocationId, InvocationStep, Lane,
};
use anyorder_trace::LocationId;
use rustc_hash::FxHashMap;
use std::sync::Arc;

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
    pub(crate) event: u32,
    /// The step that posted it; none for the code of an event.
    pub(crate) posted_by: Option<u32>,
    /// The name of the task, or of the event.
    pub(crate) task: Arc<str>,
    /// How many invocations of this task its step posted before.
    pub(crate) ordinal: u32,
    pub(crate) lane: Lane,
    /// Whether it goes before what its handler has.
    pub(crate) front: bool,
}

/// A step of an invocation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Step {
    pub(crate) invocation: u32,
    /// Which step of its invocation it is, from 0.
    pub(crate) number: u32,
    pub(crate) alternative: u32,
    pub(crate) accesses: Vec<Access>,
    /// The invocations that it posted.
    pub(crate) posted: Vec<u32>,
    pub(crate) ended: bool,
}

/// An occurrence of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Occurrence {
    /// The event.
    pub(crate) event: u32,
    /// Its code.
    pub(crate) invocation: u32,
}

/// A run so far. Cheap to copy: what has happened is shared.
#[derive(Clone, Debug)]
pub(crate) struct Sim<S> {
    pub(crate) state: S,
    pub(crate) invocations: Vec<Arc<Invocation>>,
    pub(crate) status: Vec<Status>,
    pub(crate) steps: Vec<Arc<Step>>,
    pub(crate) events: Vec<Occurrence>,
    /// What the present event has still to run, the next one last.
    todo: Vec<u32>,
    /// The invocation that runs.
    pub(crate) current: Option<u32>,
    /// The number of steps of the invocation that runs.
    taken: u32,
}

/// How a run goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    /// An invocation may begin.
    Begin(u32),
    /// The running invocation takes a step.
    Continue(u32),
    /// The event is over.
    Over,
}

impl<S: Clone> Sim<S> {
    pub(crate) fn new(state: S) -> Sim<S> {
        Sim {
            state,
            invocations: Vec::new(),
            status: Vec::new(),
            steps: Vec::new(),
            events: Vec::new(),
            todo: Vec::new(),
            current: None,
            taken: 0,
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
        let invocation = next.invocations.len() as u32;
        next.invocations.push(Arc::new(Invocation {
            id: step.invocation,
            event: next.events.len() as u32,
            posted_by: None,
            task: info.name.as_str().into(),
            ordinal: 0,
            lane: info.lane,
            front: false,
        }));
        next.status.push(Status::Running);
        next.events.push(Occurrence { event, invocation });
        next.current = Some(invocation);
        next.taken = 0;
        next.push(alternative, step);
        next
    }

    /// Takes a step of the running invocation, or of one that begins.
    pub(crate) fn take(
        self,
        invocation: u32,
        alternative: u32,
        step: &InvocationStep<S>,
    ) -> Sim<S> {
        let mut next = self;
        if next.current != Some(invocation) {
            next.remove(invocation);
            next.current = Some(invocation);
            next.taken = 0;
            next.status[invocation as usize] = Status::Running;
        }
        next.push(alternative, step);
        next
    }

    fn push(&mut self, alternative: u32, step: &InvocationStep<S>) {
        let invocation = self.current.unwrap_or(0);
        let event = self.invocations[invocation as usize].event;
        let at = self.steps.len() as u32;
        let mut posted = Vec::with_capacity(step.posted.len());
        for one in &step.posted {
            let twins = posted
                .iter()
                .filter(|other: &&u32| *self.invocations[**other as usize].task == *one.task);
            let ordinal = twins.count() as u32;
            let number = self.invocations.len() as u32;
            self.invocations.push(Arc::new(Invocation {
                id: one.invocation,
                event,
                posted_by: Some(at),
                task: one.task.as_str().into(),
                ordinal,
                lane: one.lane,
                front: one.front,
            }));
            self.status.push(Status::Pending);
            posted.push(number);
        }
        for id in &step.cancelled {
            if let Some(found) = self.invocations.iter().position(|one| one.id == *id) {
                self.remove(found as u32);
                self.status[found] = Status::Cancelled;
            }
        }
        self.state = step.state.clone();
        let (number, ended) = (self.taken, step.ended);
        let accesses = step.accesses.clone();
        let record = Step { invocation, number, alternative, accesses, posted, ended };
        self.steps.push(Arc::new(record));
        self.taken += 1;
        if ended {
            self.leave(Status::Ended);
        }
    }

    /// Ends the running invocation in some way. What it posted comes next.
    pub(crate) fn leave(&mut self, status: Status) {
        let Some(invocation) = self.current.take() else { return };
        self.status[invocation as usize] = status;
        let steps = self.steps.iter().rev().take(self.taken as usize);
        let pending = |one: &&u32| self.status[**one as usize] == Status::Pending;
        let posted: Vec<u32> =
            steps.flat_map(|step| step.posted.iter().rev()).filter(pending).copied().collect();
        self.todo.extend(posted);
    }

    /// Skips an invocation that has not begun.
    pub(crate) fn skip(&mut self, invocation: u32) {
        self.remove(invocation);
        self.status[invocation as usize] = Status::Skipped;
    }

    fn remove(&mut self, invocation: u32) {
        self.todo.retain(|one| *one != invocation);
    }

    /// Returns what comes next in the reference order: the first pending invocation, depth-first,
    /// that its handler may take.
    pub(crate) fn next<A: AsyncSystem<State = S>>(&self, system: &A) -> Next {
        if let Some(invocation) = self.current {
            return Next::Continue(invocation);
        }
        let may = |one: &&u32| match self.invocations[**one as usize].lane {
            Lane::Handler(handler)
                if system.handlers()[handler as usize].order == HandlerOrder::Fifo =>
            {
                self.is_front(**one)
            }
            _ => true,
        };
        match self.todo.iter().rev().find(may) {
            Some(one) => Next::Begin(*one),
            None => Next::Over,
        }
    }

    /// Returns whether an invocation is the next of its ordered handler.
    fn is_front(&self, invocation: u32) -> bool {
        let of = |one: u32| &self.invocations[one as usize];
        let lane = of(invocation).lane;
        let key = |one: u32| if of(one).front { -i64::from(one) } else { i64::from(one) };
        let first = |one: u32| (!of(one).front, key(one));
        self.todo
            .iter()
            .filter(|one| of(**one).lane == lane)
            .all(|one| first(invocation) <= first(*one))
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
