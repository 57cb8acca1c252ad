//! Execution graphs: the events of all threads, which write each read reads from, and the order of
//! the writes of each object.
//!
//! An event's number is its *stamp*: events are numbered as they were added. A read that a later
//! write has revisited reads from an event with a higher stamp; all other edges go up. A
//! read-modify-write is two events, one after the other, of which the write is *exclusive*: it
//! comes directly after what its read reads from.
//!
//! Each event has three clocks, that is, for each thread how many of its events come before, itself
//! included: by program order and reads-from; by happens-before; and, of a write, what happens
//! before whoever synchronises with it.

use super::behaviour::NodeId;
use super::sabotage::Sabotage;

/// The number of an event.
pub(super) type Id = u32;

/// What made an object, read by who reads from no event.
pub(super) const INITIAL: Id = Id::MAX;

/// No event: of a thread that was not spawned.
pub(super) const NOBODY: Id = Id::MAX - 1;

/// No object.
pub(super) const NOWHERE: u32 = u32::MAX;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Read,
    Write,
    Fence,
    /// The value is the thread.
    Spawn,
    /// The source is the end of the thread.
    Join,
    /// All else.
    Local,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub(super) thread: u32,
    /// The number of events of the thread before.
    pub(super) index: u32,
    /// Where the thread was.
    pub(super) node: NodeId,
    pub(super) kind: Kind,
    pub(super) object: u32,
    /// Of a read, or a join: where it reads from.
    pub(super) source: Id,
    /// What is written; of the read of a read-modify-write, what will be written.
    pub(super) value: u64,
    /// The result of the operation.
    pub(super) result: u64,
    /// Which of several ways was taken.
    pub(super) alternative: u32,
    /// The position among the events of its operation.
    pub(super) phase: u8,
    pub(super) acquires: bool,
    pub(super) releases: bool,
    /// Whether it is sequentially consistent.
    pub(super) is_sc: bool,
    /// Of a write: whether it belongs to a read-modify-write.
    pub(super) is_exclusive: bool,
    /// Whether it is a read from a state in which its thread waits.
    pub(super) is_blocked: bool,
    /// Whether its operation ends here.
    pub(super) is_done: bool,
    /// The number of events of the thread up to its last release fence; 0 if there is none.
    pub(super) fenced: u32,
    /// Whether its thread ends here.
    pub(super) is_end: bool,
    /// Of a write: its position in the order of the object.
    pub(super) place: u32,
}

impl Event {
    /// An event without effect.
    pub(super) fn local(thread: u32, node: NodeId) -> Event {
        Event {
            thread,
            index: 0,
            node,
            kind: Kind::Local,
            object: NOWHERE,
            source: INITIAL,
            value: 0,
            result: 0,
            alternative: 0,
            phase: 0,
            acquires: false,
            releases: false,
            is_sc: false,
            is_exclusive: false,
            is_blocked: false,
            is_done: true,
            fenced: 0,
            is_end: false,
            place: 0,
        }
    }
}

/// The accesses of one object.
#[derive(Clone, Debug, Default)]
pub(super) struct Accesses {
    /// The writes, in their order.
    pub(super) order: Vec<Id>,
    /// The reads, ascending.
    pub(super) reads: Vec<Id>,
}

/// The clocks of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Clock {
    /// Program order and reads-from.
    Prefix,
    /// Happens-before.
    Before,
    /// What whoever synchronises with a write learns.
    Message,
}

const CLOCKS: usize = 3;

#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    pub(super) events: Vec<Event>,
    /// By thread, its events.
    pub(super) logs: Vec<Vec<Id>>,
    /// By thread, its spawn; [`INITIAL`] for the main thread, [`NOBODY`] for none.
    pub(super) spawns: Vec<Id>,
    /// By object.
    pub(super) objects: Vec<Accesses>,
    clocks: Vec<u32>,
    /// The threads for which there is room in a clock.
    width: usize,
    pub(super) sc_accesses: u32,
    pub(super) sc_fences: u32,
    pub(super) sabotage: Sabotage,
    /// Where writes have no order: the events in one in which each read has its source, without
    /// reads in whose state their threads wait.
    pub(super) witness: Vec<Id>,
    /// To be used again.
    names: Vec<Id>,
}

