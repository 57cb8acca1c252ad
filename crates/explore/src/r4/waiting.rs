//! Steps that do not conflict, and whose order decides whether a third task can run.
//!
//! **Problem.** Two steps that write different locations of one guard are independent as long as
//! the guarded task does not run. But between them it may be able to run in one order only, and
//! where no run that is made shows that, no conflict tells. **Source.** What a process waits for
//! counts as its access, also while it is blocked: Godefroid, Partial-Order Methods (1996),
//! persistent sets; Flanagan and Godefroid, Dynamic Partial-Order Reduction (POPL 2005), where the
//! next step of every process counts, enabled or not. **Guarantee.** With the others, these
//! reversals make the exploration without a bound complete: the argument is in `docs/r4.md`.

use super::footprint::Mode;
use super::names::TaskId;
use super::reversal::{Ancestors, Kind, Plan, place};
use super::step::Done;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// What each task waits for, over all states seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Awaiting {
    told: FxHashSet<(TaskId, u32)>,
    /// The tasks that wait for a location, in the order in which that was learned.
    by_location: FxHashMap<u32, Vec<TaskId>>,
}

impl Awaiting {
    /// Adds what was reported; returns whether any of it is new.
    pub(crate) fn learn(&mut self, told: &[(TaskId, u32)]) -> bool {
        let mut new = false;
        for (task, location) in told {
            if self.told.insert((*task, *location)) {
                self.by_location.entry(*location).or_default().push(*task);
                new = true;
            }
        }
        new
    }

    /// The tasks of whose guards a step writes something.
    fn written_by(&self, step: &Done) -> FxHashSet<TaskId> {
        let written = step.footprint.iter().filter(|(_, mode)| *mode != Mode::Read);
        let tasks = written.filter_map(|(location, _)| self.by_location.get(location));
        tasks.flatten().copied().collect()
    }
}

/// Returns the plans that put a step before one which it does not depend on, and which writes what
/// the same task waits for: that task may run between them. The task must not have run before both.
pub(crate) fn plans(steps: &[Arc<Done>], ancestors: &Ancestors, awaiting: &Awaiting) -> Vec<Plan> {
    let mut plans = Vec::new();
    pairs(steps, ancestors, awaiting, |pair, task| {
        plans.push(plan(steps, ancestors, pair, task));
        true
    });
    plans
}

/// Returns whether there is such a plan.
pub(crate) fn any(steps: &[Arc<Done>], ancestors: &Ancestors, awaiting: &Awaiting) -> bool {
    let mut found = false;
    pairs(steps, ancestors, awaiting, |_, _| {
        found = true;
        false
    });
    found
}

/// Calls `each` with each pair and a task that waits for both, the later first, until it returns
/// false.
fn pairs(
    steps: &[Arc<Done>],
    ancestors: &Ancestors,
    awaiting: &Awaiting,
    mut each: impl FnMut((usize, usize), TaskId) -> bool,
) {
    let writers = steps.iter().enumerate().map(|(at, step)| (at, awaiting.written_by(step)));
    let writers: Vec<_> = writers.filter(|(_, tasks)| !tasks.is_empty()).collect();
    let ran: FxHashMap<TaskId, usize> = steps.iter().zip(0..).map(|(s, at)| (s.base, at)).collect();
    for (place, (i, first)) in writers.iter().enumerate().rev() {
        for (j, second) in writers[place + 1..].iter().rev() {
            if ancestors.has(*i, *j) {
                continue;
            }
            let waits =
                |task: &&TaskId| second.contains(*task) && ran.get(*task).is_none_or(|at| at > i);
            // Any of them will do: the plans begin alike. The least, so that the order of a table
            // does not show.
            if let Some(task) = first.iter().filter(waits).min()
                && !each((*i, *j), *task)
            {
                return;
            }
        }
    }
}

/// What the second needs, the second, the task that waits, the first, and the rest as it was.
fn plan(steps: &[Arc<Done>], ancestors: &Ancestors, (i, j): (usize, usize), task: TaskId) -> Plan {
    let later = steps.iter().position(|step| step.base == task);
    let end = later.map_or(j + 1, |at| (at + 1).max(j + 1));
    let waits = later.map_or(task, |at| steps[at].task);
    let needed = (i + 1..j).filter(|k| ancestors.has(*k, j)).chain([j]);
    let begin: Vec<TaskId> = needed.map(|k| steps[k].task).collect();
    let others = steps[i..end].iter().map(|step| step.task);
    let others = others.filter(|task| !begin.contains(task) && *task != waits);
    let waits = (!begin.contains(&waits)).then_some(waits);
    Plan {
        first: steps[i].task,
        second: steps[j].task,
        kind: Kind::Waiting,
        at: place(i),
        window: begin.iter().copied().chain(waits).chain(others).collect(),
        resume: place(end),
    }
}
