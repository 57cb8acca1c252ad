//! Cycles of classes of requests: each class holds what the one before it asks for.
//!
//! **Method.** Depth-first search from the least class of a cycle, through classes from which that
//! one can be reached, short cycles first. The number of cycles can be exponential in the classes,
//! so the search counts its steps, and says when it was cut.

use super::requests::Class;
use std::collections::HashMap;
use std::ops::RangeInclusive;

/// Cycles of classes, each beginning with its least class.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Cycles {
    pub(super) cycles: Vec<Vec<u32>>,
    /// Whether there may be more.
    pub(super) is_cut: bool,
}

/// Limits of the search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Bounds {
    pub(super) cycles: usize,
    pub(super) steps: u64,
}

/// The numbers of classes up to which cycles are looked for, one round after the other.
const LENGTHS: [usize; 5] = [2, 3, 5, 16, usize::MAX];

/// Returns the cycles whose classes ask for different things, and hold things that can be held
/// together.
pub(super) fn cycles(classes: &[Class], bounds: Bounds) -> Cycles {
    let mut search = Search {
        classes,
        holders: by_thing(classes, |class| class.held.iter().map(|held| held.number).collect()),
        asking: by_thing(classes, |class| vec![class.target.number]),
        bounds,
        steps: 0,
        distance: vec![usize::MAX; classes.len()],
        found: Cycles::default(),
    };
    let mut least = 0;
    for most in LENGTHS {
        let mut is_longer = false;
        for start in 0..classes.len() as u32 {
            is_longer |= search.from(start, least..=most);
        }
        if search.found.is_cut || !is_longer {
            break;
        }
        least = most.saturating_add(1);
    }
    search.found
}

/// Returns by thing the classes of which it is one of the `things`.
fn by_thing(classes: &[Class], things: impl Fn(&Class) -> Vec<u32>) -> HashMap<u32, Vec<u32>> {
    let mut by_thing: HashMap<u32, Vec<u32>> = HashMap::new();
    for (number, class) in (0..).zip(classes) {
        for thing in things(class) {
            by_thing.entry(thing).or_default().push(number);
        }
    }
    by_thing
}

struct Search<'c> {
    classes: &'c [Class],
    /// By thing: the classes that hold it, and those that ask for it.
    holders: HashMap<u32, Vec<u32>>,
    asking: HashMap<u32, Vec<u32>>,
    bounds: Bounds,
    steps: u64,
    /// By class: the least number of edges to the start; `MAX` if it does not reach it.
    distance: Vec<usize>,
    found: Cycles,
}

impl Search<'_> {
    /// Counts a step; returns whether the search goes on.
    fn step(&mut self) -> bool {
        self.steps += 1;
        self.found.is_cut |=
            self.steps > self.bounds.steps || self.found.cycles.len() >= self.bounds.cycles;
        !self.found.is_cut
    }

    /// Returns the classes that grant what a class asks for.
    fn next(&self, class: u32) -> Vec<u32> {
        let from = &self.classes[class as usize];
        let holders = self.holders.get(&from.target.number).map_or(&[][..], Vec::as_slice);
        let next = holders.iter().copied();
        next.filter(|next| self.classes[*next as usize].grants(from)).collect()
    }

    /// Lists the cycles whose least class is `start`, with so many classes. Returns whether there
    /// may be longer ones.
    fn from(&mut self, start: u32, lengths: RangeInclusive<usize>) -> bool {
        let touched = self.measure(start);
        let is_longer = self.walk(start, lengths);
        touched.into_iter().for_each(|class| self.distance[class as usize] = usize::MAX);
        is_longer
    }

    /// Finds the classes after `start` that reach it, by a search against the edges.
    fn measure(&mut self, start: u32) -> Vec<u32> {
        let mut touched = vec![start];
        self.distance[start as usize] = 0;
        let mut at = 0;
        while let Some(class) = touched.get(at).copied() {
            at += 1;
            let distance = self.distance[class as usize] + 1;
            for held in 0..self.classes[class as usize].held.len() {
                let held = self.classes[class as usize].held[held];
                let asking = self.asking.get(&held.number).cloned().unwrap_or_default();
                for other in asking {
                    if !self.step() {
                        return touched;
                    }
                    let is_new = other > start && self.distance[other as usize] == usize::MAX;
                    if is_new && held.conflicts(self.classes[other as usize].target) {
                        self.distance[other as usize] = distance;
                        touched.push(other);
                    }
                }
            }
        }
        touched
    }

    fn walk(&mut self, start: u32, lengths: RangeInclusive<usize>) -> bool {
        let mut is_longer = false;
        let mut path = vec![start];
        let mut todo = vec![self.next(start)];
        while let Some(next) = todo.last_mut() {
            let Some(class) = next.pop() else {
                todo.pop();
                path.pop();
                continue;
            };
            if !self.step() {
                return false;
            }
            if class == start {
                if lengths.contains(&path.len()) {
                    self.found.cycles.push(path.clone());
                }
                continue;
            }
            let distance = self.distance[class as usize];
            if class < start || distance == usize::MAX {
                continue;
            }
            if path.len() + distance > *lengths.end() {
                is_longer = true;
                continue;
            }
            let new = &self.classes[class as usize];
            let fits = path.iter().all(|other| {
                let other = &self.classes[*other as usize];
                other.target.number != new.target.number && other.is_compatible(new)
            });
            if fits {
                path.push(class);
                todo.push(self.next(class));
            }
        }
        is_longer
    }
}
