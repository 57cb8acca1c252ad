//! Searches by what each thread can see, for programs that have one.

use super::check::{CheckOptions, Found, Searched, assemble};
use super::program::StateProgram;
use super::reduced::shortest;
use super::report::publish;
use crate::JobControl;
use crate::failure::{Failure, Unusable};
use anyorder_finding::Stats;
use anyorder_search::Outcome;
use anyorder_system::StateSystem;

/// What a search by threads may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ThreadBudget {
    /// The most executions.
    pub executions_max: u64,
    /// The most operations of an execution.
    pub steps_max: usize,
}

impl ThreadBudget {
    /// Enough for any program whose threads end.
    pub const WHOLE: ThreadBudget = ThreadBudget { executions_max: u64::MAX, steps_max: 100_000 };
}

/// What came of a search by threads.
#[derive(Debug)]
pub enum ThreadSearch<S: StateSystem> {
    /// The program is none for it: why.
    Unfit(String),
    /// What it found, and its counts.
    Found(Outcome<S>, Stats),
}

/// Searches a program thread by thread, because that was asked for.
pub(super) fn as_asked<P: StateProgram>(
    program: &P,
    options: &CheckOptions,
    control: &JobControl<'_>,
) -> Result<Found, Failure> {
    let name = &program.program().name;
    let unfit = |why| Failure::input(name, Unusable::NotThreads(why));
    match program.by_threads(ThreadBudget::WHOLE, control) {
        None => Err(unfit("it has no threads".to_owned())),
        Some(ThreadSearch::Unfit(why)) => Err(unfit(why)),
        Some(ThreadSearch::Found(outcome, stats)) => {
            Ok(reported(program, (outcome, stats), options, control))
        }
    }
}

/// Makes a result of what a search found.
fn reported<P: StateProgram>(
    program: &P,
    found: Searched<P::System, ()>,
    options: &CheckOptions,
    control: &JobControl<'_>,
) -> Found {
    publish(program, &found.0.violations, control);
    assemble(program, shortest(program.system(), found, options, control), control)
}
