//! Makes the recording: the run that the others vary.

use super::candidate::{Candidate, Config, NoRun, Request, RunResult};
use super::driver::Driver;
use super::footprint::AccessRules;
use super::names::{NameCache, TaskId};
use super::options::{Inputs, ReversalOptions};
use super::outcome::Error;
use super::step::Steps;
use anyorder_system::{AccessDetail, Control, EnabledDetail, StopReason};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::atomic::AtomicBool;

/// A recording, and the settings for all further runs.
pub(crate) struct Recording {
    pub(crate) ran: RunResult,
    /// The choices of the recorded schedule.
    pub(crate) planned: Vec<TaskId>,
    pub(crate) config: Config,
    pub(crate) attempts: u64,
    /// The number of tasks that ran, in all attempts.
    pub(crate) executed: u64,
    /// The program reports what tasks wait for.
    pub(crate) awaits: bool,
}

/// Makes the first run: the recorded choices as far as possible, then the default scheduler.
pub(crate) fn record(
    driver: &mut Driver<'_>,
    options: &ReversalOptions,
    control: &Control<'_>,
) -> Result<Recording, Error> {
    let capabilities = driver.system.capabilities();
    let exact = capabilities.enabled == EnabledDetail::Exact;
    // Where every two tasks conflict, all orders are run, whatever the tasks wait for.
    let blind = options.blind || capabilities.accesses == AccessDetail::None;
    if options.same_value && !capabilities.values {
        return Err(Error::Lacks("values"));
    }
    let mut choices = FxHashMap::default();
    let mut planned = Vec::new();
    for choice in options.recording.iter().flat_map(|schedule| &schedule.choices) {
        let id = driver.id(&choice.task);
        planned.push(driver.name_cache.alternative(id, choice.alternative));
        if !choice.inject.is_empty() || !choice.handler.is_empty() {
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
        preferred: FxHashMap::default(),
        alternatives_max: options.alternatives_max.max(1),
        asks_waits: AtomicBool::new(capabilities.awaits),
        exhaustive: options.bound.is_none(),
        stop_after_plan: false,
        // A schedule is replayed in full. Without a schedule, the default scheduler makes the whole
        // recording.
        length_max: match planned.len() as u64 {
            0 => steps,
            planned => planned.saturating_add(options.tail_max.min(steps)),
        },
        attempts: options.attempts,
        blind,
        keep: options.keep,
        budget: options.budget.clone(),
    };
    let candidate = Candidate { shared: 0, rest: planned.clone(), asleep: Vec::new() };
    let request =
        Request { config: &config, control, run: 0, parent: &[], candidate: &candidate, ask: true };
    let (ran, attempts) = driver.run(&request);
    let executed = driver.take_executed();
    let ran = ran.map_err(|error| match error {
        NoRun::Stopped(reason) => Error::Stopped(reason),
        NoRun::Spent => Error::Stopped(StopReason::TimeLimit),
        NoRun::Lost(error) => Error::Recording(error),
    })?;
    if !planned.is_empty() && ran.skipped.len() == planned.len() {
        return Err(Error::Schedule);
    }
    // The names of a schedule were added before the system had run the tasks.
    driver.ask_roles();
    let missed = options.bound.is_some();
    let inputs = inputs_of(&ran.steps, &config.inputs, &driver.name_cache, missed);
    config.inputs = config.inputs.recorded(inputs.into_iter(), options.bound.is_none());
    config.recorded = ran.steps.iter().map(|step| step.task).collect();
    config.preferred = preferred(&ran.steps);
    config.stop_after_plan = options.stop_after_plan;
    let length = ran.steps.len() as u64;
    let more = if ran.cut { 0 } else { options.tail_max.min(steps) };
    config.length_max = length.saturating_add(more);
    Ok(Recording {
        ran,
        planned,
        config,
        attempts,
        executed,
        awaits: capabilities.awaits || (blind && exact),
    })
}

/// Returns the input events of a run in their order, with those that it missed if they are wanted:
/// they were enabled, and did not run before a task disabled them.
fn inputs_of(steps: &Steps, inputs: &Inputs, names: &NameCache, missed: bool) -> Vec<TaskId> {
    let is_input = |task: &TaskId| inputs.is_input(names.task(*task));
    let mut known: FxHashSet<TaskId> = steps.iter().map(|step| step.base).collect();
    let mut order = Vec::new();
    for step in steps {
        order.extend(is_input(&step.base).then_some(step.base));
        let closed = step.enabled_change.iter().flat_map(|change| &change.closed);
        for task in closed.filter(|task| missed && is_input(task)) {
            order.extend(known.insert(*task).then_some(*task));
        }
    }
    order
}

/// For each task that ran an alternative other than the first: this alternative.
fn preferred(steps: &Steps) -> FxHashMap<TaskId, TaskId> {
    let others = steps.iter().filter(|step| step.task != step.base);
    others.map(|step| (step.base, step.task)).collect()
}
