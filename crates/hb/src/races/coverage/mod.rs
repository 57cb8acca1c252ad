//! Coverage: a race is covered if ordering other races orders it (`docs/happens-before.md`, section
//! 5).
//!
//! **Source.** Raychev, Vechev, Sridharan, OOPSLA 2013; the adjacency test of R4 (Jensen et al.,
//! OOPSLA 2015), Algorithm 2. R4's section 4.4 prints a weaker definition, which contradicts its
//! section 2.1. Module `single` implements it for comparison.

use crate::races::detector::{Races, RunId};
use crate::relation::engine::Engine;
use crate::relation::pass::Ends;
use anyorder_system::{Cancel, Stopped};
use anyorder_trace::TaskId;
use rustc_hash::FxHashSet;

mod access;
mod single;
mod task;

/// A definition of coverage.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum CoverageLevel {
    /// Between whole tasks.
    Task,
    /// Between single accesses.
    Access,
    /// By one other race.
    Single,
}

/// For each racing pair of runs, the number of uncovered pairs of accesses.
pub(crate) struct Uncovered {
    pub(crate) in_pair: Vec<u64>,
    /// If only one pair is uncovered: whether it is the last access of one run with the first
    /// access of the other.
    pub(crate) edge_only: bool,
}

/// Counts the uncovered pairs of accesses in each racing pair of runs. `ends` are the clocks of the
/// pass that found the races.
///
/// # Errors
///
/// Fails when it was cancelled.
pub(crate) fn coverage(
    level: CoverageLevel,
    engine: &mut Engine<'_>,
    races: &Races,
    ends: &Ends,
    cancel: &Cancel,
) -> Result<Uncovered, Stopped> {
    if level == CoverageLevel::Access {
        return access::access_coverage(engine, races, cancel);
    }
    let racing = racing_tasks(engine, races);
    cancel.check()?;
    let uncovered = match level {
        CoverageLevel::Task => task::task_coverage(engine, &racing, ends, cancel)?,
        _ => single::single_coverage(engine, &racing, cancel)?,
    };
    let pairs_in = |(at, &(a, b)): (usize, &(RunId, RunId))| match uncovered
        .contains(&tasks_of(engine, races, a, b))
    {
        true => races.pairs_in(at),
        false => 0,
    };
    let in_pair = races.pairs.iter().enumerate().map(pairs_in).collect();
    Ok(Uncovered { in_pair, edge_only: false })
}

/// A pair of tasks, the one that begins first first.
type TaskPair = (TaskId, TaskId);

/// Returns the tasks of two runs.
fn tasks_of(engine: &Engine<'_>, races: &Races, a: RunId, b: RunId) -> TaskPair {
    let node = |id| {
        let run = races.run(id);
        engine.node_of(run.task, run.strand)
    };
    let (a, b) = (node(a), node(b));
    if engine.node_first(a) <= engine.node_first(b) { (a, b) } else { (b, a) }
}

/// Returns the distinct pairs of tasks that race, by the one that begins later.
fn racing_tasks(engine: &Engine<'_>, races: &Races) -> Vec<TaskPair> {
    let pairs: FxHashSet<TaskPair> =
        races.pairs.iter().map(|(a, b)| tasks_of(engine, races, *a, *b)).collect();
    let mut pairs: Vec<TaskPair> = pairs.into_iter().filter(|(a, b)| a != b).collect();
    pairs.sort_unstable_by_key(|(a, b)| (engine.node_first(*b), engine.node_first(*a), *a, *b));
    pairs
}
