//! What an exploration is asked, and what it answers.

use crate::execution::SPINS_MAX;
use crate::learn::{Found, Incomplete};
use crate::spinning::{LongLoop, TURNS_MAX};
use anyorder_common::cancel::Cancel;

/// Options of an exploration of one execution for each class of equivalent ones.
#[derive(Clone, Debug)]
pub struct DporOptions {
    /// The most steps of one execution.
    pub steps_max: usize,
    /// The most executions, blocked ones included.
    pub executions_max: u64,
    /// How often in a row threads may spin in vain.
    pub spins_max: u32,
    /// After how many turns in vain a loop may give up that is explored turn by turn. One that
    /// gives up later makes the exploration incomplete.
    pub turns_max: u32,
    /// On how many cores it runs at most, if there is a way to make more of the program:
    /// [`explore_optimal_on`](super::explore_optimal_on).
    pub cores: usize,
    /// Stops the exploration.
    pub cancel: Cancel,
    /// For tests: after how many executions other cores help.
    #[cfg(test)]
    pub(crate) cores_from: u64,
}

impl Default for DporOptions {
    fn default() -> DporOptions {
        DporOptions {
            steps_max: 100_000,
            executions_max: u64::MAX,
            spins_max: SPINS_MAX,
            turns_max: TURNS_MAX,
            cores: 1,
            cancel: Cancel::new(),
            #[cfg(test)]
            cores_from: super::cores::FROM,
        }
    }
}

/// What an exploration of one execution for each class found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DporExplored {
    /// The executions that ended, or got stuck: one for each class.
    pub executions: u64,
    /// The executions given up before their end, since all that they could become is explored
    /// elsewhere.
    pub blocked: u64,
    /// The steps of all executions.
    pub steps: u64,
    /// How often the program was run, trials of loops apart.
    pub runs: u64,
    /// The faults, each once, in the order in which they were found.
    pub faults: Vec<Found>,
    /// The loops that give up after more turns in vain than are explored turn by turn.
    pub long_loops: Vec<LongLoop>,
    /// Why it is not complete, if it is not.
    pub incomplete: Option<Incomplete>,
}
