//! Threads of a program, each run by itself, given what it finds in shared memory.
//!
//! An engine for threads keeps shared memory, locks and conditions itself, and asks here what a
//! thread does with what it found. [`Lonely::attempt`] runs the next step of a thread, as the
//! machine would, on a state that has nothing but the thread, and takes from the log of the step
//! which places it read before all that it read was known. So there is one meaning of
//! instructions, that of the interpreter. Everything is a function of the thread and of what it
//! found: a step sees nothing of earlier steps but what the thread kept in its registers.
//!
//! `fit` says which programs can be run so, `places` which parts of memory are read and written
//! apart, `attempt` runs a step, and `real` finds the steps of a thread in states of the machine.

pub use self::attempt::{Attempt, Ended, Sync, Wait, Way};
pub use self::calls::LoneCall;
pub use self::fit::Misfit;
pub use self::places::SharedPlace;
pub use self::real::RealThread;

use self::places::Containers;
use crate::machine::Machine;
use crate::state::{Origin, State, Status, Thread};
use crate::transitions::initial;
use crate::value::{Value, mix};
use rustc_hash::FxHashMap;
use std::sync::Arc;

mod attempt;
mod calls;
mod fit;
mod places;
mod real;

/// A program whose threads can be run by themselves.
#[derive(Debug)]
pub struct Lonely {
    machine: Arc<Machine>,
    /// The state at the start, without threads.
    base: State,
    threads: Vec<LoneThread>,
    containers: Containers,
    /// Numbers of objects by their creations.
    numbers: FxHashMap<u64, u32>,
    /// The methods with a specification that are one section.
    whole_methods: Vec<u16>,
}

/// A thread between two of its steps, and all that it knows.
#[derive(Clone, Debug)]
pub struct LoneThread {
    thread: Arc<Thread>,
    /// The locks that it holds.
    locks: Vec<u32>,
    /// The threads that it forked and that it does not know to have ended.
    forked: Vec<Arc<Thread>>,
}

impl Lonely {
    /// Takes the threads of a program apart.
    ///
    /// # Errors
    ///
    /// Fails if the program is not of threads alone, or has properties that no thread sees.
    pub fn of(machine: &Arc<Machine>) -> Result<Lonely, Misfit> {
        let mut base = initial(machine);
        fit::check(machine, &base)?;
        let lone = |thread: &Arc<Thread>| LoneThread {
            thread: Arc::clone(thread),
            locks: Vec::new(),
            forked: Vec::new(),
        };
        let threads = base.threads().iter().map(lone).collect();
        base.change_threads(Vec::clear);
        let containers = Containers::of(machine.program(), &base);
        let numbers = base.heap().iter().zip(1..).map(|(object, number)| (object.uid, number));
        let numbers = numbers.collect();
        let whole_methods = calls::whole_methods(machine);
        let machine = Arc::clone(machine);
        Ok(Lonely { machine, base, threads, containers, numbers, whole_methods })
    }

    /// Returns the declared threads, before their first steps.
    #[must_use]
    pub fn threads(&self) -> &[LoneThread] {
        &self.threads
    }

    /// Returns which part of the program a declared thread runs.
    #[must_use]
    pub fn part_of(&self, member: u32) -> usize {
        let (thread, _) = self.machine.layout.thread_members[member as usize];
        let program = self.machine.program();
        program.events.len() + self.machine.declared_tasks() + usize::from(thread)
    }

    /// Returns the value of a place at the start.
    #[must_use]
    pub fn initial(&self, place: SharedPlace) -> Value {
        place.in_state(&self.base).cloned().unwrap_or_default()
    }
}

impl LoneThread {
    /// Returns a hash of all that the thread knows.
    #[must_use]
    pub fn knowledge(&self) -> u128 {
        let locks = self.locks.iter();
        let hash = locks.fold(self.thread.hash, |hash, lock| mix::mix(u64::from(*lock), hash));
        let forked = self.forked.iter();
        forked.fold(hash, |hash, child| mix::mix(1 << 40 | u64::from(child.handle), hash))
    }

    /// Returns a hash of where the thread is in its code, and of the locks that it holds.
    #[must_use]
    pub fn position(&self) -> u128 {
        let here = self.thread.position_hash();
        self.locks.iter().fold(here, |hash, lock| mix::mix(u64::from(*lock), hash))
    }

    /// Returns the condition and the lock of a thread that waits to be notified.
    #[must_use]
    pub fn waits(&self) -> Option<(u32, u32)> {
        match self.thread.status {
            Status::Waiting { cond, lock } => Some((cond, lock)),
            _ => None,
        }
    }

    /// Notifies a thread that waits.
    #[must_use]
    pub fn woken(&self) -> LoneThread {
        let mut thread = Thread::clone(&self.thread);
        if let Status::Waiting { lock, .. } = thread.status {
            thread.status = Status::Woken { lock };
        }
        thread.rehash();
        LoneThread { thread: Arc::new(thread), ..self.clone() }
    }

    /// Returns whether it holds a lock.
    #[must_use]
    pub fn holds_locks(&self) -> bool {
        !self.locks.is_empty()
    }

    /// Tells a thread that one that it forked has ended.
    ///
    /// # Errors
    ///
    /// Fails if the thread keeps handles in lists.
    pub fn joined(&self, handle: u32) -> Result<LoneThread, Misfit> {
        let mut thread = Thread::clone(&self.thread);
        for value in &mut thread.regs {
            match value {
                Value::Handle(other) if *other == handle => *value = Value::Handle(0),
                Value::Handle(_) => {}
                value if value.holds_handle() => return Err(Misfit::Handles),
                _ => {}
            }
        }
        thread.rehash();
        let mut joined = LoneThread { thread: Arc::new(thread), ..self.clone() };
        joined.forked.retain(|child| child.handle != handle);
        Ok(joined)
    }

    /// Returns the handle of a forked thread.
    #[must_use]
    pub fn handle(&self) -> u32 {
        self.thread.handle
    }

    /// Returns the declared thread that it is, by its number among the members of all families.
    #[must_use]
    pub fn declared(&self) -> Option<u32> {
        match self.thread.origin {
            Origin::Declared(member) => Some(member),
            _ => None,
        }
    }
}
