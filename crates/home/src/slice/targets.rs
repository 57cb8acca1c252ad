//! The variables that the questions are about.

use crate::rules::Rule;
use crate::unfold::{Action, EventKey, UnitId, VarId, World};
use crate::value::Stored;
use std::collections::{BTreeMap, BTreeSet};

/// What the questions are about.
pub(super) struct Targets {
    pub(super) vars: BTreeSet<VarId>,
    pub(super) units: BTreeSet<UnitId>,
}

/// Returns the attributes that two apps set to different values, and the handlers on cycles of
/// events. If there are rules, returns the variables that they name and nothing else.
pub(super) fn targets(world: &World<'_>, rules: &[Rule]) -> Targets {
    if rules.is_empty() {
        return Targets { vars: contested(world), units: cyclic(world) };
    }
    let names = rules.iter().flat_map(|rule| rule.never.iter().map(|(name, _)| name));
    Targets {
        vars: names.flat_map(|name| world.vars_named(name)).collect(),
        units: BTreeSet::new(),
    }
}

fn actions<'w>(world: &'w World<'_>) -> impl Iterator<Item = (UnitId, &'w Action)> {
    world.trees.iter().enumerate().flat_map(|(unit, tree)| {
        tree.nodes.iter().filter_map(move |node| Some((unit, node.action.as_ref()?)))
    })
}

/// Returns the variables that two apps set to two values.
fn contested(world: &World<'_>) -> BTreeSet<VarId> {
    let mut set: BTreeMap<VarId, BTreeSet<(usize, &Stored)>> = BTreeMap::new();
    for (unit, action) in actions(world) {
        if let Action::Set { var, value, event: Some(_), .. } = action {
            set.entry(*var).or_default().insert((world.units[unit].app, value));
        }
    }
    let fights = |by: &BTreeSet<(usize, &Stored)>| {
        by.iter().any(|one| by.iter().any(|other| one.0 != other.0 && one.1 != other.1))
    };
    set.into_iter().filter(|(_, by)| fights(by)).map(|(var, _)| var).collect()
}

/// Returns the handlers that an event runs.
pub(super) fn takers(world: &World<'_>, event: &EventKey) -> Vec<UnitId> {
    let takers = world.subscriptions.iter().filter(|one| one.takes(event));
    let unit = |one: &crate::unfold::Subscription| {
        let (app, handler) = (one.app, one.handler.clone());
        world.known_unit(&crate::unfold::Unit { app, handler, event: Some(event.clone()) })
    };
    takers.filter_map(unit).collect()
}

/// Returns the handlers that lie on a cycle: they run each other by events.
fn cyclic(world: &World<'_>) -> BTreeSet<UnitId> {
    let mut runs: Vec<BTreeSet<UnitId>> = vec![BTreeSet::new(); world.trees.len()];
    let mut known: BTreeMap<&EventKey, Vec<UnitId>> = BTreeMap::new();
    for (unit, action) in actions(world) {
        match action {
            Action::Set { event: Some(event), .. } | Action::Emit { event, .. } => {
                let takers = known.entry(event).or_insert_with(|| takers(world, event));
                runs[unit].extend(takers.iter().copied());
            }
            Action::Run { unit: next, .. } => {
                runs[unit].insert(*next);
            }
            _ => {}
        }
    }
    (0..runs.len()).filter(|unit| reached(&runs, *unit).contains(unit)).collect()
}

fn reached(runs: &[BTreeSet<UnitId>], start: UnitId) -> BTreeSet<UnitId> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<UnitId> = runs[start].iter().copied().collect();
    while let Some(unit) = open.pop() {
        if reached.insert(unit) {
            open.extend(runs[unit].iter().copied());
        }
    }
    reached
}
