//! The graph of the known states, for response properties and exports.

use crate::chunk::{Chunk, FAILED};
use crate::expand::NO_CLASS;
use crate::shortest::ShortestPaths;
use crate::updates::UpdateLists;
use std::collections::VecDeque;

/// The transitions of a state that was not expanded.
const UNKNOWN: u32 = u32::MAX;

/// States by number, with all their transitions in the order of the system. A transition takes 4
/// bytes, or 6 with fairness classes; a state takes 13 bytes, plus one for each response property.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    start: Vec<u64>,
    count: Vec<u32>,
    targets: Vec<u32>,
    /// Whether each state offers only optional transitions.
    rests: Vec<bool>,
    /// The deadlocks, in ascending order where the search was breadth-first.
    deadlocks: Vec<u32>,
    /// `None` if the system has no fairness classes.
    classes: Option<Vec<u16>>,
    responses: usize,
    flags: Vec<u8>,
    /// The list of updates of each transition; `None` if the system has no components.
    updates: Option<Vec<u32>>,
    initial: u32,
}

impl Graph {
    pub(crate) fn new(responses: usize, with_classes: bool, with_updates: bool) -> Graph {
        let (classes, updates) = (with_classes.then(Vec::new), with_updates.then(Vec::new));
        Graph { responses, classes, updates, ..Graph::default() }
    }

