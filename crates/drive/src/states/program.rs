//! The interface for programs whose states can be stored and compared: a state system and its
//! descriptions.

use super::by_threads::{ThreadBudget, ThreadSearch};
use super::reduction::Reduction;
use crate::verdict::CertificateVerdict;
use anyorder_finding::run::{Change, Run, RunStep};
use anyorder_finding::{Finding, Kind, Site};
use anyorder_search::{Path, Property, Violation};
use anyorder_system::{
    Control, Divergence, Offers, Place, PlaceOfStep, ProgramIdentity, Schedule, StateSystem,
};

/// A program as states, with its descriptions.
///
/// Only two methods are required. The defaults of the others are right for every state system; they
/// use its own descriptions ([`StateSystem::describe`], [`StateSystem::show`]).
pub trait StateProgram: Sync {
    /// The state system.
    type System: StateSystem;

    /// The title of a finding of [`End::Wrong`](anyorder_system::End): everything is done, in a
    /// state in which the program must not end.
    const WRONG_END: &'static str = "all is done, in a state in which the program must not end";

    /// The title of a finding of the same kind in a state that offers only
    /// [optional](StateSystem::is_optional) transitions.
    const WRONG_REST: &'static str =
        "nothing more need happen, in a state in which the program must not end";

    /// Returns whether the program says in which states it may end.
    fn has_final(&self) -> bool {
        false
    }

    /// Returns the state system.
    fn system(&self) -> &Self::System;

    /// Returns the identity of the program: its path or URL, its version, a hash of its text.
    fn program(&self) -> &ProgramIdentity;

    /// Returns the name that the program gives itself, if it has one besides its path.
    fn own_name(&self) -> Option<&str> {
        None
    }

    /// Returns the searches that leave orders out: [`Reduction::of_tasks`] if the system is
    /// [`Reducible`](anyorder_system::Reducible). Without them, [`check_states`] searches all
    /// states.
    ///
    /// [`check_states`]: super::check_states()
    fn reduction(&self) -> Option<Reduction<Self>>
    where
        Self: Sized,
    {
        None
    }

    /// Explores the program thread by thread; `None` if it has no such search.
    fn by_threads(
        &self,
        _budget: ThreadBudget,
        _control: &Control<'_>,
    ) -> Option<ThreadSearch<Self::System>> {
        None
    }

    /// Whether the search by threads is to be tried before that of the states.
    fn prefers_threads(&self) -> bool {
        false
    }

    /// Describes a violation: kind, title and sites of the finding, and the text at the end of the
    /// run.
    fn describe(&self, violation: &Violation<Self::System>) -> Described {
        let offers = offers_of(self.system(), violation.path.last());
        Described::of(violation, wrong_end(self, offers), |_| Vec::new())
    }

    /// Returns the name of an attribute that the last step of a path updates: a place that
    /// different components must not overwrite.
    fn attribute(&self, _path: &Path<Self::System>, place: Place) -> String {
        format!("place {}", place.0)
    }

    /// Returns the updates of an attribute in a path, in order.
    fn updates(&self, _path: &Path<Self::System>, _attribute: &str) -> Vec<AttributeUpdate> {
        Vec::new()
    }

    /// Returns a path as a run for display: lanes, tasks, changes and posts.
    ///
    /// By default, each step has its own lane and the text of [`StateSystem::describe`], with the
    /// parts of [`StateSystem::show`] that it changed.
    fn run(&self, path: &Path<Self::System>, end: &RunEnd) -> Run {
        plain_run(self.system(), path, end)
    }

    /// Returns the schedule of a path, by names that survive changes of the program.
    ///
    /// # Errors
    ///
    /// Returns the reason if there is no schedule.
    fn schedule(&self, _path: &Path<Self::System>) -> Result<Schedule, NoSchedule> {
        Err(NoSchedule::NoNames)
    }

    /// Follows a schedule. Returns the index of the initial state and of each successor, and the
    /// divergence if a step of the schedule is not enabled.
    fn follow(&self, schedule: &Schedule) -> (Vec<u32>, Option<Divergence>) {
        let wanted = schedule.choices.first().map(|choice| choice.task.clone());
        let lost = |wanted| Divergence { choice: 0, wanted, enabled: Vec::new() };
        (vec![0], wanted.map(lost))
    }

    /// Checks the schedule of a finding before it is written, as `certify` does; `None` if nothing
    /// can check it.
    fn certify_schedule(
        &self,
        _schedule: &serde_json::Value,
        _control: &Control<'_>,
    ) -> Option<CertificateVerdict> {
        None
    }

    /// Describes a part of the program that never runs; `part` is its index, and `name` its name.
    fn never_runs(&self, _part: usize, name: &str) -> String {
        format!("`{name}` never runs")
    }
}

/// Why a path has no schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoSchedule {
    /// The program has no names for its steps.
    NoNames,
    /// The program did not repeat the path.
    NotRepeated,
}

/// An update of an attribute in a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AttributeUpdate {
    /// The step that updates it, from 0.
    pub step: usize,
    /// The component that makes the update.
    pub component: Option<String>,
    /// The new value.
    pub value: String,
    /// The position in the source.
    pub site: Site,
}

/// A finding without its run, and the violation at the end of the run.
#[derive(Clone, Debug)]
pub struct Described {
    /// Kind, title and sites; the rest is set later.
    pub finding: Finding,
    /// The violation at the end of the run.
    pub end: RunEnd,
}

/// The violation at the end of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RunEnd {
    /// One phrase; empty if the last step describes the violation.
    pub text: String,
    /// The violated property; a program may show the values that its condition reads.
    pub property: Option<Property>,
}