/// Whether a clock has an event.
#[inline]
pub(super) fn has(clock: &[u32], event: &Event) -> bool {
    clock.get(event.thread as usize).is_some_and(|count| *count > event.index)
}

impl Graph {
    /// The graph of no events, in which the main thread can begin.
    pub(super) fn start(sabotage: Sabotage) -> Graph {
        let mut graph = Graph { width: 4, sabotage, ..Graph::default() };
        graph.add_thread(0, INITIAL);
        graph
    }

    pub(super) fn event(&self, id: Id) -> &Event {
        &self.events[id as usize]
    }

    /// What a read of an event reads; `None` for what made the object.
    pub(super) fn written(&self, id: Id) -> Option<u64> {
        (id != INITIAL).then(|| self.event(id).value)
    }

    pub(super) fn clock(&self, id: Id, clock: Clock) -> &[u32] {
        let from = self.row(id, clock);
        &self.clocks[from..from + self.width]
    }

    /// Whether the first event is the second one, or comes before it by that clock.
    #[inline]
    pub(super) fn precedes(&self, a: Id, b: Id, clock: Clock) -> bool {
        let event = self.event(a);
        self.clocks[self.row(b, clock) + event.thread as usize] > event.index
    }

    #[inline]
    fn row(&self, id: Id, clock: Clock) -> usize {
        (id as usize * CLOCKS + clock as usize) * self.width
    }

    fn add_thread(&mut self, thread: usize, spawn: Id) {
        if self.logs.len() <= thread {
            self.logs.resize_with(thread + 1, Vec::new);
            self.spawns.resize(thread + 1, NOBODY);
        }
        self.spawns[thread] = spawn;
        if thread >= self.width {
            self.widen((thread + 1).next_power_of_two());
        }
    }

    fn widen(&mut self, width: usize) {
        let mut clocks = vec![0; self.events.len() * CLOCKS * width];
        for (new, old) in clocks.chunks_mut(width).zip(self.clocks.chunks(self.width)) {
            new[..self.width].copy_from_slice(old);
        }
        (self.clocks, self.width) = (clocks, width);
    }

    pub(super) fn accesses(&self, object: u32) -> Option<&Accesses> {
        self.objects.get(object as usize)
    }

    pub(super) fn order(&self, object: u32) -> &[Id] {
        self.accesses(object).map_or(&[], |accesses| &accesses.order)
    }

    fn accesses_mut(&mut self, object: u32) -> &mut Accesses {
        if self.objects.len() <= object as usize {
            self.objects.resize_with(object as usize + 1, Accesses::default);
        }
        &mut self.objects[object as usize]
    }

    /// The event of a thread after which its next one comes: its last one, or its spawn.
    pub(super) fn last(&self, thread: u32) -> Option<Id> {
        let last = self.logs[thread as usize].last().or(self.spawns.get(thread as usize));
        last.copied().filter(|id| *id < NOBODY)
    }

    /// The event after which an event of a thread comes, as [`last`](Self::last).
    pub(super) fn last_before(&self, event: &Event) -> Option<Id> {
        let before = match event.index.checked_sub(1) {
            Some(at) => self.logs[event.thread as usize][at as usize],
            None => self.spawns[event.thread as usize],
        };
        Some(before).filter(|id| *id < NOBODY)
    }

    /// How many of an object's writes, with what made it, come up to an event.
    pub(super) fn rank(&self, id: Id) -> usize {
        if id == INITIAL { 0 } else { self.event(id).place as usize + 1 }
    }

    /// The write of a rank.
    pub(super) fn of_rank(&self, object: u32, rank: usize) -> Id {
        if rank == 0 { INITIAL } else { self.order(object)[rank - 1] }
    }

