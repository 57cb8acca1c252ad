//! The findings of the robustness of a program, each with a run that replays.

use super::model::{undecided, with_views};
use super::program::{ActionOf, RobustProgram, StateOf};
use crate::Reported;
use crate::schedules::{ClaimedFailure, Shows, witness};
use crate::states::{RunEnd, path_of};
use anyorder_finding::run::{Comparison, Differing, Mark};
use anyorder_finding::{
    CycleConflict, ExplanationStep, Finding, Harm, Kind, Severity, Site, Witness,
};
use anyorder_robust::model::{
    Divergence, Outcome, Property, RunStep, SerialOutcome, SerialOutcomes, Strange, Violation,
    diverging,
};
use anyorder_search::Path;
use anyorder_system::{
    Access, AccessKind, AsyncSystem, Choice, Control, Lane, Schedule, StateSystem, TaskName,
    WaitPlace,
};
use std::collections::BTreeSet;

/// Why a finding does no harm: no run of the model has another outcome.
pub(super) const CONFLICT_ONLY: &str = "conflict_only";

/// The category of a finding whose events have a serial order, but none in which they may start.
const START_ORDER: &str = "start_order";

/// Makes findings.
pub(super) struct Reporter<'a, P: RobustProgram> {
    pub(super) program: &'a P,
    pub(super) system: &'a P::Tasks,
    pub(super) serial: &'a SerialOutcomes,
    /// Whether no run has another outcome.
    pub(super) robust: bool,
    pub(super) repeat: u32,
    pub(super) limits: (usize, &'a Control<'a>),
}

/// A run of a program to an outcome that no serial run has.
type OutcomeOf<P> = Outcome<StateOf<P>, ActionOf<P>>;

/// What the continuation of a run shows.
enum Harmed<S, A> {
    /// Nothing: no run has another outcome.
    Not,
    /// Not known.
    Open,
    /// It goes on to another outcome.
    By(Box<Outcome<S, A>>),
}

