//! The interface between a theory and the search.

use super::lit::{Lit, Var};
use super::values::Values;

/// A theory: it follows the growing assignment, and answers with clauses and implied literals.
///
/// Contract: each lemma and each explanation is valid in the theory (no assignment that the theory
/// accepts falsifies it); an assignment is accepted in [`Theory::final_check`] only when the theory
/// allows it.
///
/// Solve a core with one theory. Another theory may take over if it starts with nothing taken from
/// the trail.
pub trait Theory {
    /// Called at every fixpoint of unit propagation. `trail` holds every true literal, in order of
    /// assignment. The theory remembers how much of it it has processed, and may process nothing
    /// (be lazy). It writes consequences to `out`.
    ///
    /// The core may drop an implied literal before the next call (see [`Theory::backtrack`]): the
    /// literal may lose its value, or another implied literal may lead to a conflict first. The
    /// core keeps every lemma.
    fn propagate(&mut self, trail: &[Lit], values: &Values, out: &mut Output);

    /// Called when every variable has a value and propagation finds nothing. A theory that writes
    /// nothing accepts the model. Otherwise the core adds its lemmas, implied literals and new
    /// variables, and the search continues.
    ///
    /// If it writes only clauses that the model satisfies, the core calls it again. A theory that
    /// always does so never ends.
    fn final_check(&mut self, trail: &[Lit], values: &Values, out: &mut Output);

    /// The trail was cut to this length. Also called at the end of each solve.
    fn backtrack(&mut self, len: usize);

    /// Gives the reason of a literal given by [`Output::imply`]: a clause with `lit` whose other
    /// literals were all false before `lit` was implied. Pushes the *other* literals and returns a
    /// tag for the proof.
    ///
    /// Called at most once per implication: while the literal is on the trail, or at once if it was
    /// false when implied.
    fn explain(&mut self, lit: Lit, out: &mut Vec<Lit>) -> u32;
}

/// A theory that accepts every assignment.
#[derive(Copy, Clone, Debug, Default)]
pub struct NoTheory;

impl Theory for NoTheory {
    fn propagate(&mut self, _: &[Lit], _: &Values, _: &mut Output) {}

    fn final_check(&mut self, _: &[Lit], _: &Values, _: &mut Output) {}

    fn backtrack(&mut self, _: usize) {}

    fn explain(&mut self, _: Lit, _: &mut Vec<Lit>) -> u32 {
        0
    }
}

/// The output of one call of a theory.
#[derive(Default)]
pub struct Output {
    /// The literals of all lemmas, one lemma after another.
    pub(super) lits: Vec<Lit>,
    /// For each lemma, where it ends in `lits`, and its tag.
    pub(super) ends: Vec<(usize, u32)>,
    pub(super) implied: Vec<Lit>,
    /// First values of the new variables.
    pub(super) phases: Vec<bool>,
    /// The number of variables that there were before this call.
    pub(super) vars: usize,
}

impl Output {
    /// Adds a clause that is valid in the theory. Under the current assignment it may be
    /// conflicting (also on a lower level), unit, open or satisfied; the core backjumps as needed.
    /// Lemmas are permanent.
    pub fn lemma(&mut self, lits: &[Lit], tag: u32) {
        self.lits.extend_from_slice(lits);
        self.ends.push((self.lits.len(), tag));
    }

    /// States that `lit` follows from the true literals. The core calls [`Theory::explain`] if it
    /// needs the reason.
    pub fn imply(&mut self, lit: Lit) {
        self.implied.push(lit);
    }

    /// Creates a variable, usable at once in lemmas of the same call. `phase` is the value tried
    /// first.
    pub fn new_var(&mut self, phase: bool) -> Var {
        // At the greatest number of variables (2^30) the core stops with `Cause::Memory`; until
        // then this returns the last variable.
        let index = (self.vars + self.phases.len()).min(Var::COUNT_MAX - 1);
        self.phases.push(phase);
        Var::from_index(index)
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty() && self.implied.is_empty() && self.phases.is_empty()
    }

    pub(super) fn reset(&mut self, vars: usize) {
        self.lits.clear();
        self.ends.clear();
        self.implied.clear();
        self.phases.clear();
        self.vars = vars;
    }

    pub(super) fn memory_bytes(&self) -> usize {
        4 * (self.lits.capacity() + self.implied.capacity())
            + 16 * self.ends.capacity()
            + self.phases.capacity()
    }
}
