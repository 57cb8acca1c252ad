//! Options of an exploration.

use super::names::{TaskId, TaskInfo};
use super::sabotage::Sabotage;
use anyorder_commute::Declarations;
use anyorder_system::{Cancel, Schedule, TaskRole};
use rustc_hash::FxHashMap;

/// The order in which sequences are run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Order {
    /// All sequences of one depth before those of the next: the fewest reversals first.
    #[default]
    Levels,
    /// The paper's order: depth first. The next sequence shares the longest prefix with the last
    /// run. Uses one worker. The set of sequences is the same.
    DepthFirst,
}

/// What to do with a planned sequence that is known to be equivalent to an earlier run: it has the
/// same tasks, and every two dependent tasks come in the same order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Sleep {
    /// Run it.
    Off,
    /// Do not run it, but reverse its conflicts too, because the behaviour of its tasks is known.
    /// Gives the same sequences as `Off` with fewer runs, provided that tasks without a common
    /// location are independent.
    #[default]
    Exact,
    /// Do not run it, and reverse only the conflicts of the first. Gives fewer sequences still.
    /// With a bound it may miss a class of sequences that is reached only from another order of
    /// independent tasks.
    Greedy,
}

/// Which tasks are input events. Their order among themselves stays as recorded.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum UserEvents {
    /// Tasks with the role [`TaskRole::Input`].
    #[default]
    Declared,
    /// All tasks that no task created.
    All,
    /// None.
    None,
    /// Tasks that no task created, of these kinds: the first words of their names, such as `click`.
    Kinds(Vec<String>),
    /// Tasks with the role [`TaskRole::Input`] are input events, but may come in any order. A
    /// difference that their order alone may explain is no finding; a new failure is one.
    Free,
}

/// Swaps of tasks that share no reported location: they must make no difference.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Swaps {
    /// The number of swaps. Each is a run.
    pub count: u64,
    /// The seed of the choice of pairs, if there are more pairs than swaps.
    pub seed: u64,
}

/// Options of an exploration.
#[derive(Clone, Debug)]
pub struct ReversalOptions {
    /// The most reversals from the recording to a sequence. `None`: all inequivalent orders, for
    /// programs whose runs all end.
    pub bound: Option<u32>,
    /// The order in which sequences run.
    pub order: Order,
    /// What to do with sequences that are equivalent to an earlier run.
    pub sleep: Sleep,
    /// The recording: the first choices, after which the default scheduler runs. `None`: the
    /// default scheduler's run.
    pub recording: Option<Schedule>,
    /// Which tasks are input events.
    pub user_events: UserEvents,
    /// Two writes of the same value do not conflict, and a write of the value just read is a read.
    /// Needs a system that reports values.
    pub same_value: bool,
    /// Updates that the user declares commutative.
    pub updates: Declarations,
    /// The number of systems that run at once, at least 1. The result is the same for any number,
    /// as long as the system is deterministic.
    pub workers: usize,
    /// The most attempts for a run that the system loses, at least 1.
    pub attempts: u32,
    /// The most sequences that may be lost because all attempts failed. After that the exploration
    /// ends.
    pub lost_max: u64,
    /// Runs end after the planned sequence, and the default scheduler does not continue them.
    /// Differences are then unreliable.
    pub stop_after_plan: bool,
    /// The most tasks by which a run may be longer than the recording; longer runs are cut. If the
    /// recording itself was cut, all runs are cut at its length, so that compared runs have equal
    /// lengths.
    pub tail_max: u64,
    /// The most alternatives of a task to run, the first ones, at least 1. If a task has more, the
    /// outcome is not complete.
    pub alternatives_max: u32,
    /// Whether a difference counts as harmful only after both runs were repeated with the same
    /// result.
    pub confirm: bool,
    /// The prefixes of the texts of locations that hold registered handlers: see
    /// [`Verdict::LateRegistration`](super::Verdict).
    pub registrations: Vec<String>,
    /// Whether the default scheduler is a user who waits until the program is at rest before the
    /// next input event. Then inputs may be refused: see [`Verdict::RefusedInput`](super::Verdict).
    pub patient_user: bool,
    /// How the names of requests begin that change nothing where they are sent to. One that a timer
    /// sends in one of two runs does no harm: see [`Verdict::Timers`](super::Verdict).
    pub safe_requests: Vec<String>,
    /// The texts of locations that an input event writes without any effect of the program, such as
    /// the focus.
    pub marks_of_inputs: Vec<String>,
    /// How many pairs without a reported conflict to swap, once the exploration is done.
    pub swaps: Swaps,
    /// Every two tasks conflict, because the program does not report its accesses.
    pub blind: bool,
    /// Whether to keep what each step did, in the words of the program, for
    /// [`Outcome::kept`](super::Outcome::kept). Takes memory.
    pub keep: bool,
    /// The caller stops this token to end the exploration early. Unlike a limit, that makes the
    /// outcome neither wrong nor unconfirmed: no further run is planned, and those that showed
    /// something are repeated.
    pub budget: Option<Cancel>,
    /// A fault injected for tests.
    #[cfg(test)]
    pub sabotage: Sabotage,
}

