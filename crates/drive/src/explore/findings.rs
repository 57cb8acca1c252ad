//! Findings of an exploration: failures, harmful reversals, wrong ends, instability, and harmless
//! reversals.

use super::group::{Group, grouped};
use super::program::{ShownRun, TaskProgram, WrongEnd};
use super::races;
use super::rerun::drawn;
use super::trim::trim;
use crate::schedules::Shows;
use crate::states::explanation;
use crate::{Failure, Reported};
use anyorder_explore::r4::{FindingKind, Found, Outcome, Reversal, ReversalKind, RunInfo, Verdict};
use anyorder_finding::run::Mark;
use anyorder_finding::{Harm, Severity};
use anyorder_system::{
    self as system, BrokenProperty, Choice, Control, Hash128, JobWatch, Observation, TaskName,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The maximum number of runs that are drawn, and of harmless reversals
/// listed.
const SHOWN_MAX: usize = 60;
const HARMLESS_MAX: usize = 1_000;

/// The findings of one or several explorations of a program.
#[derive(Default)]
pub(super) struct Findings {
    /// Each with its identity, and the group to which it belongs.
    reported: Vec<(Identity, Option<Group>, Reported)>,
    known: BTreeSet<Identity>,
    harmless: usize,
    /// The runs made for display, and for ends before something optional.
    pub(super) runs: u64,
    /// Not all ends before something optional were tried.
    pub(super) rests_cut: bool,
    /// How the run of the default order ends.
    pub(super) expected: Option<Arc<Observation>>,
}

impl Findings {
    /// Adds a finding.
    fn add(&mut self, identity: Identity, one: Reported) {
        self.add_to(None, identity, one);
    }

    /// Adds a finding that may belong to a group.
    fn add_to(&mut self, group: Option<Group>, identity: Identity, one: Reported) {
        self.known.insert(identity.clone());
        self.reported.push((identity, group, one));
    }

    /// Returns the findings so far.
    pub(super) fn so_far(&self) -> Vec<Reported> {
        grouped(self.reported.iter().map(|(_, group, one)| (group.clone(), one.clone())))
    }

    /// Returns whether some finding shows a mistake of the program.
    pub(super) fn any_harmful(&self) -> bool {
        self.reported.iter().any(|(.., one)| one.finding.harm != Harm::Harmless)
    }

    /// Returns whether two tasks share state that the program does not report.
    pub(super) fn unreported(&self) -> u64 {
        let is_it = |one: &Reported| one.finding.category.as_deref() == Some(UNREPORTED);
        self.reported.iter().filter(|(.., one)| is_it(one)).count() as u64
    }

    /// Returns the findings. A pair that does harm in some run is not listed as harmless, and those
    /// of one group are one finding.
    pub(super) fn finish(self) -> Vec<Reported> {
        let known = self.known;
        let is_left = |identity: &Identity| match identity {
            Identity::Harmless(cause) | Identity::Unconfirmed(cause) => {
                !known.contains(&Identity::Shown(cause.clone()))
            }
            Identity::Shown(_) | Identity::Final | Identity::End(..) => true,
        };
        let reported = self.reported.into_iter();
        let left = reported.filter(|(identity, ..)| is_left(identity));
        grouped(left.map(|(_, group, one)| (group, one)))
    }
}

/// The category of a finding about state that a program does not report.
pub(super) const UNREPORTED: &str = "unreported";

/// The most runs of one exploration that look for ends before something optional.
const RESTS_MAX: u64 = 20_000;

/// What identifies a finding: of equal ones, the first is kept.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Identity {
    /// Something that a run shows.
    Shown(Cause),
    /// A difference that was not confirmed: a limit came first.
    Unconfirmed(Cause),
    /// A reversal that does no harm.
    Harmless(Cause),
    /// A state in which the program must not end, whether or not something optional could still
    /// happen there.
    Final,
    /// Another wrong end, and what tells it from others.
    End(Shows, Hash128),
}

/// What is wrong.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Cause {
    /// Two tasks come in the other order.
    Pair(Option<Pair>),
    /// Two tasks share something that the program does not report.
    Unreported(Option<Pair>),
    /// A failure.
    Failure(system::Failure),
    /// A run is not stable.
    Unstable(Option<Pair>),
}

/// Two tasks, in either order.
type Pair = [TaskName; 2];

/// Converts the results of an exploration into findings.
pub(super) struct Reporter<'a, P> {
    program: &'a P,
    pub(super) outcome: &'a Outcome,
    control: &'a Control<'a>,
    /// The runs that may still be made for display.
    left: u64,
    shown: BTreeMap<usize, Option<ShownRun>>,
    expected: Option<Arc<Observation>>,
}

