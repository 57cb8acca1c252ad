//! The result of a job on one input, and the combined results of several inputs.

use crate::remark::Remark;
use anyorder_common::numbers::plural;
use anyorder_finding::run::{Run, Runs};
use anyorder_finding::{
    CheckedHome, Finding, Input, Kind, Merge, OptionName, OptionValue, OptionValues, Origins,
    Outcome, Stat, StatName, Stats, Usage, Warning, WarningKind, Witness, WitnessPlace,
    assign_ids_of, option,
};
use std::collections::BTreeMap;

/// The result of a job on one input: a trace, a model or a program. [`Collected::add`] puts it into
/// the [`Outcome`] of a command.
///
/// It has no verdict. Without findings nothing is wrong; without limits nothing was skipped.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct JobResult {
    /// The findings, in the order of the engine.
    pub findings: Vec<Reported>,
    /// The counts, under their names in results.
    pub stats: Stats,
    /// The options that decided the result.
    pub options: OptionValues,
    /// The names of the options that cut the search. If there are any, the result is incomplete.
    pub limits: Vec<OptionName>,
    /// The names of the options that bound the question.
    pub bounds: Vec<OptionName>,
    /// Whether the answer is not complete, although no limit ended the job.
    pub open: bool,
    /// Warnings about the input, which are part of the result.
    pub warnings: Vec<Warning>,
    /// The name that the input gives itself, if it is a model: its ids depend on it.
    pub model: Option<String>,
    /// Remarks for the user, which are not part of the result.
    pub remarks: Vec<Remark>,
    /// Which automations use which attributes, of a home.
    pub usages: Vec<Usage>,
    /// The homes that were checked, each for itself.
    pub homes: Vec<CheckedHome>,
}

/// A finding, and the run that shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reported {
    /// The finding.
    pub finding: Finding,
    /// The run that shows it, if any.
    pub run: Option<Run>,
}

impl JobResult {
    /// Adds a finding.
    pub fn push(&mut self, finding: Finding, run: Option<Run>) {
        self.findings.push(Reported { finding, run });
    }

    /// Adds the result of a later part of the same input. A finding that is known by its id stands
    /// once, with the number of pairs of both, and as the first part that confirms it shows it;
    /// counts add up.
    pub fn absorb(&mut self, later: JobResult) {
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        for (at, one) in self.findings.iter().enumerate() {
            known.entry(one.finding.id.clone()).or_insert(at);
        }
        for one in later.findings {
            let Some(at) = known.get(&one.finding.id) else {
                self.findings.push(one);
                continue;
            };
            let before = &mut self.findings[*at];
            let total = before.finding.pairs_total.saturating_add(one.finding.pairs_total);
            let is_shown = |one: &Reported| one.finding.confirmed == Some(true);
            if is_shown(&one) && !is_shown(before) {
                *before = one;
            }
            before.finding.pairs_total = total;
        }
        add_stats(&mut self.stats, &later.stats);
        let add = |to: &mut Vec<OptionName>, more: Vec<OptionName>| {
            for name in more {
                if !to.contains(&name) {
                    to.push(name);
                }
            }
        };
        add(&mut self.limits, later.limits);
        add(&mut self.bounds, later.bounds);
        self.open |= later.open;
        for warning in later.warnings {
            let same = |one: &&mut Warning| {
                (one.kind, &one.input, &one.text) == (warning.kind, &warning.input, &warning.text)
            };
            match self.warnings.iter_mut().find(same) {
                Some(known) => known.count = known.count.saturating_add(warning.count),
                None => self.warnings.push(warning),
            }
        }
        self.remarks.extend(later.remarks);
        Usage::merge(&mut self.usages, later.usages);
        self.homes.extend(later.homes);
    }

    /// Records what cut the search.
    pub fn cut_by(&mut self, name: OptionName) {
        self.limits.push(name);
    }

    /// Records that a bound cut the search, and that the answer does not go beyond it.
    pub fn open_within(&mut self, name: OptionName) {
        self.bounded_by(name);
        self.open = true;
    }

    /// Records that a requested bound cut the search.
    pub fn bounded_by(&mut self, name: OptionName) {
        self.bounds.push(name);
    }
}

/// The combined results of one or several inputs.
///
/// ```
/// use anyorder_drive::{Collected, JobResult};
/// use anyorder_finding::{Finding, Input, Kind};
///
/// let mut result = JobResult::default();
/// result.push(Finding::new(Kind::Race), None);
/// let mut all = Collected::new("check", "1.0");
/// all.add(vec![Input::new("app.trace".as_ref(), "text")], result);
/// let (outcome, runs) = all.finish();
/// assert_eq!((outcome.findings.len(), runs.len()), (1, 0));
/// ```
#[derive(Clone, Debug)]
pub struct Collected {
    /// Everything but the runs.
    pub outcome: Outcome,
    /// The run of each finding, in the order of the findings.
    runs: Vec<Option<Run>>,
    /// The number of inputs that were checked.
    checked: usize,
    /// The real paths of the inputs.
    origins: Origins,
}

