//! Which executions are run: one for all that threads can tell apart, or one for each class of
//! equivalent ones.

use super::unseen;
use crate::runtime::Program;
use anyorder_threads::{
    DporExplored, DporOptions, LearnOptions, Learnt, explore_optimal_on, explore_reads_from,
};

/// Which executions of a test are run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Engine {
    /// As many as it takes to see all that single threads can see. The fewest.
    #[default]
    Learning,
    /// One for each Mazurkiewicz trace: for each order of the operations that do not commute.
    Optimal,
    /// One for each reads-from class: for each way in which loads get their values from stores. A
    /// thread that waits in a loop for a change is not supported: then the check is incomplete.
    ReadsFrom,
}

impl Engine {
    /// The names of the engines, as the variable `ANYORDER_ENGINE` and the option of
    /// `#[anyorder::test]` have them.
    pub(super) fn of_name(name: &str) -> Option<Engine> {
        match name {
            "learning" => Some(Engine::Learning),
            "optimal" => Some(Engine::Optimal),
            "reads-from" => Some(Engine::ReadsFrom),
            _ => None,
        }
    }

    /// Explores a program.
    pub(super) fn explore(
        self,
        program: &mut Program,
        options: &LearnOptions,
        cores: usize,
    ) -> Learnt {
        let limits = DporOptions {
            steps_max: options.steps_max,
            executions_max: options.executions_max,
            spins_max: options.spins_max,
            turns_max: options.turns_max,
            cores,
            cancel: options.cancel.clone(),
        };
        let explored = match self {
            Engine::Learning => return unseen::explore(program, options),
            Engine::Optimal => {
                let forks = program.forks();
                explore_optimal_on(program, &|| forks.make(), &limits)
            }
            Engine::ReadsFrom => explore_reads_from(program, &limits),
        };
        let DporExplored { executions, steps, faults, long_loops, incomplete, .. } = explored;
        Learnt { executions, steps, faults, long_loops, incomplete, ..Learnt::default() }
    }
}
