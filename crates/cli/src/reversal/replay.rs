//! Runs a schedule of any task system again, and says whether it shows the same.

use super::checked::END;
use super::target::WithSystem;
use super::told::{Told, tell};
use crate::model::SHOWS;
use anyorder_finding::run::Run;
use anyorder_system::{PartPath, RunError, Schedule, TaskSystem};

/// How what a schedule shows begins when it is a difference to another run; the parts follow as a JSON list.
pub(crate) const DIFFERENCE: &str = "difference ";

/// The option of a schedule that holds the schedule of the run that it is compared with.
pub(crate) const AGAINST: &str = "against";

/// What a schedule shows when it runs again.
pub(crate) struct Again {
    pub(crate) run: Run,
    /// It shows what it says that it shows.
    pub(crate) same: bool,
    /// Something is wrong, that or something else.
    pub(crate) wrong: bool,
    /// Where it could not be followed, in words.
    pub(crate) lost: Option<String>,
}

/// Returns whether a schedule shows a difference between two runs, which only running both can tell.
pub(crate) fn is_difference(schedule: &Schedule) -> bool {
    schedule.options.get(SHOWS).is_some_and(|shows| shows.starts_with(DIFFERENCE))
}

/// Returns the failure that a schedule shows, if it shows one.
pub(crate) fn failing_word(schedule: &Schedule) -> Option<&str> {
    schedule.options.get(SHOWS)?.strip_prefix("failure ")
}

/// Runs a schedule again.
pub(crate) fn replay(schedule: &Schedule) -> impl WithSystem<Result = Result<Again, RunError>> {
    Replay { schedule }
}

struct Replay<'a> {
    schedule: &'a Schedule,
}

impl WithSystem for Replay<'_> {
    type Result = Result<Again, RunError>;

    fn run<S: TaskSystem>(self, mut system: S) -> Result<Again, RunError> {
        let schedule = self.schedule;
        let told = tell(&mut system, &schedule.choices)?;
        let lost =
            told.lost.as_ref().map(|task| format!("`{task}` cannot run when its turn comes"));
        let shows = schedule.options.get(SHOWS).map(String::as_str);
        let ends_wrong = told.observation.part(&PartPath::new([END])).is_some();
        let mut wrong = !told.failures.is_empty() || ends_wrong;
        let same = match shows {
            None => wrong,
            Some(shows) => match (shows.strip_prefix(DIFFERENCE), shows.strip_prefix("failure ")) {
                (Some(parts), _) => {
                    let differs = lost.is_none() && differs(&mut system, schedule, &told, parts)?;
                    wrong |= differs;
                    differs
                }
                (None, Some(failure)) => told.failures.iter().any(|(_, text)| text == failure),
                (None, None) => told.failures.iter().any(|(_, text)| text == shows) || ends_wrong,
            },
        };
        Ok(Again { run: told.run, same, wrong, lost })
    }
}

/// Returns whether all parts differ from those of the run that a schedule is compared with.
fn differs<S: TaskSystem>(
    system: &mut S,
    schedule: &Schedule,
    told: &Told,
    parts: &str,
) -> Result<bool, RunError> {
    let against = schedule.options.get(AGAINST).and_then(|text| Schedule::from_json(text).ok());
    let wanted: Vec<String> = serde_json::from_str(parts).unwrap_or_default();
    let Some(against) = against else { return Ok(false) };
    let other = tell(system, &against.choices)?;
    let found = other.observation.difference(&told.observation);
    let differs = |part: &String| found.iter().any(|one| one.path.to_string() == *part);
    Ok(other.lost.is_none() && !found.is_empty() && wanted.iter().all(differs))
}
