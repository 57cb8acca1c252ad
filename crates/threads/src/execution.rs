//! One execution of a program, step by step.

use crate::ids::{SiteId, ThreadId};
use crate::object::World;
use crate::op::{Act, Op};
use crate::program::{Next, ThreadProgram};

/// A step: a thread performs its operation in one of the ways that are possible.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Step {
    /// The thread.
    pub thread: ThreadId,
    /// The way: below the number of alternatives.
    pub alternative: u32,
}

/// What happened in a step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// The step.
    pub step: Step,
    /// The operation.
    pub op: Op,
    /// Its result.
    pub result: u64,
    /// Its position in the source.
    pub site: SiteId,
}

/// How an execution ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Ending {
    /// All threads ended.
    Completed,
    /// No thread can go on, and some have not ended.
    Deadlock,
    /// Threads spin, nothing changes, and no other thread can go on.
    Livelock,
    /// It had as many steps as allowed.
    StepLimit,
}

/// How often in a row threads may spin where nothing can change what they wait for, unless said
/// otherwise. Loops that give up after some turns end; the others are a livelock.
pub const SPINS_MAX: u32 = 200;

/// A thread that has not ended.
#[derive(Debug)]
struct Live {
    id: ThreadId,
    next: Next,
    /// The alternatives now.
    ways: u32,
    /// How many invocations it is in.
    depth: u32,
}

/// Runs a program again and again, one step at a time.
pub struct Execution<'p, P: ThreadProgram + ?Sized> {
    program: &'p mut P,
    world: World,
    /// Sorted by number.
    live: Vec<Live>,
    events: Vec<Event>,
    is_running: bool,
    spins: Spins,
    spins_max: u32,
}

/// The turns of threads that spin where nothing else can go on: one after another, in a circle.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Spins {
    /// Turns since the last operation that changed something.
    pub(crate) fruitless: u32,
    /// Whose turn was the last one.
    last: Option<ThreadId>,
}

impl Spins {
    /// Returns whose turn it is among the threads that spin, in ascending order.
    pub(crate) fn turn(
        &self,
        mut spinning: impl Iterator<Item = ThreadId>,
        spins_max: u32,
    ) -> Option<ThreadId> {
        if self.fruitless >= spins_max {
            return None;
        }
        let first = spinning.next()?;
        match self.last {
            Some(last) if first <= last => Some(spinning.find(|id| *id > last).unwrap_or(first)),
            _ => Some(first),
        }
    }

    pub(crate) fn take(&mut self, thread: ThreadId) {
        *self = Spins { fruitless: self.fruitless + 1, last: Some(thread) };
    }

    /// Notes an operation and its result.
    pub(crate) fn note(&mut self, act: &Act, result: u64) {
        if self.fruitless > 0 && act.changes(result) {
            *self = Spins::default();
        }
    }
}

impl<'p, P: ThreadProgram + ?Sized> Execution<'p, P> {
    /// Makes an execution of a program that has not begun.
    pub fn new(program: &'p mut P) -> Self {
        Execution {
            program,
            world: World::new(),
            live: Vec::new(),
            events: Vec::new(),
            is_running: false,
            spins: Spins::default(),
            spins_max: SPINS_MAX,
        }
    }

    /// Sets how often in a row threads may spin in vain.
    pub fn set_spins_max(&mut self, spins_max: u32) {
        self.spins_max = spins_max;
    }

    /// Ends the execution, if one runs, and begins another one.
    pub fn restart(&mut self) {
        self.stop();
        self.world.clear();
        self.events.clear();
        self.live.clear();
        self.spins = Spins::default();
        self.is_running = true;
        self.program.start();
        self.go_on(ThreadId::MAIN, 0);
    }

    /// Ends the execution, if one runs.
    pub fn stop(&mut self) {
        if std::mem::take(&mut self.is_running) {
            self.program.stop();
        }
    }

    /// The program.
    pub fn program(&mut self) -> &mut P {
        self.program
    }

    pub(crate) fn program_ref(&self) -> &P {
        self.program
    }

    /// What a thread that has not ended is about to do.
    #[must_use]
    pub fn next(&self, thread: ThreadId) -> Option<&Next> {
        let at = self.live.binary_search_by_key(&thread, |live| live.id).ok()?;
        Some(&self.live[at].next)
    }

