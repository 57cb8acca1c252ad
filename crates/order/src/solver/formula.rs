//! Boolean combinations, turned into clauses.

use crate::sat::Lit;
use std::ops::Not;

/// A Boolean combination of literals.
///
/// ```
/// use anyorder_order::solver::{Formula, Problem, Solver};
/// let mut problem = Problem::new();
/// let (a, b, c) = (problem.chain(1)?, problem.chain(1)?, problem.chain(1)?);
/// let mut solver = Solver::new(problem);
/// let (ab, bc) = (solver.before(a, b)?, solver.before(b, c)?);
/// // Not both in line.
/// solver.require(&!Formula::and([Formula::from(ab), Formula::from(bc)]));
/// # Ok::<(), anyorder_order::solver::ProblemError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Formula {
    /// The literal.
    Lit(Lit),
    /// All of them; true when there are none.
    And(Vec<Formula>),
    /// At least one of them; false when there are none.
    Or(Vec<Formula>),
    /// The opposite.
    Not(Box<Formula>),
}

impl Formula {
    /// Makes a conjunction.
    pub fn and(parts: impl IntoIterator<Item = Formula>) -> Formula {
        Formula::And(parts.into_iter().collect())
    }

    /// Makes a disjunction.
    pub fn or(parts: impl IntoIterator<Item = Formula>) -> Formula {
        Formula::Or(parts.into_iter().collect())
    }

    /// Adds clauses that make the formula true. `fresh` supplies variables for its parts. Only the
    /// needed direction of each definition is encoded (D. A. Plaisted, S. Greenbaum, "A
    /// structure-preserving clause form translation", 1986).
    pub(crate) fn clauses(&self, fresh: &mut dyn FnMut() -> Lit, clause: &mut dyn FnMut(&[Lit])) {
        self.assert(true, &mut Vec::new(), fresh, clause);
    }

    /// Asserts `self` (or its opposite), or one of `or`.
    fn assert(
        &self,
        positive: bool,
        or: &mut Vec<Lit>,
        fresh: &mut dyn FnMut() -> Lit,
        clause: &mut dyn FnMut(&[Lit]),
    ) {
        match (self, positive) {
            (Formula::Not(part), _) => part.assert(!positive, or, fresh, clause),
            (Formula::And(parts), true) | (Formula::Or(parts), false) => {
                for part in parts {
                    part.assert(positive, or, fresh, clause);
                }
            }
            _ => {
                let parts = match self {
                    Formula::And(parts) | Formula::Or(parts) => parts,
                    lit => std::slice::from_ref(lit),
                };
                let len = or.len();
                for part in parts {
                    let name = part.name(positive, fresh, clause);
                    or.push(name);
                }
                clause(or);
                or.truncate(len);
            }
        }
    }

    /// Returns a literal that implies `self` (or its opposite).
    fn name(
        &self,
        positive: bool,
        fresh: &mut dyn FnMut() -> Lit,
        clause: &mut dyn FnMut(&[Lit]),
    ) -> Lit {
        match self {
            Formula::Lit(lit) if positive => *lit,
            Formula::Lit(lit) => !*lit,
            Formula::Not(part) => part.name(!positive, fresh, clause),
            Formula::And(_) | Formula::Or(_) => {
                let name = fresh();
                self.assert(positive, &mut vec![!name], fresh, clause);
                name
            }
        }
    }
}

impl From<Lit> for Formula {
    fn from(lit: Lit) -> Formula {
        Formula::Lit(lit)
    }
}

impl Not for Formula {
    type Output = Formula;

    fn not(self) -> Formula {
        Formula::Not(Box::new(self))
    }
}
