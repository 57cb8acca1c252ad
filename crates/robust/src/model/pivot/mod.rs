//! The search for violations by their last access, the pivot.
//!
//! A violation that is minimal ends with an access that closes a cycle. Before it, everything is as
//! if events, and in one event its tasks, had run one after another, but some of them only in part.
//! So the search runs the program in that order, stops one invocation before an access, goes on,
//! and looks for a later access that conflicts with the one left out (the paper's sections 6 and 7,
//! in the form without `goto`). Each violation is put into an order that the multi-thread semantics
//! has.
//!
//! `node` has the points of the search, `search` the moves from one to the next. `roots` looks for
//! accesses that conflict with the one left out, and `report` judges the run by the definitions.

use super::options::Options;
use super::run::RunStep;
use anyorder_system::{Access, AsyncSystem, Control, RunError};
use search::Search;

mod node;
mod report;
mod roots;
mod search;

/// What a violation breaks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Property {
    /// The tasks of one event have one outcome (conflict-determinism, Definition 5).
    Determinism,
    /// Overlapping events have the outcome of some order of them (conflict-serializability,
    /// Definition 4).
    Serializability,
    /// Overlapping events have the outcome of an order in which the program lets them start. Where
    /// a driver or `after` orders events, the order that conflicts ask for may be another one. The
    /// paper has events in any order, and so does not need it.
    StartOrder,
}

/// A violation: a run whose last access closes a cycle of conflicts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// What it breaks.
    pub property: Property,
    /// The event that is not deterministic; of other properties, that of the last access.
    pub event: u32,
    /// The places of the pivot and of the root. Violations of one property (and one event, if it is
    /// not deterministic) with the same places are one violation, shown by several runs.
    pub places: String,
    /// The run, in an order that the program has.
    pub run: Vec<RunStep>,
    /// The position in the run of the step whose access conflicts with the last one, and came too
    /// early for any serial order.
    pub root: usize,
    /// The position of the step that closes the cycle.
    pub pivot: usize,
    /// The accesses of `init`, if the root is one of them: `init` need not be a step of a run.
    pub by_init: Option<Vec<Access>>,
}

/// The result of a search.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// The violations found, in the order of the search: a few for each pair of places.
    pub violations: Vec<Violation>,
    /// Whether the search without further stops went through everything.
    pub complete: bool,
    /// The most further stops with which the search went through everything.
    pub stops: u32,
    /// The number of simulated runs that ended.
    pub runs: u64,
    /// The number of simulated steps.
    pub steps: u64,
}

/// Searches a program for violations of both properties: first with no stop but that of the pivot,
/// then with one more at a time.
///
/// # Errors
///
/// Fails if the program cannot begin. A job that is stopped is no error: the result is then not
/// complete.
pub fn check<A: AsyncSystem>(
    system: &mut A,
    options: &Options,
    control: &Control<'_>,
) -> Result<Checked, RunError> {
    let mut search = Search::new(system, options, control);
    for stops in 0..=options.stops {
        match search.run(stops, work_max(search.work, stops, options)) {
            Ok(true) if !search.was_cut => {
                (search.checked.complete, search.checked.stops) = (true, stops);
            }
            Ok(_) | Err(RunError::Stopped(_)) => break,
            Err(error) => return Err(error),
        }
    }
    Ok(search.checked)
}

/// Returns the work up to which a search with so many stops may go.
fn work_max(done: u64, stops: u32, options: &Options) -> u64 {
    let in_all = (options.max_states as u64).saturating_mul(10);
    match stops {
        0 => in_all,
        _ => done.saturating_add(options.steps_with_stops).min(in_all),
    }
}
