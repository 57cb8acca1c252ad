//! Mutation of specifications, to test a check.

use crate::display::text_of;
use crate::expr::Expr;
use crate::formula::Formula;
use crate::spec::Spec;

/// A specification with a mistake.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// The change: the position of the condition, and the mutation.
    pub change: String,
    /// The specification. Conditions of a method with itself may not be symmetric:
    /// [`Mutant::is_symmetric`].
    pub spec: Spec,
    /// Whether the changed condition is symmetric, if it is of a method with itself.
    pub is_symmetric: bool,
}

/// The most pairs of invocations tried for the symmetry of a mutant.
const TRIED_MAX: usize = 10_000;

/// Returns all mutants of a specification: in each condition, each literal negated, each part of a
/// conjunction or disjunction dropped, and the whole condition replaced by `true` and by `false` if
/// it is neither.
#[must_use]
pub fn mutants(spec: &Spec) -> Vec<Mutant> {
    let mut found = Vec::new();
    for (at, condition) in spec.conditions().iter().enumerate() {
        let mut changed = changes(&condition.formula);
        for (word, formula) in [("true", Formula::TRUE), ("false", Formula::FALSE)] {
            if condition.formula != formula {
                changed.push((word.to_owned(), formula));
            }
        }
        let names = [condition.left, condition.right].map(|id| spec.method_name(id));
        for (word, formula) in changed {
            let is_symmetric = condition.left != condition.right
                || crate::symmetry::counterexample(
                    &formula,
                    &spec.methods()[condition.left.index()],
                    TRIED_MAX,
                )
                .is_none();
            let change = format!("{} ~ {}: {word}", names[0], names[1]);
            found.push(Mutant { change, spec: spec.with_formula(at, formula), is_symmetric });
        }
    }
    found
}

fn changes(formula: &Formula) -> Vec<(String, Formula)> {
    match formula {
        Formula::Literal(expr) => {
            let negated = Expr::Not(Box::new(expr.clone()));
            let negated = Formula::of(&negated, &|_| false);
            vec![(format!("negated {}", text_of(expr)), negated)]
        }
        Formula::All(parts) => within(parts, "conjunct", Formula::All),
        Formula::Any(parts) => within(parts, "disjunct", Formula::Any),
    }
}

fn within(
    parts: &[Formula],
    word: &str,
    make: fn(Vec<Formula>) -> Formula,
) -> Vec<(String, Formula)> {
    let mut found = Vec::new();
    for at in 0..parts.len() {
        let mut fewer = parts.to_vec();
        fewer.remove(at);
        found.push((format!("without {word} {at}"), make(fewer)));
        for (how, part) in changes(&parts[at]) {
            let mut other = parts.to_vec();
            other[at] = part;
            found.push((how, make(other)));
        }
    }
    found
}
