//! Small random traces with every kind of event in the definitions of witnesses.

use super::types::Objects;
use super::woken::woken;
use anyorder_common::random::{Random, Rng};
use anyorder_trace::{
    EventKind, HandlerId, Location, LocationId, Mailbox, Mode, NameId, Op, Position, TaskDef,
    TaskId, TaskKind, Trace, TraceBuilder,
};

/// Random numbers.
pub(crate) struct RandomSource(Rng);

impl RandomSource {
    pub(crate) fn new(seed: u64) -> RandomSource {
        RandomSource(Rng::new(seed))
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound as u64) as usize
    }

    pub(crate) fn chance(&mut self, percent: u32) -> bool {
        self.0.percent(percent)
    }
}

/// The events of a trace, whatever their operands.
pub(crate) fn show(trace: &Trace) -> String {
    let tables = trace.tables();
    let line = |event: anyorder_trace::Event| {
        let handler = tables.tasks[event.task.index()].handler;
        let refers = trace.columns().refers.get(event.id.0);
        let refers = refers.map_or(String::new(), |number| format!(" refers to {number}"));
        let what = match (event.location(), event.action()) {
            (Some(at), action) => format!("{action:?} {}", tables.location_text(at)),
            (_, anyorder_trace::Action::Invoke(call)) => {
                let call = &tables.invocations[call.index()];
                let (object, method) = (tables.name(call.object), tables.name(call.method));
                format!("{object}.{method}{:?} = {:?}", call.arguments, call.result)
            }
            (_, action) => format!("{action:?}"),
        };
        format!("{:3} {handler:?} task {} {what}{refers}\n", event.id.0, event.task.0)
    };
    trace.events().map(line).collect()
}

/// The main content of a trace.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Flavour {
    Plain,
    Locks,
    Readers,
    Forks,
    Conditions,
    Barriers,
    Ranges,
    Allocs,
    Posts,
    Atomics,
    Calls,
    Mixed,
    /// Variables with a lock each, nearly always held.
    Guarded,
    /// The same, with a little of everything.
    GuardedMixed,
    /// Waits inside sections.
    Woken,
    /// Objects whose calls wait.
    Waits,
    /// Attempts at locks that fail, waits that time out.
    Tries,
    /// Traces that no program could produce.
    Hostile,
}

impl Flavour {
    pub(crate) const ALL: [Flavour; 18] = [
        Flavour::Plain,
        Flavour::Locks,
        Flavour::Readers,
        Flavour::Forks,
        Flavour::Conditions,
        Flavour::Barriers,
        Flavour::Ranges,
        Flavour::Allocs,
        Flavour::Posts,
        Flavour::Atomics,
        Flavour::Calls,
        Flavour::Mixed,
        Flavour::Guarded,
        Flavour::GuardedMixed,
        Flavour::Woken,
        Flavour::Waits,
        Flavour::Tries,
        Flavour::Hostile,
    ];

    /// The flavour of the trace with a number: they alternate.
    pub(crate) fn of(seed: u64) -> Flavour {
        Flavour::ALL[(seed % Flavour::ALL.len() as u64) as usize]
    }

    pub(crate) const fn is_guarded(self) -> bool {
        matches!(self, Flavour::Guarded | Flavour::GuardedMixed)
    }

    /// The weights of accesses, locks, forks, conditions, barriers, allocations, posts and calls.
    const fn weights(self) -> [usize; 8] {
        match self {
            Flavour::Plain | Flavour::Atomics | Flavour::Ranges | Flavour::Woken => {
                [60, 40, 0, 0, 0, 0, 0, 0]
            }
            Flavour::Locks | Flavour::Readers => [35, 65, 0, 0, 0, 0, 0, 0],
            Flavour::Forks => [45, 25, 30, 0, 0, 0, 0, 0],
            Flavour::Conditions => [30, 30, 0, 40, 0, 0, 0, 0],
            Flavour::Barriers => [45, 25, 0, 0, 30, 0, 0, 0],
            Flavour::Allocs => [45, 25, 0, 0, 0, 30, 0, 0],
            Flavour::Posts => [40, 15, 0, 0, 0, 0, 45, 0],
            Flavour::Calls => [10, 30, 0, 0, 0, 0, 0, 60],
            Flavour::Waits => [6, 10, 4, 0, 4, 0, 0, 76],
            Flavour::Tries => [25, 45, 0, 30, 0, 0, 0, 0],
            Flavour::Guarded => [55, 45, 0, 0, 0, 0, 0, 0],
            Flavour::GuardedMixed => [42, 38, 5, 9, 1, 0, 2, 3],
            Flavour::Mixed | Flavour::Hostile => [30, 25, 8, 10, 5, 6, 8, 8],
        }
    }
}

