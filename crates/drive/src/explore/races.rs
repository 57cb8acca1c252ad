//! Texts of findings about reversals.

use super::findings::UNREPORTED;
use super::program::ShownRun;
use super::task_words::{Effect, TaskWords};
use crate::Reported;
use crate::schedules::{Shows, set_reference, witness};
use anyorder_explore::r4::{Found, Outcome, Reversal, ReversalKind};
use anyorder_finding::run::{Comparison, Differing, Run};
use anyorder_finding::{ExplanationStep, Finding, Harm, Kind, Severity, Site, Witness};
use anyorder_system::{Failure, FailureKind, Level, Observation, PartPath, TaskName};

/// The maximum number of parts named in a title.
const TITLE_PARTS: usize = 3;

/// The maximum number of conflicts that an explanation names.
const CONFLICTS_MAX: usize = 6;

/// Returns the finding of a reversal, without its harm.
pub(super) fn race(
    (outcome, run): (&Outcome, usize),
    shown: Option<&ShownRun>,
    expected: Option<&Observation>,
    words: &dyn TaskWords,
) -> Finding {
    let info = &outcome.runs[run];
    let mut finding = Finding::new(Kind::Race);
    let unreported = info.reversal.as_ref().is_some_and(|one| one.kind == ReversalKind::Unreported);
    finding.category = Some(if unreported { UNREPORTED } else { "reversal" }.to_owned());
    let Some(reversal) = &info.reversal else { return finding };
    let (first, second) = (&reversal.first, &reversal.second);
    finding.sites = [first, second].map(|task| site(task, reversal, shown, words)).to_vec();
    let effects = oriented(effects(outcome, run), expected);
    let parts: Vec<String> = effects.iter().map(|one| named(&one.path)).collect();
    let both = words.pair(first, second).join(" and ");
    let pair = match unreported {
        true => format!("{both}{CAN_CHANGE}, though no access of theirs conflicts"),
        false => format!("{both}{CAN_CHANGE}"),
    };
    let told = words.effects(&effects).filter(|_| !effects.is_empty());
    finding.title = match parts.len() {
        0 => pair,
        _ if told.is_some() => format!("{pair}: {}", told.unwrap_or_default()),
        more if more > TITLE_PARTS => {
            let named = parts[..TITLE_PARTS].join(", ");
            format!("{pair}: {named} and {} more differ", more - TITLE_PARTS)
        }
        1 => format!("{pair}: {} differs", parts[0]),
        _ => format!("{pair}: {} differ", parts.join(", ")),
    };
    finding.explanation = explanation(outcome, run, reversal, words);
    finding
}

/// Returns the site of a task of the pair: its position if known, else its name.
fn site(
    task: &TaskName,
    reversal: &Reversal,
    shown: Option<&ShownRun>,
    words: &dyn TaskWords,
) -> Site {
    let found = shown.and_then(|shown| {
        let at = shown.tasks.iter().position(|one| one == task);
        let here = at.and_then(|at| {
            let lane = shown.run.steps.get(at)?.lane.clone();
            Some((lane, shown.site(at, &reversal.locations)))
        });
        let elsewhere = || {
            let other = shown.others.iter().find(|(other, _, _)| other == task)?;
            Some((other.1.clone(), other.2.clone()))
        };
        here.or_else(elsewhere)
    });
    let unknown = || (None, words.site(task).unwrap_or_default());
    let (lane, mut site) = found.map_or_else(unknown, |(lane, site)| (Some(lane), site));
    if site.file.is_none() && site.label.is_none() {
        site.label = Some(words.name(task));
    }
    site.task = Some(task.to_string());
    site.handler = lane;
    site.location = listed(&reversal.locations, words).into_iter().next();
    site.access = Some("task".to_owned());
    site
}

