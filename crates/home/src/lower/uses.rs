//! Who sets, reads and hears of which attribute.

use crate::unfold::{Action, Origin, VarKind, World};
use std::collections::{BTreeMap, BTreeSet};

/// What an app does with an attribute.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AttributeUse {
    /// The values that it sets.
    pub writes: BTreeSet<String>,
    /// Whether it reads the attribute.
    pub reads: bool,
    /// Whether a change of the attribute runs it.
    pub hears: bool,
}

/// Returns the uses of each app of each attribute by its name in the program.
pub(super) fn uses(world: &World<'_>) -> BTreeMap<(usize, String), AttributeUse> {
    let mut found: BTreeMap<(usize, String), AttributeUse> = BTreeMap::new();
    for (unit, tree) in world.units.iter().zip(&world.trees) {
        for action in tree.nodes.iter().filter_map(|node| node.action.as_ref()) {
            let (Action::Read(var) | Action::Set { var, .. }) = action else { continue };
            if !matches!(world.vars[*var].kind, VarKind::Attribute(..) | VarKind::Location(_)) {
                continue;
            }
            let one = found.entry((unit.app, world.name(*var))).or_default();
            match action {
                Action::Set { value, .. } => {
                    one.writes.insert(value.to_string());
                }
                _ => one.reads = true,
            }
        }
    }
    for one in &world.subscriptions {
        let name = match one.origin {
            Origin::Device(device) => format!("{}.{}", world.home.devices[device].name, one.name),
            Origin::Location => format!("location.{}", one.name),
            Origin::App(_) => continue,
        };
        found.entry((one.app, name)).or_default().hears = true;
    }
    found
}
