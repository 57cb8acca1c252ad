//! One step of a thread that is alone, as far as it is known what it finds.

use super::{LoneThread, Lonely, Misfit, SharedPlace};
use crate::machine::Machine;
use crate::state::{Origin, State, StepId, Thread};
use crate::step::{Blocked, Log, LoggedAccess, LoggedPlace};
use crate::transitions::{Outcome, StepExecutor};
use crate::value::Value;
use anyorder_system::Failure;
use std::sync::Arc;

/// A step of a thread that was tried with some values of shared places.
#[derive(Debug)]
pub struct Attempt {
    /// Whether the step is an atomic section, and may access several places.
    pub is_section: bool,
    /// Whether the step accesses several places without a section: a list and its elements.
    pub is_split: bool,
    /// A place that the step reads and whose value is not given. Then the rest says nothing.
    pub missing: Option<SharedPlace>,
    /// The ways in which the step can end, in the order of the machine's alternatives. None: the
    /// step is not possible with these values.
    pub ways: Vec<Way>,
    /// What the step waits for, if it is not possible.
    pub wait: Wait,
}

/// A way in which a step ends.
#[derive(Debug)]
pub struct Way {
    /// The thread after the step; `None` if it has ended.
    pub after: Option<LoneThread>,
    /// Whether it has ended and holds locks still.
    pub leaves_locks: bool,
    /// What it writes to memory.
    pub writes: Vec<(SharedPlace, Value)>,
    /// What else it does.
    pub sync: Option<Sync>,
    /// How the step fails. Then the rest says nothing.
    pub failure: Option<Failure>,
}

/// What a step does that is no access to memory.
#[derive(Debug)]
pub enum Sync {
    /// It takes a lock, which is free.
    Acquire(u32),
    /// It gives a lock back, which it holds.
    Release(u32),
    /// It gives a lock back and waits to be notified.
    Wait {
        /// The condition.
        cond: u32,
        /// The lock.
        lock: u32,
    },
    /// It notifies.
    Notify {
        /// The condition.
        cond: u32,
        /// Whether all are woken that wait.
        all: bool,
    },
    /// It forks a thread.
    Fork(LoneThread),
}

/// Why a step is not possible.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wait {
    /// The thread holds this lock already.
    Lock(u32),
    /// A thread that it forked has not ended: its handle.
    End(u32),
    /// What it found is not what it assumes.
    Values,
}

/// Whether a program may end, as far as is known what memory holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// The value of this place is needed.
    Missing(SharedPlace),
    /// Whether `final` holds.
    Known(bool),
}

impl Lonely {
    /// Tries the next step of a thread that does not wait to be notified, with the values that it
    /// finds. Linear in the step.
    ///
    /// # Errors
    ///
    /// Fails if the thread does what cannot be done alone.
    pub fn attempt(
        &self,
        lone: &LoneThread,
        found: &[(SharedPlace, Value)],
    ) -> Result<Attempt, Misfit> {
        let state = self.alone(lone, found);
        let step = StepId::Thread { origin: lone.thread.origin, rank: 0 };
        let mut executor = StepExecutor::logging(&self.machine, &state);
        executor.keeps_numbers = true;
        let mut ran: Vec<(Outcome, Log)> = Vec::new();
        executor.run(step, |executor, _, outcome| ran.push((outcome, executor.take_log())));
        if executor.interpreter.poll.is_stopped() {
            return Err(Misfit::Stopped);
        }
        let blocked = ran.is_empty().then(|| executor.interpreter.blocked());
        let wait = match blocked {
            Some(Blocked::Lock(lock)) => Wait::Lock(lock),
            Some(Blocked::Join(handle)) => Wait::End(handle),
            Some(Blocked::Assumption) | None => Wait::Values,
        };
        let deciding = std::mem::take(&mut executor.deciding);
        let last = executor.take_log();
        let logs = || ran.iter().map(|(_, log)| log).chain([&last]);
        let is_section = logs().any(|log| log.has_section);
        if logs().any(|log| !log.allocated.is_empty()) {
            return Err(Misfit::Objects);
        }
        if logs().any(|log| log.joins && is_section) {
            return Err(Misfit::Sections);
        }
        let is_split = logs().any(|log| self.operations(log) > 1);
        let missing = self.missing(&deciding, logs(), found);
        let mut attempt = Attempt { is_section, is_split, missing, ways: Vec::new(), wait };
        if attempt.missing.is_none() {
            for (outcome, log) in &ran {
                attempt.ways.push(self.way(lone, outcome, log)?);
            }
            let syncs = |way: &Way| way.sync.is_some() && way.failure.is_none();
            if (is_section || attempt.ways.len() > 1) && attempt.ways.iter().any(syncs) {
                return Err(Misfit::Sections);
            }
        }
        Ok(attempt)
    }

