//! The result of a job on one input, and the combined results of several inputs.

use crate::failure::FailureMessage;
use anyorder_finding::run::{Run, Runs};
use anyorder_finding::{
    Finding, Input, OptionValue, OptionValues, Outcome, Stat, Stats, Warning, Witness,
    WitnessPlace, assign_ids,
};
use anyorder_system::Control;
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
    pub limits: Vec<String>,
    /// The names of the options that bound the question.
    pub bounds: Vec<String>,
    /// Whether the answer is not complete, although no limit ended the job.
    pub open: bool,
    /// Warnings about the input, which are part of the result.
    pub warnings: Vec<Warning>,
    /// Remarks for the user, which are not part of the result.
    pub remarks: Vec<FailureMessage>,
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

    /// Gives a copy to the caller of a job that is still working, in case it has to end the job.
    /// See [`Progress::found`](anyorder_system::Progress::found).
    pub fn publish(&self, control: &Control<'_>) {
        control.progress.found(Box::new(self.clone()));
    }

    /// Records that an option cut the search.
    pub fn cut_by(&mut self, option: &str) {
        self.limits.push(option.to_owned());
    }

    /// Records that a bound cut the search, and that the answer does not go beyond it.
    pub fn open_within(&mut self, option: &str) {
        self.bounded_by(option);
        self.open = true;
    }

    /// Records that a requested bound cut the search.
    pub fn bounded_by(&mut self, option: &str) {
        self.bounds.push(option.to_owned());
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
/// all.add(vec![Input { path: "app.trace".to_owned(), format: "text".to_owned() }], result);
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
}

impl Collected {
    /// Makes an empty result of a command and a version.
    #[must_use]
    pub fn new(command: &str, version: &str) -> Collected {
        Collected { outcome: Outcome::new(command, version), runs: Vec::new(), checked: 0 }
    }

    /// Adds the result of a job on its inputs; the checked input comes first. Counts add up. If the
    /// text of an option differs between inputs, each distinct text appears once, joined by `+`.
    pub fn add(&mut self, inputs: Vec<Input>, result: JobResult) {
        let outcome = &mut self.outcome;
        self.checked += 1;
        outcome.warnings.extend(result.warnings);
        result.limits.iter().for_each(|option| outcome.cut_by(option));
        result.bounds.iter().for_each(|option| outcome.bounded_by(option));
        outcome.complete &= !result.open;
        add_stats(&mut outcome.stats, &result.stats);
        for (name, value) in result.options.iter() {
            let value = match (outcome.options.get(name), value) {
                (Some(OptionValue::Text(before)), OptionValue::Text(text)) => {
                    OptionValue::Text(joined(before, text))
                }
                _ => value.clone(),
            };
            outcome.options.set(name, value);
        }
        for Reported { mut finding, run } in result.findings {
            finding.input = inputs.first().map(|input| input.path.clone());
            outcome.findings.push(finding);
            self.runs.push(run);
        }
        outcome.inputs.extend(inputs);
    }

    /// Sets the final ids of all findings, also in groups and witnesses. With one input, the ids
    /// stay. With several inputs, each finding names its input. Returns the outcome, and the runs
    /// by the ids of their findings.
    #[must_use]
    pub fn finish(self) -> (Outcome, Runs) {
        let Collected { mut outcome, runs, checked } = self;
        let findings = &mut outcome.findings;
        if checked > 1 || findings.iter().any(|finding| finding.id.is_empty()) {
            number(findings);
        }
        if checked < 2 {
            findings.iter_mut().for_each(|finding| finding.input = None);
        }
        let ids = outcome.findings.iter().map(|finding| finding.id.clone());
        let runs = ids.zip(runs).filter_map(|(id, run)| Some((id, run?))).collect();
        (outcome, runs)
    }
}

/// An id may get an ordinal if other inputs have the same id, so ids of one input can change.
fn number(findings: &mut [Finding]) {
    let key = |finding: &Finding| (finding.input.clone(), finding.id.clone());
    let before: Vec<(Option<String>, String)> = findings.iter().map(key).collect();
    assign_ids(findings);
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

/// The counts that are maxima over the inputs, not sums.
const LARGEST: [&str; 3] = ["max_depth", "frontier_peak", "bytes_per_state"];

/// Adds `more` to `sum`, name by name.
fn add_stats(sum: &mut Stats, more: &Stats) {
    for (name, stat) in more.iter() {
        let total = match (sum.get(name), stat) {
            (Some(Stat::Integer(a)), Stat::Integer(b)) if LARGEST.contains(&name) => {
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
            (Some(Stat::Text(a)), Stat::Text(b)) if name == "algorithm" => Stat::Text(joined(a, b)),
            (Some(Stat::Text(a)), Stat::Text(b)) if name == "never_run" => {
                Stat::Text(format!("{a}; {b}"))
            }
            (_, stat) => stat.clone(),
        };
        sum.set(name, total);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_finding::Ordered;

    #[test]
    fn statistics_add_up() {
        let one = || -> Stats {
            let map: Ordered<u64> = [("delayed", 2u64), ("co_enabled", 1)].into_iter().collect();
            let mut stats = Stats::new();
            stats.set("events", 5u64).set("by", map).set("list", vec![1u64, 2]);
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
