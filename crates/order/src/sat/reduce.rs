//! Reduces the clause database: deletes long learnt clauses, but keeps those of low glue (LBD); and
//! simplifies by what level 0 has decided.

use super::arena::{Arena, ClauseRef, DEAD, LEARNED, PROTECTED, USED};
use super::core::Core;
use super::lit::Lit;
use super::theory::Theory;
use super::values::{Reason, Value};
use super::watches::Watch;

// Chosen on random 3-SAT of 250 to 300 variables, where each stored clause slows propagation. The
// time is half that of Glucose's scheme (intervals of 2000 + 300 n, halving, order by activity).

/// Conflicts before the first reduction.
pub(super) const FIRST: u64 = 500;
/// Each interval between reductions is longer than the one before by this many conflicts.
const STEP: u64 = 20;
/// Learned clauses on at most this many levels are kept for ever.
pub(super) const GLUE_KEPT: u32 = 2;
/// Learned clauses on at most this many levels are kept if they took part in a conflict since the
/// last reduction.
const GLUE_KEPT_USED: u32 = 6;

impl Core {
    /// Deletes three quarters of the learned clauses, except those on few levels: the longest
    /// first, and among equally long ones the least active.
    pub(super) fn reduce(&mut self) {
        self.counters.reductions += 1;
        if self.proof().is_some_and(|proof| proof.memory_bytes() > self.proof_bytes_max) {
            self.proof.0 = None;
        }
        self.reduce_at = self.counters.conflicts + FIRST + STEP * self.counters.reductions;
        self.protect_reasons(true);
        let mut candidates = Vec::new();
        for &clause in &self.learned {
            let glue = self.arena.glue(clause);
            let used = self.arena.is(clause, USED);
            self.arena.set(clause, USED, false);
            let kept =
                glue <= GLUE_KEPT || used && glue <= GLUE_KEPT_USED || self.arena.len(clause) == 2;
            if !kept && !self.arena.is(clause, PROTECTED) {
                candidates.push(clause);
            }
        }
        // Worst first; ties by age, so that the outcome does not depend on the sort algorithm.
        let arena = &self.arena;
        candidates.sort_unstable_by(|&a, &b| {
            let by_activity = || arena.activity(a).total_cmp(&arena.activity(b));
            arena.len(b).cmp(&arena.len(a)).then_with(by_activity).then(a.0.cmp(&b.0))
        });
        for &clause in &candidates[..candidates.len() / 4 * 3] {
            self.delete(clause);
        }
        self.protect_reasons(false);
        self.collect();
    }

    /// Deletes permanently true clauses and permanently false literals. Call it at level 0, after
    /// propagation.
    pub(super) fn simplify<T: Theory + ?Sized>(&mut self, theory: &mut T) {
        debug_assert!(self.values.levels() == 0 && self.watches.head == self.values.trail.len());
        self.log_units(theory);
        // A pass over all clauses is worth its time only after many propagations.
        if self.units_simplified == self.values.trail.len()
            || self.watches.propagations < self.simplify_at
        {
            return;
        }
        // No one requests the reasons of literals of level 0.
        for at in self.units_simplified..self.values.trail.len() {
            let var = self.values.trail[at].var();
            self.values.slots[var.index()].reason = Reason::NONE;
        }
        self.units_simplified = self.values.trail.len();
        for at in 0..self.clauses.len() {
            self.simplify_clause(self.clauses[at]);
        }
        for at in 0..self.learned.len() {
            self.simplify_clause(self.learned[at]);
        }
        self.collect();
        self.simplify_at = self.watches.propagations + self.arena.words() as u64 / 8;
    }

    fn simplify_clause(&mut self, clause: ClauseRef) {
        let values = &self.values;
        if self.arena.lits(clause).any(|lit| values.is_true(lit)) {
            self.delete(clause);
            return;
        }
        let open = self.arena.lits(clause).filter(|&lit| !values.is_false(lit)).count();
        if open == self.arena.len(clause) {
            return;
        }
        self.proof.learned(self.arena.lits(clause).filter(|&lit| !values.is_false(lit)));
        self.proof.deleted(self.arena.lits(clause));
        // Propagation is complete, so the first two literals are open and stay in place.
        let lits = self.arena.packed_mut(clause);
        let mut kept = 0;
        for at in 0..lits.len() {
            if values.values[lits[at] as usize] == Value::Open {
                lits[kept] = lits[at];
                kept += 1;
            }
        }
        self.arena.shrink(clause, kept);
    }

    fn delete(&mut self, clause: ClauseRef) {
        if self.arena.is(clause, LEARNED) {
            self.counters.deleted += 1;
        }
        self.proof.deleted(self.arena.lits(clause));
        self.arena.set(clause, DEAD, true);
    }

    fn protect_reasons(&mut self, protected: bool) {
        for at in 0..self.values.trail.len() {
            if let Some(clause) = self.values.reason_of(self.values.trail[at]).clause() {
                self.arena.set(clause, PROTECTED, protected);
            }
        }
    }

    /// Drops reasons of the theory whose literals lost their values.
    fn drop_explanations(&mut self) {
        let Core { explained, explained_words, arena, values, proof, .. } = self;
        *explained_words = 0;
        explained.retain(|&(lit, clause)| {
            let used = values.is_true(lit) && values.reason_of(lit) == Reason::from_clause(clause);
            if used {
                *explained_words += arena.len(clause) + 2;
            } else {
                proof.deleted(arena.lits(clause));
            }
            used
        });
    }

    /// Copies live clauses into a new arena and rebuilds the references. Clauses watched by the
    /// same literal become neighbours.
    pub(super) fn collect(&mut self) {
        self.drop_explanations();
        let mut to = Arena::with_capacity(self.arena.words());
        let arena = &mut self.arena;
        for index in 0..self.watches.lists.len() {
            let lit = Lit(index as u32);
            self.watches.lists[index].retain_mut(|watch| {
                let clause = watch.clause();
                if arena.is(clause, DEAD) {
                    return false;
                }
                let moved = arena.relocate(clause, &mut to);
                let binary = to.len(moved) == 2;
                let other = Lit(to.lit(moved, 0).0 ^ to.lit(moved, 1).0 ^ lit.0);
                *watch = Watch::new(moved, if binary { other } else { watch.blocker }, binary);
                true
            });
        }
        for list in [&mut self.clauses, &mut self.learned] {
            list.retain_mut(|clause| {
                let living = !arena.is(*clause, DEAD);
                if living {
                    *clause = arena.relocate(*clause, &mut to);
                }
                living
            });
        }
        for &lit in &self.values.trail {
            let slot = &mut self.values.slots[lit.var().index()];
            if let Some(clause) = slot.reason.clause() {
                slot.reason = Reason::from_clause(arena.relocate(clause, &mut to));
            }
        }
        // These are reasons, so they have moved already.
        for (_, clause) in &mut self.explained {
            *clause = arena.relocate(*clause, &mut to);
        }
        self.arena = to;
    }
}
