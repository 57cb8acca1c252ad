//! Random schedules of small programs of threads, as traces.

use super::calls::Call;
use super::semaphores::PermitKind;
use crate::brute::generate::RandomSource;
use anyorder_trace::{EventKind, Location, Mailbox, Mode, Op, TaskId, Trace, TraceBuilder};

/// What a thread does next.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Acquire(u32, Mode),
    Request(u32, Mode),
    Release(u32, Mode),
    Access(EventKind, u32),
    /// A read once there was a write.
    Observe(u32),
    Fork(usize),
    Join(usize),
    /// Of a condition, to one or to all.
    Signal(usize, EventKind),
    Wait(usize),
    /// Takes the lock again once a signal has come.
    Retake(u32, Mode, usize),
    Wake(usize),
    /// A test of what was read.
    Branch,
    /// A call of an object; its result comes from the run.
    Call(usize, Call),
    /// Passes a barrier of all threads that have such steps.
    Barrier(usize),
}

/// A thread, and how far it has come.
pub(super) struct Thread {
    pub(super) steps: Vec<Step>,
    next: usize,
    pub(super) begun: bool,
    /// The number of signals at its wait.
    waits_since: usize,
}

impl Thread {
    pub(super) fn new(steps: Vec<Step>) -> Thread {
        Thread { steps, next: 0, begun: true, waits_since: 0 }
    }
}

const CONDITIONS: [&str; 2] = ["c", "d"];

const OBJECTS: [&str; 2] = ["s", "t"];

const BARRIERS: [&str; 2] = ["b", "g"];

/// An object with calls that wait, of any type.
#[derive(Clone, Copy, Default)]
struct Object {
    permits: i64,
    values: i64,
    room: i64,
    is_closed: bool,
    work: i64,
    is_set: bool,
    is_cancelled: bool,
}

impl Object {
    fn is_ready(&self, call: Call) -> bool {
        match call {
            Call::Permit(PermitKind::Waits) => self.permits > 0,
            Call::Recv => self.values > 0 || self.is_closed,
            Call::Send => self.values < self.room || self.is_closed,
            Call::Wait => self.work == 0,
            Call::Done => self.work > 0,
            Call::Get => self.is_set,
            Call::Cancelled => self.is_cancelled,
            _ => true,
        }
    }

    /// Takes a call that is ready. Returns what it became, and another result than usual.
    fn take(&mut self, call: Call) -> (Call, Option<Option<u64>>) {
        let mut result = None;
        match call {
            Call::Permit(PermitKind::Gives) => self.permits += 1,
            Call::Permit(PermitKind::Takes) if self.permits == 0 => {
                return (Call::Permit(PermitKind::Fails), None);
            }
            Call::Permit(_) => self.permits -= 1,
            Call::Send if self.is_closed => result = Some(Some(0)),
            Call::Send => self.values += 1,
            Call::Recv if self.values == 0 => result = Some(None),
            Call::Recv => self.values -= 1,
            Call::Close => {
                result = self.is_closed.then_some(Some(0));
                self.is_closed = true;
            }
            Call::Add => self.work += 1,
            Call::Done => self.work -= 1,
            Call::Set => {
                result = self.is_set.then_some(Some(0));
                self.is_set = true;
            }
            Call::Cancel => self.is_cancelled = true,
            Call::Wait | Call::Get | Call::Cancelled => {}
        }
        (call, result)
    }
}

/// What threads wait for.
#[derive(Default)]
struct State {
    /// Threads with their locks, and whether they share them.
    held: Vec<(usize, u32, bool)>,
    /// By condition, the number of signals so far.
    signals: [usize; 2],
    written: [bool; 2],
    objects: [Object; 2],
    barriers: [Barrier; 2],
}

/// A barrier: how many pass it together, who has arrived, and who may pass.
#[derive(Clone, Default)]
struct Barrier {
    size: usize,
    there: Vec<usize>,
    open: Vec<usize>,
}

/// Runs the threads in a random order until they end or wait for ever. With `asks`, threads that
/// stand before a lock in the end may say so.
pub(super) fn record(
    rng: &mut RandomSource,
    all: &mut [Thread],
    locks: u32,
    most: usize,
    (asks, permits, room): (bool, [i64; 2], [i64; 2]),
) -> Trace {
    let mut recorder = Recorder::new(all.len(), locks);
    let mut state = State::default();
    for (at, object) in state.objects.iter_mut().enumerate() {
        (object.permits, object.room) = (permits[at], room[at]);
    }
    for (at, barrier) in state.barriers.iter_mut().enumerate() {
        let passes = |step: &Step| matches!(step, Step::Barrier(of) if *of == at);
        barrier.size = all.iter().filter(|thread| thread.steps.iter().any(passes)).count();
    }
    // Long pieces of one thread leave more to be reordered.
    let mut last = 0;
    for _ in 0..most {
        arrive(all, &mut state);
        let ready: Vec<usize> = (0..all.len()).filter(|t| is_ready(all, *t, &state)).collect();
        if ready.is_empty() {
            break;
        }
        let keeps = ready.contains(&last) && rng.chance(60);
        let t = if keeps { last } else { ready[rng.below(ready.len())] };
        last = t;
        let mut step = all[t].steps[all[t].next];
        let mut result = None;
        all[t].next += 1;
        match step {
            Step::Acquire(lock, mode) | Step::Retake(lock, mode, _) => {
                state.held.push((t, lock, mode.is_shared()));
            }
            Step::Release(lock, _) => {
                let at = state.held.iter().position(|of| (of.0, of.1) == (t, lock)).expect("held");
                state.held.remove(at);
            }
            Step::Fork(child) => all[child].begun = true,
            Step::Signal(condition, _) => state.signals[condition] += 1,
            Step::Wait(condition) => all[t].waits_since = state.signals[condition],
            Step::Call(of, call) => {
                let (call, other) = state.objects[of].take(call);
                (step, result) = (Step::Call(of, call), other);
            }
            Step::Barrier(of) => state.barriers[of].open.retain(|other| *other != t),
            Step::Access(EventKind::Write, at) => state.written[at as usize] = true,
            _ => {}
        }
        recorder.push(t, step, result);
    }
    if asks {
        recorder.end(rng, all);
    }
    recorder.b.finish()
}

