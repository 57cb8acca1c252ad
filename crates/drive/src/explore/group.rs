//! Findings that are one mistake: the same two places, and the same kind of difference.
//!
//! **Problem.** A mistake shows itself once for each pair of events that makes it: a field into
//! which a user types ten characters has nine pairs of answers that overtake each other.
//! **Method.** Where the words of the program say what kind of difference a reversal makes
//! ([`TaskWords::effect_kind`](super::TaskWords::effect_kind)), findings whose two sites and kinds
//! are equal are one: the first, which has the fewest reversals. It lists the pairs of the others.

use crate::Reported;
use anyorder_common::numbers::plural;
use anyorder_finding::{Finding, Site};
use std::collections::BTreeMap;

/// The most pairs that a finding lists.
const PAIRS_MAX: usize = 1_000;

/// The place of a site: its file, line and column.
type Place = (String, u32, u32);

/// What the findings of one mistake have in common.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Group {
    places: [Place; 2],
    kind: String,
}

impl Group {
    /// Returns the group of a finding, if both of its sites are known. The order of the two does
    /// not matter.
    pub(super) fn of(finding: &Finding, kind: String) -> Option<Group> {
        let place =
            |site: &Site| Some((site.file.clone()?, site.line?, site.column.unwrap_or_default()));
        let [first, second] = finding.sites.as_slice() else { return None };
        let mut places = [place(first)?, place(second)?];
        places.sort();
        Some(Group { places, kind })
    }
}

/// Merges the findings of one group into the first of them, which takes the highest severity.
pub(super) fn grouped(all: impl Iterator<Item = (Option<Group>, Reported)>) -> Vec<Reported> {
    let mut merged: Vec<Reported> = Vec::new();
    let mut firsts: BTreeMap<Group, usize> = BTreeMap::new();
    for (group, one) in all {
        let Some(group) = group else {
            merged.push(one);
            continue;
        };
        match firsts.get(&group) {
            None => {
                firsts.insert(group, merged.len());
                merged.push(one);
            }
            Some(at) => take_in(&mut merged[*at].finding, &one.finding),
        }
    }
    for at in firsts.into_values() {
        let finding = &mut merged[at].finding;
        let more = finding.pairs_total.saturating_sub(1);
        if more > 0 {
            finding.title.push_str(&format!(" (and {} like this)", plural(more, "more pair")));
        }
    }
    merged
}

/// Adds the pair of a finding to another one of its group.
fn take_in(into: &mut Finding, one: &Finding) {
    if into.pairs_total == 0 {
        into.pairs.extend(pair(into));
        into.pairs_total = 1;
    }
    into.pairs_total += 1;
    if into.pairs.len() < PAIRS_MAX {
        into.pairs.extend(pair(one));
    }
    into.severity = into.severity.max(one.severity);
}

/// Returns the names of the two tasks.
fn pair(finding: &Finding) -> Option<[String; 2]> {
    let [first, second] = finding.sites.as_slice() else { return None };
    Some([first.task.clone()?, second.task.clone()?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_finding::{Kind, Severity};

    fn reported(places: [(u32, &str); 2], severity: Severity) -> Reported {
        let site = |(line, task): (u32, &str)| Site {
            file: Some("a.js".to_owned()),
            line: Some(line).filter(|line| *line > 0),
            task: Some(task.to_owned()),
            ..Site::default()
        };
        let finding = Finding {
            title: "a race".to_owned(),
            severity,
            sites: places.map(site).to_vec(),
            ..Finding::new(Kind::Race)
        };
        Reported { finding, run: None }
    }

    fn merged(all: &[(Reported, &str)]) -> Vec<Reported> {
        let grouped_of = |(one, kind): &(Reported, &str)| {
            (Group::of(&one.finding, (*kind).to_owned()), one.clone())
        };
        grouped(all.iter().map(grouped_of))
    }

    #[test]
    fn findings_at_the_same_places_with_the_same_effect_are_one() {
        let all = [
            (reported([(3, "a"), (5, "b")], Severity::Warning), "text"),
            (reported([(5, "c"), (3, "a")], Severity::Error), "text"),
            (reported([(3, "a"), (5, "b")], Severity::Warning), "request"),
            (reported([(3, "a"), (6, "b")], Severity::Warning), "text"),
            (reported([(0, "a"), (5, "b")], Severity::Warning), "text"),
            (reported([(0, "a"), (5, "b")], Severity::Warning), "text"),
        ];
        let merged = merged(&all);
        let pairs: Vec<u64> = merged.iter().map(|one| one.finding.pairs_total).collect();
        assert_eq!(pairs, [2, 0, 0, 0, 0]);
        let first = &merged[0].finding;
        assert_eq!(first.title, "a race (and 1 more pair like this)");
        assert_eq!(first.severity, Severity::Error);
        let names = |pair: [&str; 2]| pair.map(str::to_owned);
        assert_eq!(first.pairs, [names(["a", "b"]), names(["c", "a"])]);
    }
}
