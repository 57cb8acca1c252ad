//! What an exploration is asked for.

use super::names::{TaskId, TaskInfo};
use super::sabotage::Sabotage;
use anyorder_commute::Declarations;
use anyorder_system::{Schedule, TaskRole};
use rustc_hash::FxHashMap;

/// The order in which sequences are run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Order {
    /// All sequences of one depth before those of the next: the fewest reversals first.
    #[default]
    Levels,
    /// The paper's: depth first, next the sequence that shares the longest beginning with the one
    /// run last. By one worker. The set of sequences is the same.
    DepthFirst,
}

/// What is done about a planned sequence that is known, without running it, to do the same as one
/// that has run: it has the same tasks, and every two that depend on each other come in the same
/// order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Sleep {
    /// It is run.
    Off,
    /// It is not run, but its conflicts are reversed too: what its tasks do is known. Gives the
    /// same sequences as `Off` with fewer runs, provided that tasks which conflict on no location
    /// are independent.
    #[default]
    Exact,
    /// It is not run, and only the conflicts of the first are reversed. Fewer sequences still; at a
    /// bound, a class of sequences may be missed that is reached only from another order of
    /// independent tasks.
    Greedy,
}

/// Which tasks are input events, whose order among themselves is kept as it was recorded.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum UserEvents {
    /// What the system calls [`TaskRole::Input`].
    #[default]
    Declared,
    /// All tasks that no task created.
    All,
    /// None.
    None,
    /// Tasks that no task created, of these kinds: the first words of their names, such as `click`.
    Kinds(Vec<String>),
}

/// Options of an exploration.
#[derive(Clone, Debug)]
pub struct Options {
    /// The most reversals from the recording to a sequence; `None`: all orders that differ, for
    /// programs all of whose runs end.
    pub bound: Option<u32>,
    /// In which order sequences run.
    pub order: Order,
    /// What is done about sequences that are known to do the same as another.
    pub sleep: Sleep,
    /// The recording: choices that are made first; then the default scheduler goes on. `None`: the
    /// default scheduler's run.
    pub recording: Option<Schedule>,
    /// Which tasks are input events.
    pub user_events: UserEvents,
    /// Two writes of one value do not conflict, and writing the value just read is a read. Needs a
    /// system that tells values.
    pub same_value: bool,
    /// Updates that commute because the user says so.
    pub updates: Declarations,
    /// How many systems run at once, at least 1. The result is the same for any number, as long as
    /// the system is deterministic.
    pub workers: usize,
    /// How often a run is tried that the system loses, at least once.
    pub attempts: u32,
    /// How many sequences may be given up because all attempts failed, before the exploration is.
    pub lost_max: u64,
    /// Runs end after the planned sequence, instead of going on until nothing is left to do.
    /// Differences are then not to be trusted.
    pub stop_after_plan: bool,
    /// By how many tasks a run may be longer than the recording; one that has not ended by then is
    /// cut. Where the recording itself was cut, all runs are cut at its length, so that what is
    /// compared went on for equally long.
    pub tail_max: u64,
    /// How many alternatives of a task are run at most, the first ones, at least 1. Where a task
    /// has more, the outcome is not complete.
    pub alternatives_max: u32,
    /// Whether a difference is called harmful only after both runs were repeated and gave the same
    /// again.
    pub confirm: bool,
    /// The beginnings of the texts of locations that hold registered handlers: see
    /// [`Verdict::LateRegistration`](super::Verdict).
    pub registrations: Vec<String>,
    /// A fault put in on purpose.
    #[cfg(feature = "sabotage")]
    pub sabotage: Sabotage,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            bound: Some(1),
            order: Order::default(),
            sleep: Sleep::default(),
            recording: None,
            user_events: UserEvents::default(),
            same_value: false,
            updates: Declarations::default(),
            workers: 1,
            attempts: 5,
            lost_max: 20,
            stop_after_plan: false,
            tail_max: 10_000,
            alternatives_max: 16,
            confirm: true,
            registrations: vec!["listener:".to_owned()],
            #[cfg(feature = "sabotage")]
            sabotage: Sabotage::None,
        }
    }
}

/// The input events of the recording, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inputs {
    which: UserEvents,
    /// An input event waits for all that came before it in the recording; else only for its turn.
    strict: bool,
    /// `None` while the recording is made: then nothing is held back.
    ranks: Option<FxHashMap<TaskId, u32>>,
}

impl Inputs {
    pub(crate) fn new(which: UserEvents) -> Inputs {
        Inputs { which, strict: false, ranks: None }
    }

    /// Fixes the order, once the recording is made.
    pub(crate) fn recorded(&self, order: impl Iterator<Item = TaskId>, strict: bool) -> Inputs {
        Inputs { which: self.which.clone(), strict, ranks: Some(order.zip(0..).collect()) }
    }

    /// Returns whether a task is an input event.
    pub(crate) fn is_input(&self, _task: TaskId, info: &TaskInfo) -> bool {
        let is_root = info.name.creator().is_none();
        match &self.which {
            UserEvents::Declared => info.role == TaskRole::Input,
            UserEvents::All => is_root,
            UserEvents::None => false,
            UserEvents::Kinds(kinds) => is_root && kinds.contains(&info.name.segment().kind),
        }
    }

    /// Returns the place of an input event in the recording; none for one that was not recorded.
    pub(crate) fn rank(&self, task: TaskId) -> Option<u32> {
        self.ranks.as_ref().map_or(Some(0), |ranks| ranks.get(&task).copied())
    }

    /// Returns whether an input event may run when `last` was the last one that did: it was
    /// recorded, and after that (if strict, as the next).
    pub(crate) fn may_follow(&self, last: Option<TaskId>, task: TaskId) -> bool {
        let Some(ranks) = &self.ranks else { return true };
        let Some(rank) = ranks.get(&task) else { return false };
        match last.map(|last| ranks.get(&last)) {
            None => !self.strict || *rank == 0,
            Some(None) => false,
            Some(Some(last)) => last < rank && (!self.strict || *rank == last + 1),
        }
    }
}

impl Options {
    /// Returns the fault put in on purpose.
    #[inline]
    pub(crate) const fn sabotage(&self) -> Sabotage {
        #[cfg(feature = "sabotage")]
        return self.sabotage;
        #[cfg(not(feature = "sabotage"))]
        Sabotage::None
    }
}
