//! The first run: what the others vary.

use super::course::{Config, Course, NoRun, Ran};
use super::driver::Driver;
use super::footprint::AccessRules;
use super::names::TaskId;
use super::options::{Inputs, Options};
use super::outcome::Error;
use anyorder_system::{AccessDetail, Control, TaskSystem};
use rustc_hash::FxHashMap;

/// A recording, and what its runs have in common from now on.
pub(crate) struct Recording {
    pub(crate) ran: Ran,
    /// The choices of the recorded schedule.
    pub(crate) planned: Vec<TaskId>,
    pub(crate) config: Config,
    pub(crate) attempts: u64,
}

/// Makes the first run: the recorded choices as far as they can be made, then the default scheduler.
pub(crate) fn record<S: TaskSystem>(
    driver: &mut Driver<S>,
    options: &Options,
    control: &Control<'_>,
) -> Result<Recording, Error> {
    let capabilities = driver.system().capabilities();
    if capabilities.accesses == AccessDetail::None {
        return Err(Error::Lacks("what its tasks access"));
    }
    if options.same_value && !capabilities.values {
        return Err(Error::Lacks("values"));
    }
    let mut choices = FxHashMap::default();
    let mut planned = Vec::new();
    for choice in options.recording.iter().flat_map(|schedule| &schedule.choices) {
        let id = driver.id(&choice.task);
        planned.push(id);
        if choice.alternative != 0 || !choice.inject.is_empty() || !choice.handler.is_empty() {
            choices.insert(id, choice.clone());
        }
    }
    let rules = AccessRules { same_value: options.same_value, updates: options.updates.clone() };
    let steps = control.limits.steps.unwrap_or(u64::MAX);
    let mut config = Config {
        rules,
        inputs: Inputs::new(options.user_events.clone()),
        choices,
        recorded: planned.clone(),
        stop_after_plan: false,
        // What is recorded is made as a whole; where there is no schedule, the recording is all tail.
        length_max: match planned.len() as u64 {
            0 => steps,
            planned => planned.saturating_add(options.tail_max.min(steps)),
        },
        attempts: options.attempts,
    };
    let course = Course { shared: 0, rest: planned.clone(), asleep: Vec::new() };
    let before = driver.attempts;
    let ran = driver.run(&config, control, (0, &[]), &course, true);
    let ran = ran.map_err(|error| match error {
        NoRun::Stopped(reason) => Error::Stopped(reason),
        NoRun::Lost(error) => Error::Recording(error),
    })?;
    if !planned.is_empty() && ran.skipped.len() == planned.len() {
        return Err(Error::Schedule);
    }
    // The names of a schedule were met before the system had seen the tasks.
    driver.ask_roles();
    let tasks = || ran.steps.iter().map(|step| step.task);
    let inputs = tasks().filter(|task| config.inputs.is_input(*task, driver.book.task(*task)));
    config.inputs = config.inputs.recorded(inputs, options.bound.is_none());
    config.recorded = tasks().collect();
    config.stop_after_plan = options.stop_after_plan;
    let length = ran.steps.len() as u64;
    let more = if ran.cut { 0 } else { options.tail_max.min(steps) };
    config.length_max = length.saturating_add(more);
    let attempts = driver.attempts - before;
    Ok(Recording { ran, planned, config, attempts })
}
