//! Rings of automations: each one starts the next one by what it sets.

use crate::lower::Facts;
use crate::syntax::{Home, Match, TriggerKind};
use std::collections::{BTreeMap, BTreeSet};

/// The most automations of one ring.
const LENGTH_MAX: usize = 6;

/// The most rings.
const RINGS_MAX: usize = 60;

/// The most steps on the way to all rings.
const STEPS_MAX: usize = 200_000;

/// A ring: its automations in order of their numbers, and the states by which they start each
/// other.
pub(super) type Ring = (Vec<usize>, BTreeSet<String>);

/// Returns the rings of three and more automations, and whether there are more than these. A ring
/// is an elementary circuit of the graph in which an automation leads to those whose triggers a
/// value fits that it sets; each begins at its smallest number, so each is found once (the bound
/// replaces the blocking of Johnson, "Finding All the Elementary Circuits of a Directed Graph",
/// 1975).
pub(super) fn rings(home: &Home, facts: &[Facts], automations: &[usize]) -> (Vec<Ring>, bool) {
    let next = graph(home, facts, automations);
    let mut found: BTreeMap<Vec<usize>, BTreeSet<String>> = BTreeMap::new();
    let mut steps = 0;
    for first in automations {
        let mut open: Vec<Vec<usize>> = vec![vec![*first]];
        while let Some(path) = open.pop() {
            steps += 1;
            if steps > STEPS_MAX || found.len() >= RINGS_MAX {
                return (found.into_iter().collect(), true);
            }
            let last = path[path.len() - 1];
            for to in next.get(&last).into_iter().flatten().map(|(to, _)| *to) {
                if to == *first && path.len() > 2 {
                    let mut parts = path.clone();
                    parts.sort_unstable();
                    let keys = found.entry(parts).or_default();
                    for (at, from) in path.iter().enumerate() {
                        let to = path[(at + 1) % path.len()];
                        keys.extend(next[from][&to].iter().cloned());
                    }
                } else if to > *first && !path.contains(&to) {
                    if path.len() >= LENGTH_MAX {
                        continue;
                    }
                    let mut longer = path.clone();
                    longer.push(to);
                    open.push(longer);
                }
            }
        }
    }
    (found.into_iter().collect(), false)
}

/// Which automations each one starts, and by which states.
type Graph = BTreeMap<usize, BTreeMap<usize, BTreeSet<String>>>;

fn graph(home: &Home, facts: &[Facts], automations: &[usize]) -> Graph {
    let mut heard: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for at in automations {
        for key in &facts[*at].triggers {
            heard.entry(key).or_default().push(*at);
        }
    }
    let mut graph = Graph::new();
    for from in automations {
        for (key, values) in &facts[*from].writes {
            for to in heard.get(key.as_str()).into_iter().flatten().filter(|to| *to != from) {
                if values.is_empty() || values.iter().any(|value| starts(home, *to, key, value)) {
                    let keys = graph.entry(*from).or_default().entry(*to).or_default();
                    keys.insert(key.clone());
                }
            }
        }
    }
    graph
}

/// Whether a value of a state may start an automation. "" is a value that is not known.
fn starts(home: &Home, at: usize, key: &str, value: &str) -> bool {
    let (entity, attribute) = key.split_once('#').map_or((key, None), |(e, a)| (e, Some(a)));
    home.automations[at].triggers.iter().any(|trigger| match &trigger.kind {
        TriggerKind::State { entities, attribute: of, to, .. } => {
            entities.iter().any(|named| named == entity)
                && of.as_deref() == attribute
                && (value.is_empty()
                    || match to {
                        Match::Unsaid | Match::Any => true,
                        Match::In(values) => values.iter().any(|v| v == value),
                        Match::NotIn(values) => values.iter().all(|v| v != value),
                    })
        }
        TriggerKind::Numeric { entities, .. } | TriggerKind::Zone { entities, .. } => {
            entities.iter().any(|named| named == entity)
        }
        TriggerKind::Template { .. } => true,
        TriggerKind::Sun { .. } => entity == "sun.sun",
        _ => false,
    })
}
