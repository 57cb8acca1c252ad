//! Violations as findings, with their runs and schedules.

use super::load::Model;
use super::schedule::schedule_of;
use super::steps::{End, failure_title, place_in, run_of};
use super::stuck::Stuck;
use anyorder_finding::run::Run;
use anyorder_finding::{Finding, Harm, Kind, Severity, Site, Step, Witness, WitnessPlace};
use anyorder_search::{Path, Property, Violation};
use anyorder_system::Schedule;
use anyorder_vm::Machine;
use anyorder_vm::program::{FuncId, SourceSite};

/// The most parts that the names of a schedule may have together: a task that posts itself has names as long as the run, so that a
/// schedule of them grows with its square.
const NAME_PARTS_MAX: usize = 2_000_000;

/// The option of a schedule that says what it shows, and that which says from where it repeats.
pub(crate) const SHOWS: &str = "shows";
pub(crate) const REPEATS: &str = "repeats-from";

/// A finding with what shows it.
pub(crate) struct Reported {
    pub(crate) finding: Finding,
    pub(crate) run: Run,
}

/// Makes findings of violations. Failures of one kind at one position are one finding: the first, which is the shortest.
pub(crate) fn report(model: &Model, violations: &[Violation<Machine>]) -> Vec<Reported> {
    let mut reported: Vec<Reported> = Vec::new();
    for violation in violations {
        let one = one(model, violation);
        let same = |known: &Reported| {
            let (a, b) = (&known.finding, &one.finding);
            matches!(violation.property, Property::Failure(_))
                && (a.kind, &a.category) == (b.kind, &b.category)
                && a.sites.first().is_some_and(|site| site.line.is_some())
                && a.sites.first().and_then(Site::position)
                    == b.sites.first().and_then(Site::position)
        };
        if !reported.iter().any(same) {
            reported.push(one);
        }
    }
    reported
}

fn one(model: &Model, violation: &Violation<Machine>) -> Reported {
    let in_last_step = matches!(violation.property, Property::Failure(_));
    let says = Shown { words: shows(violation), in_last_step };
    assemble(model, &violation.path, describe(model, violation), &says)
}

/// What a path shows, for its replay.
pub(super) struct Shown {
    pub(super) words: String,
    /// The last step itself fails.
    pub(super) in_last_step: bool,
}

/// Puts a finding and its path together: run, explanation, schedule.
pub(super) fn assemble(
    model: &Model,
    path: &Path<Machine>,
    (mut finding, end): (Finding, End),
    shown: &Shown,
) -> Reported {
    let machine = &model.machine;
    let schedule = schedule_of(machine, path, &model.program);
    let run = run_of(machine, path, &end);
    finding.severity = Severity::Error;
    finding.harm = Harm::Harmful;
    finding.explanation = explanation(&run);
    if let (Some(site), Some(last)) = (finding.sites.first_mut(), run.steps.last())
        && shown.in_last_step
    {
        site.task = Some(last.what.clone());
        site.handler = Some(last.lane.clone());
    }
    finding.confirmed = Some(schedule.is_some());
    if let Some(mut schedule) = schedule {
        schedule.options.insert(SHOWS.to_owned(), shown.words.clone());
        if let Some(from) = path.repeats_from {
            schedule.options.insert(REPEATS.to_owned(), from.to_string());
        }
        let parts: usize = schedule.choices.iter().map(|choice| choice.task.depth()).sum();
        if parts <= NAME_PARTS_MAX {
            finding.witness = witness(&schedule);
        } else {
            let text = "the names of its tasks are too long for a schedule: there is none";
            finding.explanation.push(Step::new(text));
        }
    }
    Reported { finding, run }
}

/// Says what a schedule shows, for its replay: `failure MESSAGE`, `invariant NAME`, `deadlock`, `final`, `response NAME`.
fn shows(violation: &Violation<Machine>) -> String {
    match &violation.property {
        Property::Failure(failure) => format!("failure {failure}"),
        Property::Invariant(_) => format!("invariant {}", violation.name),
        Property::Deadlock => "deadlock".to_owned(),
        Property::Final => "final".to_owned(),
        Property::Response(_) => format!("response {}", violation.name),
    }
}

pub(crate) fn witness(schedule: &Schedule) -> Option<Witness> {
    let value = serde_json::to_value(schedule).ok()?;
    Some(Witness { format: "schedule".to_owned(), place: WitnessPlace::Inline(value) })
}

