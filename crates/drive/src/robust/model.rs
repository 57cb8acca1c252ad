//! Robustness of a model: its events and tasks in every order that the multi-thread semantics has.

use crate::model::Model;
use crate::states::{RunEnd, StateProgram};
use crate::{Failure, JobResult, Reported};
use anyorder_common::numbers::plural;
use anyorder_finding::run::{Comparison, Differing, Mark};
use anyorder_finding::{CycleConflict, ExplanationStep, Finding, Harm, Kind, Severity, Site};
use anyorder_robust::model::{
    Checked, Divergence, Options, Property, RunStep, SerialOutcomes, Violation, check, diverging,
};
use anyorder_system::{
    Access, AccessKind, AsyncSystem, Choice, Control, JobWatch, Lane, RunError, StateSystem,
};
use anyorder_vm::{Action, AsyncRun, Machine, State};
use std::collections::BTreeSet;

/// Why a finding does no harm: no run that shows it reaches another global state.
const CONFLICT_ONLY: &str = "conflict_only";

/// The category of a finding whose events have a serial order, but none in which they may start.
const START_ORDER: &str = "start_order";

/// The options of [`robust_model`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RobustModelOptions {
    /// How many invocations may stop half-way besides the one with the pivot.
    pub stops: u32,
    /// How often an event may happen that is not declared `once`.
    pub repeat: u32,
    /// The most states of each search for another global state.
    pub max_states: usize,
}

impl Default for RobustModelOptions {
    fn default() -> RobustModelOptions {
        let Options { stops, repeat, .. } = Options::default();
        RobustModelOptions { stops, repeat, max_states: 1_000_000 }
    }
}

/// Decides whether a model is robust against concurrency. Searches violations by their pivots, and
/// for each a run to a global state that no serial run reaches.
///
/// # Errors
///
/// Fails for a model with threads, and for one that cannot begin.
pub(super) fn robust_model(
    model: &Model,
    options: &RobustModelOptions,
    control: &Control<'_>,
) -> Result<JobResult, Failure> {
    let mut result = JobResult::default();
    result.options.set("stops", u64::from(options.stops));
    result.options.set("repeat", u64::from(options.repeat));
    result.options.set("max-states", options.max_states as u64);
    let _watched = JobWatch::of(control).enter();
    let model = model.by_access()?;
    let name = &model.program.name;
    let broken = |error: &dyn std::fmt::Display| Failure::at(name, error.to_string());
    let program = model.machine.program().clone();
    let mut system = AsyncRun::new(program).map_err(|error| broken(&error))?;
    if let Some(what) = system.unsupported() {
        let text = format!("has {what}; robustness is about events and their tasks only");
        return Err(Failure::at(name, text));
    }
    let searched = Options { stops: options.stops, repeat: options.repeat, ..Options::default() };
    let failed = |error: RunError| broken(&error);
    let checked = check(&mut system, &searched, control).map_err(failed)?;
    let serial = SerialOutcomes::of(&mut system, &searched, control).map_err(failed)?;
    let job = Job { model: &model, system, serial, options, control };
    let diverges = job.states();
    for violation in &checked.violations {
        result.findings.push(job.reported(violation)?);
    }
    job.set_stats(&mut result, &checked);
    if let Divergence::Reached { .. } = &diverges
        && checked.violations.is_empty()
        && checked.complete
    {
        let mut finding = Finding::new(Kind::NotSerializable);
        finding.category = Some("states".to_owned());
        finding.severity = Severity::Error;
        finding.harm = Harm::Harmful;
        finding.title = "some run ends in a state that no serial run has".to_owned();
        result.push(finding, None);
    }
    match control.check() {
        Err(stopped) => result.cut_by(stopped.0.word()),
        Ok(()) if matches!(diverges, Divergence::Undecided) => result.bounded_by("stops"),
        Ok(()) => {}
    }
    if !job.serial.complete && control.check().is_ok() {
        result.bounded_by("max-states");
    }
    Ok(result)
}

/// A model whose violations are reported.
struct Job<'a, 'c> {
    model: &'a Model,
    system: AsyncRun,
    serial: SerialOutcomes,
    options: &'a RobustModelOptions,
    control: &'a Control<'c>,
}

