//! The parts of a long recording: each becomes a trace of its own.
//!
//! A part ends where nobody holds a lock and nobody asks for one. What came before then has
//! happened before every event of the next part, and no lock of it is in the way: each order of the
//! next part that could happen by itself could happen after what was recorded. What a part lacks is
//! the orders across its borders.
//!
//! The first thread that goes on creates all others that do, so that the trace has one thread that
//! nobody creates. Who waits on a condition there begins to wait again, before all else, as a wake
//! needs a signal that comes after its wait. A semaphore begins with the permits that it has.
//! Signals that came before, and woke nobody yet, are sent again; whom a broadcast has woken, wakes
//! without an event of its own.

use super::polls::Polls;
use super::{Called, Maker, Names, Survey, Traced};
use crate::recording::Recording;
use crate::to_trace::stacks::Where;
use anyorder_trace::{
    Columns, EventKind, Handler, HandlerId, Interner, LabelScheme, Meta, Mode, Op, TableFull,
    TaskDef, Trace,
};
use std::collections::BTreeMap;
use std::mem;

/// Makes the tables of threads.
pub(super) fn with_threads(
    recording: &Recording,
    survey: &Survey,
    names: &mut dyn Names,
) -> Result<Interner, TableFull> {
    let mut interner = Interner::default();
    interner.tables.meta.labels = LabelScheme::Position;
    Meta::RECORDING.clone_into(&mut interner.tables.meta.origin);
    for (thread, facts) in recording.threads.iter().zip(&survey.threads) {
        let routine = facts.routine.and_then(|at| names.frames(at).pop());
        let routine = routine.filter(|frame| frame.line != 0).map(|frame| frame.function);
        let routine = routine.filter(|name| !name.is_empty() && thread.number != 0);
        let given = String::from_utf8_lossy(&facts.name);
        let given = given.trim_matches('\0');
        let routine = if given.is_empty() { routine } else { Some(given.to_owned()) };
        let number = thread.number;
        let name = interner.name(&match routine {
            _ if number == 0 => "main".to_owned(),
            Some(routine) => format!("T{number} {routine}"),
            None => format!("T{number}"),
        })?;
        let handler = interner.push_handler(Handler { name, ..Handler::default() })?;
        interner.push_task(TaskDef { name, handler, ..TaskDef::default() })?;
    }
    Ok(interner)
}

