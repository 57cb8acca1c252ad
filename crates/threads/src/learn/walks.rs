//! Random walks through what is known: before the search, and after one that was cut.

use super::behaviour::{Behaviours, NodeId};
use super::journal::Position;
use super::learner::Learner;
use super::outcome::{Incomplete, Unseen};
use super::state::{State, Successor};
use super::turns::Cover;
use crate::execution::Step;
use crate::ids::ThreadId;
use crate::program::ThreadProgram;
use anyorder_common::random::{Random, SplitMix64};
use std::ops::Range;

/// How many random walks in a row may end where the program does.
const WALKS_IN_VAIN: u32 = 100;

/// How many random walks tell how much is left.
const WALKS_MEASURED: u32 = 200;

/// After how many states with a choice the tree of walks is forgotten.
const FORKS_MAX: usize = 1 << 13;

/// The steps of a walk, and what comes then.
type Walk = (Vec<Step>, Beyond);

/// Where a walk ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Beyond {
    /// Where the program does.
    Nothing,
    /// It is not known what a thread does at this place after this result.
    Result(NodeId, u64),
    /// It is not known whether the loop of a thread that waits gives up.
    Loop,
    /// A thread went from one place to another one, out of its loop, and it is not known what it
    /// does after fewer turns in vain.
    Turns(NodeId, NodeId),
}

/// The walks so far, as a tree: where two begin alike, the states of the second one are known, and
/// so are the threads to try there. What is known of threads that reach a state only grows; the
/// tree holds as long as that does not change what a persistent set rests on.
#[derive(Default)]
pub(super) struct Tree {
    /// The [`Behaviours::epoch`] in which it was made.
    epoch: u64,
    root: Option<usize>,
    edges: Vec<Edge>,
    forks: Vec<Fork>,
    /// The steps of all edges.
    steps: Vec<Step>,
    /// The edges of all forks, where they are known.
    ways: Vec<Option<usize>>,
}

/// The step that was chosen, and those after it that have no alternative.
struct Edge {
    steps: Range<usize>,
    end: End,
}

#[derive(Clone, Copy)]
enum End {
    /// A state with a choice.
    Fork(usize),
    /// Nothing can go on.
    Over,
    /// It is not known what a thread does at this place after this result.
    Unknown(NodeId, u64),
    /// It was not known whether the loop of a thread that waits gives up.
    Loop,
    /// See [`Beyond::Turns`].
    Turns(NodeId, NodeId),
}

/// A state with a choice.
struct Fork {
    state: State,
    /// The threads to try, in how many ways each can go on, and where its edges are in
    /// [`Tree::ways`].
    able: Vec<(ThreadId, u32, usize)>,
}

impl Tree {
    fn clear(&mut self, epoch: u64) {
        *self = Tree { epoch, ..Tree::default() };
    }

    /// Whether it has become known what comes after an edge.
    fn is_stale(&self, edge: usize, known: &Behaviours) -> bool {
        match self.edges[edge].end {
            End::Unknown(node, result) => known.child(node, result).is_some(),
            // That is found out before the next walk.
            End::Loop => true,
            // What becomes known there is of another epoch.
            End::Fork(_) | End::Over | End::Turns(..) => false,
        }
    }
}

