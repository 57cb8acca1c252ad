//! Converts violations into findings, with their runs and schedules.

use super::conflicts::Conflict;
use super::program::{Described, NoSchedule, StateProgram};
use crate::kept::keep_true;
use crate::schedules::{ClaimedFailure, Shows, set_repeats_from, witness};
use crate::{JobControl, JobResult, Reported};
use anyorder_finding::run::Run;
use anyorder_finding::{ExplanationStep, Harm, Severity, Site};
use anyorder_search::{Path, Property, Violation, switches};
use anyorder_system::{Control, StateSystem};

/// The maximum total number of parts in the names of a schedule. The names of a task that posts
/// itself are as long as the run, so their schedule has quadratic size.
const NAME_PARTS_MAX: usize = 2_000_000;

/// Converts violations into findings. Of failures with the same kind and position, keeps the one
/// with the shortest run, and of these the one with the fewest switches.
pub(crate) fn report<P: StateProgram>(
    program: &P,
    violations: &[Violation<P::System>],
) -> Vec<Reported> {
    let mut reported: Vec<Reported> = Vec::new();
    let mut paths: Vec<&Path<P::System>> = Vec::new();
    for violation in violations {
        let described = program.describe(violation);
        let one = assemble(program, &violation.path, described, &shows(violation));
        let same = |known: &Reported| {
            let (a, b) = (&known.finding, &one.finding);
            matches!(violation.property, Property::Failure(_))
                && (a.kind, &a.category) == (b.kind, &b.category)
                && a.sites.first().is_some_and(|site| site.line.is_some())
                && a.sites.first().and_then(Site::position)
                    == b.sites.first().and_then(Site::position)
        };
        match reported.iter().position(same) {
            None => {
                reported.push(one);
                paths.push(&violation.path);
            }
            Some(at) if is_calmer(program.system(), &violation.path, paths[at]) => {
                (reported[at], paths[at]) = (one, &violation.path);
            }
            Some(_) => {}
        }
    }
    reported
}

/// Whether a path is as short as another, with fewer switches.
fn is_calmer<S: StateSystem>(system: &S, path: &Path<S>, other: &Path<S>) -> bool {
    path.steps.len() == other.steps.len() && switches(system, path) < switches(system, other)
}

/// Gives the violations so far to the caller, while a search still runs.
pub(super) fn publish<P: StateProgram>(
    program: &P,
    violations: &[Violation<P::System>],
    control: &JobControl<'_>,
) {
    let findings = report(program, violations);
    let mut result = JobResult { findings, ..JobResult::default() };
    certify_findings(program, &mut result, control);
    control.publish(result);
}

/// Leaves out the schedules that do not hold, and names the model.
pub(super) fn certify_findings<P: StateProgram>(
    program: &P,
    result: &mut JobResult,
    control: &Control<'_>,
) {
    result.model = program.own_name().map(str::to_owned);
    keep_true(result, &program.program().name, control, |_, schedule, control| {
        program.certify_schedule(schedule, control)
    });
}

/// Converts an update conflict into a finding.
pub(crate) fn report_conflict<P: StateProgram>(
    program: &P,
    conflict: &Conflict<P::System>,
) -> Reported {
    let shows = Shows::Conflict(conflict.attribute.clone(), conflict.components.clone());
    assemble(program, &conflict.path, conflict.described(program), &shows)
}

/// Completes a finding from its path: run, explanation, schedule.
fn assemble<P: StateProgram>(
    program: &P,
    path: &Path<P::System>,
    Described { mut finding, end }: Described,
    shows: &Shows,
) -> Reported {
    let schedule = program.schedule(path);
    let run = program.run(path, &end);
    finding.severity = Severity::Error;
    finding.harm = Harm::Harmful;
    finding.explanation = explanation(&run);
    if let (Some(site), Some(last)) = (finding.sites.first_mut(), run.steps.last())
        && matches!(shows, Shows::Failure(_))
    {
        site.task = Some(last.what.clone());
        site.handler = Some(last.lane.clone());
    }
    finding.confirmed = match &schedule {
        Ok(_) => Some(true),
        Err(NoSchedule::NotRepeated) => Some(false),
        Err(NoSchedule::NoNames) => None,
    };
    if let Ok(mut schedule) = schedule {
        shows.set(&mut schedule);
        if let Some(from) = path.repeats_from {
            set_repeats_from(&mut schedule, from);
        }
        let parts: usize = schedule.choices.iter().map(|choice| choice.task.depth()).sum();
        if parts <= NAME_PARTS_MAX {
            finding.witness = witness(&schedule);
        } else {
            let text = "the names of its tasks are too long for a schedule: there is none";
            finding.explanation.push(ExplanationStep::new(text));
        }
    }
    Reported { finding, run: Some(run) }
}

/// Returns the finding that the schedule of a violation records for its replay.
fn shows<S: StateSystem>(violation: &Violation<S>) -> Shows {
    match &violation.property {
        // The run of a search with symmetry may fail in another instance.
        Property::Failure(failure) => {
            let last = violation.path.steps.last().and_then(|step| step.failure.as_ref());
            Shows::Failure(ClaimedFailure::of(last.unwrap_or(failure)))
        }
        Property::Invariant(_) => Shows::Invariant(violation.name.clone()),
        Property::Deadlock(_) => Shows::Deadlock,
        Property::Final => Shows::Final,
        Property::Response(_) => Shows::Response(violation.name.clone()),
        Property::Livelock(_) => Shows::Livelock,
    }
}

/// Lists the steps of a run as an explanation.
pub(crate) fn explanation(run: &Run) -> Vec<ExplanationStep> {
    let mut steps: Vec<ExplanationStep> = Vec::new();
    for (number, step) in (1..).zip(&run.steps) {
        let mut effects = step.effects();
        if effects.is_empty() {
            effects.extend(step.place.as_ref().map(|place| format!("at {place}")));
        }
        let title = step.title();
        let who = if title == step.lane { title } else { format!("{} runs {title}", step.lane) };
        let what = effects.join("; ");
        let text = if what.is_empty() { who } else { format!("{who}: {what}") };
        steps.push(ExplanationStep { text, rule: None, events: vec![number.to_string()] });
    }
    if !run.end.is_empty() {
        steps.push(ExplanationStep::new(run.end.clone()));
    }
    steps
}
