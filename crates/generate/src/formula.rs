//! Formulas in conjunctive normal form: literals are variables from 1, negative where negated.

use crate::error::GenerateError;

/// Returns the variable of a literal, from 0.
pub(crate) fn variable(literal: i32) -> u32 {
    literal.unsigned_abs().saturating_sub(1)
}

/// Checks that every clause has literals, and that all of them are over `variables` variables.
pub(crate) fn check_literals<C: AsRef<[i32]>>(
    variables: usize,
    clauses: &[C],
) -> Result<(), GenerateError> {
    for (number, clause) in clauses.iter().enumerate() {
        let wrong = |wrong: String| GenerateError::Clause { number: number + 1, wrong };
        if clause.as_ref().is_empty() {
            return Err(wrong("has no literals".to_owned()));
        }
        let bad = clause
            .as_ref()
            .iter()
            .find(|literal| **literal == 0 || literal.unsigned_abs() as usize > variables);
        if let Some(literal) = bad {
            return Err(wrong(format!(
                "has literal {literal}, which is none of {variables} variables"
            )));
        }
    }
    Ok(())
}

/// Returns the number of clauses, `ratio` per variable, rounded; an error unless the ratio is a
/// number from 0 to 1000.
pub(crate) fn clauses_count(size: u64, ratio: f64) -> Result<u64, GenerateError> {
    if !(0.0..=1000.0).contains(&ratio) {
        let what = "the number of clauses a variable";
        return Err(GenerateError::out_of_range(what, "from 0 to 1000", ratio));
    }
    Ok((size as f64 * ratio).round() as u64)
}

/// Returns the literal of a variable, from 0.
pub(crate) fn literal(variable: u32, positive: bool) -> i32 {
    let number = i32::try_from(variable + 1).unwrap_or(i32::MAX);
    if positive { number } else { -number }
}

/// The two copies for an occurrence of a variable.
#[derive(Clone, Copy)]
pub(crate) struct Copies<C> {
    pub(crate) of_true: C,
    pub(crate) of_false: C,
}

impl<C: Copy> Copies<C> {
    /// Returns the copy that runs first when a value is chosen.
    pub(crate) fn of(self, value: bool) -> C {
        if value { self.of_true } else { self.of_false }
    }

    /// Returns the copy that runs first when a literal is true, and the other one.
    pub(crate) fn of_literal(self, literal: i32) -> (C, C) {
        (self.of(literal > 0), self.of(literal <= 0))
    }
}