    /// Returns the number of states.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count.len()
    }

    /// Returns whether the graph has no state.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count.is_empty()
    }

    /// Returns the number of initial states; they have the lowest numbers.
    #[must_use]
    pub fn initial(&self) -> u32 {
        self.initial
    }

    /// Returns whether the transitions of a state are known. They are unknown for states beyond a
    /// limit.
    #[must_use]
    pub fn is_known(&self, state: u32) -> bool {
        self.count[state as usize] != UNKNOWN
    }

    /// Returns whether a run may end in a state: it offers no transition, or only optional ones.
    #[must_use]
    pub fn is_end(&self, state: u32) -> bool {
        self.count[state as usize] == 0 || self.rests[state as usize]
    }

    /// Returns the states that are deadlocks.
    pub(crate) fn deadlocks(&self) -> &[u32] {
        &self.deadlocks
    }

    /// Returns whether a state offers transitions, and all of them are optional.
    pub(crate) fn rests(&self, state: u32) -> bool {
        self.rests[state as usize]
    }

    fn range(&self, state: u32) -> std::ops::Range<usize> {
        let count = self.count[state as usize];
        if count == UNKNOWN {
            return 0..0;
        }
        let start = self.start[state as usize] as usize;
        start..start + count as usize
    }

    /// Returns the target of each transition of a state, in the order of the system; `None` if the
    /// transition fails.
    pub fn successors(&self, state: u32) -> impl ExactSizeIterator<Item = Option<u32>> + '_ {
        self.targets[self.range(state)]
            .iter()
            .map(|target| Some(*target).filter(|one| *one != FAILED))
    }

    /// Returns the fairness class of each transition of a state, in the same order.
    pub(crate) fn classes(&self, state: u32) -> &[u16] {
        self.classes.as_ref().map_or(&[], |classes| &classes[self.range(state)])
    }

    /// Returns the list of updates of each transition of a state, in the same order.
    pub(crate) fn updates(&self, state: u32) -> &[u32] {
        self.updates.as_ref().map_or(&[], |updates| &updates[self.range(state)])
    }

    /// The flags of a state, one byte a response property.
    pub(crate) fn flags(&self, state: u32) -> &[u8] {
        let start = state as usize * self.responses;
        &self.flags[start..start + self.responses]
    }

    /// Returns whether trigger and response of a property hold in a state.
    pub(crate) fn response(&self, property: usize, state: u32) -> (bool, bool) {
        let flags = self.flags[state as usize * self.responses + property];
        (flags & 1 != 0, flags & 2 != 0)
    }

    pub(crate) fn bytes(&self) -> u64 {
        let per_state = self.count.len() as u64 * 13 + self.flags.len() as u64;
        let per_state = per_state + self.deadlocks.len() as u64 * 4;
        per_state
            + self.targets.len() as u64 * 4
            + self.classes.as_ref().map_or(0, Vec::len) as u64 * 2
            + self.updates.as_ref().map_or(0, Vec::len) as u64 * 4
    }

    /// Adds states without their transitions, in the order of their numbers.
    pub(crate) fn add_states(&mut self, states: usize, flags: &[u8]) {
        debug_assert_eq!(flags.len(), states * self.responses, "a flag for each property");
        self.start.resize(self.start.len() + states, 0);
        self.count.resize(self.count.len() + states, UNKNOWN);
        self.rests.resize(self.rests.len() + states, false);
        self.flags.extend_from_slice(flags);
    }

    pub(crate) fn set_initial(&mut self, initial: u32) {
        self.initial = initial;
    }

    /// Adds the transitions that a chunk found, given the numbers of the expanded states.
    pub(crate) fn add_transitions<S>(
        &mut self,
        chunk: &Chunk<S>,
        numbers: impl Iterator<Item = u32>,
        lists: &mut UpdateLists,
    ) {
        let mut start = self.targets.len() as u64;
        let numbers: Vec<u32> = numbers.take(chunk.transitions.len()).collect();
        let number_at = |at: u32| numbers.get(at as usize).copied();
        for ((count, rests), number) in chunk.transitions.iter().zip(&chunk.rests).zip(&numbers) {
            let number = *number;
            self.start[number as usize] = start;
            self.count[number as usize] = *count;
            self.rests[number as usize] = *rests;
            start += u64::from(*count);
        }
        let deadlocks = chunk.deadlocks.iter().filter_map(|at| number_at(*at));
        self.deadlocks.extend(deadlocks);
        self.targets.extend_from_slice(&chunk.targets);
        if let Some(classes) = &mut self.classes {
            classes.extend_from_slice(&chunk.classes);
        }
        if let Some(updates) = &mut self.updates {
            let lists = (0..chunk.targets.len()).map(|at| lists.intern(chunk.updates.of(at)));
            updates.extend(lists);
        }
    }

    /// Adds the transitions of one state, and whether all of them are optional.
    pub(crate) fn add_read(
        &mut self,
        state: u32,
        (targets, classes): (&[u32], &[u16]),
        rests: bool,
    ) {
        self.rests[state as usize] = rests;
        self.start[state as usize] = self.targets.len() as u64;
        self.count[state as usize] = targets.len() as u32;
        self.targets.extend_from_slice(targets);
        if let Some(known) = &mut self.classes {
            known.extend_from_slice(classes);
        }
    }

    /// Returns the same graph with states numbered breadth-first. A graph from a breadth-first
    /// search is copied unchanged.
    pub(crate) fn breadth_first(&self) -> Graph {
        let mut number = vec![u32::MAX; self.len()];
        let mut order = Vec::with_capacity(self.len());
        let mut queue: VecDeque<u32> = VecDeque::new();
        for state in 0..self.initial {
            number[state as usize] = state;
            queue.push_back(state);
        }
        let mut next = self.initial;
        while let Some(state) = queue.pop_front() {
            order.push(state);
            for target in self.successors(state).flatten() {
                if number[target as usize] == u32::MAX {
                    number[target as usize] = next;
                    next += 1;
                    queue.push_back(target);
                }
            }
        }
        let mut graph = Graph::new(self.responses, self.classes.is_some(), self.updates.is_some());
        graph.initial = self.initial;
        graph.deadlocks = self.deadlocks.iter().map(|old| number[*old as usize]).collect();
        for old in &order {
            graph.start.push(graph.targets.len() as u64);
            graph.count.push(self.count[*old as usize]);
            graph.rests.push(self.rests[*old as usize]);
            let targets = self.targets[self.range(*old)].iter();
            graph.targets.extend(targets.map(|target| match *target {
                FAILED => FAILED,
                target => number[target as usize],
            }));
            if let Some(classes) = &mut graph.classes {
                classes.extend_from_slice(self.classes(*old));
            }
            if let Some(updates) = &mut graph.updates {
                updates.extend_from_slice(self.updates(*old));
            }
            graph.flags.extend_from_slice(self.flags(*old));
        }
        graph
    }

    /// Returns shortest paths to all states. Transitions are numbered by their positions among the
    /// successors of their state.
    pub(crate) fn shortest(&self) -> ShortestPaths {
        ShortestPaths::of(self.len(), 0..self.initial, |state| {
            let numbered = self.successors(state).zip(0u32..);
            numbered.filter_map(|(target, place)| target.map(|target| (place, target)))
        })
    }

    /// Returns whether a transition of this class is enabled in a state.
    pub(crate) fn enables(&self, state: u32, class: u16) -> bool {
        debug_assert_ne!(class, NO_CLASS, "a class");
        self.classes(state).contains(&class)
    }
}