impl Collected {
    /// Makes an empty result of a command and a version.
    #[must_use]
    pub fn new(command: &str, version: &str) -> Collected {
        let (runs, origins) = (Vec::new(), Origins::default());
        Collected { outcome: Outcome::new(command, version), runs, checked: 0, origins }
    }

    /// Tells the path of an input without links and dots. Ids do not depend on how it was written.
    pub fn locate(&mut self, path: &str, real: &str) {
        self.origins.add(path, real, None);
    }

    /// Adds the result of a job on its inputs; the checked input comes first. Counts add up. If the
    /// text of an option differs between inputs, each distinct text appears once, joined by `+`.
    pub fn add(&mut self, inputs: Vec<Input>, result: JobResult) {
        if let (Some(input), Some(model)) = (inputs.first(), &result.model) {
            self.origins.add(&input.path, &input.path, Some(model));
        }
        let outcome = &mut self.outcome;
        self.checked += 1;
        result.limits.iter().for_each(|name| outcome.cut_by(*name));
        if result.warnings.iter().any(|warning| warning.kind == WarningKind::Ignored) {
            outcome.cut_by(option::NOT_UNDERSTOOD);
        }
        for warning in result.warnings {
            if !outcome.warnings.contains(&warning) {
                outcome.warnings.push(warning);
            }
        }
        Usage::merge(&mut outcome.usages, result.usages);
        outcome.homes.extend(result.homes);
        result.bounds.iter().for_each(|name| outcome.bounded_by(*name));
        outcome.complete &= !result.open;
        add_stats(&mut outcome.stats, &result.stats);
        for (name, value) in result.options.iter() {
            let value = match (outcome.options.get(name), value) {
                (Some(OptionValue::Text(before)), OptionValue::Text(text)) => {
                    OptionValue::Text(joined(before, text))
                }
                _ => value.clone(),
            };
            outcome.options.keep(name, value);
        }
        for Reported { mut finding, run } in result.findings {
            finding.input = inputs.first().map(|input| input.path.clone());
            outcome.findings.push(finding);
            self.runs.push(run);
        }
        // A file may be a part of several inputs: an app is in many pairs.
        for input in inputs {
            if !outcome.inputs.contains(&input) {
                outcome.inputs.push(input);
            }
        }
    }

    /// Returns a copy with the first findings only, in the order of a report. A warning counts the
    /// others. Only short runs and witnesses are copied.
    pub fn first(&mut self, count: usize) -> Collected {
        let all = &mut self.outcome.findings;
        let mut by_rank: Vec<usize> = (0..all.len()).collect();
        by_rank.sort_by(|a, b| all[*a].rank(&all[*b]));
        by_rank.truncate(count);
        by_rank.sort_unstable();
        let left_out = (all.len() - by_rank.len()) as u64;
        let mut steps_left = COPIED_STEPS_MAX;
        let (mut findings, mut runs) = (Vec::new(), Vec::new());
        for at in by_rank {
            let run = self.runs[at].as_ref();
            let witness = all[at].witness.take();
            let mut copy = all[at].clone();
            let steps = run.map_or(0, |run| run.steps.len()) + witness.as_ref().map_or(0, steps_of);
            let fits = steps <= steps_left;
            if fits {
                steps_left -= steps;
                copy.witness.clone_from(&witness);
            }
            all[at].witness = witness;
            findings.push(copy);
            runs.push(run.filter(|_| fits).cloned());
        }
        let mut outcome = self.outcome.with_first(0);
        outcome.findings = findings;
        if left_out > 0 {
            let text = format!("{} left out, to end in time", plural(left_out, "finding"));
            let warning = Warning::new(WarningKind::Stopped, "", text, 1);
            outcome.warnings.push(Warning { input: None, ..warning });
        }
        let (checked, origins) = (self.checked, self.origins.clone());
        Collected { outcome, runs, checked, origins }
    }

    /// Sets the final ids of all findings, also in groups and witnesses. With one input, the ids
    /// stay. With several inputs, each finding names its input. Returns the outcome, and the runs
    /// by the ids of their findings.
    #[must_use]
    pub fn finish(self) -> (Outcome, Runs) {
        let Collected { mut outcome, runs, checked, origins } = self;
        let findings = &mut outcome.findings;
        if checked > 1 || findings.iter().any(|finding| finding.id.is_empty()) {
            number(findings, &origins);
        }
        if checked < 2 {
            findings.iter_mut().for_each(|finding| finding.input = None);
        }
        name_places(&mut outcome.findings);
        let ids = outcome.findings.iter().map(|finding| finding.id.clone());
        let runs = ids.zip(runs).filter_map(|(id, run)| Some((id, run?))).collect();
        (outcome, runs)
    }
}