    /// The events so far.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    pub(crate) fn events_mut(&mut self) -> &mut Vec<Event> {
        &mut self.events
    }

    /// The states of the objects now.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The threads that have not ended, by number, and what each is about to do.
    pub fn pending(&self) -> impl ExactSizeIterator<Item = (ThreadId, &Next)> {
        self.live.iter().map(|live| (live.id, &live.next))
    }

    /// Lists the steps that are possible now, by thread and alternative. None: the execution has
    /// ended, see [`ending`](Self::ending).
    pub fn ready(&mut self, steps: &mut Vec<Step>) {
        steps.clear();
        for live in &mut self.live {
            live.ways = self.world.alternatives(live.id, &live.next.op);
        }
        // Within an invocation, nobody else runs.
        let running = self.events.last().map(|event| event.step.thread);
        if self.live.iter().any(|live| Some(live.id) == running && live.depth > 0 && live.ways > 0)
        {
            let others = self.live.iter_mut().filter(|live| Some(live.id) != running);
            others.for_each(|live| live.ways = 0);
        }
        let mut list = |live: &Live, ways| {
            steps.extend((0..ways).map(|alternative| Step { thread: live.id, alternative }));
        };
        self.live.iter().for_each(|live| list(live, live.ways));
        if self.live.iter().all(|live| live.ways == 0) {
            let spins = |live: &&Live| matches!(live.next.op.act, Act::Await(_));
            let turn =
                self.spins.turn(self.live.iter().filter(spins).map(|live| live.id), self.spins_max);
            steps.extend(turn.map(|thread| Step { thread, alternative: 0 }));
        }
    }

    /// How the execution ended, if no step is possible.
    #[must_use]
    pub fn ending(&self) -> Ending {
        let spins = |live: &Live| matches!(live.next.op.act, Act::Await(_));
        match () {
            () if self.live.is_empty() => Ending::Completed,
            () if self.live.iter().any(spins) => Ending::Livelock,
            () => Ending::Deadlock,
        }
    }

    /// Performs a step and runs the thread to its next operation. Returns the result, or `None` if
    /// the step is not possible.
    pub fn step(&mut self, step: Step) -> Option<u64> {
        let at = self.live.binary_search_by_key(&step.thread, |live| live.id).ok()?;
        let live = &mut self.live[at];
        let result = match self.world.perform(step.thread, &live.next.op, step.alternative) {
            Some(result) => {
                self.spins.note(&live.next.op.act, result);
                result
            }
            None if matches!(live.next.op.act, Act::Await(_)) => {
                self.spins.take(step.thread);
                0
            }
            None => return None,
        };
        match live.next.op.act {
            Act::Invoke(_) => live.depth += 1,
            Act::Return { .. } => live.depth = live.depth.saturating_sub(1),
            _ => {}
        }
        let op = std::mem::replace(&mut live.next.op, Op::new(crate::ObjectId::NONE, Act::Use));
        let (site, child) = (
            live.next.site,
            match op.act {
                Act::Spawn(child) => Some(child),
                _ => None,
            },
        );
        if let Act::Exit(_) = op.act {
            self.live.remove(at);
        }
        let has_ended = matches!(op.act, Act::Exit(_));
        self.events.push(Event { step, op, result, site });
        if !has_ended {
            self.resume(at, result);
        }
        if let Some(child) = child {
            self.go_on(child, 0);
        }
        Some(result)
    }

    fn resume(&mut self, at: usize, result: u64) {
        let next = self.program.resume(self.live[at].id, result);
        let program = &*self.program;
        self.world.make(&next.op, |object| program.initial(object));
        self.live[at].next = next;
    }

    fn go_on(&mut self, thread: ThreadId, result: u64) {
        let next = self.program.resume(thread, result);
        let program = &*self.program;
        self.world.make(&next.op, |object| program.initial(object));
        let at = self.live.partition_point(|live| live.id < thread);
        self.live.insert(at, Live { id: thread, next, ways: 0, depth: 0 });
    }
}

impl<P: ThreadProgram + ?Sized> Drop for Execution<'_, P> {
    fn drop(&mut self) {
        self.stop();
    }
}
