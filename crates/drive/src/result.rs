//! What a job found in one input, and the results of several inputs put together.

use crate::failure::Message;
use anyorder_finding::run::{Run, Runs};
use anyorder_finding::{
    Finding, Input, OptionValue, Options, Outcome, Stat, Stats, Warning, Witness, WitnessPlace,
    assign_ids,
};
use std::collections::BTreeMap;

/// What a job found in one input. Every job returns one, whatever its input is: a trace, a model, a
/// program. [`Collected::add`] puts it into the [`Outcome`] of a command.
///
/// It has no verdict of its own: nothing is wrong if it has no findings, and nothing was left out
/// if it has no limits.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct JobResult {
    /// What was found, in the order of the engine.
    pub findings: Vec<Reported>,
    /// Counts, under their names in results.
    pub stats: Stats,
    /// The options that decided the result.
    pub options: Options,
    /// The names of the options that cut the search: with one, the result is not complete.
    pub limits: Vec<String>,
    /// The names of the options that bound what was asked.
    pub bounds: Vec<String>,
    /// What was not understood of the input; it stands in the result.
    pub warnings: Vec<Warning>,
    /// What a person may want to know beside the result; it does not stand there.
    pub remarks: Vec<Message>,
}

/// A finding, and the run that shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reported {
    /// The finding.
    pub finding: Finding,
    /// The run that shows it, where there is one.
    pub run: Option<Run>,
}

impl JobResult {
    /// Adds a finding.
    pub fn push(&mut self, finding: Finding, run: Option<Run>) {
        self.findings.push(Reported { finding, run });
    }

    /// Records that an option cut the search.
    pub fn cut_by(&mut self, option: &str) {
        self.limits.push(option.to_owned());
    }

    /// Records that there is more beyond a bound that was asked for.
    pub fn bounded_by(&mut self, option: &str) {
        self.bounds.push(option.to_owned());
    }
}

/// The results of one or several inputs, put together.
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
    /// Begins the result of a command of a version.
    #[must_use]
    pub fn new(command: &str, version: &str) -> Collected {
        Collected { outcome: Outcome::new(command, version), runs: Vec::new(), checked: 0 }
    }

    /// Adds what a job found in its inputs, the one that was checked first. Counts add up. An
    /// option whose text differs between inputs gets each text once, joined by `+`.
    pub fn add(&mut self, inputs: Vec<Input>, result: JobResult) {
        let outcome = &mut self.outcome;
        self.checked += 1;
        outcome.warnings.extend(result.warnings);
        result.limits.iter().for_each(|option| outcome.cut_by(option));
        result.bounds.iter().for_each(|option| outcome.bounded_by(option));
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

    /// Sets the final ids of all findings, and writes them where groups and witnesses name them;
    /// those of one input keep the ids that they have. Where there are several inputs, each finding
    /// names its own. Returns the outcome, and the runs by the ids of their findings.
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

/// An id may get an ordinal among those of other inputs, so that what was set for one input
/// changes.
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

/// Whether a list of words, joined by `+`, holds one.
fn has(known: &str, word: &str) -> bool {
    known.split('+').any(|one| one == word)
}

fn joined(known: &str, word: &str) -> String {
    if has(known, word) { known.to_owned() } else { format!("{known}+{word}") }
}

/// What is no sum over inputs, but the largest of them.
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
