//! Cycles of classes of requests: each class holds what the one before it asks for.
//!
//! **Method.** The classes that hold one thing and ask for another are an edge between the two. A
//! depth-first search lists the simple cycles of things, short ones first, with a class for each
//! edge, through things from which the first one can be reached. The number of cycles can be
//! exponential in the things, and each has as many variants as there are choices of classes. So the
//! search counts its steps, cycles and variants, and says when it was cut.

use super::requests::Class;
use super::sabotage::Sabotage;
use anyorder_system::Cancel;
use std::collections::HashMap;
use std::ops::RangeInclusive;

/// Cycles of classes.
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

/// The most choices of classes for one cycle of things before all other cycles have had their turn.
const VARIANTS_FIRST: u64 = 64;

/// Returns the cycles whose classes ask for different things, and hold things that can be held
/// together.
pub(super) fn cycles(
    classes: &[Class],
    bounds: Bounds,
    cancel: &Cancel,
    sabotage: Sabotage,
) -> Cycles {
    let mut search = Search::new(classes, bounds, (cancel, sabotage));
    let starts = search.starts();
    let mut least = 2;
    for most in LENGTHS {
        let mut is_longer = false;
        for start in &starts {
            is_longer |= search.from(*start, least..=most);
        }
        if search.is_over || !is_longer || sabotage == Sabotage::PairsOnly {
            break;
        }
        least = most.saturating_add(1);
    }
    let Search { mut found, mut later, .. } = search;
    let room = bounds.cycles.saturating_sub(found.cycles.len());
    found.is_cut |= later.len() > room;
    later.truncate(room);
    found.cycles.append(&mut later);
    found
}

struct Search<'c> {
    classes: &'c [Class],
    /// By thing held and thing asked for: the classes.
    edges: HashMap<(u32, u32), Vec<u32>>,
    /// By thing: those that are asked for while it is held, and those held while it is asked for.
    after: HashMap<u32, Vec<u32>>,
    before: HashMap<u32, Vec<u32>>,
    bounds: Bounds,
    steps: u64,
    /// By thing that reaches the start: the least number of edges to it.
    distance: HashMap<u32, usize>,
    /// By things of a cycle: its variants so far.
    variants: HashMap<Vec<u32>, u64>,
    found: Cycles,
    /// Further variants: they come after all others.
    later: Vec<Vec<u32>>,
    is_over: bool,
    cancel: &'c Cancel,
    /// How often it may have been stopped.
    looked_at: u64,
    sabotage: Sabotage,
}

impl<'c> Search<'c> {
    fn new(
        classes: &'c [Class],
        bounds: Bounds,
        (cancel, sabotage): (&'c Cancel, Sabotage),
    ) -> Search<'c> {
        let mut edges: HashMap<(u32, u32), Vec<u32>> = HashMap::new();
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for (number, class) in (0..).zip(classes) {
            for held in &class.held {
                let edge = (held.number, class.target.number);
                let list = edges.entry(edge).or_default();
                if list.is_empty() {
                    pairs.push(edge);
                }
                list.push(number);
            }
        }
        pairs.sort_unstable();
        let (mut after, mut before) = (HashMap::new(), HashMap::new());
        for (held, asked) in pairs {
            after.entry(held).or_insert_with(Vec::new).push(asked);
            before.entry(asked).or_insert_with(Vec::new).push(held);
        }
        Search {
            classes,
            edges,
            after,
            before,
            bounds,
            steps: 0,
            distance: HashMap::new(),
            variants: HashMap::new(),
            found: Cycles::default(),
            later: Vec::new(),
            is_over: false,
            cancel,
            looked_at: 0,
            sabotage,
        }
    }

    /// Returns the things that are held while another one is asked for, ascending.
    fn starts(&self) -> Vec<u32> {
        let mut starts: Vec<u32> = self.edges.keys().map(|(held, _)| *held).collect();
        starts.sort_unstable();
        starts.dedup();
        starts
    }

