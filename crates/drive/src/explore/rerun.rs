//! Draws runs of any task system for reports, from the steps that were kept: lanes, tasks, writes
//! and posts. Replays choices where a job asks for that.

use super::program::ShownRun;
use super::task_words::TaskWords;
use anyorder_explore::r4::{KeptAccess, KeptSite, KeptStep, KeptTask, KeptTexts, KeptValue};
use anyorder_finding::Site;
use anyorder_finding::run::{Change, Run, RunPlace, RunPost, RunStep};
use anyorder_system::{
    AccessKind, Choice, EnabledDetail, EnabledTask, Failure, Observation, RunError, TaskName,
    TaskSystem,
};
use std::collections::BTreeMap;
use std::sync::Arc;

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
pub(super) fn rerun<S: TaskSystem>(
    system: &mut S,
    choices: &[Choice],
    words: &dyn TaskWords,
) -> Result<Rerun, RunError> {
    let mut attempt = 1;
    loop {
        match once(system, choices, words) {
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

fn once<S: TaskSystem>(
    system: &mut S,
    choices: &[Choice],
    words: &dyn TaskWords,
) -> Result<Rerun, RunError> {
    system.reset()?;
    let mut handlers = Handlers::default();
    let mut made = Rerun::default();
    let (mut kept, mut texts): (Vec<KeptTask>, _) = (Vec::new(), KeptTexts::default());
    let listed = system.capabilities().enabled != EnabledDetail::Unknown;
    if listed {
        handlers.know(&system.enabled()?);
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
        made.tasks.push(choice.task.clone());
        kept.push(KeptTask {
            choice: choice.clone(),
            handler: handlers.0.get(&choice.task).cloned().unwrap_or_default(),
            step: Arc::new(KeptStep::of(system, &step, &mut texts)),
            failures: step.failures,
        });
        for posted in step.posted {
            handlers.0.insert(posted.task, posted.handler);
        }
        if listed && handlers.is_unknown(choices.get(made.tasks.len())) {
            handlers.know(&system.enabled()?);
        }
    }
    made.run = drawn(&kept, words).run;
    made.observation = system.observe()?;
    Ok(made)
}

/// The handler of each task, as far as known.
#[derive(Default)]
struct Handlers(BTreeMap<TaskName, String>);

impl Handlers {
    fn know(&mut self, enabled: &[EnabledTask]) {
        for task in enabled {
            self.0.insert(task.task.clone(), task.handler.clone());
        }
    }

    fn is_unknown(&self, next: Option<&Choice>) -> bool {
        next.is_some_and(|next| !self.0.contains_key(&next.task))
    }
}

/// Draws a run from its steps.
pub(super) fn drawn(steps: &[KeptTask], words: &dyn TaskWords) -> ShownRun {
    let mut recorder = Recorder { values: BTreeMap::new(), words };
    let run = Run { steps: steps.iter().map(|one| recorder.step(one)).collect(), ..Run::default() };
    let tasks = steps.iter().map(|one| one.choice.task.clone()).collect();
    let own = |one: &KeptTask| words.site(&one.choice.task).unwrap_or_default();
    let sites = steps.iter().map(own).collect();
    let accesses = steps.iter().map(|one| placed(&one.step)).collect();
    let failures = steps.iter().enumerate().flat_map(|(number, one)| {
        one.failures.iter().map(move |failure| (number, failure.clone()))
    });
    let failures = failures.collect();
    ShownRun { accesses, failures, ..ShownRun::new(run, tasks, sites) }
}

/// The last value of each location of a run, by the location's text.
struct Recorder<'a> {
    values: BTreeMap<&'a str, &'a KeptValue>,
    words: &'a dyn TaskWords,
}

impl<'a> Recorder<'a> {
    fn step(&mut self, KeptTask { choice, handler, step, failures }: &'a KeptTask) -> RunStep {
        let (mut changes, mut reads) = (Vec::new(), Vec::new());
        for access in &step.accesses {
            let name = &*access.location;
            if let Some(read) = &access.read {
                self.values.entry(name).or_insert(read);
                if reads.len() < READS_MAX {
                    reads.push((name.to_owned(), value(read)));
                }
            }
            if access.kind == AccessKind::Read || !access.is_data || !self.words.lists(name) {
                continue;
            }
            let old = access.read.as_ref().or_else(|| self.values.get(name).copied());
            if let Some(written) = &access.written {
                self.values.insert(name, written);
            }
            if changes.len() < CHANGES_MAX {
                let new = access.written.as_ref().map(value);
                changes.push(Change { name: name.to_owned(), old: old.map(value), new });
            }
        }
        let mut posts = Vec::new();
        for posted in &step.posted {
            let what = match posted.delay {
                0 => self.words.entry(&posted.task),
                delay => format!("{} after {delay}", self.words.entry(&posted.task)),
            };
            posts.push(RunPost { to: posted.handler.clone(), what });
        }
        let lanes = [handler.as_str(), &choice.handler, "main"];
        let lane = lanes.into_iter().find(|lane| !lane.is_empty()).unwrap_or_default();
        RunStep {
            lane: lane.to_owned(),
            what: self.words.entry(&choice.task),
            place: position(&placed(step)),
            alternative: Some(choice.alternative).filter(|number| *number > 0),
            changes: changes.into_iter().map(tidied).collect(),
            reads,
            posts,
            failure: (!failures.is_empty()).then(|| texts(failures).join("; ")),
            ..RunStep::default()
        }
    }
}

/// Returns a value as text: in quotes if it is one; `…` for the hash of an unknown one.
fn value(value: &KeptValue) -> String {
    const SHOWN_MAX: u64 = 1 << 53;
    match &value.text {
        Some(text) => shortened(text),
        None if value.number < SHOWN_MAX => value.number.to_string(),
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
fn placed(step: &KeptStep) -> Vec<StepAccess> {
    let one = |access: &KeptAccess| {
        let (location, is_data) = (access.location.to_string(), access.is_data);
        let site = site(access.site.as_ref()?);
        Some(StepAccess { location, writes: access.kind != AccessKind::Read, is_data, site })
    };
    step.accesses.iter().filter_map(one).collect()
}

fn site(known: &KeptSite) -> Site {
    let name = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    let number = |number: u32| Some(number).filter(|number| *number > 0);
    Site {
        file: name(&known.file),
        line: number(known.line),
        column: number(known.column),
        function: name(&known.function),
        label: name(&known.label),
        ..Site::default()
    }
}

/// Returns the position of a step for display: that of its first access of data.
fn position(accesses: &[StepAccess]) -> Option<RunPlace> {
    let data = accesses.iter().find(|access| access.is_data);
    let site = &data.or_else(|| accesses.first())?.site;
    RunPlace::of(site)
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