impl<P: RobustProgram> Reporter<'_, P> {
    /// Makes the finding of a violation, shown by the first of its runs that does harm. `None` if
    /// the model has none of the runs.
    pub(super) fn best(&self, runs: &[Violation]) -> Option<Reported> {
        let mut first = None;
        for violation in runs {
            let Some(path) = self.path_of(&violation.run) else { continue };
            match self.harm(&path) {
                Harmed::By(outcome) => return Some(self.harmful(violation, path, &outcome)),
                harm if first.is_none() => first = Some((violation, path, harm)),
                _ => {}
            }
        }
        let (violation, path, harm) = first?;
        let mut finding = self.finding(violation);
        if matches!(harm, Harmed::Not) {
            (finding.severity, finding.harm) = (Severity::Note, Harm::Harmless);
            finding.harm_class = Some(CONFLICT_ONLY.to_owned());
            let text = "every run of the model ends as some serial run does";
            finding.explanation.push(ExplanationStep::new(text));
        } else {
            undecided(&mut finding);
            let text = "whether such a run ends as no serial run does was not decided";
            finding.explanation.push(ExplanationStep::new(text));
        }
        let end = "the last two marked accesses close the cycle".to_owned();
        let mut schedule = Schedule::new(self.program.program().clone());
        schedule.choices = choices(&violation.run);
        finding.witness = self.witness(schedule, None);
        let mut run = self.program.run(&path, &RunEnd { text: end, property: None });
        mark(&mut run, violation);
        Some(Reported { finding, run: Some(run) })
    }

    /// Makes the finding of a run to another outcome, with the violation that it shows first.
    pub(super) fn strange(
        &self,
        run: &[RunStep],
        cause: Option<&Violation>,
        outcome: &OutcomeOf<P>,
    ) -> Option<Reported> {
        let path = self.path_of(run)?;
        let deadlock = matches!(outcome.what, Strange::Deadlock(_));
        if let Some(cause) = cause.filter(|_| !deadlock) {
            let ended = Outcome { path: Vec::new(), ..outcome.clone() };
            return Some(self.harmful(cause, path, &ended));
        }
        let events: BTreeSet<&str> =
            run.iter().map(|step| step.invocation.segments()[0].kind.as_str()).collect();
        let kind = if events.len() == 1 { Kind::Nondeterminism } else { Kind::NotSerializable };
        let mut finding = Finding::new(kind);
        let (category, title) = match &outcome.what {
            Strange::Deadlock(places) => {
                ("deadlock", format!("concurrency adds a deadlock{}", at_lines(places)))
            }
            Strange::Failure(failure) => ("failure", format!("no serial run fails: {failure}")),
            Strange::State => ("states", "some run ends in a state that no serial run has".into()),
        };
        finding.category = Some(category.to_owned());
        finding.title = title;
        finding.sites = run.last().map(|step| self.site(step, None)).into_iter().collect();
        Some(self.ended(finding, path, outcome, None))
    }

    fn harm(&self, path: &Path<P::System>) -> Harmed<StateOf<P>, ActionOf<P>> {
        if self.robust {
            return Harmed::Not;
        }
        let last = path.steps.last();
        if let Some(failure) = last.and_then(|step| step.failure.clone()) {
            if self.serial.complete && self.serial.ends && !self.serial.fails(&failure) {
                let before = path.state(path.steps.len() - 1).cloned();
                let what = Strange::Failure(failure);
                let outcome = |state| Outcome { path: Vec::new(), state, what };
                return before.map_or(Harmed::Open, |state| Harmed::By(Box::new(outcome(state))));
            }
            return Harmed::Open;
        }
        let Some(end) = last.map(|step| step.state.clone()) else { return Harmed::Open };
        let mut happened = vec![0; self.system.events().len()];
        for event in self.happened(path) {
            happened[event as usize] += 1;
        }
        let states = self.program.system();
        let found = with_views(self.program, self.system, self.repeat, |views| {
            diverging(states, (end, happened), views, self.serial, self.limits)
        });
        match found.divergence {
            Divergence::Reached(outcome) => Harmed::By(Box::new(outcome)),
            _ => Harmed::Open,
        }
    }

    /// Makes the finding of a violation that does harm: `path` goes on by the actions of the
    /// outcome.
    fn harmful(
        &self,
        violation: &Violation,
        mut path: Path<P::System>,
        outcome: &OutcomeOf<P>,
    ) -> Reported {
        for action in &outcome.path {
            let Some(before) = path.state(path.steps.len()).cloned() else { break };
            let mut next = Vec::new();
            self.program.system().successors(&before, &mut next);
            let found = next.into_iter().zip(0..).find(|(next, _)| next.action == *action);
            if let Some((next, place)) = found {
                path.push(Some(place), next);
            }
        }
        self.ended(self.finding(violation), path, outcome, Some(violation))
    }

    /// Adds the end of the run to a finding, and the serial run that comes nearest.
    fn ended(
        &self,
        mut finding: Finding,
        path: Path<P::System>,
        outcome: &OutcomeOf<P>,
        violation: Option<&Violation>,
    ) -> Reported {
        (finding.severity, finding.harm) = (Severity::Error, Harm::Harmful);
        finding.confirmed = Some(true);
        let memory = self.system.show(&outcome.state);
        let end = match &outcome.what {
            Strange::State => "no serial run ends in this state".to_owned(),
            Strange::Failure(failure) => {
                let text = format!("it fails, as no serial run does: {failure}");
                finding.explanation.push(ExplanationStep::new(text));
                "no serial run fails like this".to_owned()
            }
            Strange::Deadlock(places) => {
                let text =
                    format!("nothing can happen any more, and tasks wait{}", at_lines(places));
                finding.explanation.push(ExplanationStep::new(text));
                "no serial run waits here for ever".to_owned()
            }
        };
        let shows = match &outcome.what {
            // Where a task is a value, its number is that of this run, not of the search's.
            Strange::State => Some(Shows::State(self.program.system().show(path.last()))),
            Strange::Failure(failure) => Some(Shows::Failure(ClaimedFailure::of(failure))),
            Strange::Deadlock(_) => Some(Shows::Deadlock),
        };
        let schedule = self.program.schedule(&path).ok();
        finding.witness = schedule.and_then(|one| self.witness(one, shows.as_ref()));
        let mut compared = None;
        if let Some(serial) = self.nearest(&memory, &self.happened(&path)) {
            let differing: Vec<Differing> = differing(&serial.memory, &memory);
            if matches!(outcome.what, Strange::State) {
                let words = differing.iter().map(|one| ExplanationStep::new(one.words()));
                finding.explanation.extend(words);
            }
            compared = self.path_of(&serial.run).map(|path| (path, differing));
        }
        let mut run = self.program.run(&path, &RunEnd { text: end, property: None });
        if let Some(violation) = violation {
            mark(&mut run, violation);
        }
        if let Some((before, differences)) = compared {
            let before = self.program.run(&before, &RunEnd::default());
            let name = |at: Option<usize>| {
                at.zip(violation)
                    .and_then(|(at, violation)| violation.run.get(at))
                    .map(|step| step.invocation.to_string())
                    .unwrap_or_default()
            };
            run.compared = Some(Box::new(Comparison {
                before,
                before_title: "one event after another".to_owned(),
                after_title: "interleaved".to_owned(),
                first: name(violation.map(|one| one.pivot)),
                second: name(violation.map(|one| one.root)),
                locations: finding.cycle.iter().map(|one| one.location.clone()).collect(),
                differences,
                ..Comparison::default()
            }));
        }
        Reported { finding, run: Some(run) }
    }

    /// Makes the finding of a violation, without its harm and its run.
    fn finding(&self, violation: &Violation) -> Finding {
        let mut finding = Finding::new(match violation.property {
            Property::Determinism => Kind::Nondeterminism,
            Property::Serializability | Property::StartOrder => Kind::NotSerializable,
        });
        if violation.property == Property::StartOrder {
            finding.category = Some(START_ORDER.to_owned());
        }
        let last = &violation.run[violation.pivot];
        let init = violation.by_init.as_ref().map(|accesses| RunStep {
            task: TaskName::root("init"),
            invocation: TaskName::root("init"),
            lane: Lane::Own,
            alternative: 0,
            accesses: accesses.clone(),
        });
        let first = init.as_ref().unwrap_or(&violation.run[violation.root]);
        let Some((a, b)) = common(&first.accesses, &last.accesses) else { return finding };
        let location = self.system.tables().location_text(b.location);
        finding.title = title(violation, &location);
        finding.sites = vec![self.site(first, Some(a)), self.site(last, Some(b))];
        finding.pivot = Some(last.task.to_string());
        finding.root = Some(first.task.to_string());
        finding.pairs = vec![[first.task.to_string(), last.task.to_string()]];
        finding.pairs_total = 1;
        finding.cycle = vec![CycleConflict {
            from: first.invocation.to_string(),
            to: last.invocation.to_string(),
            location,
            before: first.task.to_string(),
            after: last.task.to_string(),
            forced: None,
        }];
        finding.confirmed = Some(true);
        finding
    }

    /// Returns the path of a run; `None` if the model does not have all of it.
    fn path_of(&self, run: &[RunStep]) -> Option<Path<P::System>> {
        path_of(self.program, &choices(run)).filter(|path| path.steps.len() == run.len())
    }

    /// Returns a schedule as a witness. It says that its steps are those of single accesses.
    fn witness(&self, mut schedule: Schedule, shows: Option<&Shows>) -> Option<Witness> {
        if let Some(shows) = shows {
            shows.set(&mut schedule);
        }
        self.program.mark_steps(&mut schedule);
        witness(&schedule)
    }

    /// The serial run of the same events that comes nearest to a memory.
    fn nearest(&self, memory: &[(String, String)], happened: &[u32]) -> Option<SerialOutcome> {
        let mut system = self.program.tasks().ok()?;
        self.serial.nearest(&mut system, memory, happened).ok().flatten()
    }

    /// The events of a path.
    fn happened(&self, path: &Path<P::System>) -> Vec<u32> {
        path.steps.iter().filter_map(|step| self.program.started(&step.action)).collect()
    }

    fn site(&self, step: &RunStep, access: Option<&Access>) -> Site {
        let tables = self.system.tables();
        let handler = match step.lane {
            Lane::Handler(handler) => self.system.handlers()[handler as usize].name.clone(),
            Lane::Own => "any".to_owned(),
        };
        let site = Site {
            event: Some(step.task.to_string()),
            task: Some(step.invocation.to_string()),
            handler: Some(handler),
            ..Site::default()
        };
        let Some(access) = access else { return site };
        let at = &tables.sites[access.site.index()];
        let known = at.line > 0;
        let kind = match access.kind {
            AccessKind::Read => "read",
            AccessKind::Write => "write",
            AccessKind::Rmw => "rmw",
        };
        Site {
            file: known.then(|| tables.name(at.file).to_owned()),
            line: known.then_some(at.line),
            column: known.then_some(at.column),
            location: Some(tables.location_text(access.location)),
            access: Some(kind.to_owned()),
            ..site
        }
    }
}

