//! Conflict analysis and clause learning (first UIP), and the level to backjump to.
//!
//! The learnt clause is the one at the first unique implication point: the conflict is resolved
//! with the reasons of its literals of the current level, latest first, until one such literal is
//! left.

use super::arena::{ClauseRef, LEARNED, USED};
use super::core::Core;
use super::lit::Lit;
use super::minimise::Mark;
use super::theory::Theory;
use super::values::{Reason, Value};

/// Longer clauses, or clauses on more levels, are not minimised with binary clauses.
const BINARY_GLUE_MAX: u32 = 6;
const BINARY_LEN_MAX: usize = 30;

/// Above this, all clause activities are scaled down, so that they stay in the range of `f32`.
const CLAUSE_ACTIVITY_MAX: f32 = 1e20;

impl Core {
    /// Learns from a false clause. Returns false when there is no model.
    pub(super) fn learn_from<T: Theory + ?Sized>(
        &mut self,
        clause: ClauseRef,
        theory: &mut T,
    ) -> bool {
        self.use_clause(clause);
        self.conflict.clear();
        self.conflict.extend(self.arena.lits(clause));
        self.learn(theory)
    }

    /// Learns from `self.conflict`, a valid clause whose literals are all false: backjumps, adds
    /// the learned clause and makes its first literal true. Returns false when there is no model.
    pub(super) fn learn<T: Theory + ?Sized>(&mut self, theory: &mut T) -> bool {
        self.counters.conflicts += 1;
        let level = self.conflict.iter().map(|&lit| self.values.level_of(lit)).max().unwrap_or(0);
        if level == 0 {
            self.log_units(theory);
            self.refute();
            return false;
        }
        // A conflict of the theory may lie below the current level.
        self.backjump(level, theory);
        self.resolve(theory);
        let glue = self.marks.glue(&self.values, self.clause.iter().copied());
        self.restarts.learned(glue);
        self.counters.learned += 1;
        self.proof.learned(self.clause.iter().copied());
        let back = self.watch_highest();
        self.backjump(back, theory);
        self.assert_learned(glue);
        self.activity.decay(self.restarts.decay());
        self.clause_increment /= super::search::CLAUSE_DECAY;
        true
    }

    /// Puts the learned clause into `self.clause`; its first literal becomes true next.
    fn resolve<T: Theory + ?Sized>(&mut self, theory: &mut T) {
        let level = self.values.levels();
        let mut conflict = std::mem::take(&mut self.conflict);
        self.clause.clear();
        self.clause.push(Lit(0));
        let mut open = 0;
        for &lit in &conflict {
            open += self.mark_conflict_literal(lit, level);
        }
        let mut at = self.values.trail.len();
        loop {
            at -= 1;
            let lit = self.values.trail[at];
            if self.marks.get(lit) != Mark::Seen {
                continue;
            }
            open -= 1;
            if open == 0 {
                self.clause[0] = !lit;
                break;
            }
            self.reason_into(lit, theory, &mut conflict);
            for &other in &conflict {
                if other != lit {
                    open += self.mark_conflict_literal(other, level);
                }
            }
        }
        self.conflict = conflict;
        self.marks.minimise(&mut self.clause, &self.arena, &self.values);
        if self.clause.len() <= BINARY_LEN_MAX {
            let glue = self.marks.glue(&self.values, self.clause.iter().copied());
            if glue <= BINARY_GLUE_MAX {
                self.marks.minimise_binary(&mut self.clause, &self.watches, &self.values);
            }
        }
        self.marks.clear();
    }

    /// Records a false literal of the clause being resolved; returns 1 when it is a new one of the
    /// current level.
    #[inline]
    fn mark_conflict_literal(&mut self, lit: Lit, level: u32) -> usize {
        let at = self.values.level_of(lit);
        if at == 0 || self.marks.get(lit) == Mark::Seen {
            return 0;
        }
        self.marks.set(lit, Mark::Seen);
        self.activity.bump(lit.var());
        if at == level {
            return 1;
        }
        self.clause.push(lit);
        0
    }

    /// Puts the reason of a true literal into `into`; it may or may not contain the literal.
    fn reason_into<T: Theory + ?Sized>(&mut self, lit: Lit, theory: &mut T, into: &mut Vec<Lit>) {
        into.clear();
        let reason = self.values.reason_of(lit);
        if let Some(clause) = reason.clause() {
            self.use_clause(clause);
            into.extend(self.arena.lits(clause));
        } else if reason == Reason::THEORY {
            self.explain(lit, theory);
            into.extend_from_slice(&self.reason);
        }
    }

    /// Requests the reason of a true literal, records it in the proof and keeps it. Leaves it in
    /// `self.reason`, `lit` first.
    pub(super) fn explain<T: Theory + ?Sized>(&mut self, lit: Lit, theory: &mut T) {
        self.request_reason(lit, theory);
        match self.arena.push(&self.reason, false, 0) {
            Some(clause) => {
                self.values.slots[lit.var().index()].reason = Reason::from_clause(clause);
                self.explained.push((lit, clause));
                self.explained_words += self.reason.len() + 2;
            }
            None => self.full = true,
        }
    }