/// Lets threads that stand before a barrier arrive there; all pass once the last one is there.
fn arrive(all: &[Thread], state: &mut State) {
    for (t, thread) in all.iter().enumerate().filter(|(_, thread)| thread.begun) {
        let Some(Step::Barrier(of)) = thread.steps.get(thread.next) else { continue };
        let barrier = &mut state.barriers[*of];
        if !barrier.there.contains(&t) && !barrier.open.contains(&t) {
            barrier.there.push(t);
            if barrier.there.len() == barrier.size {
                barrier.open.append(&mut barrier.there);
            }
        }
    }
}

/// Returns whether a thread can take its next step.
fn is_ready(all: &[Thread], t: usize, state: &State) -> bool {
    let State { held, signals, written, objects, barriers } = state;
    let thread = &all[t];
    let is_free = |lock: u32, mode: Mode| {
        let mut others = held.iter().filter(|of| of.0 != t && of.1 == lock);
        others.all(|of| of.2 && mode.is_shared())
    };
    let step = thread.steps.get(thread.next).filter(|_| thread.begun);
    step.is_some_and(|step| match *step {
        Step::Acquire(lock, mode) => is_free(lock, mode),
        Step::Retake(lock, mode, condition) => {
            is_free(lock, mode) && signals[condition] > thread.waits_since
        }
        Step::Wake(condition) => signals[condition] > thread.waits_since,
        Step::Call(of, call) => objects[of].is_ready(call),
        Step::Barrier(of) => barriers[of].open.contains(&t),
        Step::Observe(at) => written[at as usize],
        Step::Join(child) => all[child].next == all[child].steps.len(),
        _ => true,
    })
}

/// What has happened so far.
struct Recorder {
    b: TraceBuilder,
    tasks: Vec<TaskId>,
    places: Vec<u32>,
    branch: u32,
}

impl Recorder {
    fn new(threads: usize, locks: u32) -> Recorder {
        let mut b = TraceBuilder::new();
        let tasks = (0..threads).map(|i| {
            let handler = b.handler(&format!("T{i}"), Mailbox::None).expect("room");
            b.initial(handler)
        });
        let tasks = tasks.collect();
        for i in 0..locks {
            let name = b.interner.name(&format!("m{i}")).expect("room");
            b.interner.lock(name).expect("room");
        }
        let places = ["x", "y"].map(|name| {
            let name = b.interner.name(name).expect("room");
            b.interner.location(Location::Named(name)).expect("room").0
        });
        let branch = b.interner.name("branch").expect("room").0;
        Recorder { b, tasks, places: places.to_vec(), branch }
    }

    /// Adds the event of a step.
    fn push(&mut self, thread: usize, step: Step, result: Option<Option<u64>>) {
        let task = self.tasks[thread];
        let (op, operand) = match step {
            Step::Acquire(lock, mode) | Step::Retake(lock, mode, _) => {
                (Op::new(EventKind::Acquire, mode), lock)
            }
            Step::Request(lock, mode) => (Op::new(EventKind::Request, mode), lock),
            Step::Release(lock, mode) => (Op::new(EventKind::Release, mode), lock),
            Step::Access(kind, at) => (kind.into(), self.places[at as usize]),
            Step::Observe(at) => (EventKind::Read.into(), self.places[at as usize]),
            Step::Fork(child) => (EventKind::Fork.into(), child as u32),
            Step::Join(child) => (EventKind::Join.into(), child as u32),
            Step::Branch => (EventKind::Other.into(), self.branch),
            Step::Call(of, call) => return call.push(&mut self.b, task, OBJECTS[of], result),
            Step::Barrier(of) => {
                let name = BARRIERS[of];
                self.b.on_condition(task, EventKind::Barrier, name).expect("room");
                return;
            }
            Step::Signal(condition, kind) => return self.on_condition(task, kind, condition),
            Step::Wait(of) => return self.on_condition(task, EventKind::Wait, of),
            Step::Wake(of) => return self.on_condition(task, EventKind::Wake, of),
        };
        self.b.push(task, op, operand);
    }

    fn on_condition(&mut self, task: TaskId, kind: EventKind, condition: usize) {
        self.b.on_condition(task, kind, CONDITIONS[condition]).expect("room");
    }

    /// Lets threads that stand before an acquire ask for it, and some of them exit there.
    fn end(&mut self, rng: &mut RandomSource, all: &[Thread]) {
        for (number, thread) in all.iter().enumerate() {
            if let Some(Step::Acquire(lock, mode)) = thread.steps.get(thread.next)
                && thread.begun
                && rng.chance(80)
            {
                self.push(number, Step::Request(*lock, *mode), None);
                if rng.chance(30) {
                    self.b.push(self.tasks[number], EventKind::Exit.into(), 0);
                }
            }
        }
    }
}
