//! The check of a home: slices, searches, and what of it all was not exact.

use super::finding::{Finding, FindingKind};
use super::search::Search;
use super::slices::{Slice, slices};
use super::understanding::{Understanding, understanding, written};
use crate::lower::{Options as LowerOptions, facts_of, lower};
use crate::place::{Problem, Severity};
use crate::syntax::Home;
use anyorder_vm::Machine;
use std::collections::{BTreeMap, BTreeSet};

/// How much is searched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// The most states of one pair of automations.
    pub states_max: usize,
    /// Whether what cannot change the states that a search is about is left out. The findings are
    /// the same without; a search is then larger. For tests and measurements.
    pub reduced: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { states_max: 500, reduced: true }
    }
}

/// What a check gives.
#[derive(Debug, Default)]
pub struct Checked {
    /// What was found, without repetitions, in the order of the pairs.
    pub findings: Vec<Finding>,
    /// What was not understood or not exact, without repetitions.
    pub problems: Vec<Problem>,
    /// How many automations are understood how far.
    pub understood: BTreeMap<Understanding, u64>,
    /// The number of pairs and single automations that were searched.
    pub pairs: u64,
    /// Those of them with more states than the bound.
    pub cut: u64,
    /// Those that were not searched, because the check was stopped.
    pub left: u64,
    /// The states of all searches.
    pub states: u64,
    /// The reactions of all searches.
    pub reactions: u64,
}

/// Checks a home. `stop` is asked often, and ends the check when it returns true.
#[must_use]
pub fn check(home: &Home, options: &Options, stop: &dyn Fn() -> bool) -> Checked {
    let mut checked = Checked { problems: home.problems.clone(), ..Checked::default() };
    let mut seen = BTreeSet::new();
    // What each automation has that is not exact, whether or not it meets another one.
    let keys = written(home);
    for at in 0..home.automations.len() {
        if stop() {
            break;
        }
        let (understood, problems) = understanding(home, at, &keys);
        checked.problems.extend(problems);
        if !home.automations[at].is_script() {
            *checked.understood.entry(understood).or_default() += 1;
        }
    }
    let (mut list, more) = slices(home);
    checked.cut += u64::from(more);
    // Small ones first: they are decided even where time is short.
    list.sort_by_key(|slice| size(home, slice));
    for slice in list {
        if stop() {
            checked.left += 1;
            continue;
        }
        checked.pairs += 1;
        one(home, &slice, options, stop, &mut checked, &mut seen);
    }
    checked.problems.sort();
    checked.problems.dedup();
    checked
}

/// How many states an automation reads, about.
fn size(home: &Home, slice: &Slice) -> usize {
    let of = |at: &usize| {
        let facts = facts_of(home, &home.automations[*at]);
        facts.reads.union(&facts.triggers).count()
    };
    slice.parts.iter().map(of).sum()
}

/// The automations for which each part runs.
fn roots(home: &Home, parts: &[usize]) -> Vec<Vec<usize>> {
    let place =
        |entity: &String| parts.iter().position(|part| home.automations[*part].entity == *entity);
    let mut roots: Vec<Vec<usize>> = vec![Vec::new(); parts.len()];
    for (root, part) in parts.iter().enumerate() {
        if home.automations[*part].is_script() {
            continue;
        }
        let mut open = vec![root];
        while let Some(at) = open.pop() {
            if roots[at].contains(&root) {
                continue;
            }
            roots[at].push(root);
            let runs = facts_of(home, &home.automations[parts[at]]).runs;
            open.extend(
                runs.iter()
                    .filter_map(place)
                    .filter(|child| home.automations[parts[*child]].is_script()),
            );
        }
    }
    roots
}

fn one(
    home: &Home,
    slice: &Slice,
    options: &Options,
    stop: &dyn Fn() -> bool,
    checked: &mut Checked,
    seen: &mut BTreeSet<(super::FindingKind, String, Vec<String>)>,
) {
    let asked = LowerOptions {
        about: Some(slice.about.clone()),
        reduced: options.reduced,
        ..LowerOptions::of(slice.parts.clone())
    };
    let lowered = match lower(home, &asked) {
        Ok(lowered) => lowered,
        Err(error) => {
            let place = home.automations[slice.parts[0]].place;
            let text = error.to_string();
            let problem =
                Problem::new(place, Severity::NotUnderstood, "too large automation", text);
            checked.problems.push(problem);
            return;
        }
    };
    let reversed = (slice.parts.len() > 1)
        .then(|| lower(home, &LowerOptions { reversed: true, ..asked }).ok())
        .flatten()
        .and_then(|lowered| Machine::new(lowered.program).ok());
    let Ok(machine) = Machine::new(lowered.program.clone()) else { return };
    // Only what waits can overwrite what came meanwhile.
    let name = |at: &usize| {
        let automation = &home.automations[*at];
        if facts_of(home, automation).waits { automation.entity.clone() } else { String::new() }
    };
    let names = lowered.parts.iter().map(name).collect();
    let machines = (machine, reversed);
    let entities = lowered.parts.iter().map(|at| home.automations[*at].entity.clone()).collect();
    let names = (names, entities, roots(home, &lowered.parts));
    let searched = Search::new(machines, &lowered, names, slice, stop).run(options.states_max);
    checked.cut += u64::from(searched.cut);
    checked.states += searched.states;
    checked.reactions += searched.reactions;
    let ordered: Vec<_> = searched
        .findings
        .iter()
        .filter(|finding| finding.kind == FindingKind::Order)
        .map(|finding| (finding.entity.clone(), finding.key().2))
        .collect();
    for finding in searched.findings {
        // Both orders of one event are one fault.
        let same = (finding.entity.clone(), finding.key().2);
        if finding.kind == FindingKind::Fight && ordered.contains(&same) {
            continue;
        }
        if !seen.insert(finding.key()) {
            continue;
        }
        match checked.findings.iter_mut().find(|known| known.is_same(&finding)) {
            Some(known) => {
                if known.entity != finding.entity && !known.also.contains(&finding.entity) {
                    known.also.push(finding.entity);
                }
            }
            None => checked.findings.push(finding),
        }
    }
}
