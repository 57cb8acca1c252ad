//! Pictures of what a page shows at the end of the runs of a finding.

use super::program::PageProgram;
use crate::JobResult;
use crate::explore::TaskProgram;
use crate::schedules::{reference_of, schedule_of};
use anyorder_finding::Harm;
use anyorder_finding::run::Picture;
use anyorder_system::{Control, RunError, Schedule, TaskSystem};
use anyorder_web::PageSystem;

/// The most findings that get pictures. Each takes two runs.
const PICTURED_MAX: usize = 20;

impl PageProgram {
    /// Adds pictures of both ends to findings that are compared runs, to the first 20 that may be
    /// harmful. Takes two runs for each; ends early if the job is stopped. A run that is lost has
    /// no picture.
    pub fn add_pictures(&self, result: &mut JobResult, control: &Control<'_>) {
        let mut system = None;
        let counts = |harm: Harm| harm != Harm::Harmless;
        let findings = result.findings.iter_mut().filter(|one| counts(one.finding.harm));
        for one in findings.take(PICTURED_MAX) {
            let Some(schedule) = schedule_of(&one.finding) else { continue };
            let compared = one.run.as_mut().and_then(|run| run.compared.as_mut());
            let (Some(reference), Some(compared)) = (reference_of(&schedule), compared) else {
                continue;
            };
            if control.check().is_err() {
                return;
            }
            if system.is_none() {
                system = self.start(None).ok();
            }
            let Some(system) = &mut system else { return };
            let runs = [(&compared.before_title, &reference), (&compared.after_title, &schedule)];
            for (title, schedule) in runs {
                if let Ok(Some(png)) = picture(system, schedule) {
                    compared.pictures.push(Picture { title: title.clone(), png });
                }
            }
        }
    }
}

/// Runs a schedule, and returns what the page shows at its end.
fn picture(page: &mut PageSystem, schedule: &Schedule) -> Result<Option<Vec<u8>>, RunError> {
    page.reset()?;
    for choice in &schedule.choices {
        page.execute(choice)?;
    }
    page.observe()?;
    Ok(page.picture().map(<[u8]>::to_vec))
}
