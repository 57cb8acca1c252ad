//! Home Assistant configurations: what automations do to each other, as findings.

use crate::failure::{Failure, Unusable};
use crate::limits::stopped_by;
use crate::result::JobResult;
use anyorder_common::numbers::plural;
use anyorder_finding::run::{Change, Run, RunPlace, RunStep};
use anyorder_finding::{
    ExplanationStep, Finding, Harm, Kind, Severity, Site, Warning, WarningKind, assign_ids, option,
    stat,
};
use anyorder_homeassistant::analyse::{self, FindingKind, Understanding};
use anyorder_homeassistant::config::{is_configuration, load};
use anyorder_homeassistant::place::{Place, Severity as Level};
use anyorder_homeassistant::syntax::Home;
use anyorder_system::{Cancel, Control, JobWatch};
use std::collections::BTreeMap;
use std::path::Path;

/// The most places of one warning.
const PLACES_MAX: usize = 5;

/// Returns whether a directory is that of a configuration.
#[must_use]
pub fn is_home(path: &Path) -> bool {
    let has = |name: &str| path.join(name).is_file();
    path.is_dir() && (has("configuration.yaml") || has("automations.yaml"))
}

/// Returns whether the beginning of a file is that of a configuration or a list of automations.
#[must_use]
pub fn is_home_file(head: &[u8]) -> bool {
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        // The last character may be cut.
        Err(error) if head.len() - error.valid_up_to() < 4 => {
            std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or("")
        }
        Err(_) => return false,
    };
    is_configuration(text)
}

/// Checks the configuration at a path: a directory, its `configuration.yaml`, or a file of
/// automations. `states_max` is the most states of one pair of automations; after `budget` no
/// further pair is searched.
///
/// # Errors
///
/// Fails if there is no configuration that can be read.
pub fn check_home(
    path: &Path,
    states_max: Option<usize>,
    budget: &Cancel,
    control: &Control<'_>,
) -> Result<JobResult, Failure> {
    control.progress.phase("reading");
    let refused = |why: String| Failure::input(path, Unusable::Home(why));
    let home = Home::new(load(path).map_err(|error| refused(error.to_string()))?);
    control.progress.phase("searching");
    let usual = analyse::Options::default();
    let options = analyse::Options { states_max: states_max.unwrap_or(usual.states_max), ..usual };
    // A single step of the machine ends with the budget, too.
    let watch = Control { cancel: budget.clone(), ..control.clone() };
    let _entered = JobWatch::of(&watch).enter();
    let stop = || control.check().is_err() || budget.check().is_err();
    let checked = analyse::check(&home, &options, &stop);
    let mut result = JobResult::default();
    let mut findings: Vec<Finding> = Vec::new();
    let mut runs = Vec::new();
    for found in &checked.findings {
        findings.push(finding(&home, found));
        runs.push(run(&home, found));
    }
    assign_ids(&mut findings);
    for (finding, run) in findings.into_iter().zip(runs) {
        result.push(finding, Some(run));
    }
    result.stats.set(stat::STATES, checked.states);
    result.warnings.push(understood(&checked, path));
    if let Err(stopped) = control.check() {
        result.cut_by(stopped_by(stopped.0));
    } else if checked.left > 0 {
        result.open_within(option::BUDGET);
    }
    if checked.cut > 0 {
        result.open_within(option::MAX_STATES);
        let text = format!(
            "{} of {} of automations have more than {} states: only the first were searched",
            checked.cut,
            plural(checked.pairs, "pair"),
            options.states_max
        );
        result.warnings.push(warning(WarningKind::Odd, path, text, checked.cut, Vec::new()));
    }
    if checked.left > 0 {
        let text = format!("{} of automations not searched in time", plural(checked.left, "pair"));
        result.warnings.push(warning(WarningKind::Odd, path, text, checked.left, Vec::new()));
    }
    problems(&home, &checked, path, &mut result);
    Ok(result)
}