    /// Adds an event. A write gets the position `event.place` in the order of its object.
    pub(super) fn push(&mut self, mut event: Event) -> Id {
        let id = self.events.len() as Id;
        let thread = event.thread as usize;
        event.index = self.logs[thread].len() as u32;
        event.fenced = match self.logs[thread].last() {
            _ if event.kind == Kind::Fence && event.releases => event.index + 1,
            Some(last) => self.event(*last).fenced,
            None => 0,
        };
        match event.kind {
            Kind::Spawn => self.add_thread(event.value as usize, id),
            Kind::Read => self.accesses_mut(event.object).reads.push(id),
            Kind::Write => {
                let Graph { objects, events, .. } = self;
                if objects.len() <= event.object as usize {
                    objects.resize_with(event.object as usize + 1, Accesses::default);
                }
                let order = &mut objects[event.object as usize].order;
                order.insert(event.place as usize, id);
                for later in &order[event.place as usize + 1..] {
                    events[*later as usize].place += 1;
                }
            }
            Kind::Fence | Kind::Join | Kind::Local => {}
        }
        if event.is_sc {
            *self.sc_count(event.kind) += 1;
        }
        self.events.push(event);
        self.clocks.resize(self.events.len() * CLOCKS * self.width, 0);
        self.set_clocks(id);
        self.logs[thread].push(id);
        id
    }

    fn sc_count(&mut self, kind: Kind) -> &mut u32 {
        if kind == Kind::Fence { &mut self.sc_fences } else { &mut self.sc_accesses }
    }

    /// Removes the last event. Nothing reads from it.
    pub(super) fn pop(&mut self) {
        let Some(event) = self.events.pop() else { return };
        self.logs[event.thread as usize].pop();
        self.clocks.truncate(self.events.len() * CLOCKS * self.width);
        let id = self.events.len() as Id;
        if let Some(at) = self.witness.iter().rposition(|other| *other == id) {
            self.witness.remove(at);
        }
        match event.kind {
            Kind::Spawn => self.spawns[event.value as usize] = NOBODY,
            Kind::Read => drop(self.objects[event.object as usize].reads.pop()),
            Kind::Write => {
                let order = &mut self.objects[event.object as usize].order;
                order.remove(event.place as usize);
                for later in &order[event.place as usize..] {
                    self.events[*later as usize].place -= 1;
                }
            }
            Kind::Fence | Kind::Join | Kind::Local => {}
        }
        if event.is_sc {
            *self.sc_count(event.kind) -= 1;
        }
    }

    /// Makes a read that is the last event of its thread read from elsewhere.
    pub(super) fn reread(&mut self, id: Id, event: Event) {
        let old = self.events[id as usize];
        if old.is_sc {
            *self.sc_count(Kind::Read) -= 1;
        }
        if event.is_sc {
            *self.sc_count(Kind::Read) += 1;
        }
        self.events[id as usize] = Event { index: old.index, fenced: old.fenced, ..event };
        self.set_clocks(id);
    }

    /// Sets the clocks of an event, from those of the events before it.
    fn set_clocks(&mut self, id: Id) {
        let event = self.events[id as usize];
        let before = self.last_before(&event);
        for clock in [Clock::Prefix, Clock::Before] {
            let to = self.row(id, clock);
            match before {
                Some(before) => {
                    let from = self.row(before, clock);
                    self.clocks.copy_within(from..from + self.width, to);
                }
                None => self.clocks[to..to + self.width].fill(0),
            }
            self.clocks[to + event.thread as usize] = event.index + 1;
        }
        if event.source != INITIAL && matches!(event.kind, Kind::Read | Kind::Join) {
            self.join((id, Clock::Prefix), (event.source, Clock::Prefix));
            if event.kind == Kind::Join {
                self.join((id, Clock::Before), (event.source, Clock::Before));
            } else if event.acquires || self.sabotage == Sabotage::ReadsAcquire {
                self.join((id, Clock::Before), (event.source, Clock::Message));
            }
        }
        if event.kind == Kind::Fence
            && event.acquires
            && self.sabotage != Sabotage::AcquireFencesForgotten
        {
            // What was read before an earlier acquire fence is known since then.
            for at in (0..event.index as usize).rev() {
                let earlier = *self.event(self.logs[event.thread as usize][at]);
                match earlier.kind {
                    Kind::Fence if earlier.acquires => break,
                    Kind::Read if earlier.source != INITIAL => {
                        self.join((id, Clock::Before), (earlier.source, Clock::Message));
                    }
                    _ => {}
                }
            }
        }
        if event.kind == Kind::Write {
            self.set_message(id, &event);
        }
    }

