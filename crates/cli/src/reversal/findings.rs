//! Findings of an exploration: failures, harmful reversals, wrong ends, instability, and what turned out to be harmless.

use super::checked::{END, INVARIANT, UPDATE};
use super::races;
use super::target::{Target, WithSystem, with_system};
use super::told::{Told, tell};
use super::trim::trim;
use crate::failure::Failure;
use crate::model::{self, Conflict, End, Model};
use crate::watch::Watch;
use anyorder_explore::r4::{FindingKind, Found, Outcome, Reversal, ReversalKind, Verdict};
use anyorder_finding::run::{Mark, Run};
use anyorder_finding::{Finding, Harm, Kind, Severity, Site};
use anyorder_search::{Path, Property, Violation};
use anyorder_system::{Choice, PartPath, TaskName, TaskSystem};
use anyorder_vm::Machine;
use std::collections::{BTreeMap, BTreeSet};

/// The most findings whose runs are made again to be shown, and the most harmless reversals that are listed.
const SHOWN_MAX: usize = 60;
const HARMLESS_MAX: usize = 1_000;

/// A finding, and the run that shows it.
pub(super) struct Reported {
    pub(super) finding: Finding,
    pub(super) run: Option<Run>,
}

/// A run that is shown: its steps, and their tasks.
#[derive(Clone)]
pub(super) struct Shown {
    pub(super) run: Run,
    pub(super) tasks: Vec<TaskName>,
    /// Where each task begins, where that is known.
    pub(super) sites: Vec<Site>,
    /// Tasks of the run before that do not run in this one: their lanes, and where they begin.
    pub(super) others: Vec<(TaskName, String, Site)>,
}

/// Makes findings.
pub(super) struct Teller<'a> {
    pub(super) target: Target<'a>,
    pub(super) outcome: &'a Outcome,
    watch: &'a Watch,
    shown: BTreeMap<usize, Option<Shown>>,
}

