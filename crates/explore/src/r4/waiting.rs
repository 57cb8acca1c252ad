//! Steps that do not conflict, but whose order decides whether a third task can run.
//!
//! **Problem.** Two steps that write different locations of one guard are independent as long as
//! the guarded task does not run. But that task may be able to run between them in one order only.
//! If no executed run shows that, no conflict does either. **Source.** A location that a process
//! waits for counts as accessed, also while the process is blocked: Godefroid, Partial-Order
//! Methods (1996), persistent sets; Flanagan and Godefroid, Dynamic Partial-Order Reduction (POPL
//! 2005), where the next step of every process counts, enabled or not. **Guarantee.** Together with
//! the other reversals, these make the exploration without a bound complete: the argument is in
//! `docs/r4.md`.

use super::ancestors::Ancestors;
use super::footprint::Mode;
use super::names::TaskId;
use super::outcome::ReversalKind;
use super::reversal::{Pair, Plan, place};
use super::step::{ExecutedStep, Steps};
use anyorder_system::JobWatch;
use rustc_hash::{FxHashMap, FxHashSet};

/// The locations that each task waits for, over all executed states.
#[derive(Clone, Debug, Default)]
pub(crate) struct Awaiting {
    /// The tasks that wait for a location, in the order of discovery.
    by_location: FxHashMap<u32, Vec<TaskId>>,
}

impl Awaiting {
    /// Adds reported waits. Returns whether any of them is new.
    pub(crate) fn learn(&mut self, reported: &[(TaskId, u32)]) -> bool {
        let mut new = false;
        for (task, location) in reported {
            let tasks = self.by_location.entry(*location).or_default();
            if !tasks.contains(task) {
                tasks.push(*task);
                new = true;
            }
        }
        new
    }

    /// The tasks that wait for a location which a step writes.
    fn written_by(&self, step: &ExecutedStep) -> FxHashSet<TaskId> {
        let written = step.footprint.iter().filter(|(_, mode)| *mode != Mode::Read);
        let tasks = written.filter_map(|(location, _)| self.by_location.get(location));
        tasks.flatten().copied().collect()
    }
}

/// Returns the plans that reverse two independent steps whose writes the same task waits for. That
/// task may run between them. It must not have run before both.
pub(crate) fn plans(steps: &Steps, ancestors: &Ancestors, awaiting: &Awaiting) -> Vec<Plan> {
    let pairs = pairs(steps, ancestors, awaiting).into_iter();
    pairs.map(|(i, j, task)| plan(steps, ancestors, (i, j), task)).collect()
}

/// Returns whether such a plan exists.
pub(crate) fn any(steps: &Steps, ancestors: &Ancestors, awaiting: &Awaiting) -> bool {
    !pairs(steps, ancestors, awaiting).is_empty()
}

/// Returns such pairs of steps, each with a task that waits for both, last to first.
fn pairs(steps: &Steps, ancestors: &Ancestors, awaiting: &Awaiting) -> Vec<(usize, usize, TaskId)> {
    let writers = steps.iter().enumerate().map(|(at, step)| (at, awaiting.written_by(step)));
    let writers: Vec<_> = writers.filter(|(_, tasks)| !tasks.is_empty()).collect();
    let ran: FxHashMap<TaskId, usize> = steps.iter().zip(0..).map(|(s, at)| (s.base, at)).collect();
    let mut pairs = Vec::new();
    let watch = JobWatch::current();
    for (place, (i, first)) in writers.iter().enumerate().rev() {
        if watch.check().is_err() {
            break;
        }
        for (j, second) in writers[place + 1..].iter().rev() {
            if ancestors.has(*i, *j) {
                continue;
            }
            let waits =
                |task: &&TaskId| second.contains(*task) && ran.get(*task).is_none_or(|at| at > i);
            // Any of these tasks works, because the plans begin alike. The smallest makes the
            // choice independent of the order of the table.
            pairs.extend(first.iter().filter(waits).min().map(|task| (*i, *j, *task)));
        }
    }
    pairs
}

/// The ancestors of the second, the second, the waiting task, the first, and the rest unchanged.
fn plan(steps: &Steps, ancestors: &Ancestors, (i, j): (usize, usize), task: TaskId) -> Plan {
    let later = steps.iter().position(|step| step.base == task);
    let end = later.map_or(j + 1, |at| (at + 1).max(j + 1));
    let waits = later.map_or(task, |at| steps[at].task);
    let needed = (i + 1..j).filter(|k| ancestors.has(*k, j)).chain([j]);
    let begin: Vec<TaskId> = needed.map(|k| steps[k].task).collect();
    let others = steps[i..end].iter().map(|step| step.task);
    let others = others.filter(|task| !begin.contains(task) && *task != waits);
    let waits = (!begin.contains(&waits)).then_some(waits);
    let window = begin.iter().copied().chain(waits).chain(others).collect();
    let pair = Pair { first: steps[i].task, second: steps[j].task, kind: ReversalKind::Waiting };
    Plan { pair, at: place(i), window, resume: place(end), leader: pair.second }
}