fn warning(
    kind: WarningKind,
    path: &Path,
    text: String,
    count: u64,
    places: Vec<String>,
) -> Warning {
    Warning { kind, input: Some(path.to_string_lossy().into_owned()), text, count, places }
}

/// How many automations are understood how far.
fn understood(checked: &analyse::Checked, path: &Path) -> Warning {
    let of = |level| checked.understood.get(&level).copied().unwrap_or(0);
    let (whole, part) = (of(Understanding::Whole), of(Understanding::Part));
    let nothing = of(Understanding::Nothing);
    let all = plural(whole + part + nothing, "automation");
    let text = format!(
        "of {all}, {whole} are understood wholly, {part} in part, {nothing} not at all \
         (conditions that only guard notifications are not counted)"
    );
    warning(WarningKind::Odd, path, text, part + nothing, Vec::new())
}

/// What was not understood or not exact, as one warning for each construct.
fn problems(home: &Home, checked: &analyse::Checked, path: &Path, result: &mut JobResult) {
    let mut groups: BTreeMap<(Level, &str), (u64, &str, Vec<String>)> = BTreeMap::new();
    for problem in &checked.problems {
        let entry = groups.entry((problem.severity, &problem.construct)).or_default();
        entry.0 += 1;
        entry.1 = &problem.text;
        if entry.2.len() < PLACES_MAX {
            entry.2.push(position(home, problem.place));
        }
    }
    for ((level, construct), (count, text, places)) in groups {
        let (kind, words) = match level {
            Level::Mistake => {
                (WarningKind::Ignored, "Home Assistant refuses this, or it never works")
            }
            Level::NotUnderstood => (WarningKind::Ignored, "not understood, so left out"),
            Level::Havoc => (WarningKind::Odd, "not known, so anything is assumed"),
            Level::Note => (WarningKind::Odd, "note"),
        };
        let text = format!("{construct}: {words}: {text}");
        result.warnings.push(warning(kind, path, text, count, places));
    }
}

fn file_of(home: &Home, place: Place) -> Option<String> {
    home.files.get(usize::from(place.file)).filter(|_| place.line > 0).cloned()
}

fn position(home: &Home, place: Place) -> String {
    let file = file_of(home, place).unwrap_or_default();
    format!("{file}:{}:{}", place.line, place.column)
}

fn finding(home: &Home, found: &analyse::Finding) -> Finding {
    let kind = match found.kind {
        FindingKind::Order => Kind::Nondeterminism,
        FindingKind::Loop => Kind::Livelock,
        _ => Kind::UpdateConflict,
    };
    let category = match found.kind {
        FindingKind::Order => "order_of_automations",
        FindingKind::Fight => "fight",
        FindingKind::Overwritten => "overwritten_after_wait",
        FindingKind::Loop => "loop",
        FindingKind::Refused => "start_refused",
        FindingKind::Overlapping => "overlapping_runs",
        FindingKind::CutShort => "cut_short_by_restart",
    };
    let sites = found.writers.iter().map(|writer| Site {
        file: file_of(home, writer.place),
        line: Some(writer.place.line).filter(|line| *line > 0),
        column: Some(writer.place.column).filter(|column| *column > 0),
        function: Some(writer.name.clone()),
        location: Some(found.entity.clone()),
        access: Some("write".to_owned()),
        ..Site::default()
    });
    let mut explanation: Vec<ExplanationStep> = Vec::new();
    for step in &found.steps {
        explanation.push(ExplanationStep::new(words(step)));
        for (who, place, entity, value) in &step.changes {
            let who = who.as_deref().unwrap_or("an automation");
            let at = position(home, *place);
            explanation
                .push(ExplanationStep::new(format!("`{who}` sets {entity} to {value} ({at})")));
        }
    }
    if !found.also.is_empty() {
        let text = format!("the same happens to {}", found.also.join(", "));
        explanation.push(ExplanationStep::new(text));
    }
    if found.assumed {
        let text = "this run rests on something that is not known; see the warnings";
        explanation.push(ExplanationStep::new(text));
    }
    explanation.push(ExplanationStep::new(format!("what to change: {}", found.advice())));
    let sure = matches!(found.kind, FindingKind::Order | FindingKind::Loop) && !found.assumed;
    Finding {
        category: Some(category.to_owned()),
        severity: if sure { Severity::Error } else { Severity::Warning },
        harm: Harm::Undecided,
        title: title(found),
        sites: sites.collect(),
        explanation,
        ..Finding::new(kind)
    }
}

