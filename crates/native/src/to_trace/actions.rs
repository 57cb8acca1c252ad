//! The second pass: the event of the trace for each event of the recording.

pub(crate) mod misuse;
mod parts;
mod polls;
mod semaphores;
mod threads;
mod waits;

use super::invocations::{Invocations, OpenCall};
use super::shared::Shared;
use super::stacks::{Stacks, Where};
use super::survey::Survey;
use super::{Names, Stats, Traced};
use crate::merge::held::{Locks, Mode as Held};
use crate::recording::{Event, Recording, kind};
use anyorder_trace::{
    AddressMap, Columns, ConditionId, EventKind, Interner, Invocation, InvocationId, Location,
    LocationId, LockId, Mode, NameId, Op, TableFull, TaskId,
};
use misuse::What;
use rustc_hash::FxHashMap;

/// The origin of an event of the trace that was not recorded.
pub(crate) const NO_ORIGIN: u32 = u32::MAX;

/// In the argument of a lock that was taken: its owner had ended with it.
pub(super) const OWNER_DEAD: u8 = 16;

/// The end of a thread with a lock.
const OWNER: &str = "owner that ended";

/// The bytes of a page of memory.
const PAGE: u64 = 4_096;

/// How far a thread has come.
#[derive(Clone, Copy, Debug, Default)]
struct Thread {
    /// Its events so far.
    taken: u64,
    /// Whether its creation was seen.
    is_created: bool,
    /// Whether its creation is in the trace.
    is_forked: bool,
    /// Whether an event of it is in the trace.
    is_in: bool,
    /// Whether its last event asks for a lock.
    asks: bool,
    /// Whether its wait on a condition was in an earlier trace, and a broadcast there woke it.
    was_called: bool,
    /// Its events in traces so far.
    rows: u64,
    /// Whether it has an event besides its beginning.
    has_begun: bool,
    /// Whether it may have no further event: it has ended, or was joined.
    is_over: bool,
    /// Its stack.
    stack: Option<(u64, u64)>,
}

/// Who waits on a condition, and what can have woken them.
#[derive(Clone, Debug, Default)]
struct Condition {
    waiters: Vec<Waiter>,
    /// Signals that may still wake one of those that wait.
    signals: usize,
}

/// A thread that waits on a condition.
#[derive(Clone, Copy, Debug)]
struct Waiter {
    lane: usize,
    called: Called,
}

/// What has come since a thread began to wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Called {
    Nothing,
    /// A signal, for it or another one: only a wake tells.
    Signal,
    /// A broadcast, which wakes all.
    Broadcast,
}

/// The threads that have arrived at a barrier.
#[derive(Clone, Debug, Default)]
struct Barrier {
    count: u64,
    arrived: u64,
    round: u64,
    /// The round in which each thread arrived last.
    rounds: FxHashMap<usize, u64>,
}

