//! Update conflicts: two components have updated one attribute, one right after the other.
//!
//! First, [`overwritten`] finds all conflicts, for all attributes in one pass over the explored
//! graph. A *mark* is an attribute and a component that updates it. The marks of a state say which
//! component may have updated each attribute last. A step that updates an attribute removes its
//! marks and sets that of its last update. Sets of marks are bits, and they grow until nothing
//! changes. So the cost of an edge depends on the cycles around it, not on the number of
//! components.
//!
//! For each attribute with conflicts, a search of the explored graph then finds the paths to them.
//! Its states also hold the component that updated the attribute last. The result is exact: it is
//! the same as if each state remembered the last writer. This memory is written only together with
//! the attribute, so it adds no conflict.

use super::engine::Engine;
use super::sabotage::Sabotage;
use super::space::Space;
use anyorder_common::bits::{self, Rows};
use anyorder_search::{Extent, NumberedPath, Writer, conflicts_of, contested, pair};
use anyorder_system::{JobWatch, Place, Reducible, Update};
use std::collections::{BTreeMap, BTreeSet};

/// A path for each attribute and each pair of components with a conflict on it.
pub(super) type NumberedConflicts = BTreeMap<(Place, (u32, u32)), NumberedPath>;

impl<S: Reducible> Engine<'_, S> {
    /// Returns all update conflicts, by attribute and components, with a shortest path to each.
    /// Returns some of them once the job of this thread is stopped.
    pub(crate) fn update_conflicts(&self) -> NumberedConflicts {
        let mut all = BTreeMap::new();
        for (place, pairs) in overwritten(&self.space, self.options.sabotage()) {
            if JobWatch::current().check().is_err() {
                break;
            }
            let enough = |found: &BTreeMap<_, _>| pairs.iter().all(|pair| found.contains_key(pair));
            let found = self.conflicts_on(place, Extent::Whole, enough);
            let wanted = found.into_iter().filter(|(pair, _)| pairs.contains(pair));
            all.extend(wanted.map(|(pair, path)| ((place, pair), path)));
        }
        all
    }

    /// Returns the update conflicts near the initial states, in a fraction of a second.
    pub(crate) fn near_update_conflicts(&self) -> NumberedConflicts {
        let lists = self.space.update_lists.all().iter().map(|list| &**list);
        let attributes: Vec<Place> = contested(lists).map(|(place, _)| place).collect();
        let extent = Extent::after_stop(attributes.len());
        let mut all = BTreeMap::new();
        for place in attributes {
            let found = self.conflicts_on(place, extent, |_| false);
            all.extend(found.into_iter().map(|(pair, path)| ((place, pair), path)));
        }
        all
    }

    /// Returns the update conflicts on an attribute, until there are enough.
    fn conflicts_on(
        &self,
        place: Place,
        extent: Extent,
        enough: impl Fn(&BTreeMap<(u32, u32), NumberedPath>) -> bool,
    ) -> BTreeMap<(u32, u32), NumberedPath> {
        let states = (self.space.nodes.len(), self.space.initial(), extent);
        let mut writers: Vec<Vec<Writer>> = self.space.update_lists.writers(place);
        if self.options.sabotage() == Sabotage::NobodyUpdatesNothing {
            writers.iter_mut().for_each(|list| list.retain(Option::is_some));
        }
        conflicts_of(states, |state| self.space.updating(state), &writers, enough)
    }
}

/// The effect of a list of updates on the marks.
struct MarkEffect {
    clears: Vec<u64>,
    sets: Vec<u64>,
    /// The marks that it conflicts with, each with the other component.
    against: Vec<(u32, u32)>,
    /// The marks that hold before it in some state.
    met: Vec<u64>,
}

/// An attribute and a component.
type Mark = (Place, u32);

/// Pairs of components, the lower first, for each attribute.
type Conflicts = BTreeMap<Place, BTreeSet<(u32, u32)>>;

/// So many states are visited between two polls.
const POLLED: u32 = 1 << 8;

/// No effect.
const NONE: u32 = u32::MAX;

/// Returns for each attribute the pairs of components where one updates it right after the other.
fn overwritten<T>(space: &Space<T>, sabotage: Sabotage) -> Conflicts {
    let used = used(space);
    let lists = space.update_lists.all();
    let marks = marks(lists.iter().zip(&used).filter(|(_, used)| **used).map(|(list, _)| &**list));
    let mut conflicts = Conflicts::new();
    if marks.is_empty() {
        return conflicts;
    }
    let mut acts = Vec::new();
    let mut act_of = vec![NONE; lists.len()];
    for at in (0..lists.len()).filter(|at| used[*at]) {
        within(&lists[at], sabotage, &mut conflicts);
        act_of[at] = acts.len() as u32;
        acts.push(act(&lists[at], &marks, sabotage));
    }
    propagate(space, &act_of, &mut acts, &marks);
    for act in &acts {
        for (mark, component) in &act.against {
            if bits::has(&act.met, *mark) {
                let (place, other) = marks[*mark as usize];
                conflicts.entry(place).or_default().insert(pair(*component, other));
            }
        }
    }
    conflicts
}

