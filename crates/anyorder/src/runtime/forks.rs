//! More programs of one closure, for several cores.
//!
//! Each has its own threads, stacks and memory, on a thread of the system of its own. They share
//! the numbers of threads and objects. What the code under test shares with all its executions,
//! the programs share, too; that is nobody's matter as long as it is not ours: an atomic number or
//! a lock of the standard library may be used by several threads of the system. Data in our locks
//! and cells may not. What lies in a static is copied for each execution. An object that lies
//! elsewhere outside of executions [binds](anyorder_threads::ThreadProgram::is_bound) the program:
//! it stops before it comes to such data, and all is left to one core.

use super::abort::Describe;
use super::core::{Core, Phase};
use super::names::SharedNames;
use super::program::{Body, Program, Setting};
use super::watch::Watch;
use anyorder_threads::{Act, ObjectId, Op};
use std::panic::Location;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};

/// What programs share that run at the same time.
#[derive(Default)]
pub(crate) struct Shared {
    pub(super) names: Arc<SharedNames>,
    /// The notes on frees of those that are gone.
    notes: Mutex<Watch>,
}

impl Shared {
    /// Adds the notes of a program that goes.
    pub(super) fn add_notes(&self, watch: &mut Watch) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).append(watch);
    }

    /// Returns whether the frees of those that are gone may matter.
    pub(super) fn has_dangers(&self) -> bool {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).has_dangers()
    }
}

/// What makes more programs of one.
pub(crate) struct Forks {
    body: Body,
    setting: Setting,
    runs: Arc<AtomicU64>,
    describe: Option<Describe>,
    guards_unseen: bool,
    shared: Arc<Shared>,
}

impl Forks {
    /// Makes a program.
    pub(crate) fn make(&self) -> Program {
        let core = Core::new(self.setting, Some(Arc::clone(&self.shared)));
        core.state.borrow_mut().guards_unseen = self.guards_unseen;
        if let Some(describe) = self.describe {
            core.set_describe(describe);
        }
        Program::of(Arc::clone(&self.body), core, Arc::clone(&self.runs))
    }
}

impl Program {
    /// Returns what makes more of it. They share numbers with each other, and not with this one.
    pub(crate) fn forks(&self) -> Forks {
        Forks {
            body: Arc::clone(&self.body),
            setting: self.core.setting,
            runs: self.runs(),
            describe: self.core.describe(),
            guards_unseen: self.core.state.borrow().guards_unseen,
            shared: Arc::default(),
        }
    }
}

impl Core {
    /// Stops the running thread where it is, for ever: it must not come to what it is about to
    /// use.
    ///
    /// # Panics
    ///
    /// If the execution ends already: there is nobody to stop for.
    #[cold]
    pub(super) fn wait_for_end(&self) {
        let is_running = self.phase() == Phase::Running && self.is_inside();
        assert!(is_running, "the data of a static uses data outside of the test: set `cores` to 1");
        loop {
            self.send(Op::new(ObjectId::NONE, Act::Yield), Location::caller());
        }
    }
}