impl Job<'_, '_> {
    /// Searches all runs for a global state that no serial run reaches.
    fn states(&self) -> Divergence<State, Action> {
        match self.model.machine.initial().into_iter().next() {
            Some(start) => self.diverging(start),
            None => Divergence::Undecided,
        }
    }

    fn diverging(&self, start: State) -> Divergence<State, Action> {
        let machine = &*self.model.machine;
        let quiet = |state: &State| machine.quiet_memory(state);
        diverging(machine, start, quiet, &self.serial, (self.options.max_states, self.control))
    }

    /// Makes the finding of a violation.
    fn reported(&self, violation: &Violation) -> Result<Reported, Failure> {
        let [pivot, root] = [violation.run.len() - 1, violation.root];
        let mut finding = Finding::new(match violation.property {
            Property::Determinism => Kind::Nondeterminism,
            Property::Serializability | Property::StartOrder => Kind::NotSerializable,
        });
        if violation.property == Property::StartOrder {
            finding.category = Some(START_ORDER.to_owned());
        }
        let (first, last) = (&violation.run[root], &violation.run[pivot]);
        let (a, b) = common(&first.accesses, &last.accesses);
        let location = self.system.tables().location_text(b.location);
        finding.title = self.title(violation, &location);
        finding.sites = vec![self.site(first, a), self.site(last, b)];
        finding.pivot = Some(last.task.to_string());
        finding.root = Some(first.task.to_string());
        finding.pairs = vec![[first.task.to_string(), last.task.to_string()]];
        finding.pairs_total = 1;
        finding.cycle = vec![CycleConflict {
            from: first.invocation.to_string(),
            to: last.invocation.to_string(),
            location: location.clone(),
            before: first.task.to_string(),
            after: last.task.to_string(),
            forced: None,
        }];
        let choices = |run: &[RunStep]| -> Vec<Choice> {
            let choice = |step: &RunStep| Choice {
                alternative: step.alternative,
                ..Choice::of(step.task.clone())
            };
            run.iter().map(choice).collect()
        };
        let Some(mut path) = self.model.path_of(&choices(&violation.run)) else {
            finding.confirmed = Some(false);
            return Ok(Reported { finding, run: None });
        };
        finding.confirmed = Some(path.steps.len() == violation.run.len());
        let end = path.steps.last().map(|step| step.state.clone());
        let diverges = end.map_or(Divergence::Undecided, |state| self.diverging(state));
        let mut compared = None;
        match diverges {
            Divergence::Never => {
                (finding.severity, finding.harm) = (Severity::Note, Harm::Harmless);
                finding.harm_class = Some(CONFLICT_ONLY.to_owned());
                let text = "every continuation ends in the state of a serial run";
                finding.explanation.push(ExplanationStep::new(text));
            }
            Divergence::Undecided => {
                let text = "whether a run ends as no serial run does was not decided";
                finding.explanation.push(ExplanationStep::new(text));
            }
            Divergence::Reached { path: actions, state, failure } => {
                (finding.severity, finding.harm) = (Severity::Error, Harm::Harmful);
                for action in actions {
                    let Some(before) = path.state(path.steps.len()).cloned() else { break };
                    let mut next = Vec::new();
                    self.model.machine.successors(&before, &mut next);
                    let found = next.into_iter().zip(0..).find(|(next, _)| next.action == action);
                    if let Some((next, place)) = found {
                        path.push(Some(place), next);
                    }
                }
                if let Some(failure) = failure {
                    let text = format!("it fails, as no serial run does: {failure}");
                    finding.explanation.push(ExplanationStep::new(text));
                }
                let memory = self.system.show(&state);
                let nearest = self.serial.nearest(&memory, &self.happened(&path));
                if let Some(serial) = nearest {
                    let differing: Vec<Differing> = differing(&serial.memory, &memory);
                    for one in &differing {
                        finding.explanation.push(ExplanationStep::new(one.words()));
                    }
                    compared =
                        self.model.path_of(&choices(&serial.run)).map(|path| (path, differing));
                }
            }
        }
        let end = RunEnd { text: self.end_text(&finding), property: None };
        let mut run = self.model.run(&path, &end);
        if let Some(step) = run.steps.get_mut(root) {
            step.mark = Some(Mark::First);
        }
        if let Some(step) = run.steps.get_mut(pivot) {
            step.mark = Some(Mark::Second);
        }
        if let Some((before, differences)) = compared {
            let before = self.model.run(&before, &RunEnd::default());
            run.compared = Some(Box::new(Comparison {
                before,
                before_title: "one event after another".to_owned(),
                after_title: "interleaved".to_owned(),
                first: last.invocation.to_string(),
                second: first.invocation.to_string(),
                locations: vec![location],
                differences,
                ..Comparison::default()
            }));
        }
        Ok(Reported { finding, run: Some(run) })
    }
}

