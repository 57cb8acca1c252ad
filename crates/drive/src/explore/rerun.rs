//! Replays choices of any task system, and records the run for reports: lanes, tasks, writes and
//! posts.

use anyorder_finding::Site;
use anyorder_finding::run::{Change, Run, RunPost, RunStep};
use anyorder_system::{
    Access, AccessKind, Choice, EnabledDetail, EnabledTask, Failure, Observation, RunError, Step,
    TaskName, TaskSystem, is_task_status,
};
use anyorder_trace::SiteId;
use std::collections::BTreeMap;

/// The maximum number of changes and of reads shown for a step.
const CHANGES_MAX: usize = 16;
const READS_MAX: usize = 8;

/// The maximum number of attempts at a run that the system loses.
const ATTEMPTS_MAX: u32 = 8;

/// A replayed run.
#[derive(Default)]
pub(super) struct Rerun {
    pub(super) run: Run,
    /// The name of each step's task.
    pub(super) tasks: Vec<TaskName>,
    /// The accesses of each step that have a source position.
    pub(super) accesses: Vec<Vec<StepAccess>>,
    /// The failures with the numbers of their steps.
    pub(super) failures: Vec<(usize, Failure)>,
    pub(super) observation: Observation,
    /// The first choice that could not be replayed.
    pub(super) lost: Option<TaskName>,
}

/// An access with its source position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct StepAccess {
    pub(crate) location: String,
    pub(crate) writes: bool,
    /// Whether the location is a variable, not the status of a task.
    pub(crate) is_data: bool,
    pub(crate) site: Site,
}

/// Replays the choices in order. Repeats attempts that the system loses.
pub(super) fn rerun<S: TaskSystem>(system: &mut S, choices: &[Choice]) -> Result<Rerun, RunError> {
    let mut attempt = 1;
    loop {
        match once(system, choices) {
            Err(error)
                if attempt < ATTEMPTS_MAX
                    && !matches!(error, RunError::Unsupported(_) | RunError::Stopped(_)) =>
            {
                attempt += 1;
            }
            other => return other,
        }
    }
}

fn once<S: TaskSystem>(system: &mut S, choices: &[Choice]) -> Result<Rerun, RunError> {
    system.reset()?;
    let mut recorder = Recorder::default();
    let mut made = Rerun::default();
    let listed = system.capabilities().enabled != EnabledDetail::Unknown;
    if listed {
        recorder.know(&system.enabled()?);
    }
    for choice in choices {
        let step = match system.execute(choice) {
            Ok(step) => step,
            Err(RunError::Diverged(_)) => {
                made.lost = Some(choice.task.clone());
                break;
            }
            Err(error) => return Err(error),
        };
        let number = made.tasks.len();
        made.failures.extend(step.failures.iter().map(|failure| (number, failure.clone())));
        made.run.steps.push(recorder.step(system, choice, &step));
        made.tasks.push(choice.task.clone());
        made.accesses.push(placed(system, &step));
        if listed && recorder.is_unknown(choices.get(made.tasks.len())) {
            recorder.know(&system.enabled()?);
        }
    }
    made.observation = system.observe()?;
    Ok(made)
}

/// The data recorded so far about a run.
#[derive(Default)]
struct Recorder {
    /// The handler of each task, if known.
    handlers: BTreeMap<TaskName, String>,
    /// The last value of each location, by the location's text.
    values: BTreeMap<String, u64>,
}

impl Recorder {
    fn know(&mut self, enabled: &[EnabledTask]) {
        for task in enabled {
            self.handlers.insert(task.task.clone(), task.handler.clone());
        }
    }

    fn is_unknown(&self, next: Option<&Choice>) -> bool {
        next.is_some_and(|next| !self.handlers.contains_key(&next.task))
    }

