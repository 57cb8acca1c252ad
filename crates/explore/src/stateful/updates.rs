//! Update conflicts: two components have updated one attribute, one right after the other.
//!
//! `overwritten` first finds all conflicts, for all attributes at once. For each attribute with
//! conflicts, a search of the explored graph then finds the paths to them. Its states also hold the
//! component that updated the attribute last. The result is exact: it is the same as if each state
//! remembered the last writer. This memory is written only together with the attribute, so it adds
//! no conflict.

use super::engine::Engine;
use super::overwritten::overwritten;
use super::sabotage::Sabotage;
use anyorder_search::{NumberedPath, Writer, conflicts_of};
use anyorder_system::{Place, Reducible};
use std::collections::BTreeMap;

impl<S: Reducible> Engine<'_, S> {
    /// Returns all update conflicts, by attribute and components, with a shortest path to each.
    pub(crate) fn update_conflicts(&self) -> BTreeMap<(Place, (u32, u32)), NumberedPath> {
        let mut all = BTreeMap::new();
        for (place, pairs) in overwritten(&self.space, self.options.sabotage()) {
            let states = (self.space.nodes.len(), self.space.initial());
            let mut writers: Vec<Vec<Writer>> = self.space.update_lists.writers(place);
            if self.options.sabotage() == Sabotage::NobodyUpdatesNothing {
                writers.iter_mut().for_each(|list| list.retain(Option::is_some));
            }
            let found = conflicts_of(
                states,
                |state| self.space.updating(state),
                &writers,
                |found| pairs.iter().all(|pair| found.contains_key(pair)),
            );
            let wanted = found.into_iter().filter(|(pair, _)| pairs.contains(pair));
            all.extend(wanted.map(|(pair, path)| ((place, pair), path)));
        }
        all
    }
}