    /// Evaluates whether the program may end, with the values found.
    ///
    /// # Errors
    ///
    /// Fails if the job was stopped.
    pub fn end(&self, found: &[(SharedPlace, Value)]) -> Result<Ended, Misfit> {
        let Some(func) = self.machine.program().final_ else { return Ok(Ended::Known(true)) };
        let mut state = self.base.clone();
        found.iter().for_each(|(place, value)| place.set(&mut state, value));
        let mut executor = StepExecutor::logging(&self.machine, &state);
        let holds = executor.evaluate(func).unwrap_or(false);
        if executor.interpreter.poll.is_stopped() {
            return Err(Misfit::Stopped);
        }
        let log = executor.take_log();
        let missing = self.missing(&[], [&log].into_iter(), found);
        Ok(missing.map_or(Ended::Known(holds), Ended::Missing))
    }

    /// A state with nothing but a thread, its locks, those that it forked, and what it finds.
    fn alone(&self, lone: &LoneThread, found: &[(SharedPlace, Value)]) -> State {
        let mut state = self.base.clone();
        state.change_threads(|threads| {
            threads.push(Arc::clone(&lone.thread));
            threads.extend(lone.forked.iter().cloned());
        });
        let owner = owner(&self.machine, &lone.thread);
        lone.locks.iter().for_each(|lock| state.set_lock(*lock as usize, owner));
        found.iter().for_each(|(place, value)| place.set(&mut state, value));
        state
    }