impl From<String> for RunEnd {
    fn from(text: String) -> RunEnd {
        RunEnd { text, property: None }
    }
}

impl Described {
    /// Describes a violation in general terms, and a wrong end in the given ones; `sites` returns
    /// the sites of a property.
    #[must_use]
    pub fn of<S: StateSystem>(
        violation: &Violation<S>,
        wrong_end: &str,
        sites: impl Fn(&Property) -> Vec<Site>,
    ) -> Described {
        let name = &violation.name;
        let (kind, title) = match &violation.property {
            Property::Failure(failure) => (Kind::Assertion, failure.to_string()),
            Property::Invariant(_) => {
                (Kind::Invariant, format!("invariant `{name}` does not hold"))
            }
            Property::Response(_) => (Kind::Response, format!("response `{name}` may never come")),
            Property::Final => (Kind::Final, wrong_end.to_owned()),
            Property::Livelock(places) => (Kind::Livelock, livelock_title(places)),
            Property::Deadlock(_) => {
                let text = "nothing can happen any more, and something still waits";
                (Kind::Deadlock, text.to_owned())
            }
        };
        let property = Some(violation.property.clone());
        let end = match (&violation.property, violation.path.repeats_from) {
            (Property::Failure(_), _) => RunEnd::default(),
            (Property::Livelock(_), from) => {
                livelock_end(from.unwrap_or(violation.path.steps.len())).into()
            }
            (Property::Response(_), Some(from)) if from < violation.path.steps.len() => {
                format!("back in the state after step {from}: the response never comes").into()
            }
            (Property::Response(_), _) => {
                "nothing more need happen, and the response has not come".to_owned().into()
            }
            (Property::Deadlock(_), _) => RunEnd::from(title.clone()),
            (Property::Invariant(_) | Property::Final, _) => {
                RunEnd { text: title.clone(), property }
            }
        };
        let sites = match &violation.property {
            Property::Livelock(places) => places.iter().map(livelock_site).collect(),
            property => sites(property),
        };
        Described { finding: Finding { title, sites, ..Finding::new(kind) }, end }
    }
}

/// How many parts the title of a livelock names.
const PARTS_NAMED: usize = 3;

fn livelock_title(places: &[PlaceOfStep]) -> String {
    let mut parts: Vec<String> = Vec::new();
    for place in places.iter().filter(|place| !place.part.is_empty()) {
        let name = match place.kind {
            "" => format!("`{}`", place.part),
            kind => format!("{kind} `{}`", place.part),
        };
        if !parts.contains(&name) {
            parts.push(name);
        }
    }
    let rest = parts.split_off(parts.len().min(PARTS_NAMED)).len();
    parts.extend((rest > 0).then(|| format!("{rest} more")));
    let verb = if parts.len() == 1 { "repeats" } else { "repeat" };
    let who = match parts.split_last() {
        None => return "no run can end from here".to_owned(),
        Some((only, [])) => only.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    };
    format!("no run can end any more: {who} {verb} for ever")
}

/// Returns the words at the end of a livelock's run.
pub(crate) fn livelock_end(repeats_from: usize) -> String {
    let from = if repeats_from == 0 { "the start" } else { &format!("step {repeats_from}") };
    format!("back in the state after {from}: no run from there can end")
}

/// Returns a place where a livelock goes round.
fn livelock_site(place: &PlaceOfStep) -> Site {
    let site = place.site.clone();
    let label = site.is_none().then(|| place.words());
    let (line, column) = (site.as_ref().map(|one| one.line), site.as_ref().map(|one| one.column));
    let access = Some("repeated".to_owned());
    Site { file: site.map(|one| one.file), line, column, label, access, ..Site::default() }
}

/// Returns what a state offers to a run that has reached it.
pub(crate) fn offers_of<S: StateSystem>(system: &S, state: &S::State) -> Offers {
    let mut successors = Vec::new();
    system.successors(state, &mut successors);
    Offers::of(successors.iter().map(|one| system.is_optional(&one.action)))
}

/// Returns the title of a wrong end in a state, given what the state offers.
pub(crate) fn wrong_end<P: StateProgram + ?Sized>(_program: &P, offers: Offers) -> &'static str {
    if offers == Offers::Optional { P::WRONG_REST } else { P::WRONG_END }
}

/// Returns a path as a run, in the words of its system alone: each step is a lane of its own.
fn plain_run<S: StateSystem>(system: &S, path: &Path<S>, end: &RunEnd) -> Run {
    let start = system.show(&path.initial);
    let mut steps = Vec::with_capacity(path.steps.len());
    let (mut before, mut old) = (&path.initial, start.clone());
    for step in &path.steps {
        let new = system.show(&step.state);
        let find = |shown: &[(String, String)], name: &str| {
            shown.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone())
        };
        let gone = old.iter().filter(|(name, _)| find(&new, name).is_none());
        let gone = gone.map(|(name, value)| (name, Some(value.clone()), None));
        let kept = new.iter().map(|(name, value)| (name, find(&old, name), Some(value.clone())));
        let changes = gone.chain(kept).filter(|(_, old, new)| old != new);
        let what = system.describe(before, &step.action);
        steps.push(RunStep {
            lane: what.clone(),
            what,
            changes: changes
                .map(|(name, old, new)| Change { name: name.clone(), old, new })
                .collect(),
            failure: step.failure.as_ref().map(ToString::to_string),
            ..RunStep::default()
        });
        (before, old) = (&step.state, new);
    }
    Run { start, steps, repeats_from: path.repeats_from, end: end.text.clone(), ..Run::default() }
}