fn choices(run: &[RunStep]) -> Vec<Choice> {
    let choice =
        |step: &RunStep| Choice { alternative: step.alternative, ..Choice::of(step.task.clone()) };
    run.iter().map(choice).collect()
}

fn mark(run: &mut anyorder_finding::run::Run, violation: &Violation) {
    if violation.by_init.is_none()
        && let Some(step) = run.steps.get_mut(violation.root)
    {
        step.mark = Some(Mark::First);
    }
    if let Some(step) = run.steps.get_mut(violation.pivot) {
        step.mark = Some(Mark::Second);
    }
}

fn title(violation: &Violation, location: &str) -> String {
    match violation.property {
        Property::Determinism => {
            let event = event_of(&violation.run[violation.root]);
            format!("tasks of `{event}` conflict on `{location}` in either order")
        }
        Property::Serializability => {
            format!("{}: no serial order explains `{location}`", interleaved(violation))
        }
        Property::StartOrder => {
            let who = interleaved(violation);
            format!("{who}: no serial order in which they start explains `{location}`")
        }
    }
}

/// Returns the input event of a step, with its member of a family.
fn event_of(step: &RunStep) -> String {
    let event = &step.invocation.segments()[0];
    match event.label.as_str() {
        "" => event.kind.clone(),
        label => format!("{}[{label}]", event.kind),
    }
}

