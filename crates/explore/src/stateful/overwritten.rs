//! Which components overwrite which others' updates: for all attributes in one pass over the explored graph.
//!
//! A *mark* is an attribute, a component that writes it, and the value; the marks that hold before a state's steps say who may have written each attribute last, and what. A step
//! that writes an attribute removes its marks and sets its own. Marks are bits, and sets of them grow until nothing changes, so an edge is looked at about as
//! often as there are cycles around it, and not once for each writer.

use super::bits::{self, Rows};
use super::space::Space;
use anyorder_system::Place;
use std::collections::{BTreeMap, BTreeSet};

/// What a list of updates, by one component, does to the marks.
struct Act {
    clears: Vec<u64>,
    sets: Vec<u64>,
    /// The marks that it is in conflict with.
    against: Vec<u64>,
    /// Those of them that held before it somewhere.
    met: Vec<u64>,
    component: Option<u32>,
}

/// An attribute, a component and a value.
type Mark = (Place, u32, u64);

/// No such act.
const NONE: u32 = u32::MAX;

/// Returns for each attribute the pairs of components, the lower first, one of which sets it to a value right after the other set it to
/// another. `components` says which component each task is of.
pub(crate) fn overwritten<T>(
    space: &Space<T>,
    components: &[Option<u32>],
) -> BTreeMap<Place, BTreeSet<(u32, u32)>> {
    let (index, stride) = used(space, components);
    let marks = marks(space, &index, stride);
    let mut conflicts: BTreeMap<Place, BTreeSet<(u32, u32)>> = BTreeMap::new();
    if marks.is_empty() {
        return conflicts;
    }
    let mut acts = Vec::new();
    let mut act_of = vec![NONE; index.len()];
    for at in (0..index.len()).filter(|at| index[*at]) {
        let component = component_at(at, stride);
        act_of[at] = acts.len() as u32;
        acts.push(act(&space.update_lists.lists[at / stride], component, &marks));
    }
    propagate(space, |task, list| act_of[slot(components, stride, task, list)], &mut acts, &marks);
    for act in &acts {
        let Some(component) = act.component else { continue };
        for mark in bits::members(&act.met) {
            let (place, other, _) = marks[mark as usize];
            let pair = (component.min(other), component.max(other));
            conflicts.entry(place).or_default().insert(pair);
        }
    }
    conflicts
}

/// The place of a list by a component among all: components are moved up by one, for none.
fn slot(components: &[Option<u32>], stride: usize, task: u32, list: u32) -> usize {
    list as usize * stride + components[task as usize].map_or(0, |one| one as usize + 1)
}

fn component_at(slot: usize, stride: usize) -> Option<u32> {
    (slot % stride).checked_sub(1).map(|component| component as u32)
}

/// Says which lists occur by which component.
fn used<T>(space: &Space<T>, components: &[Option<u32>]) -> (Vec<bool>, usize) {
    let stride = components.iter().flatten().max().map_or(1, |most| *most as usize + 2);
    let mut used = vec![false; space.update_lists.lists.len() * stride];
    for number in 0..space.nodes.len() as u32 {
        let start = space.edges_start(number);
        for (edge, list) in space.edges(number).iter().zip(&space.updates[start..]) {
            if *list != 0 {
                used[slot(components, stride, edge.task, *list)] = true;
            }
        }
    }
    (used, stride)
}

/// Returns the marks of attributes that at least two components write, sorted.
fn marks<T>(space: &Space<T>, used: &[bool], stride: usize) -> Vec<Mark> {
    let mut marks: BTreeSet<Mark> = BTreeSet::new();
    let mut writers: BTreeMap<Place, BTreeSet<u32>> = BTreeMap::new();
    for at in (0..used.len()).filter(|at| used[*at]) {
        if let Some(component) = component_at(at, stride) {
            for (place, value) in left(&space.update_lists.lists[at / stride]) {
                marks.insert((place, component, value));
                writers.entry(place).or_default().insert(component);
            }
        }
    }
    marks.retain(|(place, ..)| writers.get(place).is_some_and(|writers| writers.len() > 1));
    marks.into_iter().collect()
}

/// Returns the last value that a list gives each attribute.
fn left(list: &[(Place, u64)]) -> BTreeMap<Place, u64> {
    list.iter().copied().collect()
}

fn act(list: &[(Place, u64)], component: Option<u32>, marks: &[Mark]) -> Act {
    let empty = vec![0; marks.len().div_ceil(64)];
    let mut act = Act {
        clears: empty.clone(),
        sets: empty.clone(),
        against: empty.clone(),
        met: empty,
        component,
    };
    let left = left(list);
    for ((place, by, value), mark) in marks.iter().zip(0u32..) {
        let Some(new) = left.get(place) else { continue };
        bits::set(&mut act.clears, mark);
        match component {
            Some(component) if component == *by && new == value => {
                bits::set(&mut act.sets, mark);
            }
            Some(component) if component != *by && new != value => {
                bits::set(&mut act.against, mark);
            }
            _ => {}
        }
    }
    act
}

/// Goes over the states in order until no set of marks grows.
fn propagate<T>(
    space: &Space<T>,
    act_of: impl Fn(u32, u32) -> u32,
    acts: &mut [Act],
    marks: &[Mark],
) {
    let states = space.nodes.len();
    let mut held = Rows::default();
    held.widen(marks.len().div_ceil(64));
    for _ in 0..states {
        held.push(None);
    }
    let mut waits = vec![true; states];
    let mut again = true;
    let (mut before, mut after): (Vec<u64>, Vec<u64>) = (Vec::new(), Vec::new());
    while std::mem::take(&mut again) {
        for number in 0..states as u32 {
            if !std::mem::take(&mut waits[number as usize]) {
                continue;
            }
            let start = space.edges_start(number);
            before.clear();
            before.extend_from_slice(held.row(number));
            for (edge, list) in space.edges(number).iter().zip(&space.updates[start..]) {
                let act = if *list == 0 { NONE } else { act_of(edge.task, *list) };
                let holds = if let Some(act) = acts.get_mut(act as usize) {
                    after.clear();
                    after.extend_from_slice(&before);
                    for (at, after) in after.iter_mut().enumerate() {
                        act.met[at] |= *after & act.against[at];
                        *after = *after & !act.clears[at] | act.sets[at];
                    }
                    &after
                } else {
                    &before
                };
                let Some(target) = edge.state() else { continue };
                if bits::join(held.row_mut(target), holds) {
                    waits[target as usize] = true;
                    again |= target <= number;
                }
            }
        }
    }
}
