//! Models as programs whose robustness can be decided.

use super::program::{GRANULARITY, Model};
use crate::failure::{Failure, Unusable};
use crate::robust::{Declared, RobustModelOptions, RobustProgram, certified, decide};
use crate::{JobControl, JobResult};
use anyorder_system::{Hash128, Schedule, WaitPlace};
use anyorder_vm::program::Granularity;
use anyorder_vm::{Action, AsyncRun, State};
use std::collections::BTreeSet;

/// Decides whether a model is robust against concurrency:
/// [`robust_program`](crate::robust_program) with steps of single accesses, whatever the steps of
/// the model are.
///
/// # Errors
///
/// Fails for a model with threads, and for one that cannot begin.
pub fn robust_model(
    model: &Model,
    options: &RobustModelOptions,
    control: &JobControl<'_>,
) -> Result<JobResult, Failure> {
    let result = decide(&model.by_access_for_nobody()?, options, control)?;
    // The certificates are for the model as its readers have it.
    Ok(certified(model, result, control))
}

impl RobustProgram for Model {
    type Tasks = AsyncRun;

    fn tasks(&self) -> Result<AsyncRun, Failure> {
        let name = &self.program.name;
        let program = self.machine.source_program();
        if program.settings.granularity != Granularity::Access || !program.components.is_empty() {
            return Err(Failure::input(name, Unusable::OwnSteps));
        }
        let system = AsyncRun::new(program)
            .map_err(|error| Failure::input(name, Unusable::Program(error)))?;
        let Some((what, site)) = system.unsupported() else { return Ok(system) };
        let (what, line) = (what.to_owned(), site.map(|site| site.line));
        Err(Failure::input(name, Unusable::MoreThanTasks { what, line }))
    }

    fn quiet_memory(&self, state: &State) -> Option<Hash128> {
        self.machine.quiet_memory(state)
    }

    fn started(&self, action: &Action) -> Option<u32> {
        self.machine.started(action)
    }

    /// If only daemons wait in the way, their places count.
    fn waiting(&self, state: &State) -> Option<Vec<WaitPlace>> {
        let all = self.machine.waiting(state);
        if all.iter().all(|one| one.may) {
            return None;
        }
        let places = |daemons: bool| -> BTreeSet<WaitPlace> {
            let wanted = all.iter().filter(|one| daemons || !one.may);
            wanted.filter_map(|one| one.site).map(|site| (site.line, site.column)).collect()
        };
        let strict = places(false);
        Some(if strict.is_empty() { places(true) } else { strict }.into_iter().collect())
    }

    fn declared(&self) -> Declared {
        let program = self.machine.source_program();
        Declared { tasks: program.tasks.len(), procedures: program.functions.len() }
    }

    /// The search has steps of single accesses.
    fn mark_steps(&self, schedule: &mut Schedule) {
        if !self.has_access_steps() {
            schedule.options.insert(GRANULARITY.to_owned(), "access".to_owned());
        }
    }
}