/// The updates of each attribute in a tidy list.
fn by_place(list: &[Update]) -> impl Iterator<Item = &[Update]> {
    list.chunk_by(|a, b| a.place == b.place)
}

/// Adds the conflicts within one step.
fn within(list: &[Update], sabotage: Sabotage, conflicts: &mut Conflicts) {
    if sabotage == Sabotage::LastUpdateOnly {
        return;
    }
    for two in list.windows(2) {
        if let (Some(a), Some(b)) = (two[0].by, two[1].by)
            && two[0].place == two[1].place
            && a != b
        {
            conflicts.entry(two[0].place).or_default().insert(pair(a, b));
        }
    }
}

/// Returns for each list whether it occurs.
fn used<T>(space: &Space<T>) -> Vec<bool> {
    let mut used = vec![false; space.update_lists.all().len()];
    for number in 0..space.nodes.len() as u32 {
        let start = space.edges_start(number);
        for list in &space.updates[start..][..space.edges(number).len()] {
            used[*list as usize] |= *list != 0;
        }
    }
    used
}

/// Returns the marks of attributes that at least two components update, sorted.
fn marks<'l>(lists: impl Iterator<Item = &'l [Update]>) -> Vec<Mark> {
    contested(lists).flat_map(|(place, by)| by.into_iter().map(move |one| (place, one))).collect()
}

fn act(list: &[Update], marks: &[Mark], sabotage: Sabotage) -> MarkEffect {
    let empty = vec![0; marks.len().div_ceil(64)];
    let (clears, sets, met) = (empty.clone(), empty.clone(), empty);
    let mut act = MarkEffect { clears, sets, against: Vec::new(), met };
    let ends: BTreeMap<Place, (Option<u32>, Option<u32>)> = by_place(list)
        .map(|updates| {
            let last = updates[updates.len() - 1].by;
            let first = if sabotage == Sabotage::LastUpdateOnly { last } else { updates[0].by };
            (updates[0].place, (first, last))
        })
        .collect();
    for ((place, by), mark) in marks.iter().zip(0u32..) {
        let Some((first, last)) = ends.get(place) else { continue };
        if last.is_some() || sabotage != Sabotage::NobodyUpdatesNothing {
            bits::set(&mut act.clears, mark);
        }
        if *last == Some(*by) {
            bits::set(&mut act.sets, mark);
        }
        if let Some(first) = first.filter(|first| first != by) {
            act.against.push((mark, first));
        }
    }
    act
}

/// Visits the states in order until no set of marks grows.
fn propagate<T>(space: &Space<T>, act_of: &[u32], acts: &mut [MarkEffect], marks: &[Mark]) {
    let states = space.nodes.len();
    let mut held = Rows::default();
    held.widen(marks.len().div_ceil(64));
    for _ in 0..states {
        held.push(None);
    }
    let mut waits = vec![true; states];
    let watch = JobWatch::current();
    let mut changed = true;
    let (mut before, mut after): (Vec<u64>, Vec<u64>) = (Vec::new(), Vec::new());
    while std::mem::take(&mut changed) {
        for number in 0..states as u32 {
            if !std::mem::take(&mut waits[number as usize]) {
                continue;
            }
            // The marks found so far are true.
            if number % POLLED == 0 && watch.check().is_err() {
                return;
            }
            let start = space.edges_start(number);
            before.clear();
            before.extend_from_slice(held.row(number));
            for (edge, list) in space.edges(number).iter().zip(&space.updates[start..]) {
                let act = act_of[*list as usize];
                let holds = if let Some(act) = acts.get_mut(act as usize) {
                    after.clear();
                    after.extend_from_slice(&before);
                    for (at, after) in after.iter_mut().enumerate() {
                        act.met[at] |= *after;
                        *after = *after & !act.clears[at] | act.sets[at];
                    }
                    &after
                } else {
                    &before
                };
                let Some(target) = edge.state() else { continue };
                if bits::join(held.row_mut(target), holds) {
                    waits[target as usize] = true;
                    changed |= target <= number;
                }
            }
        }
    }
}
