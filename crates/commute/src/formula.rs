//! Conditions in negation normal form, and as conjunctions of clauses.
//!
//! A literal without a value (see [`Expr::value`]) does not hold, negated or not. Literals occur
//! only under `&&` and `||` here. So a missing value can only make a condition weaker, whatever the
//! order of evaluation. And the conjunction of clauses means the same as the formula it comes from.

use crate::expr::{Expr, Operator, View};
use crate::value::Value;

/// A condition: literals joined by `&&` and `||`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Formula {
    /// Holds when the expression is true.
    Literal(Expr),
    /// All hold; without parts: true.
    All(Vec<Formula>),
    /// One holds; without parts: false.
    Any(Vec<Formula>),
}

/// A disjunction of literals.
pub(crate) type Clause = Vec<Expr>;

impl Formula {
    /// The formula that always holds.
    pub const TRUE: Formula = Formula::All(Vec::new());
    /// The formula that never holds.
    pub const FALSE: Formula = Formula::Any(Vec::new());

    /// Returns the normal form of an expression. `is_bool` says whether a name stands for a truth
    /// value. An equality of two truth values becomes a separate formula, which access points can
    /// represent.
    pub(crate) fn of(expr: &Expr, is_bool: &impl Fn(&Expr) -> bool) -> Formula {
        normal(expr, true, is_bool)
    }

    /// Returns whether it holds for two invocations.
    #[must_use]
    pub fn holds(&self, left: View<'_>, right: View<'_>) -> bool {
        match self {
            Formula::Literal(expr) => expr.value(left, right) == Some(Value::Bool(true)),
            Formula::All(parts) => parts.iter().all(|part| part.holds(left, right)),
            Formula::Any(parts) => parts.iter().any(|part| part.holds(left, right)),
        }
    }

    /// Calls a function for each literal and all its parts.
    pub fn visit(&self, see: &mut impl FnMut(&Expr)) {
        match self {
            Formula::Literal(expr) => expr.visit(see),
            Formula::All(parts) | Formula::Any(parts) => {
                parts.iter().for_each(|part| part.visit(see));
            }
        }
    }

    /// Returns the formula with each literal replaced.
    #[must_use]
    pub fn map(&self, with: &impl Fn(&Expr) -> Expr) -> Formula {
        match self {
            Formula::Literal(expr) => Formula::Literal(with(expr)),
            Formula::All(parts) => Formula::All(parts.iter().map(|part| part.map(with)).collect()),
            Formula::Any(parts) => Formula::Any(parts.iter().map(|part| part.map(with)).collect()),
        }
    }

    /// Returns the conjunction of two formulas.
    #[must_use]
    pub fn and(self, other: Formula) -> Formula {
        joined(vec![self, other], true)
    }

    /// Returns a conjunction of clauses, or `None` if more than `clauses_max` of them are needed on
    /// the way.
    pub(crate) fn clauses(&self, clauses_max: usize) -> Option<Vec<Clause>> {
        let mut found = match self {
            Formula::Literal(expr) => vec![vec![expr.clone()]],
            Formula::All(parts) => {
                let mut all = Vec::new();
                for part in parts {
                    all.extend(part.clauses(clauses_max)?);
                    if all.len() > clauses_max {
                        return None;
                    }
                }
                all
            }
            Formula::Any(parts) => {
                let mut all: Vec<Clause> = vec![Vec::new()];
                for part in parts {
                    let more = part.clauses(clauses_max)?;
                    if all.len().saturating_mul(more.len()) > clauses_max {
                        return None;
                    }
                    let both = |a: &Clause, b: &Clause| {
                        let mut both = [a.as_slice(), b.as_slice()].concat();
                        both.sort();
                        both.dedup();
                        both
                    };
                    all = all.iter().flat_map(|a| more.iter().map(move |b| both(a, b))).collect();
                }
                all
            }
        };
        found.sort();
        found.dedup();
        Some(found)
    }
}

fn normal(expr: &Expr, holds: bool, is_bool: &impl Fn(&Expr) -> bool) -> Formula {
    match expr {
        Expr::Value(Value::Bool(value)) if *value == holds => Formula::TRUE,
        Expr::Value(Value::Bool(_)) => Formula::FALSE,
        Expr::Not(inner) => normal(inner, !holds, is_bool),
        Expr::Binary(op @ (Operator::And | Operator::Or), a, b) => {
            let parts = vec![normal(a, holds, is_bool), normal(b, holds, is_bool)];
            joined(parts, (*op == Operator::And) == holds)
        }
        Expr::Binary(op @ (Operator::Equal | Operator::Unequal), a, b)
            if [a, b].into_iter().all(|part| is_bool(part) && is_plain(part, is_bool)) =>
        {
            let side = |expr, holds| normal(expr, holds, is_bool);
            let equal = (*op == Operator::Equal) == holds;
            joined(
                vec![
                    joined(vec![side(a, false), side(b, equal)], false),
                    joined(vec![side(a, true), side(b, !equal)], false),
                ],
                true,
            )
        }
        Expr::Binary(op, a, b) if !holds && op.negated().is_some() => {
            let op = op.negated().unwrap_or(*op);
            Formula::Literal(Expr::Binary(op, a.clone(), b.clone()))
        }
        other if holds => Formula::Literal(other.clone()),
        other => Formula::Literal(Expr::Not(Box::new(other.clone()))),
    }
}

/// Whether the normal form of a truth value is one literal. Others are not expanded in an equality,
/// as each level would double the formula.
fn is_plain(expr: &Expr, is_bool: &impl Fn(&Expr) -> bool) -> bool {
    match expr {
        Expr::Not(inner) => is_plain(inner, is_bool),
        Expr::Binary(Operator::And | Operator::Or, ..) => false,
        Expr::Binary(Operator::Equal | Operator::Unequal, a, b) => !is_bool(a) || !is_bool(b),
        _ => true,
    }
}

/// Joins formulas, and removes constants and nesting.
fn joined(parts: Vec<Formula>, all: bool) -> Formula {
    let mut flat = Vec::new();
    for part in parts {
        match (part, all) {
            (Formula::All(inner), true) | (Formula::Any(inner), false) => flat.extend(inner),
            (Formula::All(inner), false) if inner.is_empty() => return Formula::TRUE,
            (Formula::Any(inner), true) if inner.is_empty() => return Formula::FALSE,
            (part, _) => flat.push(part),
        }
    }
    match (flat.len(), all) {
        (1, _) => flat.swap_remove(0),
        (_, true) => Formula::All(flat),
        (_, false) => Formula::Any(flat),
    }
}