impl Maker<'_> {
    /// Returns the number of events that the trace would have if it ended here.
    pub(in crate::to_trace) fn len(&self) -> usize {
        self.columns.len() + self.awaited
    }

    /// Returns whether a part may end here: somebody must go on who does not wait.
    pub(in crate::to_trace) fn may_end(&self) -> bool {
        self.asking == 0 && self.locks.is_empty() && self.alive().any(|lane| !self.waits(lane))
    }

    /// Returns no fewer events than another part would begin with.
    pub(in crate::to_trace) fn beginning(&self) -> u64 {
        let waiters = self.conditions.values().map(|condition| condition.waiters.len());
        // The signals of a condition are at most as many as those that wait on it.
        let waits = 4 * waiters.sum::<usize>() as u64 + 2;
        2 * self.alive().count() as u64 + waits + self.permits_to_repeat()
    }

    /// Ends the trace. The next event is the first of another one, after [`Maker::go_on`].
    pub(in crate::to_trace) fn end(&mut self) -> Result<Traced, TableFull> {
        let open = self.invocations.all_open();
        self.end_calls(open, None)?;
        self.begin_all();
        self.stats.ambiguous = self.stacks.ambiguous;
        self.stats.nowhere = self.stacks.unknown;
        let tables = mem::take(&mut self.interner).tables;
        let trace = Trace::new(tables, mem::take(&mut self.columns));
        let (stats, failure, origins) =
            (self.stats.clone(), self.failure, mem::take(&mut self.origins));
        let misuses = self.watch.take();
        Ok(Traced { trace, stats, failure, unseen: Vec::new(), origins, misuses })
    }

    /// Begins the next trace.
    pub(in crate::to_trace) fn go_on(&mut self) -> Result<(), TableFull> {
        self.interner = with_threads(self.recording, self.survey, self.names)?;
        self.columns = Columns::default();
        self.stacks.forget_ids();
        self.invocations.forget_ids();
        self.memory.forget_locations();
        self.lock_ids.clear();
        self.condition_ids.clear();
        self.objects.clear();
        self.permits.clear();
        self.polls = Polls::default();
        self.takes = 0;
        (self.awaited, self.asking) = (0, 0);
        for thread in &mut self.threads {
            (thread.is_forked, thread.is_in, thread.asks) = (false, false, false);
            thread.was_called = false;
        }
        let (waiting, others): (Vec<usize>, _) = self.alive().partition(|lane| self.waits(*lane));
        let Some((first, others)) = others.split_first() else { return Ok(()) };
        self.repeat_permits(*first)?;
        self.create(*first, &waiting);
        self.wait_again(*first, &waiting)?;
        self.create(*first, others);
        Ok(())
    }

    fn create(&mut self, by: usize, lanes: &[usize]) {
        for lane in lanes {
            let handler = HandlerId::from_index(*lane);
            self.push_at(by, EventKind::Fork.into(), handler.0, Where::NOWHERE);
            self.is_forked(*lane);
        }
    }

    /// Lets threads wait as they did where the last part ended, and repeats the signals that they
    /// have not answered. What follows, of all threads, comes after that.
    fn wait_again(&mut self, first: usize, lanes: &[usize]) -> Result<(), TableFull> {
        if lanes.is_empty() {
            return Ok(());
        }
        let (before, after) = (self.object(0, "waits")?, self.object(0, "signals")?);
        let mut waits: Vec<(usize, u64, Called, usize)> = Vec::new();
        waits.extend(self.conditions.iter().flat_map(|(address, condition)| {
            let waiters = condition.waiters.iter();
            waiters.map(|waiter| (waiter.lane, *address, waiter.called, condition.signals))
        }));
        waits.retain(|wait| lanes.contains(&wait.0));
        waits.sort_unstable_by_key(|wait| (wait.0, wait.1));
        let mut signalled = BTreeMap::new();
        for (lane, address, called, signals) in waits {
            if called == Called::Broadcast {
                self.threads[lane].was_called = true;
                continue;
            }
            let id = self.condition_id(address)?.0;
            signalled.insert(id, signals);
            self.push_at(lane, EventKind::Wait.into(), id, Where::NOWHERE);
            self.push_at(lane, Op::new(EventKind::Rmw, Mode::RELEASE), before, Where::NOWHERE);
        }
        self.push_at(first, Op::new(EventKind::Read, Mode::ACQUIRE), before, Where::NOWHERE);
        for (id, signals) in signalled {
            for _ in 0..signals {
                self.push_at(first, EventKind::Signal.into(), id, Where::NOWHERE);
            }
        }
        self.push_at(first, Op::new(EventKind::Write, Mode::RELEASE), after, Where::NOWHERE);
        for lane in lanes {
            self.push_at(*lane, Op::new(EventKind::Read, Mode::ACQUIRE), after, Where::NOWHERE);
        }
        Ok(())
    }

    /// Returns the threads that go on, in their order.
    fn alive(&self) -> impl Iterator<Item = usize> {
        (0..self.threads.len()).filter(|lane| self.is_alive(*lane))
    }

    /// Returns whether a thread waits on a condition.
    fn waits(&self, lane: usize) -> bool {
        let mut waiters = self.conditions.values().flat_map(|condition| &condition.waiters);
        waiters.any(|waiter| waiter.lane == lane)
    }

    /// Returns whether a thread has been created, and goes on.
    fn is_alive(&self, lane: usize) -> bool {
        let (thread, facts) = (self.threads[lane], self.survey.threads[lane]);
        let has_begun = thread.taken > 0 || thread.is_created;
        has_begun && thread.taken < facts.events && !thread.is_over
    }

    /// The trace has the creation of a thread.
    pub(super) fn is_forked(&mut self, child: usize) {
        let thread = &mut self.threads[child];
        self.awaited += usize::from(!thread.is_forked && !thread.is_in);
        (thread.is_created, thread.is_forked) = (true, true);
    }

    /// Lets each created thread begin. Where the trace ends early, the first event of a thread may
    /// come later, which does not mean that it never ran.
    fn begin_all(&mut self) {
        for lane in 0..self.threads.len() {
            let thread = self.threads[lane];
            if thread.is_forked && !thread.is_in {
                self.push_at(lane, EventKind::Begin.into(), 0, Where::NOWHERE);
            }
        }
    }
}
