//! Conflict analysis: learns a clause of decisions, and the cycles that prove it.

use super::search::Search;
use super::{RefutationStep, Saturation};
use crate::answer::{Fact, Link, Why};
use crate::saturate::{Conflict, Reason};
use std::collections::BTreeSet;

impl Search<'_, '_> {
    /// Finds the decisions behind a conflict. Returns the clause that not all of them hold, and the
    /// level of the last of them; `None` when no decision is behind it: then the trace is
    /// inconsistent. Records the cycles and the clause in the proof.
    pub(super) fn learn(&mut self, conflict: Conflict) -> Option<(Vec<Fact>, usize)> {
        let decisions = self.decisions_of(conflict).unwrap_or_else(|| self.all_decisions());
        let last = *decisions.last()?;
        let saturation = &self.saturation;
        let clause: Vec<Fact> =
            decisions.iter().map(|&index| saturation.trail[index].fact().opposite()).collect();
        let level = level_of(saturation, last);
        if self.effort.refute {
            self.links += clause.len() as u64;
            self.steps.push(RefutationStep::Derived(clause.clone()));
        }
        Some((clause, level))
    }

    /// The positions in the trail of the decisions behind a conflict, ascending; `None` if a cycle
    /// is not found a second time.
    fn decisions_of(&mut self, conflict: Conflict) -> Option<BTreeSet<usize>> {
        let mut decisions = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut open = Vec::new();
        let cycle = self.saturation.conflict_cycle(conflict)?;
        open.extend(facts(&cycle));
        self.emit(cycle);
        while let Some(fact) = open.pop() {
            let index = self.saturation.index(fact)?;
            if !seen.insert(index) {
                continue;
            }
            match self.saturation.trail[index].reason {
                Reason::Decision => {
                    decisions.insert(index);
                }
                Reason::Clause(number) => {
                    let others = self.clauses[number].iter().filter(|&&literal| literal != fact);
                    open.extend(others.map(|literal| literal.opposite()));
                }
                Reason::Path(..) => {
                    let cycle = self.saturation.entry_cycle(index)?;
                    open.extend(facts(&cycle).filter(|&other| other != fact.opposite()));
                    self.emit(cycle);
                }
            }
        }
        Some(decisions)
    }

    /// All decisions: sound, but the weakest clause.
    fn all_decisions(&self) -> BTreeSet<usize> {
        debug_assert!(false, "a cycle of the closure is not one of the graph");
        (0..self.saturation.levels.len()).map(|level| self.saturation.levels[level].trail).collect()
    }

    fn emit(&mut self, cycle: Vec<Link>) {
        if self.effort.refute {
            let mut key: Vec<Fact> = facts(&cycle).collect();
            key.sort_unstable();
            if self.emitted.insert(key) {
                self.links += cycle.len() as u64;
                self.steps.push(RefutationStep::Cycle(cycle));
            }
        }
    }
}

fn facts(cycle: &[Link]) -> impl Iterator<Item = Fact> + '_ {
    cycle.iter().filter_map(|link| match link.why {
        Why::Decided(fact) => Some(fact),
        Why::Given(_) => None,
    })
}

/// The level of the decision at this position of the trail.
fn level_of(saturation: &Saturation<'_>, index: usize) -> usize {
    (0..saturation.levels.len())
        .rev()
        .find(|&level| saturation.levels[level].trail <= index)
        .unwrap_or(0)
}