impl<'a, P: TaskProgram> Reporter<'a, P> {
    pub(super) fn new(
        program: &'a P,
        outcome: &'a Outcome,
        control: &'a Control<'a>,
        left: u64,
    ) -> Reporter<'a, P> {
        Reporter { program, outcome, control, left, shown: BTreeMap::new(), expected: None }
    }

    /// Adds all findings. Of findings that differ only in their runs, keeps the one with the fewest
    /// reversals.
    pub(super) fn findings(mut self, findings: &mut Findings) -> Result<(), Failure> {
        self.expected.clone_from(&findings.expected);
        self.differences(findings)?;
        self.ends(findings);
        self.rests(findings);
        self.equivalent(findings);
        if self.program.draws_runs() {
            findings.runs += self.shown.values().filter(|shown| shown.is_some()).count() as u64;
        }
        Ok(())
    }

    /// Adds the failures, and the reversals that make a difference.
    fn differences(&mut self, findings: &mut Findings) -> Result<(), Failure> {
        let outcome = self.outcome;
        for found in &outcome.findings {
            // A different end means nothing if a limit cut a run. The result is incomplete then.
            let is_cut = |run: Option<usize>| run.is_some_and(|run| outcome.runs[run].cut);
            if (is_cut(found.run) || is_cut(found.parent))
                && !matches!(found.kind, FindingKind::Failure(_))
            {
                continue;
            }
            if self.is_violation(found) {
                continue;
            }
            let class = self.harmless_class(found);
            let differs = matches!(found.kind, FindingKind::Harmful | FindingKind::Unreported);
            let unconfirmed = differs && found.confirmed.is_none();
            let identity = match class {
                _ if self.is_rest(&found.kind) => Identity::Final,
                None if unconfirmed => Identity::Unconfirmed(cause(found)),
                None => Identity::Shown(cause(found)),
                Some(_) => Identity::Harmless(cause(found)),
            };
            if !findings.known.contains(&identity) {
                let mut one = self.one(found)?;
                let group = self.group(found, &one).filter(|_| class.is_none() && !unconfirmed);
                if let Some(class) = class {
                    one.finding.severity = Severity::Note;
                    one.finding.harm = Harm::Harmless;
                    one.finding.harm_class = Some(class.to_owned());
                } else if unconfirmed {
                    one.finding.severity = Severity::Warning;
                    one.finding.harm = Harm::Undecided;
                }
                findings.add_to(group, identity, one);
            }
        }
        Ok(())
    }

    /// Adds the wrong ends.
    fn ends(&mut self, findings: &mut Findings) {
        for (run, WrongEnd { shows, content }) in self.wrong_ends() {
            let identity = match &shows {
                Shows::Final => Identity::Final,
                other => Identity::End(other.clone(), content),
            };
            if !findings.known.contains(&identity)
                && let Some(one) = self.program.reported(&self.outcome.choices(run), &shows)
            {
                findings.add(identity, one);
            }
        }
    }

    /// Adds the first reversals that make no difference.
    fn equivalent(&mut self, findings: &mut Findings) {
        let outcome = self.outcome;
        for run in 0..outcome.runs.len() {
            let info = &outcome.runs[run];
            let (Some(comparison), Some(reversal)) = (&info.comparison, &info.reversal) else {
                continue;
            };
            // For the last three kinds, the failure is reported instead, if there is one.
            if matches!(
                comparison.verdict,
                Verdict::Different
                    | Verdict::Unstable
                    | Verdict::CutByFailure
                    | Verdict::Alternative
                    | Verdict::InputOrder
            ) || comparison.verdict == Verdict::Equivalent
                && matches!(reversal.kind, ReversalKind::Alternative(_) | ReversalKind::Waiting)
            {
                continue;
            }
            let cause = Cause::Pair(Some(pair_of(reversal)));
            let identity = Identity::Harmless(cause.clone());
            let known = &findings.known;
            let is_known = known.contains(&identity) || known.contains(&Identity::Shown(cause));
            if findings.harmless < HARMLESS_MAX && !is_known {
                findings.harmless += 1;
                findings.add(identity, self.harmless(run));
            }
        }
    }

    /// Whether a failure is a state of a model in which nothing more need happen, and in which it
    /// must not end.
    fn is_rest(&self, kind: &FindingKind) -> bool {
        let FindingKind::Failure(failure) = kind else { return false };
        failure.broken == Some(BrokenProperty::Final)
    }

    /// Looks for a wrong end before something optional that the runs did not pass.
    fn rests(&mut self, findings: &mut Findings) {
        let mut left = self.left.min(RESTS_MAX);
        for run in 0..self.outcome.runs.len() {
            if findings.known.contains(&Identity::Final) || self.control.check().is_err() {
                return;
            }
            if self.outcome.runs[run].cut {
                continue;
            }
            let rest = self.program.wrong_rest(&self.outcome.choices(run), left);
            findings.runs += rest.runs;
            findings.rests_cut |= rest.cut;
            left -= rest.runs.min(left);
            let found = rest.found.and_then(|run| self.program.reported(&run, &Shows::Final));
            if let Some(one) = found {
                findings.add(Identity::Final, one);
            }
        }
    }

    /// Whether a run violates a stated property.
    fn violates(&self, run: usize) -> bool {
        let info = &self.outcome.runs[run];
        !info.failures.is_empty() || self.program.wrong_end(&info.observation).is_some()
    }

    /// Whether a difference only says that one of the two runs violates a stated property. The
    /// violation is a finding itself.
    fn is_violation(&self, found: &Found) -> bool {
        found.kind == FindingKind::Harmful
            && self.program.has_properties()
            && found.run.into_iter().chain(found.parent).any(|run| self.violates(run))
    }

    /// The class of a difference that is no mistake, as far as the program says what one is: it
    /// violates none of the stated properties, or events that may come again could change the end.
    fn harmless_class(&self, found: &Found) -> Option<&'static str> {
        let (Some(run), Some(parent)) = (found.run, found.parent) else { return None };
        let compares = matches!(found.kind, FindingKind::Harmful | FindingKind::Failure(_));
        let odd = self.odd(found, [parent, run]);
        let odd: Vec<&TaskName> = odd.iter().collect();
        let words = self.program.words();
        let excuse = words.excuse(&odd).filter(|_| compares);
        if excuse.is_some() {
            return excuse;
        }
        if found.kind != FindingKind::Harmful || self.violates(run) || self.violates(parent) {
            return None;
        }
        let effects = races::effects(self.outcome, run);
        if let Some(class) = words.harmless_class(&effects, &odd) {
            return Some(class);
        }
        if self.program.has_properties() {
            return Some("no_property_violated");
        }
        let ends = |run: usize| self.program.is_end(&self.outcome.choices(run));
        (!ends(run) || !ends(parent)).then_some("not_an_end")
    }

    /// Returns the tasks of a pair that only one of two runs has.
    fn odd(&self, found: &Found, runs: [usize; 2]) -> Vec<TaskName> {
        let Some(reversal) = &found.reversal else { return Vec::new() };
        let [before, after] = runs.map(|run| self.outcome.choices(run));
        let has = |run: &[Choice], task: &TaskName| run.iter().any(|choice| choice.task == *task);
        let pair = [&reversal.first, &reversal.second];
        let odd = pair.into_iter().filter(|task| has(&before, task) != has(&after, task));
        odd.cloned().collect()
    }

    /// Returns the group of a finding, if the words of the program know groups.
    fn group(&self, found: &Found, one: &Reported) -> Option<Group> {
        let run = found.run?;
        let words = self.program.words();
        let kind = words.effect_kind(&races::effects(self.outcome, run))?;
        let tasks = found.reversal.as_ref().map(pair_of);
        match &found.kind {
            FindingKind::Harmful | FindingKind::Unreported => {
                let tasks = tasks?;
                let end = &self.outcome.runs[run].observation;
                let inputs = tasks.iter().filter(|task| words.is_input(task)).count();
                let ended = (end.as_ref(), self.failures_of_one(run));
                Some(Group::of(&one.finding, kind, (tasks, inputs), ended))
            }
            FindingKind::Failure(failure) => Some(Group::of_failure(tasks, failure.clone())),
            FindingKind::Unstable(_) => None,
        }
    }

    /// Returns the failures that either a run or its parent has, and the other one has not.
    fn failures_of_one(&self, run: usize) -> Vec<system::Failure> {
        let own = &self.outcome.runs[run].failures;
        let parent =
            self.outcome.runs[run].parent.map(|parent| &self.outcome.runs[parent].failures);
        let others = parent.map(Vec::as_slice).unwrap_or_default();
        let new = own.iter().filter(|one| !others.contains(one));
        new.chain(others.iter().filter(|one| !own.contains(one))).cloned().collect()
    }

    fn one(&mut self, found: &Found) -> Result<Reported, Failure> {
        let words = self.program.words();
        match (&found.kind, found.run) {
            (FindingKind::Harmful | FindingKind::Unreported, Some(run)) => {
                self.race(run, found.confirmed)
            }
            (FindingKind::Failure(failure), Some(run)) => {
                self.failure(run, failure, found.confirmed)
            }
            (FindingKind::Unstable(why), _) => Ok(races::unstable(found, why, words)),
            // A finding without a run cannot be shown.
            (FindingKind::Harmful | FindingKind::Unreported, None) => {
                Ok(races::unstable(found, "there is no run of it", words))
            }
            (FindingKind::Failure(failure), None) => {
                Ok(races::unstable(found, &failure.to_string(), words))
            }
        }
    }

    /// A reversal that changes the outcome.
    fn race(&mut self, run: usize, confirmed: Option<bool>) -> Result<Reported, Failure> {
        let shown = self.compared(run)?;
        let mut finding = races::race(
            (self.outcome, run),
            shown.as_ref(),
            self.expected.as_deref(),
            self.program.words(),
        );
        finding.severity = races::severity(self.outcome, run, self.program.words());
        finding.harm = Harm::Harmful;
        finding.confirmed = confirmed;
        finding.witness = races::difference(self.outcome, run);
        Ok(Reported { finding, run: shown.map(|shown| shown.run) })
    }

    fn harmless(&self, run: usize) -> Reported {
        let mut finding =
            races::race((self.outcome, run), None, self.expected.as_deref(), self.program.words());
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
        failure: &anyorder_system::Failure,
        confirmed: Option<bool>,
    ) -> Result<Reported, Failure> {
        let shown = self.compared(run)?;
        let shows = Shows::of_failure(failure);
        let reported = self.program.reported(&self.outcome.choices(run), &shows);
        let mut reported = reported.unwrap_or_else(|| {
            races::failure(self.outcome, run, failure, shown.as_ref(), self.program.words())
        });
        if confirmed.is_some() {
            reported.finding.confirmed = confirmed;
        }
        // Shows the whole failing run, next to the run that does not fail.
        if let Some(shown) = shown {
            let mut whole = shown.run;
            if let Some(run) = &reported.run {
                whole.end.clone_from(&run.end);
                whole.steps.truncate(run.steps.len().saturating_sub(whole.first).max(1));
            }
            if reported.finding.explanation.is_empty() {
                reported.finding.explanation = explanation(&whole);
            }
            reported.run = Some(whole);
        }
        Ok(reported)
    }

    /// The runs with wrong ends. The content tells deadlocks with other waiting places apart.
    fn wrong_ends(&self) -> Vec<(usize, WrongEnd)> {
        let runs = self.outcome.runs.iter().enumerate().filter(|(_, info)| !info.cut);
        let end = |(run, info): (usize, &RunInfo)| {
            Some((run, self.program.wrong_end(&info.observation)?))
        };
        runs.filter_map(end).collect()
    }

    /// Returns a run for display, compared with the run that it varies.
    fn compared(&mut self, run: usize) -> Result<Option<ShownRun>, Failure> {
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
            let places = before.tasks.iter().cloned().zip(lanes).enumerate();
            let site = |at: usize| before.site(at, &reversal.locations);
            shown.others = places.map(|(at, (task, lane))| (task, lane, site(at))).collect();
            let pairs = shown.tasks.iter().zip(&before.tasks);
            let common = pairs.take_while(|(one, other)| one == other).count();
            trim(&mut before.run, &mut shown.run, common);
            shown.tasks.drain(..shown.run.first.min(shown.tasks.len()));
            shown.sites.drain(..shown.run.first.min(shown.sites.len()));
            shown.accesses.drain(..shown.run.first.min(shown.accesses.len()));
            let compared = races::comparison(self.outcome, run, before.run, self.program.words());
            shown.run.compared = Some(Box::new(compared));
        }
        Ok(Some(shown))
    }

    /// Returns a run for display; `None` if it cannot be drawn or the maximum number was shown.
    fn shown(&mut self, run: usize) -> Result<Option<ShownRun>, Failure> {
        if let Some(shown) = self.shown.get(&run) {
            return Ok(shown.clone());
        }
        let made = self.shown.len();
        if !self.program.draws_runs() {
            let steps = if made < SHOWN_MAX { self.outcome.kept(run) } else { None };
            let shown = steps.map(|steps| drawn(&steps, self.program.words()));
            self.shown.insert(run, shown.clone());
            return Ok(shown);
        }
        let enough = made >= SHOWN_MAX || made as u64 >= self.left || self.control.check().is_err();
        let watched = JobWatch::of(self.control).enter();
        let shown = match enough {
            true => Ok(None),
            false => self.program.shown(&self.outcome.choices(run)),
        };
        drop(watched);
        // A stop during the run makes it incomplete. The finding stands without it.
        let shown = if self.control.check().is_err() { None } else { shown? };
        self.shown.insert(run, shown.clone());
        Ok(shown)
    }
}

/// Returns what a finding shows.
fn cause(found: &Found) -> Cause {
    let pair = found.reversal.as_ref().map(pair_of);
    match &found.kind {
        FindingKind::Harmful => Cause::Pair(pair),
        FindingKind::Unreported => Cause::Unreported(pair),
        FindingKind::Failure(failure) => Cause::Failure(failure.clone()),
        FindingKind::Unstable(_) => Cause::Unstable(pair),
    }
}

fn pair_of(reversal: &Reversal) -> Pair {
    let mut pair = [reversal.first.clone(), reversal.second.clone()];
    pair.sort();
    pair
}