    fn set_message(&mut self, id: Id, event: &Event) {
        let log = &self.logs[event.thread as usize];
        let head = match event.releases || self.sabotage == Sabotage::WritesRelease {
            true => Some(id),
            false if self.sabotage == Sabotage::ReleaseFencesForgotten => None,
            false => event.fenced.checked_sub(1).map(|at| log[at as usize]),
        };
        let read = event.index.checked_sub(1).map(|at| log[at as usize]);
        if let Some(head) = head {
            self.join((id, Clock::Message), (head, Clock::Before));
        }
        if let Some(read) = read
            && event.is_exclusive
            && self.sabotage != Sabotage::SequencesEnd
            && self.event(read).source != INITIAL
        {
            self.join((id, Clock::Message), (self.event(read).source, Clock::Message));
        }
    }

    fn join(&mut self, to: (Id, Clock), from: (Id, Clock)) {
        let (to, from) = (self.row(to.0, to.1), self.row(from.0, from.1));
        for at in 0..self.width {
            self.clocks[to + at] = self.clocks[to + at].max(self.clocks[from + at]);
        }
    }

    /// Makes this the part of another graph whose events `keeps`; whatever comes before one of them
    /// is among them.
    pub(super) fn become_part(&mut self, whole: &Graph, keeps: impl Fn(Id, &Event) -> bool) {
        let Graph { events, logs, spawns, objects, clocks, width, names, .. } = self;
        (*width, self.sc_accesses, self.sc_fences) = (whole.width, 0, 0);
        self.sabotage = whole.sabotage;
        events.clear();
        clocks.clear();
        logs.iter_mut().for_each(Vec::clear);
        logs.resize_with(whole.logs.len(), Vec::new);
        spawns.clear();
        spawns.resize(whole.spawns.len(), NOBODY);
        spawns[0] = INITIAL;
        objects.resize_with(whole.objects.len(), Accesses::default);
        objects.iter_mut().for_each(|object| {
            object.order.clear();
            object.reads.clear();
        });
        names.clear();
        let stride = CLOCKS * *width;
        for (id, event) in whole.events.iter().enumerate() {
            if !keeps(id as Id, event) {
                names.push(NOBODY);
                continue;
            }
            let name = events.len() as Id;
            names.push(name);
            events.push(*event);
            clocks.extend_from_slice(&whole.clocks[id * stride..(id + 1) * stride]);
            logs[event.thread as usize].push(name);
            match event.kind {
                Kind::Spawn => spawns[event.value as usize] = name,
                Kind::Read => objects[event.object as usize].reads.push(name),
                _ => {}
            }
            if event.is_sc {
                let is_fence = event.kind == Kind::Fence;
                *(if is_fence { &mut self.sc_fences } else { &mut self.sc_accesses }) += 1;
            }
        }
        self.witness.clear();
        let kept = whole.witness.iter().map(|id| names[*id as usize]);
        self.witness.extend(kept.filter(|name| *name != NOBODY));
        for event in events.iter_mut().filter(|event| event.source < NOBODY) {
            event.source = names[event.source as usize];
        }
        for (object, old) in objects.iter_mut().zip(&whole.objects) {
            let names = old.order.iter().map(|id| names[*id as usize]);
            object.order.extend(names.filter(|name| *name != NOBODY));
            for (place, id) in object.order.iter().enumerate() {
                events[*id as usize].place = place as u32;
            }
        }
    }

    /// The events in an order in which each comes after those that it depends on.
    pub(super) fn linear(&self) -> Vec<Id> {
        let mut done = vec![0_usize; self.logs.len()];
        let mut all = Vec::with_capacity(self.events.len());
        loop {
            let length = all.len();
            for (thread, log) in self.logs.iter().enumerate() {
                while let Some(id) = log.get(done[thread]) {
                    let is_ready = |id: Id| {
                        id >= NOBODY || {
                            let event = self.event(id);
                            done[event.thread as usize] > event.index as usize
                        }
                    };
                    if !is_ready(self.event(*id).source) || !is_ready(self.spawns[thread]) {
                        break;
                    }
                    all.push(*id);
                    done[thread] += 1;
                }
            }
            if all.len() == length {
                return all;
            }
        }
    }
}