/// Explains the reversal and its effect.
fn explanation(
    outcome: &Outcome,
    run: usize,
    reversal: &Reversal,
    words: &dyn TaskWords,
) -> Vec<ExplanationStep> {
    let info = &outcome.runs[run];
    let mut steps = Vec::new();
    let mut say = |text: String| steps.push(ExplanationStep::new(text));
    let (first, second) = (words.full(&reversal.first), words.full(&reversal.second));
    if reversal.kind == ReversalKind::Disabling {
        say(format!("{first} disables {second}; the other way round both run"));
    } else if let ReversalKind::Alternative(number) = reversal.kind {
        say(format!("{first} takes its alternative {}", number + 1));
    } else if reversal.kind == ReversalKind::Waiting {
        say(format!("{first} comes before {second}, and a third task waits for both"));
    } else if reversal.kind == ReversalKind::Unreported {
        say(format!("{first} comes before {second}, and no reported access of theirs conflicts"));
        say(words.unreported().to_owned());
    } else if reversal.locations.is_empty() {
        say(format!("{first} comes before {second}, and they conflict"));
    } else {
        let all = listed(&reversal.locations, words);
        let (named, rest) = all.split_at(all.len().min(CONFLICTS_MAX));
        let more =
            if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
        let at = named.join("`, `");
        say(format!("{first} comes before {second}, and they conflict on `{at}`{more}"));
    }
    let list = |names: &[TaskName]| {
        let names: Vec<String> = names.iter().take(8).map(|name| words.full(name)).collect();
        names.join(", ")
    };
    for (what, names) in [("skipped", &info.skipped), ("late", &info.late), ("new", &info.new)] {
        if !names.is_empty() {
            say(format!("in the other order, {what}: {}", list(names)));
        }
    }
    for effect in effects(outcome, run) {
        if let Some(differing) = words.differing(&effect) {
            say(format!("differs: {}", words.effect(&effect).unwrap_or_else(|| differing.words())));
        }
    }
    steps
}

/// Returns the comparison of a run with the run that it varies.
pub(super) fn comparison(
    outcome: &Outcome,
    run: usize,
    before: Run,
    words: &dyn TaskWords,
) -> Comparison {
    let info = &outcome.runs[run];
    let names = |names: &[TaskName]| names.iter().map(|name| words.name(name)).collect();
    let reversal = info.reversal.as_ref();
    let text = |name: Option<&TaskName>| name.map(|name| words.name(name)).unwrap_or_default();
    let title = match info.parent {
        Some(0) | None => "Recorded run".to_owned(),
        Some(_) => format!("Run with {}", reversals(info.depth.saturating_sub(1))),
    };
    Comparison {
        before,
        before_title: title,
        after_title: "The same with the pair reversed".to_owned(),
        first: text(reversal.map(|one| &one.first)),
        second: text(reversal.map(|one| &one.second)),
        locations: reversal.map_or_else(Vec::new, |one| listed(&one.locations, words)),
        skipped: names(&info.skipped),
        late: names(&info.late),
        new: names(&info.new),
        differences: differing(outcome, run, words),
        ..Comparison::default()
    }
}

/// Returns the locations that reports name, those that say most first; all if there is no such one.
fn listed(locations: &[String], words: &dyn TaskWords) -> Vec<String> {
    let listed: Vec<String> = locations.iter().filter(|one| words.lists(one)).cloned().collect();
    let mut listed = if listed.is_empty() { locations.to_vec() } else { listed };
    listed.sort_by_key(|one| words.rank(one));
    listed
}

fn reversals(count: u32) -> String {
    if count == 1 { "1 reversal".to_owned() } else { format!("{count} reversals") }
}