impl Default for ReversalOptions {
    fn default() -> ReversalOptions {
        ReversalOptions {
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
            patient_user: false,
            safe_requests: vec!["GET ".to_owned(), "HEAD ".to_owned()],
            marks_of_inputs: vec!["document.activeElement".to_owned()],
            swaps: Swaps::default(),
            blind: false,
            keep: false,
            budget: None,
            #[cfg(test)]
            sabotage: Sabotage::None,
        }
    }
}

/// The input events of the recording, in their order. With a bound, those that it missed are among
/// them: they were enabled, and a task disabled them before they ran.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inputs {
    which: UserEvents,
    /// An input event waits for all recorded inputs before it. Otherwise it only may not come after
    /// a later one.
    strict: bool,
    /// `None` while the recording is made; then no input is held back.
    ranks: Option<FxHashMap<TaskId, u32>>,
}

impl Inputs {
    pub(crate) fn new(which: UserEvents) -> Inputs {
        Inputs { which, strict: false, ranks: None }
    }

    /// Sets the order, once the recording is made.
    pub(crate) fn recorded(&self, order: impl Iterator<Item = TaskId>, strict: bool) -> Inputs {
        Inputs { which: self.which.clone(), strict, ranks: Some(order.zip(0..).collect()) }
    }

    /// Returns whether a task is an input event.
    pub(crate) fn is_input(&self, info: &TaskInfo) -> bool {
        let is_root = info.name.creator().is_none();
        match &self.which {
            UserEvents::Declared => info.role == TaskRole::Input,
            UserEvents::All => is_root,
            UserEvents::None | UserEvents::Free => false,
            UserEvents::Kinds(kinds) => is_root && kinds.contains(&info.name.segment().kind),
        }
    }

    /// Returns whether a task is an input event whose order is free.
    pub(crate) fn is_free(&self, info: &TaskInfo) -> bool {
        self.which == UserEvents::Free && info.role == TaskRole::Input
    }

    /// Returns the position of an input event in the recording; `None` if it was not recorded.
    pub(crate) fn rank(&self, task: TaskId) -> Option<u32> {
        self.ranks.as_ref().map_or(Some(0), |ranks| ranks.get(&task).copied())
    }

    /// Returns whether an input event may run if `last` was the last one that ran. It must be
    /// recorded later than `last` (if strict, as the next).
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

impl ReversalOptions {
    /// Returns the injected fault.
    #[inline]
    pub(crate) const fn sabotage(&self) -> Sabotage {
        #[cfg(test)]
        return self.sabotage;
        #[cfg(not(test))]
        Sabotage::None
    }
}