    /// Counts a step; returns whether the search goes on.
    fn step(&mut self) -> bool {
        self.steps += 1;
        self.is_over |=
            self.steps > self.bounds.steps || self.found.cycles.len() >= self.bounds.cycles;
        self.looked_at += 1;
        self.is_over |= self.looked_at.is_multiple_of(1 << 10) && self.cancel.reason().is_some();
        self.found.is_cut |= self.is_over;
        !self.is_over
    }

    /// Lists the cycles whose least thing is `start`, with so many classes. Returns whether there
    /// may be longer ones.
    fn from(&mut self, start: u32, lengths: RangeInclusive<usize>) -> bool {
        self.measure(start);
        self.distance.len() > 1 && self.walk(start, &lengths)
    }

    /// Finds the things after `start` that reach it, by a search against the edges.
    fn measure(&mut self, start: u32) {
        self.distance.clear();
        self.distance.insert(start, 0);
        let mut found = vec![start];
        let mut at = 0;
        while let Some(thing) = found.get(at).copied() {
            at += 1;
            let distance = self.distance[&thing] + 1;
            let before = self.before.get(&thing).map_or(&[][..], Vec::as_slice);
            for other in before.iter().filter(|other| **other > start) {
                self.distance.entry(*other).or_insert_with(|| {
                    found.push(*other);
                    distance
                });
            }
            self.steps += before.len() as u64;
        }
    }

    /// Returns the edges that continue a path at a thing: the next thing and a class. The last one
    /// is taken first. Also returns whether some need a longer cycle.
    fn next(&self, from: u32, start: u32, length: usize, most: usize) -> (Vec<(u32, u32)>, bool) {
        let (mut next, mut is_longer) = (Vec::new(), false);
        for to in self.after.get(&from).into_iter().flatten().rev() {
            let Some(distance) = self.distance.get(to).filter(|_| *to >= start) else { continue };
            if length + 1 + distance > most {
                is_longer = true;
                continue;
            }
            let classes = self.edges.get(&(from, *to)).into_iter().flatten().rev();
            next.extend(classes.map(|class| (*to, *class)));
        }
        (next, is_longer)
    }

    fn walk(&mut self, start: u32, lengths: &RangeInclusive<usize>) -> bool {
        let most = *lengths.end();
        let (mut things, mut path): (Vec<u32>, Vec<u32>) = (vec![start], Vec::new());
        let (first, mut is_longer) = self.next(start, start, 0, most);
        let mut todo = vec![first];
        while let Some(next) = todo.last_mut() {
            let Some((to, class)) = next.pop() else {
                todo.pop();
                things.pop();
                path.pop();
                continue;
            };
            if !self.step() {
                return false;
            }
            if to != start && things.contains(&to) || !self.fits(&path, class) {
                continue;
            }
            if to != start {
                path.push(class);
                things.push(to);
                let (next, longer) = self.next(to, start, path.len(), most);
                is_longer |= longer;
                todo.push(next);
            } else if lengths.contains(&(path.len() + 1)) && self.closes(&path, class) {
                self.add(&things, [path.as_slice(), &[class]].concat());
            }
        }
        is_longer
    }

    /// Returns whether a class can follow a path: it holds what the last one asks for, and what it
    /// holds can be held beside what the others hold.
    fn fits(&self, path: &[u32], class: u32) -> bool {
        let new = &self.classes[class as usize];
        let last = path.last().map(|last| &self.classes[*last as usize]);
        last.is_none_or(|last| new.grants(last))
            && (self.sabotage == Sabotage::GatesForgotten
                || path.iter().all(|other| self.classes[*other as usize].is_compatible(new)))
    }

    fn closes(&self, path: &[u32], class: u32) -> bool {
        let first = path.first().map(|first| &self.classes[*first as usize]);
        first.is_some_and(|first| first.grants(&self.classes[class as usize]))
    }

    fn add(&mut self, things: &[u32], cycle: Vec<u32>) {
        let variants = match self.variants.get_mut(things) {
            Some(variants) => variants,
            None => self.variants.entry(things.to_vec()).or_default(),
        };
        *variants += 1;
        if *variants <= VARIANTS_FIRST {
            self.found.cycles.push(cycle);
        } else if self.later.len() < self.bounds.cycles {
            self.later.push(cycle);
        } else {
            self.found.is_cut = true;
        }
    }
}