impl<'a> Teller<'a> {
    pub(super) fn new(target: Target<'a>, outcome: &'a Outcome, watch: &'a Watch) -> Teller<'a> {
        Teller { target, outcome, watch, shown: BTreeMap::new() }
    }

    /// Returns all findings: of those that are the same but for the run, the one with the fewest reversals.
    pub(super) fn findings(mut self) -> Result<Vec<Reported>, Failure> {
        let mut reported: Vec<Reported> = Vec::new();
        let mut known: BTreeSet<String> = BTreeSet::new();
        let outcome = self.outcome;
        for found in &outcome.findings {
            // Where a limit cut a run, that it ends otherwise says nothing. The result is incomplete then.
            let is_cut = |run: Option<usize>| run.is_some_and(|run| outcome.runs[run].cut);
            if (is_cut(found.run) || is_cut(found.parent))
                && !matches!(found.kind, FindingKind::Failure(_))
            {
                continue;
            }
            if known.insert(identity(found)) {
                reported.push(self.one(found)?);
            }
        }
        for (run, word) in self.wrong_ends() {
            if known.insert(format!("end {word}"))
                && let Some(one) = self.wrong_end(run, &word)
            {
                reported.push(one);
            }
        }
        let mut harmless = 0;
        for run in 0..outcome.runs.len() {
            let info = &outcome.runs[run];
            let (Some(comparison), Some(reversal)) = (&info.comparison, &info.reversal) else {
                continue;
            };
            // Of the last two the failure, or the other alternative, says all there is.
            if matches!(
                comparison.verdict,
                Verdict::Different
                    | Verdict::Unstable
                    | Verdict::CutByFailure
                    | Verdict::Alternative
            ) || comparison.verdict == Verdict::Equivalent
                && matches!(reversal.kind, ReversalKind::Alternative(_) | ReversalKind::Waiting)
            {
                continue;
            }
            let pair = pair_of(reversal);
            if harmless < HARMLESS_MAX && known.insert(pair) {
                harmless += 1;
                reported.push(self.harmless(run));
            }
        }
        Ok(reported)
    }

    fn one(&mut self, found: &Found) -> Result<Reported, Failure> {
        match (&found.kind, found.run) {
            (FindingKind::Harmful, Some(run)) => self.race(run, found.confirmed),
            (FindingKind::Failure(text), Some(run)) => self.failure(run, text, found.confirmed),
            (FindingKind::Unstable(why), _) => Ok(races::unstable(found, why)),
            // What went wrong in no run at all cannot be shown.
            (FindingKind::Harmful, None) => Ok(races::unstable(found, "there is no run of it")),
            (FindingKind::Failure(text), None) => Ok(races::unstable(found, text)),
        }
    }

    /// A reversal that makes a difference.
    fn race(&mut self, run: usize, confirmed: Option<bool>) -> Result<Reported, Failure> {
        let shown = self.compared(run)?;
        let mut finding = races::race(self, run, shown.as_ref());
        finding.severity = Severity::Error;
        finding.harm = Harm::Harmful;
        finding.confirmed = confirmed;
        finding.witness = races::difference(self.outcome, run);
        Ok(Reported { finding, run: shown.map(|shown| shown.run) })
    }

    fn harmless(&self, run: usize) -> Reported {
        let mut finding = races::race(self, run, None);
        let verdict = self.outcome.runs[run].comparison.as_ref().map(|one| one.verdict);
        let class = verdict.map_or("", Verdict::word);
        finding.severity = Severity::Note;
        finding.harm = Harm::Harmless;
        finding.harm_class = Some(class.replace(' ', "_"));
        Reported { finding, run: None }
    }

    /// A failure of the program.
    fn failure(
        &mut self,
        run: usize,
        text: &str,
        confirmed: Option<bool>,
    ) -> Result<Reported, Failure> {
        let shown = self.compared(run)?;
        let mut reported = match self.target.model() {
            Some(model) => model_failure(model, &self.outcome.choices(run), text),
            None => None,
        }
        .unwrap_or_else(|| races::failure(self.outcome, run, text, shown.as_ref()));
        if confirmed.is_some() {
            reported.finding.confirmed = confirmed;
        }
        // Of a failure the whole run is shown, beside the one that does not fail.
        if let Some(shown) = shown {
            let mut whole = shown.run;
            if let Some(run) = &reported.run {
                whole.end.clone_from(&run.end);
                whole.steps.truncate(run.steps.len().saturating_sub(whole.first).max(1));
            }
            if reported.finding.explanation.is_empty() {
                reported.finding.explanation = model::explanation(&whole);
            }
            reported.run = Some(whole);
        }
        Ok(reported)
    }

    /// The runs that end where they should not, by what is wrong.
    fn wrong_ends(&self) -> Vec<(usize, String)> {
        let end = PartPath::new([END]);
        let runs = self.outcome.runs.iter().enumerate().filter(|(_, info)| !info.cut);
        let ends = runs.filter_map(|(run, info)| {
            let part = info.observation.part(&end)?;
            Some((run, part.text.clone().unwrap_or_default()))
        });
        if self.target.model().is_some() { ends.collect() } else { Vec::new() }
    }

    fn wrong_end(&self, run: usize, word: &str) -> Option<Reported> {
        let model = self.target.model()?;
        let path = path_of(model, &self.outcome.choices(run))?;
        let property = if word == "deadlock" { Property::Deadlock } else { Property::Final };
        reported(model, Violation { property, name: word.to_owned(), path })
    }

    /// Returns a run as it is shown, compared with the one that it varies.
    fn compared(&mut self, run: usize) -> Result<Option<Shown>, Failure> {
        let Some(mut shown) = self.shown(run)? else { return Ok(None) };
        let info = &self.outcome.runs[run];
        if let (Some(parent), Some(reversal)) = (info.parent, &info.reversal)
            && let Some(mut before) = self.shown(parent)?
        {
            let own: BTreeSet<&TaskName> = shown.tasks.iter().collect();
            let others: BTreeSet<&TaskName> = before.tasks.iter().collect();
            let mark = |task: &TaskName, others: &BTreeSet<&TaskName>| match () {
                () if *task == reversal.first => Some(Mark::First),
                () if *task == reversal.second => Some(Mark::Second),
                () => (!others.contains(task)).then_some(Mark::Only),
            };
            let marks: Vec<_> = shown.tasks.iter().map(|task| mark(task, &others)).collect();
            let before_marks: Vec<_> = before.tasks.iter().map(|task| mark(task, &own)).collect();
            shown.run.steps.iter_mut().zip(marks).for_each(|(step, mark)| step.mark = mark);
            let steps = before.run.steps.iter_mut();
            steps.zip(before_marks).for_each(|(step, mark)| step.mark = mark);
            if shown.run.start == before.run.start {
                shown.run.start.clear();
            }
            let lanes = before.run.steps.iter().map(|step| step.lane.clone());
            let places = before.tasks.iter().cloned().zip(lanes).zip(before.sites.iter().cloned());
            shown.others = places.map(|((task, lane), site)| (task, lane, site)).collect();
            let pairs = shown.tasks.iter().zip(&before.tasks);
            let common = pairs.take_while(|(one, other)| one == other).count();
            trim(&mut before.run, &mut shown.run, common);
            let compared = races::comparison(self.outcome, run, before.run);
            shown.run.compared = Some(Box::new(compared));
        }
        Ok(Some(shown))
    }

    /// Returns a run as it is shown; nothing where it cannot be made again, or where enough were.
    fn shown(&mut self, run: usize) -> Result<Option<Shown>, Failure> {
        if let Some(shown) = self.shown.get(&run) {
            return Ok(shown.clone());
        }
        let enough = self.shown.len() >= SHOWN_MAX || self.watch.stopped().is_some();
        let choices = if enough { Vec::new() } else { self.outcome.choices(run) };
        let shown = match self.target {
            _ if enough => None,
            Target::Model(model, _) => {
                path_of(model, &choices).map(|path| of_path(model, &path, &choices))
            }
            Target::Program(..) => with_system(self.target, Tell { choices: &choices })?,
        };
        self.shown.insert(run, shown.clone());
        Ok(shown)
    }
}

/// Findings with the same text are one.
fn identity(found: &Found) -> String {
    let pair = found.reversal.as_ref().map(pair_of).unwrap_or_default();
    match &found.kind {
        FindingKind::Harmful => pair,
        FindingKind::Failure(text) => format!("failure {text}"),
        FindingKind::Unstable(_) => format!("unstable {pair}"),
    }
}

/// The two tasks, in one order whichever came first.
fn pair_of(reversal: &Reversal) -> String {
    let (a, b) = (reversal.first.to_string(), reversal.second.to_string());
    if a <= b { format!("{a} {b}") } else { format!("{b} {a}") }
}

struct Tell<'a> {
    choices: &'a [Choice],
}