    /// The first place that is read and not found. What comes before it depends on nothing else.
    fn missing<'l>(
        &self,
        deciding: &[LoggedAccess],
        logs: impl Iterator<Item = &'l Log>,
        found: &[(SharedPlace, Value)],
    ) -> Option<SharedPlace> {
        let mut missing = None;
        let mut look = |access: &LoggedAccess, written: &mut Vec<SharedPlace>| {
            self.containers.places(access, &self.numbers, |place, reads, writes| {
                let is_known =
                    written.contains(&place) || found.iter().any(|(other, _)| *other == place);
                if reads && !is_known && missing.is_none() {
                    missing = Some(place);
                }
                if writes {
                    written.push(place);
                }
            });
        };
        // These are of several executions.
        deciding.iter().for_each(|access| look(access, &mut Vec::new()));
        for log in logs {
            let mut written = Vec::new();
            log.accesses.iter().for_each(|access| look(access, &mut written));
        }
        missing
    }

    /// The number of loads and stores of an execution.
    fn operations(&self, log: &Log) -> usize {
        let mut count = 0;
        for access in &log.accesses {
            self.containers.places(access, &self.numbers, |_, reads, writes| {
                count += usize::from(reads) + usize::from(writes);
            });
        }
        count
    }

    /// Reads from the outcome of a step what it did.
    fn way(&self, lone: &LoneThread, outcome: &Outcome, log: &Log) -> Result<Way, Misfit> {
        let handled = |access: &LoggedAccess| match access.place {
            LoggedPlace::Lifecycle | LoggedPlace::Task(_) => log.joins,
            _ => true,
        };
        if !log.accesses.iter().all(handled) {
            return Err(Misfit::Handles);
        }
        if let Some(fault) = &outcome.fault {
            let failure = Some(fault.clone().failure(self.machine.program()));
            return Ok(Way {
                after: None,
                leaves_locks: false,
                writes: Vec::new(),
                sync: None,
                failure,
            });
        }
        let mut writes: Vec<(SharedPlace, Value)> = Vec::new();
        let mut syncs = 0;
        for access in &log.accesses {
            let is_memory =
                self.containers.places(access, &self.numbers, |place, _, is_written| {
                    if is_written && !writes.iter().any(|(other, _)| *other == place) {
                        let value = place.in_state(&outcome.state).cloned().unwrap_or_default();
                        writes.push((place, value));
                    }
                });
            match access.place {
                _ if is_memory => {}
                LoggedPlace::Lifecycle | LoggedPlace::Task(_) => {}
                LoggedPlace::Lock(_) | LoggedPlace::Cond(_) => syncs += 1,
                _ => return Err(Misfit::Posts),
            }
        }
        if writes.iter().any(|(_, value)| value.holds_handle()) {
            return Err(Misfit::Handles);
        }
        let (after, child) = self.after(lone, outcome);
        let mut forks = child.into_iter();
        let sync = match forks.next() {
            Some(child) if child.thread.regs.iter().any(Value::holds_handle) => {
                return Err(Misfit::Handles);
            }
            Some(child) => Some(Sync::Fork(child)),
            None => sync_of(lone, after.as_ref(), log, &outcome.state),
        };
        let is_one = (syncs == 0 && matches!(sync, None | Some(Sync::Fork(_))))
            || (syncs == 1 && !matches!(sync, None | Some(Sync::Fork(_))))
            || (syncs == 2 && matches!(sync, Some(Sync::Wait { .. })));
        if !is_one || forks.next().is_some() || (sync.is_some() && !writes.is_empty()) {
            return Err(Misfit::Sections);
        }
        let leaves_locks = after.is_none() && !outcome.state.locks().is_empty();
        Ok(Way { after, leaves_locks, writes, sync, failure: None })
    }

    /// The thread after a step, and those that it forked.
    fn after(&self, lone: &LoneThread, outcome: &Outcome) -> (Option<LoneThread>, Vec<LoneThread>) {
        let own = &lone.thread;
        let (mut after, mut forked, mut new) = (None, Vec::new(), Vec::new());
        for thread in outcome.state.threads() {
            let is_own = (thread.origin, thread.handle) == (own.origin, own.handle);
            if is_own || (thread.origin == own.origin && own.origin != Origin::Dynamic) {
                after = Some(Arc::clone(thread));
                continue;
            }
            forked.push(Arc::clone(thread));
            if !lone.forked.iter().any(|known| known.handle == thread.handle) {
                let thread = Arc::clone(thread);
                new.push(LoneThread { thread, locks: Vec::new(), forked: Vec::new() });
            }
        }
        let owner = owner(&self.machine, own);
        let held = outcome.state.locks().iter().zip(0..).filter(|(by, _)| **by == owner);
        let locks = held.map(|(_, lock)| lock).collect();
        (after.map(|thread| LoneThread { thread, locks, forked }), new)
    }
}

/// The number of a thread as an owner of locks.
fn owner(machine: &Machine, thread: &Thread) -> u32 {
    match thread.origin {
        Origin::Declared(member) => machine.layout.owner_thread(member),
        Origin::Slot(slot) => machine.layout.owner_slot(slot),
        Origin::Dynamic => machine.layout.owner_dynamic(thread.handle),
    }
}

/// What a step did with locks and conditions.
fn sync_of(
    lone: &LoneThread,
    after: Option<&LoneThread>,
    log: &Log,
    state: &State,
) -> Option<Sync> {
    log.accesses.iter().find_map(|access| match access.place {
        LoggedPlace::Cond(cond) => match after.and_then(LoneThread::waits) {
            Some((_, lock)) => Some(Sync::Wait { cond, lock }),
            None => Some(Sync::Notify { cond, all: log.for_all }),
        },
        LoggedPlace::Lock(lock) if lone.locks.contains(&lock) => Some(Sync::Release(lock)),
        LoggedPlace::Lock(lock) if state.lock(lock as usize) != 0 => Some(Sync::Acquire(lock)),
        _ => None,
    })
}