struct Thread {
    handler: HandlerId,
    initial: TaskId,
    task: TaskId,
    alive: bool,
    held: Vec<(u32, bool)>,
    /// The condition that it waits for, and the lock that it released for that.
    waits: Option<(&'static str, Option<u32>)>,
    posted: Vec<TaskId>,
}

struct Maker<'r> {
    b: TraceBuilder,
    rng: &'r mut RandomSource,
    flavour: Flavour,
    threads: Vec<Thread>,
    locations: Vec<LocationId>,
    locks: usize,
    /// Events that a wake may refer to.
    signals: Vec<u32>,
    objects: Objects,
    /// Threads that have arrived at a barrier and not passed it.
    passing: Vec<usize>,
}

/// Returns a trace of at most `events` events.
pub(crate) fn trace(rng: &mut RandomSource, flavour: Flavour, events: usize) -> Trace {
    if flavour == Flavour::Woken {
        return woken(rng);
    }
    let mut b = TraceBuilder::new();
    b.interner.name("branch").expect("room");
    let count = 2 + rng.below(3);
    let threads = (0..count).map(|i| {
        let handler = b.handler(&format!("T{i}"), Mailbox::Fifo).expect("room");
        let task = b.initial(handler);
        let alive = i == 0 || flavour != Flavour::Forks || rng.chance(50);
        Thread {
            handler,
            initial: task,
            task,
            alive,
            held: Vec::new(),
            waits: None,
            posted: Vec::new(),
        }
    });
    let threads = threads.collect();
    let bytes = matches!(flavour, Flavour::Ranges | Flavour::Allocs)
        || (matches!(flavour, Flavour::Mixed | Flavour::Hostile) && rng.chance(50));
    let locations = (0..1 + rng.below(3)).map(|i| {
        let location = match bytes {
            true => Location::Range {
                address: rng.below(5) as u64,
                size: rng.below(5) as u32,
                generation: u32::from(rng.chance(10)),
            },
            false => Location::Named(b.interner.name(&format!("x{i}")).expect("room")),
        };
        b.interner.location(location).expect("room")
    });
    let locations = locations.collect();
    let locks = 1 + rng.below(2);
    for i in 0..locks {
        // Where memory has addresses, the locks lie in it.
        let text = if bytes { format!("0x{:x}", 1 + 2 * i) } else { format!("m{i}") };
        let name = b.interner.name(&text).expect("room");
        b.interner.lock(name).expect("room");
    }
    let objects = match flavour {
        Flavour::Waits => Objects::waiting(rng),
        _ => Objects::new(rng),
    };
    let mut maker = Maker {
        b,
        rng,
        flavour,
        threads,
        locations,
        locks,
        signals: Vec::new(),
        objects,
        passing: Vec::new(),
    };
    let mut tries = 0;
    while maker.b.columns.len() < events && tries < 20 * events {
        tries += 1;
        let t = maker.rng.below(maker.threads.len());
        if maker.threads[t].alive || maker.flavour == Flavour::Hostile {
            maker.step(t);
        }
    }
    maker.b.finish()
}

