//! An index of suppressions: finds those that match a finding without asking each of them.
//!
//! Suppressions with equal conditions are one rule. A rule with an id is found by the id, one with
//! a location without `*` and `?` by the location, and one with a pattern by its longest literal
//! part: one pass over a location finds all the parts that occur in it. Only rules found so are
//! compared with the finding. Rules by kind and category alone are few, because there are few
//! kinds.

use crate::finding::Finding;
use crate::suppress::Suppression;
use crate::words::Kind;
use aho_corasick::AhoCorasick;
use std::collections::HashMap;

/// The conditions of a suppression. Equal ones match the same findings.
type Conditions<'s> = (Option<Kind>, Option<&'s str>, Option<&'s str>, Option<&'s str>);

/// Comparisons between two questions whether to stop.
const POLL: usize = 1 << 10;

/// The suppressions by what a finding has.
pub(crate) struct Rules<'s> {
    entries: &'s [Suppression],
    /// The first suppression of each rule, in the order of the file.
    firsts: Vec<usize>,
    /// The rule of each suppression.
    rule_of: Vec<usize>,
    used: Vec<bool>,
    by_id: HashMap<&'s str, Vec<usize>>,
    by_location: HashMap<&'s str, Vec<usize>>,
    patterns: Patterns,
    /// Rules with neither an id nor a location.
    others: Vec<usize>,
}

/// Rules with patterns, by their longest literal parts.
#[derive(Default)]
struct Patterns {
    /// Finds the literal parts. `None`: there are none, or too many; then all rules are asked.
    literals: Option<AhoCorasick>,
    /// The rules of each literal part.
    rules: Vec<Vec<usize>>,
    /// Rules without a literal part.
    always: Vec<usize>,
    /// The round in which a literal part was found last, so that it counts once.
    seen: Vec<u64>,
    round: u64,
}

impl<'s> Rules<'s> {
    /// Makes the index. O(suppressions and their texts).
    pub(crate) fn of(entries: &'s [Suppression]) -> Rules<'s> {
        let mut known: HashMap<Conditions<'s>, usize> = HashMap::new();
        let mut firsts = Vec::new();
        let rule_of = entries.iter().enumerate().map(|(at, entry)| {
            *known.entry(conditions(entry)).or_insert_with(|| {
                firsts.push(at);
                firsts.len() - 1
            })
        });
        let rule_of: Vec<usize> = rule_of.collect();
        let (mut by_id, mut by_location) = (HashMap::new(), HashMap::new());
        let (mut with_pattern, mut others) = (Vec::new(), Vec::new());
        for (rule, first) in firsts.iter().enumerate() {
            let entry = &entries[*first];
            let list: &mut Vec<usize> = match (&entry.id, &entry.location) {
                (Some(id), _) => by_id.entry(id.as_str()).or_default(),
                (None, Some(location)) if location.contains(WILD) => {
                    with_pattern.push((location.as_str(), rule));
                    continue;
                }
                (None, Some(location)) => by_location.entry(location.as_str()).or_default(),
                (None, None) => &mut others,
            };
            list.push(rule);
        }
        let used = vec![false; firsts.len()];
        let patterns = Patterns::of(with_pattern);
        Rules { entries, firsts, rule_of, used, by_id, by_location, patterns, others }
    }

    /// Returns the first suppression that matches a finding, and marks all that match as used. Once
    /// `stop` returns true it may miss some.
    pub(crate) fn first_match(
        &mut self,
        finding: &Finding,
        stop: &dyn Fn() -> bool,
    ) -> Option<&'s Suppression> {
        let Rules { entries, firsts, used, patterns, .. } = self;
        let entries: &'s [Suppression] = entries;
        let mut first: Option<usize> = None;
        let mut asked = 0;
        let mut ask = |rule: usize| {
            asked += 1;
            if asked % POLL == 0 && stop() {
                return false;
            }
            let entry = firsts[rule];
            // A later suppression changes nothing but whether it is used.
            if (!used[rule] || first.is_none_or(|first| entry < first))
                && entries[entry].matches(finding)
            {
                used[rule] = true;
                first = Some(first.map_or(entry, |first| first.min(entry)));
            }
            true
        };
        let by_id = finding.ids().filter_map(|id| self.by_id.get(id)).flatten();
        if !by_id.chain(&self.others).all(|rule| ask(*rule)) {
            return first.map(|at| &entries[at]);
        }
        for location in finding.sites.iter().filter_map(|site| site.location.as_deref()) {
            let literal = self.by_location.get(location).into_iter().flatten();
            if !literal.copied().all(&mut ask) || !patterns.each(location, &mut ask) {
                break;
            }
        }
        first.map(|at| &entries[at])
    }

    /// Returns the suppressions that have matched nothing.
    pub(crate) fn unused(self) -> Vec<&'s Suppression> {
        let rules = self.entries.iter().zip(&self.rule_of);
        rules.filter(|(_, rule)| !self.used[**rule]).map(|(entry, _)| entry).collect()
    }
}

/// The characters of a pattern that are not literal.
const WILD: [char; 2] = ['*', '?'];

