//! Leaves out of a world what is not kept, and gives the variables new numbers.

use super::keep::Kept;
use crate::unfold::{Action, Tree, VarId, World};
use std::collections::BTreeMap;

pub(super) fn shrink(world: &mut World<'_>, kept: &Kept) {
    let number: BTreeMap<VarId, VarId> =
        kept.vars.iter().enumerate().map(|(new, old)| (*old, new)).collect();
    let mut trees = kept.trees.clone();
    for tree in &mut trees {
        moved(tree, &number);
    }
    let mut subscriptions = std::mem::take(&mut world.subscriptions);
    subscriptions.retain(|one| number.contains_key(&one.var));
    for one in &mut subscriptions {
        one.var = number[&one.var];
    }
    world.keep(&kept.vars, trees, subscriptions);
    world.events.retain(|event| kept.events.contains(event));
}

fn moved(tree: &mut Tree, number: &BTreeMap<VarId, VarId>) {
    for action in tree.nodes.iter_mut().filter_map(|node| node.action.as_mut()) {
        if let Action::Read(var) | Action::Set { var, .. } = action {
            *var = number[var];
        }
    }
}