/// Returns the trace with one or two branches in the place of accesses.
pub(crate) fn with_branches(rng: &mut RandomSource, trace: &Trace) -> Trace {
    let tables = trace.tables();
    let name = (0..tables.names.len() as u32).find(|name| tables.name(NameId(*name)) == "branch");
    let mut columns = trace.columns().clone();
    let is_plain =
        |at: &usize| matches!(columns.ops[*at].kind(), EventKind::Read | EventKind::Write);
    let accesses: Vec<usize> = (0..columns.len()).filter(is_plain).collect();
    for _ in 0..1 + rng.below(2) {
        if let (Some(name), Some(at)) = (name, accesses.get(rng.below(accesses.len().max(1)))) {
            (columns.ops[*at], columns.operands[*at]) = (EventKind::Other.into(), name);
        }
    }
    Trace::new(tables.clone(), columns)
}

/// Returns a trace in which values go from thread to thread, and only the last one branches.
pub(crate) fn value_chain(rng: &mut RandomSource) -> Trace {
    let mut b = TraceBuilder::new();
    let names = ["x", "y", "z"].map(|name| b.interner.name(name).expect("room"));
    let places = names.map(|name| b.interner.location(Location::Named(name)).expect("room"));
    let branch = b.interner.name("branch").expect("room");
    let threads = ["S", "T", "U"].map(|name| {
        let handler = b.handler(name, Mailbox::None).expect("room");
        b.initial(handler)
    });
    for _ in 0..9 {
        let at = rng.below(3);
        let place = places[rng.below(3)].0;
        match rng.below(if at == 2 { 5 } else { 4 }) {
            0 | 1 => b.push(threads[at], EventKind::Read.into(), place),
            2 | 3 => b.push(threads[at], EventKind::Write.into(), place),
            _ => b.push(threads[at], EventKind::Other.into(), branch.0),
        };
    }
    b.push(threads[2], EventKind::Other.into(), branch.0);
    b.finish()
}

