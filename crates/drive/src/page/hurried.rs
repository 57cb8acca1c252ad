//! A run in which the user does not wait for responses.
//!
//! **Problem.** In the default order a response comes before the next step of the user. To bring
//! the responses of two steps into the other order then takes two reversals or more: first the step
//! comes before the response to the step before, and then the responses change places. In between,
//! a page shows that it waits, sets timers and schedules its drawing; each of these conflicts with
//! the next step, and adds a reversal. **Method.** A second recording: the responses to a step wait
//! as long as the user can take another one. Timers still fire first, since many pages send a
//! request only when the user pauses. In this recording, the responses of two steps are next to
//! each other. In a third one, what the page has asked for by itself waits as well: the user acts
//! before it has come. **Cost.** One run more for each, and the reversals of another recording.

use anyorder_system::{
    Choice, EnabledTask, ProgramIdentity, RunError, Schedule, TaskName, TaskRole, TaskSystem,
};

/// The most events that a plan of such a run has. After them comes the default order.
const EVENTS_MAX: usize = 2_000;

/// Whose responses wait for the user.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Hurry {
    /// Those to steps of the user.
    Steps,
    /// And those that the page asks for by itself.
    All,
}

/// Runs a page, and returns the choices of the run; `None` if no response has to wait, or none that
/// would not wait with less hurry.
///
/// # Errors
///
/// Fails if the page does.
pub(super) fn hurried<S: TaskSystem>(
    page: &mut S,
    program: &ProgramIdentity,
    hurry: Hurry,
) -> Result<Option<Schedule>, RunError> {
    let mut schedule = Schedule::new(program.clone());
    let mut waited = false;
    while schedule.choices.len() < EVENTS_MAX {
        let enabled = page.enabled()?;
        let is_input = |one: &EnabledTask| page.role(&one.task) == TaskRole::Input;
        let can_step = enabled.iter().any(is_input);
        // A timer that was set with a request that waits may be its time limit.
        let makers =
            || enabled.iter().filter(|one| answers(&one.task, hurry)).map(|one| one.task.creator());
        let is_limit = |task: &TaskName| {
            task.segment().kind == "timeout" && makers().any(|maker| maker == task.creator())
        };
        let waits =
            |one: &&EnabledTask| can_step && (answers(&one.task, hurry) || is_limit(&one.task));
        let Some(next) = enabled.iter().find(|one| !waits(one)) else { break };
        let before = enabled.iter().take_while(|one| *one != next);
        waited |= before.map(|one| &one.task).any(|task| match hurry {
            Hurry::Steps => true,
            Hurry::All => answers(task, hurry) && !answers(task, Hurry::Steps),
        });
        let choice = Choice::of(next.task.clone());
        page.execute(&choice)?;
        schedule.choices.push(choice);
    }
    Ok(waited.then_some(schedule))
}

/// Returns whether an event is a response that waits: that to a request of a script.
fn answers(task: &TaskName, hurry: Hurry) -> bool {
    let creators = || std::iter::successors(task.creator(), |creator| creator.creator());
    let of_step = creators().last().is_some_and(|root| root.segment().kind != "load");
    match task.segment().kind.as_str() {
        "fetch" => of_step || hurry == Hurry::All,
        "request" => of_step,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_to_steps_wait_and_nothing_else() {
        let waits = |name: &str| answers(&name.parse().expect("a name"), Hurry::Steps);
        assert!(waits("type@a/fetch@%2Fa"));
        assert!(waits("click@a/timeout@a.js:1/fetch@%2Fa"));
        assert!(!waits("load/script@%2Fa.js/fetch@%2Fa"));
        assert!(!waits("click@a/timeout@a.js:1"));
        assert!(!waits("click@a"));
        let all = |name: &str| answers(&name.parse().expect("a name"), Hurry::All);
        assert!(all("load/script@%2Fa.js/fetch@%2Fa"));
        assert!(!all("load/script@%2Fa.js"));
    }
}
