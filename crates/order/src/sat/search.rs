//! The loop of CDCL: propagate; after a conflict analyse, learn and backjump; else decide.

use super::core::Core;
use super::limits::{Answer, Cause, Limits};
use super::lit::Lit;
use super::theory::Theory;
use super::values::{Reason, Value};

/// The decay factor of clause activities for one more conflict.
pub(super) const CLAUSE_DECAY: f32 = 0.999;

/// Conflicts and decisions between two calls of [`Limits::stop`].
const STOP_CONFLICTS: u64 = 100;
const STOP_DECISIONS: u64 = 1000;

/// Theory reasons may take this many words before a clean-up, or half of all words of clauses.
const EXPLAINED_WORDS_MIN: usize = 1 << 20;

/// The next action after complete propagation.
enum Next {
    Decide(Lit),
    /// An assumption is false.
    Failed(Lit),
    /// Every variable has a value.
    Complete,
}

/// When to check the limits next.
struct LimitTimer {
    conflicts_end: Option<u64>,
    conflicts_next: u64,
    decisions_next: u64,
}

impl Core {
    /// Searches for a model in which the assumptions hold and that the theory accepts.
    ///
    /// # Panics
    /// If an assumption is not a literal of this core, or the theory breaks its contract on
    /// explanations.
    pub fn solve<T: Theory + ?Sized>(
        &mut self,
        assumptions: &[Lit],
        theory: &mut T,
        limits: &mut Limits<'_>,
    ) -> Answer {
        self.model.clear();
        if !self.consistent {
            return Answer::Unsat { core: Vec::new() };
        }
        let answer = self.search(assumptions, theory, limits);
        self.backjump(0, theory);
        if self.consistent {
            // The theory may forget reasons at the end of a search.
            self.log_units(theory);
        }
        answer
    }

    fn search<T: Theory + ?Sized>(
        &mut self,
        assumptions: &[Lit],
        theory: &mut T,
        limits: &mut Limits<'_>,
    ) -> Answer {
        let refuted = || Answer::Unsat { core: Vec::new() };
        let mut timer = self.timer(limits);
        loop {
            if let Some(cause) = self.limit_reached(&mut timer, limits) {
                return Answer::Unknown(cause);
            }
            if let Some(clause) = self.propagate() {
                if !self.learn_from(clause, theory) {
                    return refuted();
                }
                continue;
            }
            self.output.reset(self.phases.len());
            theory.propagate(&self.values.trail, &self.values, &mut self.output);
            if !self.output.is_empty() {
                if !self.take_output(theory) {
                    return refuted();
                }
                if self.watches.head < self.values.trail.len() {
                    continue;
                }
            }
            self.tidy(assumptions, theory);
            match self.next(assumptions) {
                Next::Decide(lit) => {
                    self.values.open_level();
                    self.values.assign(lit, Reason::NONE);
                }
                Next::Failed(lit) => return Answer::Unsat { core: self.failed_core(lit, theory) },
                Next::Complete => {
                    self.counters.final_checks += 1;
                    self.output.reset(self.phases.len());
                    theory.final_check(&self.values.trail, &self.values, &mut self.output);
                    let accepted = self.output.is_empty();
                    if accepted {
                        self.model.extend(
                            self.values.values.iter().step_by(2).map(|&v| v == Value::True),
                        );
                        return Answer::Sat;
                    }
                    if !self.take_output(theory) {
                        return refuted();
                    }
                    // Checks the limits now, whatever the counts are.
                    timer.conflicts_next = 0;
                }
            }
        }
    }

    /// Periodic work, at a fixpoint of propagation.
    fn tidy<T: Theory + ?Sized>(&mut self, assumptions: &[Lit], theory: &mut T) {
        if self.restarts.due() && self.values.levels() as usize > assumptions.len() {
            self.counters.restarts += 1;
            self.backjump(assumptions.len() as u32, theory);
        }
        if self.values.levels() == 0 {
            self.simplify(theory);
            // A walk ignores assumptions.
            if assumptions.is_empty() {
                self.walk();
            }
        }
        let explained_max = EXPLAINED_WORDS_MIN.max(self.arena.words() / 2);
        if self.counters.conflicts >= self.reduce_at {
            self.reduce();
        } else if self.explained_words > explained_max {
            self.collect();
        }
    }

    /// Chooses the next decision: assumptions in their order, then by VSIDS.
    fn next(&mut self, assumptions: &[Lit]) -> Next {
        while let Some(&lit) = assumptions.get(self.values.levels() as usize) {
            match self.values.values[lit.index()] {
                Value::True => self.values.open_level(),
                Value::False => return Next::Failed(lit),
                Value::Open => return Next::Decide(lit),
            }
        }
        while let Some(var) = self.activity.pop() {
            let lit = Lit::new(var, self.phases[var.index()]);
            if self.values.values[lit.index()] == Value::Open {
                self.counters.decisions += 1;
                return Next::Decide(lit);
            }
        }
        Next::Complete
    }

    fn timer(&self, limits: &Limits<'_>) -> LimitTimer {
        LimitTimer {
            conflicts_end: limits
                .conflicts
                .map(|count| self.counters.conflicts.saturating_add(count)),
            conflicts_next: self.counters.conflicts,
            decisions_next: self.counters.decisions + STOP_DECISIONS,
        }
    }

    fn limit_reached(&mut self, timer: &mut LimitTimer, limits: &mut Limits<'_>) -> Option<Cause> {
        if self.full {
            return Some(Cause::Memory);
        }
        let (conflicts, decisions) = (self.counters.conflicts, self.counters.decisions);
        if timer.conflicts_end.is_some_and(|end| conflicts >= end) {
            return Some(Cause::Conflicts);
        }
        if let Some(limit) = limits.memory_bytes
            && self.memory_bytes() > limit
        {
            self.reduce();
            if self.memory_bytes() > limit {
                return Some(Cause::Memory);
            }
        }
        if conflicts >= timer.conflicts_next || decisions >= timer.decisions_next {
            timer.conflicts_next = conflicts + STOP_CONFLICTS;
            timer.decisions_next = decisions + STOP_DECISIONS;
            if limits.stop.as_mut().is_some_and(|stop| stop()) {
                return Some(Cause::Stopped);
            }
        }
        None
    }
}