/// The steps of runs and witnesses that a copy may have.
const COPIED_STEPS_MAX: usize = 20_000;

/// The number of steps of a witness in a result.
fn steps_of(witness: &Witness) -> usize {
    let WitnessPlace::Inline(value) = &witness.place else { return 0 };
    let lists = ["steps", "choices"].into_iter().filter_map(|key| value.get(key)?.as_array());
    lists.map(Vec::len).sum()
}

/// Ids must tell the findings of all inputs apart, so ids of one input can change.
fn number(findings: &mut [Finding], origins: &Origins) {
    let key = |finding: &Finding| (finding.input.clone(), finding.id.clone());
    let before: Vec<(Option<String>, String)> = findings.iter().map(key).collect();
    assign_ids_of(findings, origins);
    let after: BTreeMap<(Option<String>, String), String> =
        before.into_iter().zip(findings.iter().map(|finding| finding.id.clone())).collect();
    for finding in findings {
        if let Some(group) = finding.group.take() {
            finding.group = after.get(&(finding.input.clone(), group)).cloned();
        }
        if let Some(Witness { format, place: WitnessPlace::Inline(value) }) = &mut finding.witness
            && format == "reordering"
        {
            value["finding"] = finding.id.clone().into();
        }
    }
}

/// Adds a word to a list of words, joined by `+`, that may have it already.
fn joined(known: &str, word: &str) -> String {
    let is_known = known.split('+').any(|one| one == word);
    if is_known { known.to_owned() } else { format!("{known}+{word}") }
}

/// Adds `more` to `sum`, name by name, as the declaration of each name says.
fn add_stats(sum: &mut Stats, more: &Stats) {
    for (name, stat) in more.iter() {
        let merge = StatName::declared(name).map_or(Merge::Sum, StatName::merge);
        let total = match (sum.get(name), stat) {
            (Some(Stat::Integer(a)), Stat::Integer(b)) if merge == Merge::Largest => {
                Stat::Integer(*a.max(b))
            }
            (Some(Stat::Integer(a)), Stat::Integer(b)) => Stat::Integer(a.saturating_add(*b)),
            (Some(Stat::Map(a)), Stat::Map(b)) => {
                let mut total = a.clone();
                for (key, number) in b.iter() {
                    let before = total.get(key).copied().unwrap_or(0);
                    total.set(key, before.saturating_add(*number));
                }
                Stat::Map(total)
            }
            (Some(Stat::List(a)), Stat::List(b)) => {
                let at = |list: &[u64], i: usize| list.get(i).copied().unwrap_or(0);
                let length = a.len().max(b.len());
                Stat::List((0..length).map(|i| at(a, i).saturating_add(at(b, i))).collect())
            }
            (Some(Stat::Text(a)), Stat::Text(b)) if merge == Merge::Words => {
                Stat::Text(joined(a, b))
            }
            (Some(Stat::Text(a)), Stat::Text(b)) if merge == Merge::Phrases => {
                Stat::Text(format!("{a}; {b}"))
            }
            (_, stat) => stat.clone(),
        };
        sum.keep(name, total);
    }
}

/// Puts places into titles, so that findings can be told apart in a list. The title of a failed
/// property names the property already, or who waits; it gets places only if another one is alike.
fn name_places(findings: &mut [Finding]) {
    let mut titles: BTreeMap<String, usize> = BTreeMap::new();
    for finding in &*findings {
        *titles.entry(finding.title.clone()).or_default() += 1;
    }
    for finding in findings {
        let names_property = matches!(
            finding.kind,
            Kind::Deadlock
                | Kind::Final
                | Kind::Invariant
                | Kind::Response
                | Kind::Livelock
                | Kind::UpdateConflict
                | Kind::Inconsistency
        );
        if !names_property || titles.get(&finding.title).is_some_and(|count| *count > 1) {
            finding.title = finding.title_with_places();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_finding::{Ordered, stat};

    #[test]
    fn statistics_add_up() {
        let one = || -> Stats {
            let map: Ordered<u64> = [("delayed", 2u64), ("co_enabled", 1)].into_iter().collect();
            let mut stats = Stats::new();
            stats.set(stat::EVENTS, 5u64);
            stats.keep("by", Stat::Map(map));
            stats.keep("list", Stat::List(vec![1, 2]));
            stats
        };
        let mut sum = Stats::new();
        add_stats(&mut sum, &one());
        assert_eq!(sum, one());
        add_stats(&mut sum, &one());
        assert_eq!(sum.get("events"), Some(&Stat::Integer(10)));
        assert_eq!(sum.get("list"), Some(&Stat::List(vec![2, 4])));
        let Some(Stat::Map(map)) = sum.get("by") else { panic!("a map stays a map") };
        assert_eq!(map.get("delayed"), Some(&4));
    }
}