/// The event of a step, and what is so meanwhile.
fn words(step: &analyse::Step) -> String {
    let given = step.given.iter().map(|(key, value)| format!("{key} is {value}"));
    let given: Vec<String> = given.collect();
    let guessed = step.guessed.iter().map(|(what, value)| format!("{what}: {value}"));
    let guessed: Vec<String> = guessed.collect();
    let mut text = step.event.clone();
    if !given.is_empty() {
        text += &format!(" while {}", given.join(", "));
    }
    if !guessed.is_empty() {
        text += &format!(" (assumed: {})", guessed.join(", "));
    }
    text
}

fn title(found: &analyse::Finding) -> String {
    let name = |at: usize| found.writers.get(at).map_or("", |writer| writer.name.as_str());
    let value = |at: usize| found.writers.get(at).map_or("", |writer| writer.value.as_str());
    let entity = &found.entity;
    match found.kind {
        FindingKind::Order => format!(
            "`{entity}` ends as {} or {}: `{}` and `{}` set it on the same event",
            found.ends.first().map_or("", String::as_str),
            found.ends.get(1).map_or("", String::as_str),
            name(0),
            name(1)
        ),
        FindingKind::Fight => format!(
            "`{}` sets `{entity}` to {}, and `{}` sets it to {} at once",
            name(0),
            value(0),
            name(1),
            value(1)
        ),
        FindingKind::Overwritten => format!(
            "`{}` sets `{entity}` to {} after a wait, although `{}` has set it to {} meanwhile",
            name(1),
            value(1),
            name(0),
            value(0)
        ),
        FindingKind::Refused => format!(
            "`{}` is started again while it waits, which `mode` refuses, and then sets `{entity}` \
             to {}",
            name(0),
            value(1)
        ),
        FindingKind::Overlapping => format!(
            "the first of two runs of `{}` sets `{entity}` to {} although the second one has set \
             it to {}",
            name(0),
            value(1),
            value(0)
        ),
        FindingKind::CutShort => format!(
            "`{}` restarts in the middle, so `{entity}` stays {} and is not set to {}",
            name(0),
            value(0),
            value(1)
        ),
        FindingKind::Loop if found.writers.len() == 1 => {
            format!("`{}` starts itself without end through `{entity}`", name(0))
        }
        FindingKind::Loop => {
            let names: Vec<String> =
                found.writers.iter().map(|writer| format!("`{}`", writer.name)).collect();
            let (last, others) = names.split_last().map_or(("", &[][..]), |(l, o)| (l, o));
            let others = others.join(", ");
            format!("{others} and {last} start each other without end through `{entity}`")
        }
    }
}

fn run(home: &Home, found: &analyse::Finding) -> Run {
    let mut steps = Vec::new();
    for step in &found.steps {
        let what = words(step);
        steps.push(RunStep { lane: "outside".to_owned(), what, ..RunStep::default() });
        for (who, place, entity, value) in &step.changes {
            let change = Change { name: entity.clone(), old: None, new: Some(value.clone()) };
            let place = file_of(home, *place).map(|file| RunPlace {
                file,
                line: Some(place.line),
                column: Some(place.column),
                last_line: None,
            });
            steps.push(RunStep {
                lane: "Home Assistant".to_owned(),
                what: who.clone().unwrap_or_default(),
                place,
                changes: vec![change],
                ..RunStep::default()
            });
        }
    }
    Run { start: found.start.clone(), steps, end: title(found), ..Run::default() }
}