/// Names the events that take part in a violation, at most three of them.
fn interleaved(violation: &Violation) -> String {
    let run = &violation.run[..=violation.pivot];
    let events: BTreeSet<String> =
        run.iter().map(event_of).map(|event| format!("`{event}`")).collect();
    let mut names: Vec<String> = events.into_iter().collect();
    let more = names.len().saturating_sub(3);
    names.truncate(3);
    match (names.as_slice(), more) {
        ([one], 0) => format!("{one} interleaves with itself"),
        (_, 0) => format!("{} interleave", names.join(" and ")),
        (_, more) => format!("{} and {more} more interleave", names.join(", ")),
    }
}

fn at_lines(places: &[WaitPlace]) -> String {
    let lines: BTreeSet<u32> = places.iter().map(|(line, _)| *line).collect();
    let words: Vec<String> = lines.iter().map(ToString::to_string).collect();
    match words.as_slice() {
        [] => String::new(),
        [one] => format!(" at line {one}"),
        many => format!(" at lines {}", many.join(", ")),
    }
}

/// Returns the accesses of two steps that conflict.
fn common<'a>(first: &'a [Access], last: &'a [Access]) -> Option<(&'a Access, &'a Access)> {
    let conflict = |a: &Access, b: &Access| {
        a.location == b.location && (a.kind != AccessKind::Read || b.kind != AccessKind::Read)
    };
    let mut pairs = first.iter().flat_map(|a| last.iter().map(move |b| (a, b)));
    // A search reports only steps that conflict.
    pairs.rfind(|(a, b)| conflict(a, b))
}

/// Returns the variables in which two memories differ.
fn differing(serial: &[(String, String)], other: &[(String, String)]) -> Vec<Differing> {
    let value = |memory: &[(String, String)], name: &str| {
        memory.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    };
    let names: BTreeSet<&String> = serial.iter().chain(other).map(|(name, _)| name).collect();
    let names = names.into_iter();
    let parts = names.map(|name| (name, value(serial, name), value(other, name)));
    let parts = parts.filter(|(_, before, after)| before != after);
    parts
        .map(|(name, before, after)| Differing {
            path: name.clone(),
            level: "global state".to_owned(),
            before,
            after,
        })
        .collect()
}