/// Returns the differences between the observations of a run and its parent, with the texts.
/// User-visible parts come first.
pub(super) fn effects(outcome: &Outcome, run: usize) -> Vec<Effect> {
    let info = &outcome.runs[run];
    let Some(parent) = info.parent.map(|parent| &outcome.runs[parent]) else { return Vec::new() };
    let differences = info.comparison.iter().flat_map(|comparison| &comparison.differences);
    let one = |difference: &anyorder_system::Difference| Effect {
        path: difference.path.clone(),
        level: difference.level,
        before: text_of(&parent.observation, &difference.path),
        after: text_of(&info.observation, &difference.path),
    };
    let mut effects: Vec<Effect> = differences.map(one).collect();
    effects.sort_by_cached_key(|effect| (effect.level, effect.path.to_string()));
    effects
}

/// Returns the name of a part for a title.
fn named(path: &PartPath) -> String {
    const SHOWN: usize = 80;
    let name = path.names().join("/");
    let shown: String = name.chars().take(SHOWN).collect();
    let more = if shown.len() < name.len() { "…" } else { "" };
    format!("`{shown}{more}`")
}

/// What titles say of two events.
pub(super) const CAN_CHANGE: &str = " can come in either order";

/// Turns differences round if the run, and not its parent, ends as expected: the words then say
/// what comes instead of what is expected.
fn oriented(mut effects: Vec<Effect>, expected: Option<&Observation>) -> Vec<Effect> {
    let Some(expected) = expected else { return effects };
    let is_expected =
        |effect: &Effect, text: &Option<String>| text_of(expected, &effect.path) == *text;
    let counting = effects.iter().filter(|effect| effect.level <= Level::Persistent);
    let (mut before, mut after) = (0, 0);
    for effect in counting {
        before += usize::from(is_expected(effect, &effect.before));
        after += usize::from(is_expected(effect, &effect.after));
    }
    if after > before {
        effects.iter_mut().for_each(|effect| std::mem::swap(&mut effect.before, &mut effect.after));
    }
    effects
}

/// Returns the text of a part, or its hash if it has none.
fn text_of(observation: &Observation, path: &PartPath) -> Option<String> {
    let part = observation.part(path)?;
    Some(part.text.clone().unwrap_or_else(|| part.hash.to_string()))
}

/// Returns the differences for display.
fn differing(outcome: &Outcome, run: usize, words: &dyn TaskWords) -> Vec<Differing> {
    effects(outcome, run).iter().filter_map(|effect| words.differing(effect)).collect()
}

/// Returns how severe the difference is that a reversal makes.
pub(super) fn severity(outcome: &Outcome, run: usize, words: &dyn TaskWords) -> Severity {
    words.severity(&effects(outcome, run))
}

/// Returns the schedule that shows a difference: the schedule of the run, with that of its parent.
pub(super) fn difference(outcome: &Outcome, run: usize) -> Option<Witness> {
    let info = &outcome.runs[run];
    let paths: Vec<String> = effects(outcome, run).iter().map(|one| one.path.to_string()).collect();
    // The runs differ in their failures only: there is a finding of these.
    if paths.is_empty() {
        return None;
    }
    let mut schedule = outcome.schedule(run);
    Shows::Difference(paths).set(&mut schedule);
    set_reference(&mut schedule, &outcome.schedule(info.parent?));
    witness(&schedule)
}

