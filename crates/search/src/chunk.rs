//! The results of expanding some states of a round.

use crate::frontier::Entry;
use crate::outcome::Property;
use crate::search::flags;
use crate::store::Arena;
use anyorder_system::{Properties, Updates};
use std::collections::BTreeMap;

/// The slot of a state that is not in the table: bitstate storage, or an exact state stored aside.
pub(crate) const NO_SLOT: usize = usize::MAX;

/// A target of the graph without a state: the transition failed.
pub(crate) const FAILED: u32 = u32::MAX;

/// A target of the graph that is a candidate of the same chunk, until states are numbered.
pub(crate) const PENDING: u32 = 1 << 31;

/// The place of a violation, by positions in the round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FaultPlace {
    /// The position of the expanded state.
    pub(crate) position: u32,
    /// The place among its successors; 0 for a deadlock.
    pub(crate) place: u32,
}

/// A state that may be new.
#[derive(Debug)]
pub(crate) struct Candidate<S> {
    pub(crate) slot: usize,
    pub(crate) position: u32,
    pub(crate) place: u32,
    /// What is known about it so far; [`Status`].
    pub(crate) status: Status,
    /// Where [`Chunk::flags`] has its response properties, or [`UNCHECKED`].
    pub(crate) flags: u32,
    pub(crate) state: S,
}

/// The properties of the candidate were not evaluated.
pub(crate) const UNCHECKED: u32 = u32::MAX;

/// What is known about a candidate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Status {
    /// It is new if its position still owns its slot when the round is over.
    First,
    /// Another candidate of this round has its state already.
    Later,
    /// Its fingerprint belongs, or may belong, to another state.
    Aside,
    /// It is new.
    New,
    /// It has this number.
    Numbered(u32),
    /// It comes from a state that the round does not count.
    Dropped,
}

/// Candidates and counts of the states of one unit of work.
#[derive(Debug)]
pub(crate) struct Chunk<S> {
    /// The unit, in the order of positions.
    pub(crate) unit: usize,
    /// The position of its first state.
    pub(crate) start: u32,
    /// The transitions of each state expanded so far.
    pub(crate) transitions: Vec<u32>,
    /// Whether each of these states offers only optional transitions.
    pub(crate) rests: Vec<bool>,
    /// Those of these states that are deadlocks, by their index.
    pub(crate) deadlocks: Vec<u32>,
    /// Whether one of them is an end that is no deadlock.
    pub(crate) ended: bool,
    /// In the order of (position, place).
    pub(crate) candidates: Vec<Candidate<S>>,
    /// The encodings of candidates that are stored whole, one after the other, and the end of each.
    pub(crate) encodings: Vec<u8>,
    pub(crate) ends: Vec<usize>,
    /// The hashes of candidates, for bitstate storage.
    pub(crate) hashes: Vec<anyorder_system::Hash128>,
    /// The first violation of each property.
    pub(crate) faults: BTreeMap<Property, FaultPlace>,
    /// Which parts of the program ran.
    pub(crate) parts: Vec<bool>,
    /// Targets and fairness classes of all transitions, when the graph is kept.
    pub(crate) targets: Vec<u32>,
    pub(crate) classes: Vec<u16>,
    /// The updates of all transitions, if requested.
    pub(crate) updates: Updates,
    /// Violated invariants, with the candidates that violate them, in order of the candidates.
    pub(crate) broken: Vec<(u32, usize)>,
    /// Whether trigger and response hold (bits 0 and 1), for candidates and response properties.
    pub(crate) flags: Vec<u8>,
    /// Filled when states are numbered.
    pub(crate) fresh: Fresh<S>,
}

/// The new states of a chunk, in order.
#[derive(Debug)]
pub(crate) struct Fresh<S> {
    /// Their number.
    pub(crate) count: usize,
    /// The number of the first.
    pub(crate) base: u32,
    pub(crate) entries: Vec<Entry<S>>,
    /// The parent of each, and its position among the parent's successors.
    pub(crate) links: Vec<(u32, u32)>,
    /// Whether trigger and response hold (bits 0 and 1), for each response property.
    pub(crate) flags: Vec<u8>,
    /// Violated invariants, each with the first new state that violates it.
    pub(crate) broken: BTreeMap<usize, u32>,
}

impl<S> Chunk<S> {
    pub(crate) fn new(unit: usize, start: u32, parts: usize) -> Chunk<S> {
        Chunk {
            unit,
            start,
            transitions: Vec::new(),
            rests: Vec::new(),
            deadlocks: Vec::new(),
            ended: false,
            candidates: Vec::new(),
            encodings: Vec::new(),
            ends: Vec::new(),
            hashes: Vec::new(),
            faults: BTreeMap::new(),
            parts: vec![false; parts],
            targets: Vec::new(),
            classes: Vec::new(),
            updates: Updates::default(),
            broken: Vec::new(),
            flags: Vec::new(),
            fresh: Fresh {
                count: 0,
                base: 0,
                entries: Vec::new(),
                links: Vec::new(),
                flags: Vec::new(),
                broken: BTreeMap::new(),
            },
        }
    }

    /// Returns the position after the last state that was expanded.
    pub(crate) fn end(&self) -> u32 {
        self.start + self.transitions.len() as u32
    }

    /// Returns the encoding of a candidate.
    pub(crate) fn encoding(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.encodings[start..self.ends[index]]
    }

    /// Records a violation, unless an earlier one of the same property is recorded.
    pub(crate) fn fault(&mut self, key: Property, position: u32, place: u32) {
        self.faults.entry(key).or_insert(FaultPlace { position, place });
    }

    /// Evaluates the invariants and some response properties in the state of a candidate. This runs
    /// code of the program: a job can be stopped in it, and the results are then wrong.
    pub(crate) fn check(&mut self, index: usize, properties: &Properties<'_, S>, responses: usize) {
        let candidate = &mut self.candidates[index];
        candidate.flags = self.flags.len() as u32;
        let broken = properties.broken(&candidate.state);
        self.broken.extend(broken.map(|invariant| (index as u32, invariant)));
        let responses = properties.responses.iter().take(responses);
        self.flags.extend(responses.map(|one| flags(one.holds(&candidate.state))));
    }

    /// Removes everything from a position on.
    pub(crate) fn cut(&mut self, position: u32) {
        if self.end() <= position {
            return;
        }
        self.transitions.truncate(position.saturating_sub(self.start) as usize);
        self.rests.truncate(self.transitions.len());
        let states = self.transitions.len() as u32;
        self.deadlocks.retain(|state| *state < states);
        let targets: u64 = self.transitions.iter().map(|count| u64::from(*count)).sum();
        if !self.targets.is_empty() {
            self.targets.truncate(targets as usize);
            self.classes.truncate(targets as usize);
            self.updates.truncate(targets as usize);
        }
        self.faults.retain(|_, fault| fault.position < position);
        for candidate in self.candidates.iter_mut().filter(|one| one.position >= position) {
            candidate.status = Status::Dropped;
        }
    }

    /// Counts the candidates that are new.
    pub(crate) fn count_new(&mut self) {
        self.fresh.count = self.candidates.iter().filter(|one| one.status == Status::New).count();
    }

    /// Adds the encodings of new states to those of all states.
    pub(crate) fn keep_encodings(&self, arena: &mut Arena) {
        for (index, candidate) in self.candidates.iter().enumerate() {
            if let Status::Numbered(number) = candidate.status
                && number as usize == arena.len()
            {
                arena.push(self.encoding(index));
            }
        }
    }
}