impl Maker<'_> {
    fn push(&mut self, t: usize, op: Op, operand: u32) -> u32 {
        self.b.push(self.threads[t].task, op, operand).0
    }

    fn is_hostile(&self) -> bool {
        self.flavour == Flavour::Hostile
    }

    fn step(&mut self, t: usize) {
        if let Some(at) = self.passing.iter().position(|passing| *passing == t) {
            self.passing.swap_remove(at);
            self.b.on_condition(self.threads[t].task, EventKind::Barrier, "b").expect("room");
            return;
        }
        if self.threads[t].waits.is_some() {
            return self.condition(t);
        }
        let mut dice = self.rng.below(100);
        for (what, weight) in self.flavour.weights().into_iter().enumerate() {
            if dice < weight {
                return match what {
                    0 => self.access(t),
                    1 => self.lock(t),
                    2 => self.fork_or_join(t),
                    3 => self.condition(t),
                    4 => self.barrier(t),
                    5 => self.alloc_or_free(t),
                    6 => self.post_or_get(t),
                    _ => self.call(t),
                };
            }
            dice -= weight;
        }
    }

    fn location(&mut self) -> u32 {
        self.locations[self.rng.below(self.locations.len())].0
    }

    fn access(&mut self, t: usize) {
        use EventKind::{Read, Rmw, Write};
        let kind = [Read, Read, Write, Write, Write, Rmw][self.rng.below(6)];
        let atomic = match self.flavour {
            Flavour::Atomics => 70,
            Flavour::Mixed | Flavour::Hostile => 20,
            Flavour::GuardedMixed => 8,
            _ => 0,
        };
        let mode = match self.rng.chance(atomic) {
            true => Mode::from_bits(1 + self.rng.below(5) as u8),
            false => Mode::PLAIN,
        };
        let location = self.location();
        let guard = location % self.locks as u32;
        let is_held = self.threads[t].held.iter().any(|held| held.0 == guard);
        if !self.flavour.is_guarded() || is_held || self.rng.chance(6) {
            self.push(t, Op::new(kind, mode), location);
        }
    }

    fn lock(&mut self, t: usize) {
        if self.is_hostile() {
            let kind = [EventKind::Acquire, EventKind::Release, EventKind::Destroy]
                [[0, 0, 0, 1, 1, 1, 1, 2][self.rng.below(8)]];
            let (mode, lock) = (Mode::from_bits(self.rng.below(4) as u8), self.rng.below(2));
            self.push(t, Op::new(kind, mode), lock as u32);
            return;
        }
        let leave = if self.flavour.is_guarded() { 85 } else { 55 };
        if !self.threads[t].held.is_empty() && self.rng.chance(leave) {
            let last = self.threads[t].held.len() - 1;
            let at = if self.rng.chance(80) { last } else { self.rng.below(last + 1) };
            let (lock, shared) = self.threads[t].held.remove(at);
            let mode = if shared { Mode::SHARED } else { Mode::EXCLUSIVE };
            self.push(t, Op::new(EventKind::Release, mode), lock);
            return;
        }
        let lock = self.rng.below(self.locks) as u32;
        let shared = self.rng.chance(if self.flavour == Flavour::Readers { 60 } else { 5 });
        let taken = self.threads.iter().enumerate().any(|(u, thread)| {
            u != t && thread.held.iter().any(|(l, s)| *l == lock && !(*s && shared))
        });
        if taken && self.tries() && self.rng.chance(60) {
            let mode = if shared { Mode::SHARED } else { Mode::EXCLUSIVE };
            self.push(t, Op::new(EventKind::Refused, mode), lock);
        }
        if taken || self.threads[t].held.len() >= 3 {
            return;
        }
        self.threads[t].held.push((lock, shared));
        let modes = match shared {
            true => [Mode::SHARED, Mode::TRY_SHARED],
            false => [Mode::EXCLUSIVE, Mode::TRY_EXCLUSIVE],
        };
        let mode = modes[self.rng.below(2)];
        self.push(t, Op::new(EventKind::Acquire, mode), lock);
    }

    fn tries(&self) -> bool {
        matches!(self.flavour, Flavour::Tries | Flavour::Mixed | Flavour::GuardedMixed)
    }

    fn fork_or_join(&mut self, t: usize) {
        let u = self.rng.below(self.threads.len());
        let handler = self.threads[u].handler.0;
        if self.is_hostile() {
            let kind = [EventKind::Fork, EventKind::Join][self.rng.below(2)];
            let handler = if self.rng.chance(5) { 1000 } else { handler };
            self.push(t, kind.into(), handler);
        } else if !self.threads[u].alive {
            self.threads[u].alive = true;
            self.push(t, EventKind::Fork.into(), handler);
        } else if u != t && self.threads[u].held.is_empty() && self.rng.chance(30) {
            self.threads[u].alive = false;
            self.push(t, EventKind::Join.into(), handler);
        }
    }

    fn condition(&mut self, t: usize) {
        use EventKind::{Broadcast, Signal, Wait, Wake};
        let mut kind = [Wait, Signal, Wake, Broadcast, Wait, Wake, Signal][self.rng.below(7)];
        let mut name = if self.rng.chance(85) { "c" } else { "d" };
        if let Some((waits_for, lock)) = self.threads[t].waits {
            let is_free = |thread: &Thread| thread.held.iter().all(|held| Some(held.0) != lock);
            let runs_out = self.tries() && self.rng.chance(45);
            if (self.signals.is_empty() && !runs_out) || !self.threads.iter().all(is_free) {
                return;
            }
            (kind, name) = (Wake, waits_for);
            self.threads[t].waits = None;
            if let Some(lock) = lock {
                self.threads[t].held.push((lock, false));
                self.push(t, EventKind::Acquire.into(), lock);
            }
            if runs_out {
                let name = self.b.interner.name(name).expect("room");
                let condition = self.b.interner.condition(name).expect("room");
                self.push(t, Op::new(Wake, Mode::TIMEOUT), condition.0);
                return;
            }
        }
        if kind == Wake && self.signals.is_empty() && !self.is_hostile() {
            return;
        }
        let id = self.b.on_condition(self.threads[t].task, kind, name).expect("room").0;
        if kind == Wake && self.rng.chance(if self.is_hostile() { 40 } else { 10 }) {
            let target = match self.is_hostile() || self.signals.is_empty() {
                true => self.rng.below(id as usize + 2) as u32,
                false => self.signals[self.rng.below(self.signals.len())],
            };
            self.b.columns.refers.push(id, u64::from(target));
        }
        if matches!(kind, Signal | Broadcast) {
            self.signals.push(id);
        }
        if kind == Wait && !self.is_hostile() {
            let lock = self.threads[t].held.pop_if(|(_, shared)| !*shared).map(|held| held.0);
            if let Some(lock) = lock {
                self.push(t, EventKind::Release.into(), lock);
            }
            self.threads[t].waits = Some((name, lock));
        }
    }

    fn barrier(&mut self, t: usize) {
        let is_ready = |thread: &Thread| !thread.alive || thread.waits.is_none();
        if self.passing.is_empty() && self.rng.chance(75) && self.threads.iter().all(is_ready) {
            // All have arrived; now they pass one after another.
            let alive = (0..self.threads.len()).filter(|u| self.threads[*u].alive);
            self.passing = alive.collect();
            return;
        }
        let name = if self.rng.chance(80) { "b" } else { "e" };
        self.b.on_condition(self.threads[t].task, EventKind::Barrier, name).expect("room");
    }

    fn alloc_or_free(&mut self, t: usize) {
        let kind = [EventKind::Alloc, EventKind::Free][self.rng.below(2)];
        let location = self.location();
        self.push(t, kind.into(), location);
    }

    /// Switches an input, triggers one, or cancels a task that waits or has begun.
    fn switch_or_cancel(&mut self, t: usize) {
        let tasks = self.b.interner.tables.tasks.iter().enumerate();
        let posted = tasks.filter(|(_, def)| def.kind == TaskKind::Posted).map(|(at, _)| at);
        let (begun, waiting): (Vec<usize>, Vec<usize>) =
            posted.partition(|at| self.b.columns.tasks.iter().any(|task| task.index() == *at));
        let posted = if begun.is_empty() || self.rng.chance(20) { waiting } else { begun };
        if !posted.is_empty() && self.rng.chance(60) {
            let task = posted[self.rng.below(posted.len())] as u32;
            self.threads.iter_mut().for_each(|thread| thread.posted.retain(|p| p.0 != task));
            self.push(t, EventKind::Cancel.into(), task);
            return;
        }
        let input = self.b.input(["i", "j"][usize::from(self.rng.chance(20))]).expect("room");
        let kinds = [EventKind::Enable, EventKind::Trigger, EventKind::Disable];
        let columns = &self.b.columns;
        let of_input = |row: &usize| {
            kinds.contains(&columns.ops[*row].kind()) && columns.operands[*row] == input.0
        };
        let count = (0..columns.len()).filter(of_input).count();
        let kind = kinds[if self.rng.chance(80) { count % 3 } else { self.rng.below(3) }];
        self.push(t, kind.into(), input.0);
    }

    fn post_or_get(&mut self, t: usize) {
        if self.rng.chance(35) {
            return self.switch_or_cancel(t);
        }
        let u = self.rng.below(self.threads.len());
        if self.is_hostile() && self.rng.chance(30) {
            // A burst of an untracked handler.
            let name = self.b.interner.name("burst").expect("room");
            let handler =
                if self.rng.chance(80) { self.threads[u].handler } else { HandlerId::NONE };
            let def = TaskDef {
                name,
                kind: TaskKind::Burst,
                handler,
                delay: 0,
                position: Position::Back,
            };
            self.threads[t].task = self.b.interner.push_task(def).expect("room");
        } else if self.threads[t].task != self.threads[t].initial {
            self.b.end(self.threads[t].task).expect("room");
            self.threads[t].task = self.threads[t].initial;
        } else if !self.threads[t].posted.is_empty() && self.rng.chance(60) {
            let task = self.threads[t].posted.remove(0);
            self.b.get(task).expect("room");
            self.threads[t].task = task;
        } else {
            let task = self.b.task("p", self.threads[u].handler).expect("room");
            self.threads[u].posted.push(task);
            if !self.is_hostile() || self.rng.chance(60) {
                self.b.post(self.threads[t].task, task).expect("room");
            }
        }
    }

    fn call(&mut self, t: usize) {
        let Some(invocation) = self.objects.call(self.rng, &mut self.b) else { return };
        let id = self.b.interner.push_invocation(invocation).expect("room");
        self.push(t, EventKind::Invoke.into(), id.0);
    }
}
