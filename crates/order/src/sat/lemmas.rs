//! Adds theory lemmas to the search: conflicts and propagations of DPLL(T).

use super::core::Core;
use super::lit::Lit;
use super::theory::{Output, Theory};
use super::values::{Reason, Value};

impl Core {
    /// Processes `self.output`: first new variables, then implied literals (they depend on the
    /// current assignment), then lemmas. Returns false when there is no model.
    pub(super) fn take_output<T: Theory + ?Sized>(&mut self, theory: &mut T) -> bool {
        let output = std::mem::take(&mut self.output);
        let consistent = self.take(&output, theory);
        self.output = output;
        consistent
    }

    fn take<T: Theory + ?Sized>(&mut self, output: &Output, theory: &mut T) -> bool {
        for &phase in &output.phases {
            self.new_var(phase);
        }
        for &lit in &output.implied {
            match self.values.values[lit.index()] {
                Value::True => {}
                Value::Open => {
                    self.counters.theory_propagations += 1;
                    self.values.assign(lit, Reason::THEORY);
                }
                Value::False => {
                    if !self.refute_implied(lit, theory) {
                        return false;
                    }
                    // The other implied literals may have lost their reasons.
                    break;
                }
            }
        }
        let mut begin = 0;
        for &(end, tag) in &output.ends {
            if !self.take_lemma(&output.lits[begin..end], tag, theory) {
                return false;
            }
            begin = end;
        }
        true
    }

    /// Learns from an implied literal that is false.
    fn refute_implied<T: Theory + ?Sized>(&mut self, lit: Lit, theory: &mut T) -> bool {
        self.counters.theory_conflicts += 1;
        self.request_reason(lit, theory);
        self.conflict.clear();
        self.conflict.extend_from_slice(&self.reason);
        self.learn(theory)
    }

    /// Adds a lemma, whatever values its literals have. Returns false when there is no model.
    fn take_lemma<T: Theory + ?Sized>(&mut self, lits: &[Lit], tag: u32, theory: &mut T) -> bool {
        self.counters.lemmas += 1;
        self.proof.lemma(lits, tag);
        // Permanently false literals are dropped, so the proof must contain them first.
        self.log_units(theory);
        if !self.normalise(lits) {
            self.counters.lemmas_satisfied += 1;
            return true;
        }
        self.watch_best();
        match *self.clause {
            [] => {
                self.counters.theory_conflicts += 1;
                self.counters.conflicts += 1;
                self.counters.lemmas_conflicting += 1;
                self.counters.lemmas_conflicting_below += u64::from(self.values.levels() > 0);
                self.refute();
                false
            }
            [unit] => {
                self.count_unit(unit);
                self.backjump(0, theory);
                self.values.assign(unit, Reason::NONE);
                true
            }
            [first, second, ..] => self.take_long(first, second, theory),
        }
    }

    fn count_unit(&mut self, unit: Lit) {
        match self.values.value(unit) {
            Value::True => self.counters.lemmas_satisfied += 1,
            Value::Open => self.counters.lemmas_unit += 1,
            Value::False => self.count_conflict(unit),
        }
    }

    fn count_conflict(&mut self, highest: Lit) {
        self.counters.lemmas_conflicting += 1;
        self.counters.theory_conflicts += 1;
        self.counters.lemmas_conflicting_below +=
            u64::from(self.values.level_of(highest) < self.values.levels());
    }

    /// Adds the lemma in `self.clause`; its first two literals are watched.
    fn take_long<T: Theory + ?Sized>(&mut self, first: Lit, second: Lit, theory: &mut T) -> bool {
        let values = (self.values.value(first), self.values.value(second));
        let Some(clause) = self.store() else { return true };
        match values {
            (Value::True, _) => self.counters.lemmas_satisfied += 1,
            (Value::Open, Value::False) => {
                self.counters.lemmas_unit += 1;
                // On a level above that of `second`, the literal would be undone too early.
                self.backjump(self.values.level_of(second), theory);
                self.values.assign(first, Reason::from_clause(clause));
            }
            (Value::Open, _) => self.counters.lemmas_open += 1,
            (Value::False, _) => {
                self.count_conflict(first);
                let (level, below) = (self.values.level_of(first), self.values.level_of(second));
                if level == below {
                    return self.learn_from(clause, theory);
                }
                // Only one literal is false on the highest level, so the lemma itself becomes the
                // reason.
                self.counters.conflicts += 1;
                self.backjump(below, theory);
                self.values.assign(first, Reason::from_clause(clause));
            }
        }
        true
    }

    /// Puts the two best literals to watch first: true before open before false; true ones of low
    /// level and false ones of high level first.
    fn watch_best(&mut self) {
        let values = &self.values;
        let rank = |lit: Lit| match values.value(lit) {
            Value::True => (2, u32::MAX - values.level_of(lit)),
            Value::Open => (1, 0),
            Value::False => (0, values.level_of(lit)),
        };
        let clause = &mut self.clause;
        for place in 0..clause.len().min(2) {
            let best = (place + 1..clause.len()).fold(place, |best, at| {
                if rank(clause[at]) > rank(clause[best]) { at } else { best }
            });
            clause.swap(place, best);
        }
    }

    /// Records new literals of level 0 in the proof, with the theory's reasons, in order.
    pub(super) fn log_units<T: Theory + ?Sized>(&mut self, theory: &mut T) {
        if self.proof.0.is_none() {
            return;
        }
        let end =
            self.values.starts.first().map_or(self.values.trail.len(), |&start| start as usize);
        while self.units_logged < end {
            let lit = self.values.trail[self.units_logged];
            let reason = self.values.reason_of(lit);
            if reason == Reason::THEORY {
                self.explain(lit, theory);
            }
            if reason != Reason::NONE {
                self.proof.learned(std::iter::once(lit));
            }
            self.units_logged += 1;
        }
    }
}
