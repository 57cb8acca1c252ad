//! Implements [`StateProgram`] for models.

use super::descriptions::{described, run_of, site_at};
use super::program::Model;
use super::schedule::{follow, schedule_of};
use super::threads::{Unfit, by_threads};
use crate::certify::certify_schedule;
use crate::states::{
    AttributeUpdate, Described, NoSchedule, Reduction, RunEnd, StateProgram, ThreadBudget,
    ThreadSearch,
};
use crate::verdict::CertificateVerdict;
use anyorder_finding::run::Run;
use anyorder_search::{Path, Violation};
use anyorder_system::{Control, Divergence, Place, ProgramIdentity, Schedule, StateSystem};
use anyorder_vm::Machine;

impl StateProgram for Model {
    type System = Machine;
    /// In the words of the model language.
    const WRONG_END: &'static str = "all is done, and `final` does not hold";
    const WRONG_REST: &'static str = "nothing more need happen, and `final` does not hold";

    fn has_final(&self) -> bool {
        self.machine.program().final_.is_some()
    }

    fn system(&self) -> &Machine {
        &self.machine
    }

    fn program(&self) -> &ProgramIdentity {
        &self.program
    }

    fn own_name(&self) -> Option<&str> {
        Some(&self.machine.program().name)
    }

    fn reduction(&self) -> Option<Reduction<Model>> {
        Some(Reduction::of_tasks())
    }

    /// Only that search uses specifications. Of models without one, that of the states is as good
    /// or better on all of the gallery.
    fn prefers_threads(&self) -> bool {
        !self.machine.program().commuting.is_empty()
    }

    fn by_threads(
        &self,
        budget: ThreadBudget,
        control: &Control<'_>,
    ) -> Option<ThreadSearch<Machine>> {
        Some(match by_threads(self, budget, control) {
            Ok((outcome, stats)) => ThreadSearch::Found(outcome, stats),
            Err(unfit @ Unfit::Model(_)) => ThreadSearch::Unfit(unfit.to_string()),
            Err(unfit @ Unfit::Specification(_)) => ThreadSearch::Wrong(unfit.to_string()),
        })
    }

    fn describe(&self, violation: &Violation<Machine>) -> Described {
        described(self, violation)
    }

    fn attribute(&self, path: &Path<Machine>, place: Place) -> String {
        let last = path.steps.len().checked_sub(1);
        let last = last.and_then(|last| Some((path.state(last)?, &path.steps[last].action)));
        let writes = last.map(|(before, action)| self.machine.writes(before, action));
        let write = writes.into_iter().flatten().find(|write| write.place == place);
        write.map(|write| write.attribute).unwrap_or_default()
    }

    fn updates(&self, path: &Path<Machine>, attribute: &str) -> Vec<AttributeUpdate> {
        let names = self.machine.components();
        let mut updates = Vec::new();
        for (number, step) in path.steps.iter().enumerate() {
            let Some(before) = path.state(number) else { continue };
            for write in self.machine.writes(before, &step.action) {
                if write.attribute == attribute {
                    updates.push(AttributeUpdate {
                        step: number,
                        component: write.by.and_then(|at| names.get(at as usize)).cloned(),
                        value: write.value,
                        site: site_at(self, write.site),
                    });
                }
            }
        }
        updates
    }

    fn run(&self, path: &Path<Machine>, end: &RunEnd) -> Run {
        run_of(&self.machine, path, end)
    }

    fn schedule(&self, path: &Path<Machine>) -> Result<Schedule, NoSchedule> {
        schedule_of(&self.machine, path, &self.program).ok_or(NoSchedule::NotRepeated)
    }

    fn follow(&self, schedule: &Schedule) -> (Vec<u32>, Option<Divergence>) {
        follow(&self.machine, schedule)
    }

    fn certify_schedule(
        &self,
        schedule: &serde_json::Value,
        control: &Control<'_>,
    ) -> Option<CertificateVerdict> {
        Some(certify_schedule(self, schedule, control))
    }

    fn never_runs(&self, part: usize, name: &str) -> String {
        let events = self.machine.program().events.len();
        let tasks = self.machine.declared_tasks();
        match part {
            part if part < events => format!("event `{name}` never happens"),
            part if part < events + tasks => format!("task `{name}` never runs"),
            _ => format!("thread `{name}` never runs"),
        }
    }
}