impl<P: ThreadProgram + ?Sized> Learner<'_, P> {
    /// Walks at random through what is known, and learns where that ends, until walks keep ending
    /// where the program does. A search that learns all from its first states on would do so from
    /// its last choices upwards, and see two states as one only much later.
    pub(super) fn wander(&mut self, random: u64, mut in_vain: u32) -> Result<(), Incomplete> {
        let mut rng = SplitMix64(random);
        while in_vain < WALKS_IN_VAIN {
            self.position = Position::Walks { random: rng.0, in_vain };
            self.check()?;
            in_vain += 1;
            let Some((path, beyond)) = self.walk_settled(&mut rng, in_vain)? else { return Ok(()) };
            if let Beyond::Result(node, result) = beyond {
                self.run_to_learn(&path, (node, result))?;
                in_vain = 0;
            }
        }
        Ok(())
    }

    /// Counts how many of some random walks end at something that is not known.
    pub(super) fn measure(&mut self) {
        let mut rng = SplitMix64(2);
        let mut unseen = Unseen::default();
        while unseen.of < WALKS_MEASURED && self.options.cancel.check().is_ok() {
            let Ok(Some((_, beyond))) = self.walk_settled(&mut rng, unseen.of) else { return };
            unseen.of += 1;
            unseen.new += u32::from(beyond != Beyond::Nothing);
        }
        self.learnt.unseen = Some(unseen);
    }

    /// As [`walk`](Self::walk), past the loops of which it is not known whether they give up, and
    /// to what is not known after as few turns in vain as possible.
    pub(super) fn walk_settled(
        &mut self,
        rng: &mut SplitMix64,
        number: u32,
    ) -> Result<Option<Walk>, Incomplete> {
        let begun = rng.clone();
        loop {
            let walk = self.walk(rng, number);
            match &walk {
                Some((path, Beyond::Loop)) => self.settle_along(path)?,
                Some((path, Beyond::Turns(before, after))) => {
                    let cover = self.known.cover(*before, *after);
                    if let Cover::Unknown(earlier, result) = cover
                        && let Some(path) = self.way_without(path, &earlier, result)
                    {
                        return Ok(Some((path, Beyond::Result(earlier.node, result))));
                    }
                    self.set_apart(*after);
                }
                _ => return Ok(walk),
            }
            *rng = begun.clone();
        }
    }

    /// Walks at random to the end of what is known. `None` if nothing is.
    ///
    /// Linear in the choices where walks before came along, and in the work of the search for each
    /// step elsewhere.
    fn walk(&mut self, rng: &mut SplitMix64, number: u32) -> Option<Walk> {
        self.known.root(ThreadId::MAIN)?;
        let mut tree = std::mem::take(&mut self.tree);
        let is_large = tree.forks.len() > FORKS_MAX || tree.edges.len() > 8 * FORKS_MAX;
        if tree.epoch != self.known.epoch || is_large {
            tree.clear(self.known.epoch);
        }
        #[cfg(test)]
        let mut again = rng.clone();
        let walk = self.walk_in(&mut tree, rng, number);
        self.tree = tree;
        #[cfg(test)]
        assert_eq!((&walk, rng.0), (&self.walk_anew(&mut again, number), again.0), "walk {number}");
        walk
    }

    /// As [`walk`](Self::walk), with nothing kept: the twin in tests.
    #[cfg(test)]
    fn walk_anew(&mut self, rng: &mut SplitMix64, number: u32) -> Option<Walk> {
        self.known.memo.borrow_mut().forget_answers();
        let mut state = State::start(&self.known, self.sabotage)?;
        let (mut path, order, mut ways) = (Vec::new(), rng.bits(), Vec::new());
        loop {
            if path.len() < self.options.steps_max && self.tries(&state) {
                return Some((path, Beyond::Loop));
            }
            state.ways(&self.known, self.options.spins_max, &mut ways);
            let able = self.persistent.find(&state, &self.known, &ways, self.sabotage);
            if able.is_empty() || path.len() >= self.options.steps_max {
                return Some((path, Beyond::Nothing));
            }
            let at = match number % 2 {
                0 => able[rng.index(able.len())],
                _ => *able.iter().max_by_key(|at| priority(state.live[**at].0, order))?,
            };
            let alternative = rng.below(u64::from(ways[at])) as u32;
            let step = Step { thread: state.live[at].0, alternative };
            path.push(step);
            let before = state.live[at].1;
            match state.after(step, &self.known, &mut self.slots, false) {
                Successor::Known(after, _) => state = after,
                Successor::Unknown(node, result) => {
                    return Some((path, Beyond::Result(node, result)));
                }
            }
            match (self.cover(Some(before), &state, step.thread), state.place_of(step.thread)) {
                (Cover::Unknown(..), Some(after)) => {
                    return Some((path, Beyond::Turns(before, after)));
                }
                (Cover::Covered, _) => return Some((path, Beyond::Nothing)),
                _ => {}
            }
        }
    }

    fn walk_in(&mut self, tree: &mut Tree, rng: &mut SplitMix64, number: u32) -> Option<Walk> {
        let most = self.options.steps_max;
        let (mut path, order) = (Vec::new(), rng.bits());
        // In every other walk the threads have priorities: so each one comes late at times.
        let is_random = number.is_multiple_of(2);
        let mut edge = match tree.root.filter(|root| !tree.is_stale(*root, &self.known)) {
            Some(root) => root,
            None => {
                let start = State::start(&self.known, self.sabotage)?;
                let root = self.lead(tree, start, None);
                *tree.root.insert(root)
            }
        };
        let mut chosen = 0;
        loop {
            let Edge { steps, end } = &tree.edges[edge];
            // Each step draws, even where there is nothing to choose.
            let forced = steps.len().min(most - path.len()) - chosen;
            for _ in 0..forced * if is_random { 2 } else { 1 } {
                rng.bits();
            }
            path.extend_from_slice(&tree.steps[steps.clone()]);
            if path.len() > most {
                path.truncate(most);
                return Some((path, Beyond::Nothing));
            }
            let fork = match *end {
                End::Over => return Some((path, Beyond::Nothing)),
                End::Unknown(node, result) => return Some((path, Beyond::Result(node, result))),
                End::Fork(_) | End::Loop if path.len() == most => {
                    return Some((path, Beyond::Nothing));
                }
                End::Loop => return Some((path, Beyond::Loop)),
                End::Turns(before, after) => return Some((path, Beyond::Turns(before, after))),
                End::Fork(fork) => fork,
            };
            let able = &tree.forks[fork].able;
            let (thread, ways, from) = match is_random {
                true => able[rng.index(able.len())],
                false => *able.iter().max_by_key(|able| priority(able.0, order))?,
            };
            let alternative = rng.below(u64::from(ways)) as u32;
            let step = Step { thread, alternative };
            chosen = 1;
            let way = from + alternative as usize;
            edge = match tree.ways[way].filter(|edge| !tree.is_stale(*edge, &self.known)) {
                Some(edge) => edge,
                None => {
                    let state = tree.forks[fork].state.clone();
                    let edge = self.lead(tree, state, Some(step));
                    *tree.ways[way].insert(edge)
                }
            };
        }
    }

    /// Makes a step in a state, and all that follow without a choice. Returns the edge.
    fn lead(&mut self, tree: &mut Tree, mut state: State, mut step: Option<Step>) -> usize {
        let from = tree.steps.len();
        let end = loop {
            if let Some(step) = step {
                tree.steps.push(step);
                let before = state.place_of(step.thread);
                match state.after(step, &self.known, &mut self.slots, false) {
                    Successor::Known(after, _) => state = after,
                    Successor::Unknown(node, result) => break End::Unknown(node, result),
                }
                let after = state.place_of(step.thread);
                match (self.cover(before, &state, step.thread), before, after) {
                    (Cover::Unknown(..), Some(before), Some(after)) => {
                        break End::Turns(before, after);
                    }
                    (Cover::Covered, ..) => break End::Over,
                    _ => {}
                }
            }
            if self.tries(&state) {
                break End::Loop;
            }
            let mut ways = std::mem::take(&mut self.ways);
            state.ways(&self.known, self.options.spins_max, &mut ways);
            // Where the search would not try a thread, a walk need not.
            let able = self.persistent.find(&state, &self.known, &ways, self.sabotage);
            let next = match able {
                [at] if ways[*at] == 1 => Some(Step { thread: state.live[*at].0, alternative: 0 }),
                _ => None,
            };
            let mut edges = tree.ways.len();
            let list = able.iter().filter(|_| next.is_none()).map(|at| {
                let from = edges;
                edges += ways[*at] as usize;
                (state.live[*at].0, ways[*at], from)
            });
            let able: Vec<(ThreadId, u32, usize)> = list.collect();
            self.ways = ways;
            step = next;
            let is_long = tree.steps.len() - from > self.options.steps_max;
            if step.is_none() && !able.is_empty() && !is_long {
                tree.ways.resize(edges, None);
                tree.forks.push(Fork { state, able });
                break End::Fork(tree.forks.len() - 1);
            }
            if step.is_none() || is_long {
                break End::Over;
            }
        };
        tree.edges.push(Edge { steps: from..tree.steps.len(), end });
        tree.edges.len() - 1
    }
}

/// A random number for a thread.
fn priority(thread: ThreadId, order: u64) -> u64 {
    SplitMix64(order ^ u64::from(thread.0)).bits()
}
