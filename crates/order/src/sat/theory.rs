//! What a theory is to the search.

use super::lit::{Lit, Var};
use super::values::Values;

/// A theory: it watches the assignment grow, and answers with clauses and implied literals.
///
/// Contract: each lemma and each explanation is valid in the theory (no assignment that the theory
/// accepts falsifies it); an assignment is accepted in [`Theory::final_check`] only when the theory
/// allows it.
///
/// A core is solved with one theory. To go on with another one, that one must begin with nothing
/// taken of the trail.
pub trait Theory {
    /// Called at every fixpoint of unit propagation. `trail` is every literal that is true, in
    /// order of assignment; the theory remembers how much of it it has taken, and may take nothing
    /// (be lazy). Writes what follows to `out`.
    ///
    /// What was written may be undone before the next call (see [`Theory::backtrack`]): an implied
    /// literal that lost its value again, or that was dropped as another one led to a conflict, is
    /// not kept by the core; a lemma is.
    fn propagate(&mut self, trail: &[Lit], values: &Values, out: &mut Output);

    /// Called when every variable has a value and propagation finds nothing. Writing nothing
    /// accepts the model; otherwise lemmas, implied literals and new variables are taken in and the
    /// search goes on.
    ///
    /// Writing only clauses that the model satisfies makes the core ask again, so that a theory
    /// that always does so never ends.
    fn final_check(&mut self, trail: &[Lit], values: &Values, out: &mut Output);

    /// The trail has been cut to this length. Also called at the end of each solve.
    fn backtrack(&mut self, len: usize);

    /// Gives the reason of a literal given by [`Output::imply`]: a clause with `lit` whose other
    /// literals were all false before `lit` was implied. Pushes the *other* literals and returns a
    /// tag for the proof.
    ///
    /// Asked at most once per implication, while the literal is on the trail, or at once if it was
    /// false when implied.
    fn explain(&mut self, lit: Lit, out: &mut Vec<Lit>) -> u32;
}

/// Takes every assignment.
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

/// What a theory found, in one call.
#[derive(Default)]
pub struct Output {
    /// The literals of all lemmas, one lemma after the other.
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
    /// Adds a clause that is valid in the theory. Under the present assignment it may be
    /// conflicting (also on a level below the present one), unit, open or satisfied; the core
    /// backjumps as needed. Lemmas are kept for ever.
    pub fn lemma(&mut self, lits: &[Lit], tag: u32) {
        self.lits.extend_from_slice(lits);
        self.ends.push((self.lits.len(), tag));
    }

    /// Says that `lit` follows from the literals that are true; [`Theory::explain`] gives the
    /// reason if it is ever needed.
    pub fn imply(&mut self, lit: Lit) {
        self.implied.push(lit);
    }

    /// Creates a variable, usable at once in lemmas of the same call. `phase` is the value tried
    /// first.
    pub fn new_var(&mut self, phase: bool) -> Var {
        // At the greatest number of variables (2^30) the core gives up with `Cause::Memory`; until
        // then the last one is repeated.
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
