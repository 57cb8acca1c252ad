//! The check of a home: slices, searches, and what of it all was not exact.

use super::finding::{Finding, FindingKind};
use super::search::Search;
use super::slices::{Slice, slices};
use crate::lower::{Options as LowerOptions, facts_of, lower};
use crate::place::{Problem, Severity};
use crate::syntax::Home;
use anyorder_vm::Machine;
use std::collections::BTreeSet;

/// How much is searched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// The most states of one pair of automations.
    pub states_max: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { states_max: 500 }
    }
}

/// What a check gives.
#[derive(Debug, Default)]
pub struct Checked {
    /// What was found, without repetitions, in the order of the pairs.
    pub findings: Vec<Finding>,
    /// What was not understood or not exact, without repetitions.
    pub problems: Vec<Problem>,
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
    for at in 0..home.automations.len() {
        if stop() {
            break;
        }
        if let Ok(lowered) = lower(home, &LowerOptions::of(vec![at])) {
            checked.problems.extend(lowered.problems);
        }
    }
    let mut list = slices(home);
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

fn one(
    home: &Home,
    slice: &Slice,
    options: &Options,
    stop: &dyn Fn() -> bool,
    checked: &mut Checked,
    seen: &mut BTreeSet<(super::FindingKind, String, Vec<String>)>,
) {
    let asked =
        LowerOptions { about: Some(slice.about.clone()), ..LowerOptions::of(slice.parts.clone()) };
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
    let searched =
        Search::new(machine, reversed, &lowered, names, slice).run(options.states_max, stop);
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
        if seen.insert(finding.key()) {
            checked.findings.push(finding);
        }
    }
}
