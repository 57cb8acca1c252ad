//! Coverage at access level.
//!
//! **Idea.** Among the races into one access from one chain, only the last can be uncovered,
//! because the earlier accesses of the chain come before it. A second pass computes the closure of
//! happens-before and these last races. A race is uncovered exactly if no other direct predecessor
//! of its later access comes after its earlier access in that closure.
//!
//! **Cost.** One pass, and one join for each of these last races: at worst one for each pair of
//! runs that race. One saved clock for each access that has a later race, until that race.

use super::Uncovered;
use crate::races::detector::{Races, RunId};
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
    /// `None` for a conflict that is no race.
    pair: Option<u32>,
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
    let candidates = candidates(races, cancel)?;
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

/// Finds the last race of each later run with each chain. Linear in the pairs.
fn candidates(races: &Races, cancel: &Cancel) -> Result<Vec<Candidate>, Stopped> {
    const POLL_PAIRS: usize = 4096;
    let mut candidates: Vec<Candidate> = Vec::new();
    let mut of_chain: FxHashMap<ChainId, usize> = FxHashMap::default();
    let racing = (0..).map(Some).zip(&races.pairs);
    let mut pairs: Vec<(Option<u32>, &(RunId, RunId))> = racing.collect();
    if !races.ended.is_empty() {
        pairs.extend(races.ended.iter().map(|pair| (None, pair)));
        pairs.sort_by_key(|(_, pair)| pair.1);
    }
    for (i, (pair, &(a, b))) in pairs.into_iter().enumerate() {
        if i % POLL_PAIRS == 0 {
            cancel.check()?;
        }
        let (a, b) = (races.run(a), races.run(b));
        let candidate = Candidate { from: a.last, to: b.first, chain: a.chain, pair };
        if candidates.last().is_some_and(|last| last.to != candidate.to) {
            of_chain.clear();
        }
        let next = candidates.len();
        let at = *of_chain.entry(candidate.chain).or_insert(next);
        if at == next {
            candidates.push(candidate);
        } else if candidates[at].from < candidate.from {
            candidates[at] = candidate;
        }
    }
    // The earliest source of each target comes last: only later sources can cover it.
    candidates.sort_unstable_by_key(|one| (one.to, std::cmp::Reverse(one.from)));
    Ok(candidates)
}

impl Visitor for Closure {
    fn event(&mut self, _view: &View<'_, '_>, _event: EventId, _strand: StrandId) {}

    /// Joins the sources of races into the target, the latest first. One that is known by then is
    /// covered, by what came before or by a race with a later source.
    fn more_predecessors(
        &mut self,
        event: EventId,
        clocks: &mut Clocks,
        mut clock: ClockRef,
    ) -> ClockRef {
        while let Some(candidate) = self.candidates.get(self.next).filter(|one| one.to == event) {
            self.next += 1;
            let Candidate { from, chain, pair, .. } = *candidate;
            if clocks.get(clock, chain) <= from.0 {
                if let Some(pair) = pair {
                    self.uncovered[pair as usize] = 1;
                }
                if let Some(stamp) = self.stamps.get(&from) {
                    clock = clocks.join(clock, *stamp);
                }
            }
            if let Some(uses) = self.uses.get_mut(&from) {
                *uses -= 1;
                if *uses == 0 {
                    self.stamps.remove(&from);
                }
            }
        }
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