    fn step<S: TaskSystem>(&mut self, system: &S, choice: &Choice, step: &Step) -> RunStep {
        let tables = system.tables();
        let (mut changes, mut reads) = (Vec::new(), Vec::new());
        for access in step.accesses.as_slice() {
            let name = tables.location_text(access.location);
            if let Some(read) = access.read {
                self.values.entry(name.clone()).or_insert(read);
                if reads.len() < READS_MAX {
                    reads.push((name.clone(), value(system, read)));
                }
            }
            if access.kind == AccessKind::Read || is_task_status(tables, access.location) {
                continue;
            }
            let old = access.read.or_else(|| self.values.get(&name).copied());
            if let Some(written) = access.written {
                self.values.insert(name.clone(), written);
            }
            if changes.len() < CHANGES_MAX {
                let new = access.written.map(|written| value(system, written));
                changes.push(Change { name, old: old.map(|old| value(system, old)), new });
            }
        }
        let mut posts = Vec::new();
        for posted in &step.posted {
            self.handlers.insert(posted.task.clone(), posted.handler.clone());
            let what = match posted.delay {
                0 => short(&posted.task),
                delay => format!("{} after {delay}", short(&posted.task)),
            };
            posts.push(RunPost { to: posted.handler.clone(), what });
        }
        let known = self.handlers.get(&choice.task).cloned();
        let lane = known.unwrap_or_else(|| choice.handler.clone());
        RunStep {
            lane: if lane.is_empty() { "main".to_owned() } else { lane },
            what: short(&choice.task),
            place: position(&placed(system, step)),
            alternative: Some(choice.alternative).filter(|number| *number > 0),
            changes: changes.into_iter().map(tidied).collect(),
            reads,
            posts,
            failure: (!step.failures.is_empty()).then(|| texts(&step.failures).join("; ")),
            ..RunStep::default()
        }
    }
}

/// Returns a value as text: in quotes if it is one; `…` for the hash of an unknown one.
fn value<S: TaskSystem>(system: &S, value: u64) -> String {
    const SHOWN_MAX: u64 = 1 << 53;
    match system.value_text(value) {
        Some(text) => shortened(text),
        None if value < SHOWN_MAX => value.to_string(),
        None => "…".to_owned(),
    }
}

/// Cuts a long text.
fn shortened(text: &str) -> String {
    const CHARS_MAX: usize = 200;
    let mut cut: String = text.chars().take(CHARS_MAX).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    format!("\"{cut}\"")
}

/// Returns the accesses of a step that have a source position.
fn placed<S: TaskSystem>(system: &S, step: &Step) -> Vec<StepAccess> {
    let tables = system.tables();
    let accesses = step.accesses.as_slice().iter();
    let accesses = accesses.filter(|access| access.site != SiteId::UNKNOWN);
    let one = |access: &Access| {
        let known = tables.sites.get(access.site.index()).copied().unwrap_or_default();
        let name = |id| Some(tables.name(id).to_owned()).filter(|text: &String| !text.is_empty());
        let number = |number: u32| Some(number).filter(|number| *number > 0);
        let site = Site {
            file: name(known.file),
            line: number(known.line),
            column: number(known.column),
            function: name(known.function),
            label: name(known.label),
            ..Site::default()
        };
        let location = tables.location_text(access.location);
        let is_data = !is_task_status(tables, access.location);
        StepAccess { location, writes: access.kind != AccessKind::Read, is_data, site }
    };
    accesses.map(one).collect()
}

/// Returns the position of a step for display: that of its first access of data.
fn position(accesses: &[StepAccess]) -> Option<String> {
    let data = accesses.iter().find(|access| access.is_data);
    let site = &data.or_else(|| accesses.first())?.site;
    site.position().or_else(|| site.label.clone())
}

/// A change without known values. A write to a variable of which no value was seen before makes no
/// new variable.
fn tidied(change: Change) -> Change {
    let unknown = |text: &Option<String>| text.as_deref().is_none_or(|text| text == "…");
    if unknown(&change.old) && unknown(&change.new) {
        let name = format!("writes {}", change.name);
        return Change { name, old: None, new: None };
    }
    if change.old.is_none()
        && let Some(new) = &change.new
    {
        return Change { name: format!("{} = {new}", change.name), old: None, new: None };
    }
    change
}

fn texts(failures: &[Failure]) -> Vec<String> {
    failures.iter().map(ToString::to_string).collect()
}

/// Returns the last part of a name, which identifies the task.
pub(super) fn short(task: &TaskName) -> String {
    let segment = task.segment();
    let mut text = segment.kind.clone();
    if !segment.label.is_empty() {
        text.push_str(&format!(" {}", segment.label));
    }
    if segment.ordinal > 0 {
        text.push_str(&format!(" #{}", segment.ordinal));
    }
    text
}