/// Returns the finding without its run, and what is wrong at the end of the run.
fn describe(model: &Model, violation: &Violation<Machine>) -> (Finding, End) {
    let program = model.machine.program();
    let stated = |function: Option<FuncId>| {
        function.map(|function| named(site_of(model, function), "stated")).into_iter().collect()
    };
    match &violation.property {
        Property::Failure(what) => (failure(model, &what.to_string()), End::default()),
        Property::Invariant(index) => {
            let condition = program.invariants.get(*index).map(|one| one.holds);
            let title = format!("invariant `{}` does not hold", violation.name);
            let end = End { text: title.clone(), condition };
            (finding(Kind::Invariant, title, stated(condition)), end)
        }
        Property::Response(index) => {
            let trigger = program.responses.get(*index).map(|one| one.trigger);
            let title = format!("response `{}` may never come", violation.name);
            let end = match violation.path.repeats_from {
                Some(from) if from < violation.path.steps.len() => {
                    format!("back in the state after step {from}: the response never comes")
                }
                _ => "nothing more need happen, and the response has not come".to_owned(),
            };
            (finding(Kind::Response, title, stated(trigger)), End::from(end))
        }
        Property::Final => {
            let title = "all is done, and `final` does not hold".to_owned();
            let end = End { text: title.clone(), condition: program.final_ };
            (finding(Kind::Final, title, stated(program.final_)), end)
        }
        Property::Deadlock => {
            let stuck = Stuck::of(model, &violation.path);
            let title = stuck.title();
            (finding(Kind::Deadlock, title.clone(), stuck.sites(model)), stuck.end(title))
        }
    }
}

fn finding(kind: Kind, title: String, sites: Vec<Site>) -> Finding {
    Finding { title, sites, ..Finding::new(kind) }
}

pub(crate) fn failure(model: &Model, message: &str) -> Finding {
    let (head, place) = match place_in(message) {
        Some((head, place)) => (head, Some(place)),
        None => (message, None),
    };
    let word = head.split_once(": ").map_or(head, |(word, _)| word);
    let kind = if word == "step_limit" { Kind::StepLimit } else { Kind::Assertion };
    let site = named(place.map_or_else(|| nowhere(model), site_at_text), "failure");
    let mut finding = finding(kind, failure_title(head), vec![site]);
    if !matches!(word, "assertion" | "step_limit") {
        finding.category = Some(word.replace(' ', "_"));
    }
    finding
}

/// Returns the site of a position written as `file:line:column`.
fn site_at_text(place: &str) -> Site {
    let mut parts = place.rsplitn(3, ':');
    let mut number = || parts.next().and_then(|text| text.parse::<u32>().ok());
    let (column, line) = (number(), number());
    Site { file: parts.next().map(str::to_owned), line, column, ..Site::default() }
}

/// Returns the site of the first instruction of a function that has a position.
pub(super) fn site_of(model: &Model, function: FuncId) -> Site {
    let program = model.machine.program();
    let sites = program.functions.get(function.index()).map_or(&[][..], |function| &function.sites);
    let known = sites.iter().filter_map(|site| program.sites.get(site.index()));
    match known.filter(|site| site.line > 0).min_by_key(|site| (site.line, site.column)) {
        Some(site) => site_at(model, *site),
        None => nowhere(model),
    }
}

/// Returns a position of the source as a site.
pub(super) fn site_at(model: &Model, site: SourceSite) -> Site {
    Site {
        file: model.machine.program().files.get(usize::from(site.file)).cloned(),
        line: Some(site.line),
        column: Some(site.column),
        ..Site::default()
    }
}

/// Says what a site is, in the place where races say how they access.
pub(super) fn named(site: Site, what: &str) -> Site {
    Site { access: Some(what.to_owned()), ..site }
}

/// Returns the site of a model as a whole.
pub(super) fn nowhere(model: &Model) -> Site {
    let name = model.machine.program().name.clone();
    Site { file: Some(model.program.name.clone()), label: Some(name), ..Site::default() }
}

/// Tells the steps of a run as an explanation.
pub(crate) fn explanation(run: &Run) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for (number, step) in (1..).zip(&run.steps) {
        let mut effects = step.effects();
        if effects.is_empty() {
            effects.extend(step.place.as_ref().map(|place| format!("at {place}")));
        }
        let title = step.title();
        let who = if title == step.lane { title } else { format!("{} runs {title}", step.lane) };
        let what = effects.join("; ");
        let text = if what.is_empty() { who } else { format!("{who}: {what}") };
        steps.push(Step { text, rule: None, events: vec![number.to_string()] });
    }
    if !run.end.is_empty() {
        steps.push(Step::new(run.end.clone()));
    }
    steps
}
