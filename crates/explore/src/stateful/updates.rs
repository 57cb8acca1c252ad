//! Update conflicts: two components have updated one attribute, one right after the other.
//!
//! For each attribute with conflicts, a search of the explored graph whose states also hold who updated the attribute last. That is exact: the
//! search sees what it would see if each state remembered the last writer, because such a memory is written only where the attribute is, and so
//! conflicts nowhere else. Which conflicts there are is found first, for all attributes at once (`overwritten`); the search is for the ways to them.

use super::conclude::Way;
use super::engine::Engine;
use super::outcome::Property;
use super::overwritten::{by_place, overwritten, pair};
use super::sabotage::Sabotage;
use super::space::NO_PARENT;
use super::ways::{Choice, choice};
use anyorder_system::{Place, Reducible, Update};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Who updated an attribute last. `None`: nobody, or no component.
type Writer = Option<u32>;

/// A state with the last writer, and how it was reached: the index of such a state before, and the place of the edge.
struct Seen {
    state: u32,
    writer: Writer,
    before: u32,
    edge: u32,
}

impl<S: Reducible> Engine<'_, S> {
    /// Returns all update conflicts with a shortest way to each.
    pub(crate) fn update_conflicts(&self) -> BTreeMap<Property, Way> {
        let mut found = BTreeMap::new();
        for (place, pairs) in overwritten(&self.space, self.options.sabotage) {
            self.conflicts_of(place, pairs, &mut found);
        }
        found
    }

    /// Finds a shortest way to the conflict of each of these pairs of components; ends once it has them.
    fn conflicts_of(
        &self,
        place: Place,
        mut pairs: BTreeSet<(u32, u32)>,
        found: &mut BTreeMap<Property, Way>,
    ) {
        let (space, sabotage) = (&self.space, self.options.sabotage);
        // For each list its updates of the attribute.
        let lists = space.update_lists.lists.iter();
        let of_place = |list: &[Update]| -> Vec<Writer> {
            let mut own = by_place(list).filter(|updates| updates[0].place == place);
            own.next().map_or_else(Vec::new, |own| own.iter().map(|update| update.by).collect())
        };
        let writers: Vec<Vec<Writer>> = lists.map(|list| of_place(list)).collect();
        let mut known: Vec<Vec<Writer>> = vec![Vec::new(); space.nodes.len()];
        let (mut seen, mut queue) = (Vec::new(), VecDeque::new());
        for (node, state) in space.nodes.iter().zip(0u32..) {
            if node.link.parent == NO_PARENT {
                known[state as usize].push(None);
                queue.push_back(seen.len() as u32);
                seen.push(Seen { state, writer: None, before: NO_PARENT, edge: 0 });
            }
        }
        while let Some(index) = queue.pop_front() {
            let (state, writer) = (seen[index as usize].state, seen[index as usize].writer);
            let start = space.edges_start(state);
            for (edge, at) in space.edges(state).iter().zip(start..) {
                let mut next = writer;
                for by in &writers[space.updates[at] as usize] {
                    if let (Some(a), Some(b)) = (next, *by)
                        && pairs.remove(&pair(a, b))
                    {
                        let components = pair(a, b);
                        let way = self.way(&seen, index, choice(space, state, at as u32));
                        found.insert(Property::UpdateConflict { place, components }, way);
                        if pairs.is_empty() {
                            return;
                        }
                    }
                    if by.is_some() || sabotage != Sabotage::NobodyUpdatesNothing {
                        next = *by;
                    }
                }
                let Some(target) = edge.state() else { continue };
                if !known[target as usize].contains(&next) {
                    known[target as usize].push(next);
                    queue.push_back(seen.len() as u32);
                    let edge = at as u32;
                    seen.push(Seen { state: target, writer: next, before: index, edge });
                }
            }
        }
    }

    fn way(&self, seen: &[Seen], mut index: u32, last: Choice) -> Way {
        let mut choices = vec![last];
        loop {
            let here = &seen[index as usize];
            if here.before == NO_PARENT {
                choices.reverse();
                return (self.space.nodes[here.state as usize].link.alternative, choices);
            }
            let before = &seen[here.before as usize];
            choices.push(choice(&self.space, before.state, here.edge));
            index = here.before;
        }
    }
}
