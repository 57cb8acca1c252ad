//! Which automations may meet.

use super::rings::rings;
use crate::lower::{Facts, facts_of};
use crate::syntax::{Home, TriggerKind};
use std::collections::{BTreeMap, BTreeSet};

/// Automations to search together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slice {
    /// Their numbers: one or two, or those of a ring.
    pub parts: Vec<usize>,
    /// The states that both set, or by which one starts the other.
    pub about: Vec<String>,
    /// Whether a loop is possible.
    pub may_loop: bool,
}

/// Returns the pairs of automations that set a state in common or start each other, single ones
/// that start themselves or wait between two updates, and rings of three and more that start each
/// other. Also returns whether there are more rings. Quadratic in the automations that set one
/// state.
#[must_use]
pub fn slices(home: &Home) -> (Vec<Slice>, bool) {
    let facts = whole(home);
    let automations: Vec<usize> =
        (0..home.automations.len()).filter(|at| !home.automations[*at].is_script()).collect();
    let mut writers: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut readers: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for at in &automations {
        for key in facts[*at].writes.keys() {
            writers.entry(key).or_default().push(*at);
        }
        for key in &facts[*at].triggers {
            readers.entry(key).or_default().push(*at);
        }
    }
    let mut found: BTreeMap<Vec<usize>, Slice> = BTreeMap::new();
    let mut add = |parts: Vec<usize>, key: &str, may_loop: bool| {
        let slice = found.entry(parts.clone()).or_insert(Slice {
            parts,
            about: Vec::new(),
            may_loop: false,
        });
        slice.may_loop |= may_loop;
        if !slice.about.iter().any(|known| known == key) {
            slice.about.push(key.to_owned());
        }
    };
    for (key, list) in &writers {
        for (at, a) in list.iter().enumerate() {
            for b in &list[at + 1..] {
                if differ(&facts[*a], &facts[*b], key) && meet(home, &facts, *a, *b) {
                    add(vec![*a, *b], key, false);
                }
            }
            if readers.get(key).is_some_and(|readers| readers.contains(a)) {
                add(vec![*a], key, true);
            }
        }
    }
    // One starts the other, and that one starts the first.
    for (key, list) in &writers {
        for a in list {
            for b in readers.get(key).into_iter().flatten().filter(|b| *b != a) {
                let back = facts[*b].writes.keys().any(|key| facts[*a].triggers.contains(key));
                if back {
                    let mut parts = vec![*a, *b];
                    parts.sort_unstable();
                    add(parts, key, true);
                }
            }
        }
    }
    // What waits between two updates of a state may be started again meanwhile.
    for at in &automations {
        let facts = &facts[*at];
        for (key, values) in facts.writes.iter().filter(|_| facts.waits) {
            if values.len() > 1 {
                add(vec![*at], key, false);
            }
        }
    }
    let (rings, more) = rings(home, &facts, &automations);
    for (parts, keys) in rings {
        for key in keys {
            add(parts.clone(), &key, true);
        }
    }
    (found.into_values().collect(), more)
}

/// The facts of each automation with those of the scripts that it runs.
fn whole(home: &Home) -> Vec<Facts> {
    let own: Vec<Facts> = home.automations.iter().map(|a| facts_of(home, a)).collect();
    let index: BTreeMap<&str, usize> =
        home.automations.iter().enumerate().map(|(at, a)| (a.entity.as_str(), at)).collect();
    let one = |at: usize| {
        let mut facts = own[at].clone();
        let mut seen: BTreeSet<usize> = BTreeSet::from([at]);
        let mut open: Vec<usize> = vec![at];
        while let Some(at) = open.pop() {
            for name in &own[at].runs {
                if let Some(child) = index.get(name.as_str())
                    && seen.insert(*child)
                    && home.automations[*child].is_script()
                {
                    facts.add(&own[*child]);
                    open.push(*child);
                }
            }
        }
        facts
    };
    (0..own.len()).map(one).collect()
}

/// Whether two automations may give a key different values.
fn differ(a: &Facts, b: &Facts, key: &str) -> bool {
    let (Some(a), Some(b)) = (a.writes.get(key), b.writes.get(key)) else { return false };
    a.contains("") || b.contains("") || a.union(b).count() > 1
}

/// Whether runs of two automations may overlap, or one starts the other.
fn meet(home: &Home, facts: &[Facts], a: usize, b: usize) -> bool {
    let (fa, fb) = (&facts[a], &facts[b]);
    fa.waits
        || fb.waits
        || fa.triggers.intersection(&fb.triggers).next().is_some()
        || fa.writes.keys().any(|key| fb.triggers.contains(key))
        || fb.writes.keys().any(|key| fa.triggers.contains(key))
        || fa.times.intersection(&fb.times).next().is_some()
        || outside(home, a).intersection(&outside(home, b)).next().is_some()
}

/// The triggers that are no states.
fn outside(home: &Home, at: usize) -> BTreeSet<String> {
    let triggers = home.automations[at].triggers.iter();
    triggers
        .filter_map(|trigger| match &trigger.kind {
            TriggerKind::External(words) => Some(words.clone()),
            TriggerKind::Event { types, .. } => Some(types.join(",")),
            TriggerKind::HomeAssistant { event } => Some(format!("homeassistant {event}")),
            TriggerKind::Sun { event, offset: Some(offset) } => Some(format!("{event} {offset}")),
            _ => None,
        })
        .collect()
}