impl Patterns {
    fn of<'s>(with_pattern: Vec<(&'s str, usize)>) -> Patterns {
        let mut rules: Vec<Vec<usize>> = Vec::new();
        let mut always = Vec::new();
        let mut numbers: HashMap<&'s str, usize> = HashMap::new();
        let mut literals: Vec<&'s str> = Vec::new();
        for (pattern, rule) in &with_pattern {
            // Never empty: there is at least one part.
            match pattern.split(WILD).max_by_key(|part| part.len()).unwrap_or_default() {
                "" => always.push(*rule),
                literal => {
                    let number = *numbers.entry(literal).or_insert_with(|| {
                        literals.push(literal);
                        rules.push(Vec::new());
                        rules.len() - 1
                    });
                    rules[number].push(*rule);
                }
            }
        }
        match AhoCorasick::new(&literals) {
            Ok(literals) => {
                let seen = vec![0; rules.len()];
                Patterns { literals: Some(literals), rules, always, seen, round: 0 }
            }
            Err(_) => Patterns {
                always: with_pattern.into_iter().map(|(_, rule)| rule).collect(),
                ..Patterns::default()
            },
        }
    }

    /// Calls `ask` for each rule whose pattern may match a location, until it returns false.
    /// Returns whether it never did.
    fn each(&mut self, location: &str, ask: &mut dyn FnMut(usize) -> bool) -> bool {
        if !self.always.iter().all(|rule| ask(*rule)) {
            return false;
        }
        let Some(literals) = &self.literals else { return true };
        self.round += 1;
        for found in literals.find_overlapping_iter(location) {
            let number = found.pattern().as_usize();
            if std::mem::replace(&mut self.seen[number], self.round) != self.round
                && !self.rules[number].iter().all(|rule| ask(*rule))
            {
                return false;
            }
        }
        true
    }
}

fn conditions(entry: &Suppression) -> Conditions<'_> {
    let Suppression { kind, category, location, id, .. } = entry;
    (*kind, category.as_deref(), location.as_deref(), id.as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Site;
    use anyorder_common::random::{Random, SplitMix64};

    /// The first suppression that matches, and those that match: by asking each of them.
    fn slow(entries: &[Suppression], findings: &[Finding]) -> (Vec<Option<u32>>, Vec<u32>) {
        let first = |finding: &Finding| {
            let mut all = entries.iter().filter(|entry| entry.matches(finding));
            all.next().map(|entry| entry.line)
        };
        let unused = |entry: &&Suppression| !findings.iter().any(|one| entry.matches(one));
        let unused = entries.iter().filter(unused).map(|entry| entry.line);
        (findings.iter().map(first).collect(), unused.collect())
    }

    #[test]
    fn the_index_finds_what_asking_each_suppression_finds() {
        let mut random = SplitMix64(7);
        for _ in 0..5_000 {
            let text = |random: &mut SplitMix64, letters: &[char]| -> String {
                let length = random.index(5);
                (0..length).map(|_| letters[random.index(letters.len())]).collect()
            };
            let kinds = [Kind::Race, Kind::Deadlock];
            let entries: Vec<Suppression> = (0..random.index(8) as u32)
                .map(|line| Suppression {
                    kind: (random.index(3) == 0).then(|| kinds[random.index(2)]),
                    category: (random.index(4) == 0).then(|| text(&mut random, &['c'])),
                    location: (random.index(3) > 0)
                        .then(|| text(&mut random, &['a', 'b', 'ä', '*', '?'])),
                    id: (random.index(4) == 0).then(|| text(&mut random, &['1', '2'])),
                    reason: None,
                    line,
                })
                .collect();
            let mut findings: Vec<Finding> = (0..random.index(8))
                .map(|_| {
                    let site = |random: &mut SplitMix64| Site {
                        location: (random.index(5) > 0)
                            .then(|| text(random, &['a', 'b', 'ä', '*'])),
                        ..Site::default()
                    };
                    Finding {
                        id: text(&mut random, &['1', '2']),
                        category: (random.index(2) == 0).then(|| text(&mut random, &['c'])),
                        sites: vec![site(&mut random), site(&mut random)],
                        ..Finding::new(kinds[random.index(2)])
                    }
                })
                .collect();
            let (marks, unused) = slow(&entries, &findings);
            let suppressions = crate::suppress::Suppressions::from_entries(entries.clone());
            let found: Vec<u32> =
                suppressions.apply(&mut findings).iter().map(|entry| entry.line).collect();
            let line = |one: &Finding| one.suppressed.as_ref().and_then(|mark| mark.line);
            let found_marks: Vec<Option<u32>> = findings.iter().map(line).collect();
            assert_eq!((found_marks, found), (marks, unused), "{entries:?} {findings:?}");
        }
    }

    #[test]
    fn a_stop_leaves_the_rest_unmarked_and_nothing_unused() {
        let entry = |location: &str| Suppression {
            location: Some(location.to_owned()),
            ..Suppression::default()
        };
        let suppressions =
            crate::suppress::Suppressions::from_entries(vec![entry("a"), entry("none")]);
        let site = Site { location: Some("a".to_owned()), ..Site::default() };
        let mut findings = vec![Finding { sites: vec![site], ..Finding::new(Kind::Race) }; 3];
        let polls = std::cell::Cell::new(0);
        let stop = || polls.replace(polls.get() + 1) >= 2;
        let applied = suppressions.apply_until(&mut findings, &stop);
        assert_eq!((applied.decided, applied.unused.len()), (2, 0));
        let marks: Vec<bool> = findings.iter().map(|one| one.suppressed.is_some()).collect();
        assert_eq!(marks, [true, true, false]);
        // One that nothing matches may have been stopped in the middle: it is not decided.
        findings[0].sites.clear();
        let polls = std::cell::Cell::new(0);
        let stop = || polls.replace(polls.get() + 1) >= 1;
        assert_eq!(suppressions.apply_until(&mut findings, &stop).decided, 0);
    }
}