/// Returns the finding of a failure of a program other than a model.
pub(super) fn failure(
    outcome: &Outcome,
    run: usize,
    failure: &Failure,
    shown: Option<&ShownRun>,
    words: &dyn TaskWords,
) -> Reported {
    let text = failure.to_string();
    let failing = shown.and_then(|shown| {
        let first = shown.run.first;
        let is_it = |(number, other): &&(usize, Failure)| *number >= first && other == failure;
        let number = shown.failures.iter().find(is_it)?.0;
        let at = number - first;
        let (task, lane) = (shown.tasks.get(at)?.clone(), shown.run.steps.get(at)?.lane.clone());
        Some((task, lane, number, shown.last_site(at)))
    });
    let is_limit = failure.kind == FailureKind::StepLimit;
    let kind = if is_limit { Kind::StepLimit } else { Kind::Assertion };
    let mut finding = Finding::new(kind);
    let reversal = outcome.runs[run].reversal.as_ref();
    let title = words.failure(failure).map(|title| match reversal {
        Some(reversal) => {
            let pair = words.pair(&reversal.second, &reversal.first).join(" comes before ");
            format!("{title}, if {pair}")
        }
        None => title,
    });
    finding.title = title.unwrap_or_else(|| format!("the program fails: {text}"));
    finding.severity = Severity::Error;
    finding.harm = Harm::Harmful;
    let task = failing.as_ref().map(|(task, ..)| task.to_string());
    let found = || failing.as_ref().map(|(.., site)| site.clone());
    let mut site = words.failure_site(failure).or_else(found).unwrap_or_default();
    if site.file.is_none() && site.label.is_none() {
        site.label = task.clone().or_else(|| Some(outcome.schedule(run).program.name));
    }
    finding.sites.push(Site {
        task,
        handler: failing.as_ref().map(|(_, lane, ..)| lane.clone()),
        access: Some("failure".to_owned()),
        ..site
    });
    if let Some(reversal) = reversal {
        finding.explanation = explanation(outcome, run, reversal, words);
    }
    let mut schedule = outcome.schedule(run);
    if let Some((_, _, number, _)) = failing {
        schedule.choices.truncate(number + 1);
    }
    Shows::of_failure(failure).set(&mut schedule);
    finding.witness = witness(&schedule);
    Reported { finding, run: None }
}

/// Returns the finding of an unstable run.
pub(super) fn unstable(found: &Found, why: &str, words: &dyn TaskWords) -> Reported {
    let mut finding = Finding::new(Kind::Unstable);
    finding.confirmed = found.confirmed;
    if let Some(reversal) = &found.reversal {
        let (first, second) = (&reversal.first, &reversal.second);
        let pair = words.pair(second, first).join(" before ");
        finding.title = format!("the run with {pair} is not stable: {why}");
        finding.sites = [first, second].map(|task| site(task, reversal, None, words)).to_vec();
    } else {
        finding.title = format!("the recorded run is not stable: {why}");
        finding.sites.push(Site { label: Some("recording".to_owned()), ..Site::default() });
    }
    Reported { finding, run: None }
}

#[cfg(test)]
mod tests {
    use crate::JobControl;
    use crate::explore::{ExploreOptions, Started, explore, replay_run};
    use crate::model::Model;
    use crate::schedule_of;
    use crate::states::ReplayVerdict;
    use anyorder_vm::MachineRun;
    use std::sync::Arc;

    /// A run of 60 tasks, and then two tasks whose other order fails.
    const LONG: &str = "
        model late
        var ready = false;
        var n = 0;
        handler ui: fifo;
        handler a: fifo;
        handler b: fifo;
        once event begin on ui { post tick(); }
        task tick() on ui {
            n += 1;
            if n < 60 { post tick(); } else { post load(); post click(); }
        }
        task load() on a { ready = true; }
        task click() on b { assert ready; }";

    #[test]
    fn a_failure_in_a_long_run_has_its_lane_and_a_whole_schedule() {
        let model = Model::compile("late.any", LONG).unwrap();
        let factory = || Ok(MachineRun::new(Arc::clone(&model.machine)));
        let program = Started { name: "late".to_owned(), factory };
        let control = JobControl::default();
        let found = explore(&program, &ExploreOptions::default(), &control).unwrap();
        let finding = &found.findings[0].finding;
        assert_eq!(finding.sites[0].handler.as_deref(), Some("b"), "{finding:?}");
        assert!(finding.sites[0].task.as_deref().is_some_and(|task| task.contains("click")));
        let schedule = schedule_of(finding).expect("a schedule");
        let replayed = replay_run(&program, &schedule).unwrap();
        assert_eq!(replayed.verdict, ReplayVerdict::Reproduced, "{}", schedule.choices.len());
    }
}
