//! All schedules of a task system, by re-execution: the simplest possible engine.

use anyorder_system::{Choice, Failure, Hash128, Observation, RunError, TaskSystem};
use std::collections::BTreeMap;

/// The bounds of the enumeration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// The most steps of one schedule.
    pub(crate) steps_max: usize,
    /// The most schedules.
    pub(crate) schedules_max: u64,
}

/// One outcome of runs.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    /// The number of schedules with this outcome.
    pub(crate) count: u64,
    /// The end.
    pub(crate) observation: Observation,
    /// The first schedule with this outcome.
    pub(crate) schedule: Vec<Choice>,
    /// Its failures.
    pub(crate) failures: Vec<Failure>,
}

/// The result: all outcomes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Enumeration {
    /// Schedules after which nothing is enabled.
    pub(crate) maximal: u64,
    /// Schedules that the bound on steps cut.
    pub(crate) cut: u64,
    /// Whether the bound on schedules was not reached.
    pub(crate) is_complete: bool,
    /// Executed tasks, replays included.
    pub(crate) steps: u64,
    /// The outcomes of maximal schedules, by the hash of the observation.
    pub(crate) outcomes: BTreeMap<Hash128, Outcome>,
}

/// A choice, and the remaining choices of the same state.
struct Node {
    taken: Choice,
    left: Vec<Choice>,
}

/// Runs all schedules, depth first.
pub(crate) fn enumerate<S: TaskSystem>(
    system: &mut S,
    bounds: Bounds,
) -> Result<Enumeration, RunError> {
    let mut result = Enumeration::default();
    let mut path: Vec<Node> = Vec::new();
    loop {
        if result.maximal + result.cut >= bounds.schedules_max {
            return Ok(result);
        }
        run_one(system, bounds, &mut path, &mut result)?;
        if !backtrack(&mut path) {
            result.is_complete = true;
            return Ok(result);
        }
    }
}

/// Replays the path, then continues with first choices to the end.
fn run_one<S: TaskSystem>(
    system: &mut S,
    bounds: Bounds,
    path: &mut Vec<Node>,
    result: &mut Enumeration,
) -> Result<(), RunError> {
    system.reset()?;
    let mut failures = Vec::new();
    for node in path.iter() {
        failures.extend(system.execute(&node.taken)?.failures);
        result.steps += 1;
    }
    loop {
        let mut choices = choices(system)?;
        if choices.is_empty() {
            break;
        }
        if path.len() >= bounds.steps_max {
            result.cut += 1;
            return Ok(());
        }
        let taken = choices.remove(0);
        failures.extend(system.execute(&taken)?.failures);
        result.steps += 1;
        path.push(Node { taken, left: choices });
    }
    result.maximal += 1;
    let observation = system.observe()?;
    let outcome = result.outcomes.entry(observation.hash()).or_insert_with(|| Outcome {
        count: 0,
        observation,
        schedule: path.iter().map(|node| node.taken.clone()).collect(),
        failures,
    });
    outcome.count += 1;
    Ok(())
}

/// Returns every enabled choice: each alternative of each enabled task.
pub(crate) fn choices<S: TaskSystem>(system: &mut S) -> Result<Vec<Choice>, RunError> {
    let mut choices = Vec::new();
    for enabled in system.enabled()? {
        for alternative in 0..enabled.alternatives {
            let handler = enabled.handler.clone();
            choices.push(Choice { handler, alternative, ..Choice::of(enabled.task.clone()) });
        }
    }
    Ok(choices)
}

/// Advances to the next path; returns whether there is one.
fn backtrack(path: &mut Vec<Node>) -> bool {
    while let Some(mut node) = path.pop() {
        if !node.left.is_empty() {
            node.taken = node.left.remove(0);
            path.push(node);
            return true;
        }
    }
    false
}