/// Makes the events.
pub(super) struct Maker<'a> {
    recording: &'a Recording,
    survey: &'a Survey,
    shared: Shared,
    watch: misuse::Watch,
    names: &'a mut dyn Names,
    interner: Interner,
    columns: Columns,
    stacks: Stacks<'a>,
    memory: AddressMap,
    locks: Locks,
    /// The static variables that have given their names, with their addresses.
    variables: FxHashMap<String, u64>,
    lock_ids: FxHashMap<u64, LockId>,
    condition_ids: FxHashMap<u64, ConditionId>,
    /// Locations of objects that synchronise: by object, what it is, and its round.
    objects: FxHashMap<(u64, &'static str), LocationId>,
    /// Whether there was an event.
    has_begun: bool,
    /// Calls of semaphores, by address and method.
    permits: FxHashMap<(u64, &'static str), InvocationId>,
    /// The permits of each semaphore whose initialisation was seen.
    permits_left: FxHashMap<u64, i64>,
    /// By semaphore, how many of its permits the part does not have.
    permits_untold: FxHashMap<u64, i64>,
    /// By semaphore, how many permits the next part can take; `None` if there is one part.
    will_take: Option<FxHashMap<u64, u32>>,
    /// How many permits this part has taken.
    takes: u64,
    invocations: Invocations,
    barriers: FxHashMap<u64, Barrier>,
    polls: polls::Polls,
    /// How often each descriptor was closed.
    descriptors: FxHashMap<u64, u64>,
    conditions: FxHashMap<u64, Condition>,
    threads: Vec<Thread>,
    /// Threads whose creation is in the trace, and nothing else yet.
    awaited: usize,
    /// Threads whose last event asks for a lock.
    asking: usize,
    stats: Stats,
    failure: Option<u64>,
    /// By event of the trace: see [`Traced::origins`].
    origins: Vec<u32>,
}

impl<'a> Maker<'a> {
    /// Begins a trace.
    pub(super) fn new(
        recording: &'a Recording,
        survey: &'a Survey,
        shared: Shared,
        names: &'a mut dyn Names,
    ) -> Result<Maker<'a>, TableFull> {
        let interner = parts::with_threads(recording, survey, names)?;
        Ok(Maker {
            recording,
            survey,
            shared,
            watch: misuse::Watch::default(),
            names,
            interner,
            columns: Columns::default(),
            stacks: Stacks::new(&recording.modules, recording.threads.len()),
            memory: AddressMap::default(),
            locks: Locks::default(),
            variables: FxHashMap::default(),
            lock_ids: FxHashMap::default(),
            condition_ids: FxHashMap::default(),
            objects: FxHashMap::default(),
            has_begun: false,
            permits: FxHashMap::default(),
            permits_left: FxHashMap::default(),
            permits_untold: FxHashMap::default(),
            will_take: None,
            takes: 0,
            invocations: Invocations::new(recording.threads.len()),
            barriers: FxHashMap::default(),
            polls: polls::Polls::default(),
            descriptors: FxHashMap::default(),
            conditions: FxHashMap::default(),
            threads: vec![Thread::default(); recording.threads.len()],
            awaited: 0,
            asking: 0,
            stats: Stats::default(),
            failure: None,
            origins: Vec::new(),
        })
    }

    /// Takes the next event.
    pub(super) fn step(&mut self, lane: usize, event: &Event) -> Result<(), TableFull> {
        self.threads[lane].taken += 1;
        self.in_handler(lane, event)?;
        match event.kind {
            kind::CALL => self.stacks.call(lane, event.address),
            kind::RETURN => self.stacks.return_(lane),
            kind::UNWIND => self.stacks.unwind(lane, event.address),
            kind::READ..=kind::VPTR_WRITE => self.access(lane, event)?,
            kind::ATOMIC_LOAD..=kind::FENCE => self.atomic(lane, event)?,
            kind::ALLOC => self.alloc(lane, event, event.address, event.third)?,
            // The program wants it to be no access.
            kind::FREE if event.arg & 2 != 0 => {}
            kind::FREE => self.free(lane, event, event.address, event.third)?,
            kind::LOCK..=kind::LOCK_DESTROY => self.lock(lane, event)?,
            kind::COND_WAIT..=kind::COND_DESTROY => self.condition(lane, event)?,
            kind::BARRIER_INIT..=kind::BARRIER_LEAVE => self.barrier(lane, event)?,
            kind::SEM_INIT..=kind::SEM_REQUEST => self.semaphore(lane, event)?,
            kind::THREAD_CREATE..=kind::THREAD_JOIN_REQUEST => self.thread(lane, event)?,
            kind::ACQUIRE | kind::RELEASE => self.synchronise(lane, event)?,
            kind::ACQUIRE_ALL => self.acquire_all(lane, event)?,
            kind::SIGNAL_BEGIN => {
                self.stats.signals += 1;
                self.handler_begins(lane, event);
            }
            kind::SIGNAL_END => self.handler_ends(lane, event)?,
            kind::COND_INIT => self.begins(lane, event, What::Condition)?,
            kind::FD_OPEN..=kind::FD_CLOSE => self.descriptor(lane, event)?,
            kind::OBJECT => self.invocations.new_object(event.address),
            kind::ARGUMENT => self.invocations.argument(lane, event.third),
            kind::INVOKE => self.invoke(lane, event)?,
            kind::INVOKE_RETURN => self.invoke_return(lane, event)?,
            kind::EXIT | kind::BENIGN | kind::METHOD | kind::TEXT | kind::THREAD_NAME => {}
            kind::FAILURE => {
                self.failure = Some(event.address);
                let name = self.interner.name(&format!("signal {}", event.address))?;
                self.push(lane, event, EventKind::Failure, name.0)?;
            }
            _ => self.stats.unknown += 1,
        }
        if !std::mem::replace(&mut self.has_begun, true) {
            self.tell_permits(lane)?;
        }
        Ok(())
    }

    /// Appends an event, with the place of one of the recording.
    fn push(
        &mut self,
        lane: usize,
        event: &Event,
        op: impl Into<Op>,
        operand: u32,
    ) -> Result<(), TableFull> {
        if self.threads[lane].is_over {
            self.stats.odd += 1;
            return Ok(());
        }
        let op = op.into();
        let place = self.stacks.place(lane, event.pc, self.names, &mut self.interner)?;
        self.push_at(lane, op, operand, place);
        // An event without a place is made up.
        if event.pc != 0
            && let Some(origin) = self.origins.last_mut()
        {
            let taken = u32::try_from(self.threads[lane].taken).unwrap_or(0);
            *origin = taken.wrapping_sub(1);
        }
        Ok(())
    }

    /// Appends an event at a place.
    fn push_at(&mut self, lane: usize, op: Op, operand: u32, place: Where) {
        let thread = &mut self.threads[lane];
        thread.has_begun |= op.kind() != EventKind::Begin;
        self.awaited -= usize::from(thread.is_forked && !thread.is_in);
        thread.is_in = true;
        thread.rows += 1;
        self.asking -= usize::from(thread.asks);
        thread.asks = op.kind() == EventKind::Request;
        self.asking += usize::from(thread.asks);
        let row = self.columns.len() as u32;
        self.columns.push(op, TaskId(lane as u32), operand, place.site);
        self.columns.stacks.extend(row, place.stack);
        self.origins.push(NO_ORIGIN);
    }

    fn range(&mut self, address: u64, size: u64) -> Result<u32, TableFull> {
        let size = u32::try_from(size).unwrap_or(u32::MAX);
        Ok(self.memory.location(&mut self.interner.tables.locations, address, size)?.0)
    }

    fn access(&mut self, lane: usize, event: &Event) -> Result<(), TableFull> {
        let size = match event.kind {
            kind::VPTR_WRITE => 8,
            kind::READ_RANGE | kind::WRITE_RANGE => event.third,
            _ => u64::from(event.size()),
        };
        // No memory is in the first page: the access failed, and a handler has gone on.
        if size == 0 || event.address < PAGE {
            return Ok(());
        }
        if !self.shared.is_shared(lane as u32, event.address, size) {
            self.stats.private += 1;
            return Ok(());
        }
        if self.survey.is_benign(event.address, size) {
            return Ok(());
        }
        let location = self.range(event.address, size)?;
        let kind = match event.kind {
            kind::READ | kind::READ_RANGE => EventKind::Read,
            _ => EventKind::Write,
        };
        if kind == EventKind::Write {
            self.polls.write(event.address, size);
        }
        self.push(lane, event, kind, location)
    }

    fn atomic(&mut self, lane: usize, event: &Event) -> Result<(), TableFull> {
        let size = u64::from(event.size());
        if event.kind == kind::FENCE || size == 0 {
            return Ok(());
        }
        if !self.shared.is_shared(lane as u32, event.address, size) {
            self.stats.private += 1;
            return Ok(());
        }
        let facts = self.survey.threads[lane];
        let kind = match event.kind {
            kind::ATOMIC_LOAD => EventKind::Read,
            kind::ATOMIC_STORE => EventKind::Write,
            _ => EventKind::Rmw,
        };
        let order = event.arg >> 5;
        let is_acquire = matches!(order, 1 | 2 | 4 | 5);
        let is_release = matches!(order, 3..=5);
        let acquires = kind.reads() && (is_acquire || facts.acquires_by_fence);
        let releases = kind.writes() && (is_release || facts.releases_by_fence);
        let mode = match (acquires, releases) {
            _ if order >= 5 => Mode::SEQ_CST,
            (true, true) => Mode::ACQ_REL,
            (true, false) => Mode::ACQUIRE,
            (false, true) => Mode::RELEASE,
            (false, false) => Mode::RELAXED,
        };
        let op = Op::new(kind, mode);
        if kind.writes() {
            self.polls.write(event.address, size);
        } else if !self.shared.is_everything() {
            let now = (lane, self.threads[lane].rows);
            if self.polls.is_again(now, (event.address, size), (event.pc, op)) {
                self.stats.polls += 1;
                return Ok(());
            }
        }
        let location = self.range(event.address, size)?;
        self.push(lane, event, op, location)
    }

    fn alloc(&mut self, lane: usize, at: &Event, from: u64, size: u64) -> Result<(), TableFull> {
        let Some(room) = self.shared.begin(from, size) else {
            self.stats.private_blocks += 1;
            return Ok(());
        };
        self.memory.allocate_with_room(from, size, room);
        self.polls.write(from, room);
        let location = self.range(from, size)?;
        self.push(lane, at, EventKind::Alloc, location)
    }

    fn free(&mut self, lane: usize, at: &Event, from: u64, size: u64) -> Result<(), TableFull> {
        if !self.shared.is_kept(from) {
            return Ok(());
        }
        self.polls.write(from, size);
        let Some(allocated) = self.memory.allocated(from) else {
            // It was allocated before the recording began, or by what is not recorded. Where
            // others use it, the free matters all the same.
            if !self.shared.is_unknown_shared(lane as u32, from, size) {
                return Ok(());
            }
            let location = self.range(from, size.max(1))?;
            return self.push(lane, at, EventKind::Free, location);
        };
        if (1..u64::from(allocated)).contains(&size) {
            // A part of a mapping is given back; the rest stays what it is.
            return Ok(());
        }
        let size = u64::from(allocated);
        let location = self.range(from, size)?;
        self.push(lane, at, EventKind::Free, location)
    }

    fn lock_id(&mut self, lock: u64) -> Result<LockId, TableFull> {
        if let Some(id) = self.lock_ids.get(&lock) {
            return Ok(*id);
        }
        let name = self.variable(lock)?;
        let id = self.interner.lock(name)?;
        self.lock_ids.insert(lock, id);
        Ok(id)
    }

    /// Returns the name of a lock or condition: of a static one its own, else its address. Only one
    /// that is named by its address lies in memory that is freed.
    fn variable(&mut self, address: u64) -> Result<NameId, TableFull> {
        let known = self.names.variable(address).map(|name| match self.variables.get(&name) {
            Some(other) if *other != address => format!("{name} ({address:#x})"),
            _ => {
                self.variables.insert(name.clone(), address);
                name
            }
        });
        self.interner.name(&known.unwrap_or_else(|| format!("{address:#x}")))
    }

    fn lock(&mut self, lane: usize, event: &Event) -> Result<(), TableFull> {
        let (lock, flags) = (event.address, event.arg);
        let mode = Mode::from_bits((flags & 1) | (flags & 2));
        let shared = Mode::from_bits(flags & 1);
        match event.kind {
            kind::LOCK_INIT | kind::LOCK_DESTROY if self.is_static(event) => Ok(()),
            kind::LOCK => {
                self.uses(lane, event, lock, What::Lock)?;
                self.acquire(lane, event, lock, mode)?;
                if flags & OWNER_DEAD == 0 {
                    return Ok(());
                }
                let location = self.object(lock, OWNER)?;
                self.push(lane, event, Op::new(EventKind::Read, Mode::ACQUIRE), location)
            }
            kind::UNLOCK if self.before_unlock(lane, event, lock)? => {
                self.release(lane, event, lock)
            }
            kind::UNLOCK => Ok(()),
            kind::LOCK_INIT => {
                self.begins(lane, event, What::Lock)?;
                self.locks.forget(lock);
                Ok(())
            }
            kind::LOCK_DESTROY if self.what_is(lock).is_some_and(|what| what != What::Lock) => {
                self.ends(lane, event)
            }
            kind::LOCK_DESTROY => {
                let id = self.lock_id(lock)?.0;
                self.push(lane, event, EventKind::Destroy, id)?;
                self.was_destroyed(event)?;
                self.locks.forget(lock);
                Ok(())
            }
            _ => {
                self.uses(lane, event, lock, What::Lock)?;
                let id = self.lock_id(lock)?.0;
                let kind = match event.kind {
                    kind::LOCK_REFUSED => EventKind::Refused,
                    _ => EventKind::Request,
                };
                self.push(lane, event, Op::new(kind, shared), id)?;
                if kind == EventKind::Request {
                    self.has_requested(lane, event)?;
                }
                Ok(())
            }
        }
    }

    /// Takes a lock. A thread that has ended and still holds it gives it back first: it ended with
    /// the lock, or its last events are missing.
    fn acquire(
        &mut self,
        lane: usize,
        event: &Event,
        lock: u64,
        mode: Mode,
    ) -> Result<(), TableFull> {
        let held = if mode.is_shared() { Held::Shared } else { Held::Exclusive };
        if !self.locks.may_take(lock, lane, held) {
            let holders: Vec<usize> = self.locks.holders(lock).collect();
            for holder in holders.into_iter().filter(|holder| *holder != lane) {
                let (thread, facts) = (self.threads[holder], self.survey.threads[holder]);
                if thread.taken < facts.events || thread.is_over {
                    self.stats.odd += 1;
                    self.watch.doubt(lock);
                    return Ok(());
                }
                self.bequeath(holder, lock)?;
            }
        }
        if held == Held::Exclusive && self.locks.held(lock, lane) == Some(Held::Exclusive) {
            // The inner levels of a recursive lock are not recorded.
            self.stats.odd += 1;
            self.watch.doubt(lock);
            return Ok(());
        }
        self.locks.take(lock, lane, held);
        let id = self.lock_id(lock)?.0;
        self.push(lane, event, Op::new(EventKind::Acquire, mode), id)?;
        self.was_taken(lane, lock);
        Ok(())
    }

    fn release(&mut self, lane: usize, event: &Event, lock: u64) -> Result<(), TableFull> {
        let Some(held) = self.locks.held(lock, lane) else {
            self.stats.odd += 1;
            return Ok(());
        };
        self.locks.give(lock, lane);
        self.was_given_back(lane, lock);
        let mode = if held == Held::Shared { Mode::SHARED } else { Mode::EXCLUSIVE };
        let id = self.lock_id(lock)?.0;
        self.push(lane, event, Op::new(EventKind::Release, mode), id)
    }

    /// Begins an invocation. Its definition has the result, so it is made at the return.
    fn invoke(&mut self, lane: usize, event: &Event) -> Result<(), TableFull> {
        let survey = self.survey;
        let arguments = self.invocations.take_arguments(lane, event.arg.into());
        let Some(method) = survey.methods.get(event.third) else {
            // The recording was cut before its definition.
            self.stats.odd += 1;
            return Ok(());
        };
        let generation = self.memory.generation(event.address);
        let name = self.names.variable(event.address);
        let object = self.invocations.object_name(event.address, generation, method, name);
        let object = self.interner.name(&object)?;
        let name = self.interner.name(&method.name)?;
        let call = Invocation { object, method: name, arguments, result: None };
        let row = self.columns.len();
        self.push(lane, event, EventKind::Invoke, 0)?;
        if self.columns.len() > row {
            self.invocations.begin(lane, row, event.address, call);
        }
        Ok(())
    }

    /// Ends the last open invocation of an object, and those that began after it: what they were
    /// in has left them, by a jump or an exception.
    fn invoke_return(&mut self, lane: usize, event: &Event) -> Result<(), TableFull> {
        let mut ended = self.invocations.end(lane, event.address);
        if ended.is_empty() {
            self.stats.odd += u64::from(!self.invocations.end_left_open(lane));
            return Ok(());
        }
        let call = ended.remove(0);
        self.end_calls(ended, None)?;
        let result = (event.arg != 0).then_some(event.third);
        let row = call.row;
        self.end_calls(vec![call], result)?;
        let operand = self.columns.operands[row];
        self.push(lane, event, EventKind::Return, operand)
    }

    /// Gives invocations their definitions.
    fn end_calls(&mut self, calls: Vec<OpenCall>, result: Option<u64>) -> Result<(), TableFull> {
        for OpenCall { row, mut call, .. } in calls {
            call.result = result;
            let id = self.invocations.definition(call, &mut self.interner)?;
            self.columns.operands[row] = id.0;
        }
        Ok(())
    }

    /// A descriptor is memory that is allocated, read and freed. A number that is used again is
    /// another one. The standard streams belong to nobody.
    fn descriptor(&mut self, lane: usize, event: &Event) -> Result<(), TableFull> {
        let number = event.address;
        if number <= 2 {
            return Ok(());
        }
        let round = self.descriptors.entry(number).or_default();
        let name = match *round {
            0 => format!("descriptor {number}"),
            round => format!("descriptor {number}, used for the {}th time,", round + 1),
        };
        // A copy that takes the number closes what it stood for, and leaves it in use.
        let is_replaced = event.kind == kind::FD_CLOSE && event.arg & 1 != 0;
        *round += u64::from(event.kind == kind::FD_CLOSE && !is_replaced);
        let name = self.interner.name(&name)?;
        let location = self.interner.location(Location::Named(name))?;
        let kind = match event.kind {
            kind::FD_OPEN => EventKind::Alloc,
            kind::FD_USE => EventKind::Read,
            // The kernel does it in one step, so that a use finds the one or the other.
            _ if is_replaced => EventKind::Read,
            _ => EventKind::Free,
        };
        self.push(lane, event, kind, location.0)
    }
}
