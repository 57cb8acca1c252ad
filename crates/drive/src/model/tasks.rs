//! Implements [`TaskProgram`] for models.

use super::checked::{Checked, wrong_end_of};
use super::descriptions::site_of_step;
use super::program::Model;
use super::rests::wrong_rest;
use crate::explore::{Repeats, ShownRun, TaskProgram, WrongEnd, WrongRest};
use crate::remark::{Remark, Remarked};
use crate::schedules::Shows;
use crate::states::{
    Conflict, RunEnd, StateProgram, is_conflict, path_of, report, report_conflict,
};
use crate::verdict::CertificateVerdict;
use crate::{Failure, Reported};
use anyorder_finding::{Warning, WarningKind, option};
use anyorder_search::{Path, Property, Violation};
use anyorder_system::{
    Choice, Control, Observation, ProgramIdentity, RunError, StateSystem as _, TaskSystem,
};
use anyorder_vm::Machine;
use anyorder_vm::program::Op;

impl TaskProgram for Model {
    type System = Checked;

    fn name(&self) -> &str {
        &self.program.name
    }

    fn model_name(&self) -> Option<&str> {
        self.own_name()
    }

    fn start(&self, repeats: Option<&Repeats>) -> Result<Checked, RunError> {
        Ok(Checked::new(&self.machine, &self.program, repeats.cloned()))
    }

    fn has_endless_events(&self) -> bool {
        true
    }

    fn identity(&self) -> Option<&ProgramIdentity> {
        Some(self.program())
    }

    fn is_trusted(&self) -> bool {
        true
    }

    fn has_properties(&self) -> bool {
        let program = self.machine.program();
        let ops = program.functions.iter().flat_map(|function| &function.code);
        let mut stated = ops.filter(|op| matches!(op, Op::Assert { .. } | Op::Fail { .. }));
        !program.invariants.is_empty()
            || !program.responses.is_empty()
            || !program.components.is_empty()
            || program.final_.is_some()
            || stated.next().is_some()
    }

    fn is_end(&self, choices: &[Choice]) -> bool {
        let Ok(mut system) = self.start(None) else { return true };
        let ran = system
            .reset()
            .and_then(|()| choices.iter().try_for_each(|choice| system.execute(choice).map(drop)));
        ran.and_then(|()| system.enabled()).is_ok_and(|enabled| enabled.is_empty())
    }

    fn wrong_end(&self, observation: &Observation) -> Option<WrongEnd> {
        wrong_end_of(observation)
    }

    fn wrong_rest(&self, choices: &[Choice], runs_max: u64) -> WrongRest {
        wrong_rest(self, choices, runs_max)
    }

    fn draws_runs(&self) -> bool {
        true
    }

    fn shown(&self, choices: &[Choice]) -> Result<Option<ShownRun>, Failure> {
        let Some(path) = path_of(self, choices) else { return Ok(None) };
        let run = self.run(&path, &RunEnd::default());
        let tasks = choices.iter().take(path.steps.len()).map(|choice| choice.task.clone());
        let sites = path.steps.iter().map(|step| site_of_step(self, &step.action));
        let steps = path.steps.iter().enumerate();
        let failures = steps.filter_map(|(at, step)| Some((at, step.failure.clone()?))).collect();
        let shown = ShownRun::new(run, tasks.collect(), sites.collect());
        Ok(Some(ShownRun { failures, ..shown }))
    }

    /// Reports a run as a full search would.
    fn reported(&self, choices: &[Choice], shows: &Shows) -> Option<Reported> {
        let mut path = path_of(self, choices)?;
        let (name, property) = match shows {
            Shows::Conflict(attribute, components) => {
                return self.conflict(path, attribute, components);
            }
            Shows::Invariant(name) => {
                let invariants = self.machine.properties().invariants;
                let index = invariants.iter().position(|one| one.name == *name)?;
                let holds = |state| invariants[index].holds(state);
                let broken = path.steps.iter().position(|step| !holds(&step.state))?;
                path.steps.truncate(broken + 1);
                (name.clone(), Property::Invariant(index))
            }
            Shows::Failure(claimed) => {
                let failed = path.steps.iter().find_map(|step| step.failure.clone());
                let failed = failed.unwrap_or_else(|| claimed.to_string().into());
                (claimed.to_string(), Property::Failure(failed))
            }
            Shows::Deadlock => (shows.to_string(), Property::Deadlock(String::new())),
            Shows::Final if self.machine.has_rests() => {
                let rests = |state: &_| self.machine.rests_wrongly(state);
                let states = 0..=path.steps.len();
                let first = states.into_iter().find(|at| path.state(*at).is_some_and(&rests));
                path.steps.truncate(first.unwrap_or(path.steps.len()));
                (shows.to_string(), Property::Final)
            }
            // Verdicts on all states, never on a run.
            Shows::Livelock | Shows::State(_) => return None,
            _ => (shows.to_string(), Property::Final),
        };
        report(self, &[Violation { property, name, path }]).pop()
    }

    fn certify_run(
        &self,
        schedule: &serde_json::Value,
        control: &Control<'_>,
    ) -> Option<CertificateVerdict> {
        self.certify_schedule(schedule, control)
    }

    fn ignored(&self) -> Option<Warning> {
        let responses = self.machine.program().responses.len();
        let full = option::ALGORITHM.typed_as("full");
        let what = format!("response properties, which need all states: {full} checks them");
        (responses > 0)
            .then(|| Warning::new(WarningKind::Odd, &self.program.name, what, responses as u64))
    }

    fn remark(&self) -> Option<Remark> {
        let has = !self.machine.program().invariants.is_empty();
        has.then(|| Remark::on(&self.program.name, Remarked::InvariantsOfRuns))
    }
}

impl Model {
    /// Reports an update conflict with the shortest prefix of a path that shows it.
    fn conflict(
        &self,
        mut path: Path<Machine>,
        attribute: &str,
        components: &[String; 2],
    ) -> Option<Reported> {
        let end = (1..=path.steps.len()).find(|end| {
            let mut cut = path.clone();
            cut.steps.truncate(*end);
            is_conflict(self, &cut, attribute, components)
        })?;
        path.steps.truncate(end);
        let (attribute, components) = (attribute.to_owned(), components.clone());
        Some(report_conflict(self, &Conflict { attribute, components, path }))
    }
}
