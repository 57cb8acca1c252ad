//! How much of each automation is understood.

use crate::lower::{Options, facts_of, lower};
use crate::place::{Problem, Severity};
use crate::syntax::Home;
use std::collections::BTreeSet;

/// How much of an automation is understood.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Understanding {
    /// All of it.
    Whole,
    /// Something in it may have any value, or a part is left out.
    Part,
    /// It changes nothing that the model has, because what it does was not understood.
    Nothing,
}

/// Returns the states that some automation or script sets. What has no influence on these has none
/// on any other automation.
#[must_use]
pub fn written(home: &Home) -> Vec<String> {
    let all = home.automations.iter().map(|automation| facts_of(home, automation));
    let keys: BTreeSet<String> = all.flat_map(|facts| facts.writes.into_keys()).collect();
    keys.into_iter().collect()
}

/// Returns how much of an automation or script is understood, and what is not exact in its program.
/// `written` are the states of [`written`]: unknown conditions that guard only notifications are
/// not counted.
#[must_use]
pub fn understanding(home: &Home, at: usize, written: &[String]) -> (Understanding, Vec<Problem>) {
    let automation = &home.automations[at];
    let options = Options { about: Some(written.to_vec()), ..Options::of(vec![at]) };
    let mut problems = match lower(home, &options) {
        Ok(lowered) => lowered.problems,
        Err(error) => vec![Problem::new(
            automation.place,
            Severity::NotUnderstood,
            "too large automation",
            error.to_string(),
        )],
    };
    let own = problems.len();
    // What the reader found lies between this automation and the next one of the file.
    let places = home.automations.iter().map(|other| other.place);
    let next = places
        .filter(|place| place.file == automation.place.file && *place > automation.place)
        .min();
    let inside = home.problems.iter().filter(|problem| {
        problem.place.file == automation.place.file
            && problem.place >= automation.place
            && next.is_none_or(|next| problem.place < next)
    });
    problems.extend(inside.cloned());
    let counts = problems.iter().filter(|problem| problem.severity != Severity::Note);
    let left_out = problems.iter().any(|problem| problem.severity == Severity::NotUnderstood);
    let facts = facts_of(home, automation);
    let understanding = match counts.count() {
        0 => Understanding::Whole,
        _ if left_out && facts.writes.is_empty() && facts.runs.is_empty() => Understanding::Nothing,
        _ => Understanding::Part,
    };
    problems.truncate(own);
    (understanding, problems)
}
