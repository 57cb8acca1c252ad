//! What readers of all parts share: the list of problems.

use crate::place::{Place, Problem, Severity};

/// Collects problems while a tree is built.
#[derive(Debug, Default)]
pub(super) struct Reader {
    pub(super) problems: Vec<Problem>,
}

impl Reader {
    pub(super) fn mistake(&mut self, place: Place, construct: &str, text: impl Into<String>) {
        self.problems.push(Problem::new(place, Severity::Mistake, construct, text));
    }

    pub(super) fn unknown(&mut self, place: Place, construct: &str, text: impl Into<String>) {
        self.problems.push(Problem::new(place, Severity::NotUnderstood, construct, text));
    }

    pub(super) fn havoc(&mut self, place: Place, construct: &str, text: impl Into<String>) {
        self.problems.push(Problem::new(place, Severity::Havoc, construct, text));
    }
}