impl WithSystem for Tell<'_> {
    type Result = Option<Shown>;

    fn run<S: TaskSystem>(self, mut system: S) -> Option<Shown> {
        let Told { run, tasks, .. } = tell(&mut system, self.choices).ok()?;
        let sites = vec![Site::default(); tasks.len()];
        Some(Shown { run, tasks, sites, others: Vec::new() })
    }
}

/// Returns the path of choices in a model.
pub(super) fn path_of(model: &Model, choices: &[Choice]) -> Option<Path<Machine>> {
    let mut schedule = anyorder_system::Schedule::new(model.program.clone());
    schedule.choices = choices.to_vec();
    let (places, _) = model::choices_of(&model.machine, &schedule);
    anyorder_search::replay(&*model.machine, &places).ok()
}

/// Returns a path as it is shown.
fn of_path(model: &Model, path: &Path<Machine>, choices: &[Choice]) -> Shown {
    let run = model::run_of(&model.machine, path, &End::default());
    let tasks = choices.iter().take(path.steps.len()).map(|choice| choice.task.clone()).collect();
    let sites = path.steps.iter().map(|step| model::site_of_step(model, &step.action)).collect();
    Shown { run, tasks, sites, others: Vec::new() }
}

/// Returns what a failing run of a model shows, as a search would tell it.
fn model_failure(model: &Model, choices: &[Choice], text: &str) -> Option<Reported> {
    let mut path = path_of(model, choices)?;
    let machine = &model.machine;
    if let Some(name) = text.strip_prefix(INVARIANT) {
        let index = machine.invariants().iter().position(|one| one == name)?;
        let broken = path.steps.iter().position(|step| !machine.holds(index, &step.state))?;
        path.steps.truncate(broken + 1);
        let name = name.to_owned();
        return reported(model, Violation { property: Property::Invariant(index), name, path });
    }
    if let Some(words) = text.strip_prefix(UPDATE) {
        let mut words = words.rsplitn(3, ' ').map(str::to_owned);
        let (b, a, attribute) = (words.next()?, words.next()?, words.next()?);
        let mut conflict = Conflict { attribute, components: [a, b], path };
        let end = (1..=conflict.path.steps.len()).find(|end| {
            let mut cut = conflict.path.clone();
            cut.steps.truncate(*end);
            model::is_conflict(machine, &cut, &conflict.attribute, &conflict.components)
        })?;
        conflict.path.steps.truncate(end);
        let one = model::report_conflicts(model, &[conflict]).pop()?;
        return Some(Reported { finding: one.finding, run: Some(one.run) });
    }
    let name = text.to_owned();
    reported(model, Violation { property: Property::Failure(name.as_str().into()), name, path })
}

fn reported(model: &Model, violation: Violation<Machine>) -> Option<Reported> {
    let one = model::report(model, &[violation]).pop()?;
    Some(Reported { finding: one.finding, run: Some(one.run) })
}

/// The kind of a finding that no model knows.
pub(super) fn kind_of(text: &str) -> Kind {
    if text.starts_with("step_limit") { Kind::StepLimit } else { Kind::Assertion }
}
