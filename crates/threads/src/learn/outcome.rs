//! What an exploration is asked, and what it answers.

use super::behaviour::Divergence;
use super::journal::Journal;
use crate::execution::{SPINS_MAX, Step};
use crate::ids::{SiteId, ThreadId};
use crate::op::Op;
use crate::races::Race;
use crate::spinning::{LongLoop, TURNS_MAX};
use anyorder_common::cancel::{Cancel, StopReason};

/// Options of an exploration.
#[derive(Clone, Debug)]
pub struct LearnOptions {
    /// The most steps of one execution.
    pub steps_max: usize,
    /// The most executions.
    pub executions_max: u64,
    /// How often in a row threads may spin in vain.
    pub spins_max: u32,
    /// After how many turns in vain a loop may give up that is explored turn by turn. One that
    /// gives up later makes the exploration incomplete. With 0, every loop waits for a change.
    pub turns_max: u32,
    /// Whether executions that differ only in the number of turns in vain before a thread leaves a
    /// loop that gives up are one, as far as the thread is known to do the same after them: an
    /// execution that needs both a number of turns and something later may be missed. Not with
    /// `classes`, and not within a bound of preemptions.
    pub merges_turns: bool,
    /// Whether complete executions are counted by what all threads saw together. Otherwise the
    /// exploration covers what each thread can see, and not in which combinations.
    pub classes: bool,
    /// How many preemptions an execution has at most; any number if `None`. A preemption is a
    /// switch away from a thread that could go on: one that waits, with a time-out or without, that
    /// gives way or that has ended is not preempted.
    pub preemptions_max: Option<u32>,
    /// Whether an exploration that is cut leaves what another one needs to go on. Then it does not
    /// go by rising preemptions at its end. Not with a bound of preemptions.
    pub keeps_journal: bool,
    /// Where to go on, if `keeps_journal`. The limits are for what is new.
    pub resume: Option<Journal>,
    /// How many places may be searched to shorten the way to one fault.
    pub shorten_max: usize,
    /// Stops the exploration.
    pub cancel: Cancel,
    /// Once it is stopped, an exploration without a bound goes by rising preemptions, so that what
    /// is left of its time makes it complete up to some number of them. It does so by itself for
    /// the last third of `executions_max`.
    pub turn: Cancel,
    /// For tests: after how many steps of searches it is cut, and whether it leaves out the walks.
    #[cfg(test)]
    pub(crate) trial: (u64, bool),
}

impl Default for LearnOptions {
    fn default() -> LearnOptions {
        LearnOptions {
            steps_max: 100_000,
            spins_max: SPINS_MAX,
            turns_max: TURNS_MAX,
            merges_turns: false,
            executions_max: u64::MAX,
            classes: false,
            preemptions_max: None,
            keeps_journal: false,
            resume: None,
            shorten_max: 100_000,
            cancel: Cancel::new(),
            turn: Cancel::new(),
            #[cfg(test)]
            trial: (u64::MAX, false),
        }
    }
}

/// A thread that cannot go on, with the operation that it waits for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Blocked {
    /// The thread.
    pub thread: ThreadId,
    /// The operation.
    pub op: Op,
    /// Its position.
    pub site: SiteId,
}

/// A fault of the program.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// A failure with this number of the program's.
    Failure(u32),
    /// No thread can go on, and some have not ended.
    Deadlock(Vec<Blocked>),
    /// Threads spin for something that does not come.
    Livelock(Vec<Blocked>),
    /// Two accesses of plain data that nothing orders.
    Race(Race),
    /// An execution had more steps than allowed.
    StepLimit,
}

/// A fault and how to reach it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// The fault.
    pub fault: Fault,
    /// The steps from the start that show it.
    pub steps: Vec<Step>,
    /// Whether no other way has fewer switches between threads.
    pub is_shortest: bool,
}

/// Why an exploration is not complete.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Incomplete {
    /// The limit of executions was reached.
    Executions,
    /// It was stopped.
    Stopped(StopReason),
    /// The program is not a function of the results: a thread did something else after the same
    /// ones, or, if that is not known, an object was not as it was before.
    Diverged(Option<Box<Divergence>>),
    /// An execution was longer than allowed.
    Steps,
    /// The journal from which it was to go on is not that of this program.
    OtherProgram,
    /// A loop gives up after more turns in vain than are explored turn by turn. What it does then
    /// was explored only where nothing else could go on; under weak memory, not at all.
    GivesUp(LongLoop),
    /// A bound of preemptions was asked for, and the engine has none: nothing was run.
    Unbounded,
    /// Under weak memory: the program does something that is not supported.
    Unsupported(Box<Op>),
}

/// How many of some random executions would have shown something that no thread had seen before,
/// when the search without a bound was cut. In half of these executions each step is of any thread,
/// in the others threads have random priorities; where it does not matter who goes on, there is no
/// choice.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Unseen {
    /// Those that would have.
    pub new: u32,
    /// All of them.
    pub of: u32,
}

impl Unseen {
    /// The least and the greatest chance, in percent, that a random execution has of showing
    /// something new, with a confidence of 95 in 100 (E. B. Wilson, "Probable inference", 1927).
    #[must_use]
    pub fn percent(self) -> (u32, u32) {
        if self.of == 0 {
            return (0, 100);
        }
        let (count, z) = (f64::from(self.of), 1.96);
        let share = f64::from(self.new) / count;
        let middle = share + z * z / (2.0 * count);
        let half = z * (share * (1.0 - share) / count + z * z / (4.0 * count * count)).sqrt();
        let bound = |value: f64| (100.0 * value / (1.0 + z * z / count)).clamp(0.0, 100.0);
        (bound(middle - half).floor() as u32, bound(middle + half).ceil() as u32)
    }
}

/// What an exploration found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Learnt {
    /// The executions of the program.
    pub executions: u64,
    /// The steps of all executions.
    pub steps: u64,
    /// The places in the trees of all threads.
    pub behaviours: u64,
    /// The states in which the last search had a choice, and the steps between its states.
    pub states: u64,
    /// See `states`.
    pub transitions: u64,
    /// The complete classes, if they were asked for.
    pub classes: u64,
    /// The searches.
    pub searches: u64,
    /// The faults, each once, in the order in which they were found.
    pub faults: Vec<Found>,
    /// The executions that only confirmed what the search had found: one for each fault that no
    /// execution had shown before, and some if threads [may hide
    /// data](crate::ThreadProgram::may_hide_data).
    pub confirmations: u64,
    /// The trials of loops: whether they give up. Each ran the program twice.
    pub trials: u64,
    /// The loops that give up after more turns in vain than are explored turn by turn.
    pub long_loops: Vec<LongLoop>,
    /// Why it is not complete, if it is not. A bound of preemptions that was asked for is no
    /// reason.
    pub incomplete: Option<Incomplete>,
    /// If not everything was explored: up to how many preemptions all executions were. `None` if
    /// everything was, or if not even all executions without preemptions were.
    pub preemptions: Option<u32>,
    /// How much the search without a bound had not seen, if it was cut with time left to find out.
    pub unseen: Option<Unseen>,
    /// What another exploration needs to go on, if this one was cut and that was to be kept.
    pub journal: Option<Box<Journal>>,
}
