//! Coverage at access level.
//!
//! **Idea.** Among the races into one access from one chain, only the last can be uncovered,
//! because the earlier accesses of the chain come before it. A second pass computes the closure of
//! happens-before and these last races. A race is uncovered exactly if no other direct predecessor
//! of its later access comes after its earlier access in that closure.
//!
//! **Cost.** One pass; one saved clock for each access that has a later race, until that race.

use super::Uncovered;
use crate::races::detector::Races;
use crate::relation::engine::Engine;
use crate::relation::pass::{View, Visitor};
use crate::relation::state::Clocks;
use crate::relation::strands::StrandId;
use anyorder_order::{ChainId, ClockRef};
use anyorder_system::{Cancel, Stopped};
use anyorder_trace::EventId;
use rustc_hash::FxHashMap;

/// A race that can be uncovered.
#[derive(Clone, Copy)]
struct Candidate {
    from: EventId,
    to: EventId,
    chain: ChainId,
    pair: u32,
}

struct Closure {
    /// The candidates, by target.
    candidates: Vec<Candidate>,
    next: usize,
    uses: FxHashMap<EventId, u32>,
    stamps: FxHashMap<EventId, ClockRef>,
    uncovered: Vec<u64>,
}

/// Counts the uncovered pairs of accesses in each racing pair of runs: at most one each.
pub(super) fn access_coverage(
    engine: &mut Engine<'_>,
    races: &Races,
    cancel: &Cancel,
) -> Result<Uncovered, Stopped> {
    let candidates = candidates(races);
    let mut uses = FxHashMap::default();
    for candidate in &candidates {
        *uses.entry(candidate.from).or_insert(0) += 1;
    }
    let mut closure = Closure {
        candidates,
        next: 0,
        uses,
        stamps: FxHashMap::default(),
        uncovered: vec![0; races.pairs.len()],
    };
    if !closure.candidates.is_empty() {
        engine.visit(&mut closure, cancel, &mut |_| ())?;
    }
    Ok(Uncovered { in_pair: closure.uncovered, edge_only: true })
}

/// Finds the last race of each later run with each chain.
fn candidates(races: &Races) -> Vec<Candidate> {
    let mut candidates: Vec<Candidate> = Vec::new();
    let mut start = 0;
    for (i, &(a, b)) in races.pairs.iter().enumerate() {
        let (a, b) = (races.run(a), races.run(b));
        let candidate = Candidate { from: a.last, to: b.first, chain: a.chain, pair: i as u32 };
        if candidates.get(start).is_some_and(|first| first.to != candidate.to) {
            start = candidates.len();
        }
        match candidates[start..].iter_mut().find(|other| other.chain == candidate.chain) {
            Some(other) if other.from < candidate.from => *other = candidate,
            Some(_) => {}
            None => candidates.push(candidate),
        }
    }
    candidates
}

impl Closure {
    fn arriving(&self, event: EventId) -> &[Candidate] {
        let rest = &self.candidates[self.next..];
        let end = rest.iter().position(|candidate| candidate.to != event).unwrap_or(rest.len());
        &rest[..end]
    }
}

impl Visitor for Closure {
    fn event(&mut self, view: &View<'_, '_>, event: EventId, strand: StrandId) {
        let into = self.arriving(event);
        if into.is_empty() {
            return;
        }
        let before = view.at[strand.index()];
        let mut found: Vec<u32> = Vec::new();
        for candidate in into {
            let behind =
                |clock: ClockRef| view.clocks.get(clock, candidate.chain) > candidate.from.0;
            let covered = behind(before)
                || into.iter().any(|other| {
                    other.from != candidate.from
                        && self.stamps.get(&other.from).copied().is_some_and(behind)
                });
            if !covered {
                found.push(candidate.pair);
            }
        }
        for pair in found {
            self.uncovered[pair as usize] = 1;
        }
    }

    fn more_predecessors(
        &mut self,
        event: EventId,
        clocks: &mut Clocks,
        mut clock: ClockRef,
    ) -> ClockRef {
        let end = self.next + self.arriving(event).len();
        for i in self.next..end {
            let from = self.candidates[i].from;
            if let Some(stamp) = self.stamps.get(&from) {
                clock = clocks.join(clock, *stamp);
            }
            if let Some(uses) = self.uses.get_mut(&from) {
                *uses -= 1;
                if *uses == 0 {
                    self.stamps.remove(&from);
                }
            }
        }
        self.next = end;
        clock
    }

    fn wants_stamp(&self, event: EventId) -> bool {
        self.uses.contains_key(&event)
    }

    fn stamp(&mut self, event: EventId, clock: ClockRef) {
        self.stamps.insert(event, clock);
    }

    fn kept_clocks(&mut self) -> Box<dyn Iterator<Item = &mut ClockRef> + '_> {
        Box::new(self.stamps.values_mut())
    }
}