impl Job<'_, '_> {
    fn title(&self, violation: &Violation, location: &str) -> String {
        let events: BTreeSet<&str> =
            violation.run.iter().map(|step| step.invocation.segments()[0].kind.as_str()).collect();
        let count = plural(events.len() as u64, "event");
        match violation.property {
            Property::Determinism => {
                let event = violation.run[violation.root].invocation.segments()[0];
                format!("tasks of `{}` conflict on `{location}` in either order", event.kind)
            }
            Property::Serializability => {
                format!("{count} interleave: no serial order explains `{location}`")
            }
            Property::StartOrder => format!(
                "{count} interleave: no serial order in which they start explains `{location}`"
            ),
        }
    }

    /// The text at the end of the run.
    fn end_text(&self, finding: &Finding) -> String {
        match finding.harm {
            Harm::Harmful => "no serial run ends in this state".to_owned(),
            _ => "the last two marked accesses close the cycle".to_owned(),
        }
    }

    fn site(&self, step: &RunStep, access: &Access) -> Site {
        let tables = self.system.tables();
        let site = &tables.sites[access.site.index()];
        let known = site.line > 0;
        let kind = match access.kind {
            AccessKind::Read => "read",
            AccessKind::Write => "write",
            AccessKind::Rmw => "rmw",
        };
        let handler = match step.lane {
            Lane::Handler(handler) => self.system.handlers()[handler as usize].name.clone(),
            Lane::Own => "any".to_owned(),
        };
        Site {
            file: known.then(|| tables.name(site.file).to_owned()),
            line: known.then_some(site.line),
            column: known.then_some(site.column),
            event: Some(step.task.to_string()),
            task: Some(step.invocation.to_string()),
            handler: Some(handler),
            location: Some(tables.location_text(access.location)),
            access: Some(kind.to_owned()),
            ..Site::default()
        }
    }

    /// The events of a path.
    fn happened(&self, path: &anyorder_search::Path<Machine>) -> Vec<u32> {
        path.steps.iter().filter_map(|step| self.model.machine.started(&step.action)).collect()
    }

    fn set_stats(&self, result: &mut JobResult, checked: &Checked) {
        let count = |property| {
            checked.violations.iter().filter(|one| one.property == property).count() as u64
        };
        let program = self.model.machine.program();
        result
            .stats
            .set("events", self.system.events().len() as u64)
            .set("tasks", program.tasks.len() as u64)
            .set("procedures", program.functions.len() as u64)
            .set("runs", checked.runs)
            .set("steps", checked.steps)
            .set("stops", u64::from(checked.stops))
            .set("serial_states", self.serial.len() as u64)
            .set("violations_of_determinism", count(Property::Determinism))
            .set("violations_of_serializability", count(Property::Serializability))
            .set("violations_of_start_order", count(Property::StartOrder))
            .set("violations", checked.violations.len() as u64);
    }
}

/// Returns the accesses of two steps that conflict.
fn common<'a>(first: &'a [Access], last: &'a [Access]) -> (&'a Access, &'a Access) {
    let conflict = |a: &Access, b: &Access| {
        a.location == b.location && (a.kind != AccessKind::Read || b.kind != AccessKind::Read)
    };
    let mut pairs = first.iter().flat_map(|a| last.iter().map(move |b| (a, b)));
    // A search reports only steps that conflict.
    pairs.rfind(|(a, b)| conflict(a, b)).unwrap_or((&first[0], &last[0]))
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