    /// Requests a reason, records it in the proof and leaves it in `self.reason`, `lit` first.
    ///
    /// # Panics
    /// If the theory gives a literal that is not false, or was not yet false when `lit` became
    /// true. That is a bug of the theory and could lead to a wrong answer.
    pub(super) fn request_reason<T: Theory + ?Sized>(&mut self, lit: Lit, theory: &mut T) {
        self.reason.clear();
        self.reason.push(lit);
        let tag = theory.explain(lit, &mut self.reason);
        self.counters.explanations += 1;
        let end = if self.values.is_true(lit) { self.values.position(lit.var()) } else { None };
        let early =
            |other: Lit| end.is_none_or(|end| self.values.position(other.var()) < Some(end));
        let valid = |&other: &Lit| self.values.is_false(other) && early(other);
        assert!(self.reason[0] == lit, "a theory took literals out of a reason");
        assert!(
            self.reason[1..].iter().all(valid),
            "a theory explained a literal by one that was not false before it"
        );
        self.proof.lemma(&self.reason, tag);
    }

    /// Records that a clause took part in a conflict.
    fn use_clause(&mut self, clause: ClauseRef) {
        if !self.arena.is(clause, LEARNED) {
            return;
        }
        self.arena.set(clause, USED, true);
        let activity = self.arena.activity(clause) + self.clause_increment;
        self.arena.set_activity(clause, activity);
        if activity > CLAUSE_ACTIVITY_MAX {
            for &learned in &self.learned {
                let scaled = self.arena.activity(learned) / CLAUSE_ACTIVITY_MAX;
                self.arena.set_activity(learned, scaled);
            }
            self.clause_increment /= CLAUSE_ACTIVITY_MAX;
        }
        let before = self.arena.glue(clause);
        if before > super::reduce::GLUE_KEPT {
            let glue = self.marks.glue(&self.values, self.arena.lits(clause));
            if glue < before {
                self.arena.set_glue(clause, glue);
            }
        }
    }

    /// Moves a literal of the highest level (the first literal excepted) to the second place, where
    /// it is watched. Returns its level: the clause becomes unit there.
    fn watch_highest(&mut self) -> u32 {
        let level_of = |lit: Lit| self.values.level_of(lit);
        let Some(at) = (1..self.clause.len()).reduce(|best, at| {
            if level_of(self.clause[at]) > level_of(self.clause[best]) { at } else { best }
        }) else {
            return 0;
        };
        self.clause.swap(1, at);
        self.values.level_of(self.clause[1])
    }

    /// Adds the learned clause and makes its first literal true.
    fn assert_learned(&mut self, glue: u32) {
        let first = self.clause[0];
        if self.clause.len() == 1 {
            self.values.assign(first, Reason::NONE);
            return;
        }
        let Some(clause) = self.arena.push(&self.clause, true, glue) else {
            self.full = true;
            return;
        };
        self.arena.set_activity(clause, self.clause_increment);
        self.arena.set(clause, USED, true);
        self.learned.push(clause);
        self.watches.attach(&self.arena, clause);
        self.values.assign(first, Reason::from_clause(clause));
    }

    /// Returns the assumptions that make `failed`, an assumption, false; records the clause of
    /// their negations.
    pub(super) fn failed_core<T: Theory + ?Sized>(
        &mut self,
        failed: Lit,
        theory: &mut T,
    ) -> Vec<Lit> {
        let mut core = vec![failed];
        let mut reason = std::mem::take(&mut self.conflict);
        if self.values.level_of(failed) > 0 {
            self.marks.set(failed, Mark::Seen);
        }
        let from = self.values.starts.first().map_or(0, |&start| start as usize);
        for at in (from..self.values.trail.len()).rev() {
            let lit = self.values.trail[at];
            if self.marks.get(lit) != Mark::Seen {
                continue;
            }
            if self.values.reason_of(lit) == Reason::NONE {
                core.push(lit);
                continue;
            }
            self.reason_into(lit, theory, &mut reason);
            for &other in &reason {
                if other != lit && self.values.level_of(other) > 0 {
                    self.marks.set(other, Mark::Seen);
                }
            }
        }
        self.conflict = reason;
        self.marks.clear();
        self.proof.learned(core.iter().map(|&lit| !lit));
        core
    }

    /// Undoes all levels above this one.
    pub(super) fn backjump<T: Theory + ?Sized>(&mut self, level: u32, theory: &mut T) {
        let Some(&start) = self.values.starts.get(level as usize) else { return };
        let len = start as usize;
        let values = &mut self.values;
        for &lit in values.trail[len..].iter().rev() {
            values.values[lit.index()] = Value::Open;
            values.values[lit.index() ^ 1] = Value::Open;
            self.phases[lit.var().index()] = lit.is_positive();
            self.activity.insert(lit.var());
        }
        values.trail.truncate(len);
        values.starts.truncate(level as usize);
        self.watches.head = self.watches.head.min(len);
        theory.backtrack(len);
    }
}
