//! The conditions that calls wait for: inequalities over the numbers of earlier calls.

pub(crate) use rule::{Argument, Holds, Linear, Pattern};
pub use rule::{Counted, WaitRule};

mod rule;

use crate::spec::Invocation;
use std::sync::Arc;

/// The wait rules of a type.
///
/// A call with an applicable [`WaitRule`] returns only if the condition of the rule holds for the
/// calls before it. One number of a type may be open, such as the capacity of a channel: a checker
/// takes the least number with which the recorded run is possible.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Waits {
    name: Arc<str>,
    pub(crate) rules: Vec<Arc<WaitRule>>,
    pub(crate) settled: Vec<(Pattern, Pattern)>,
}

impl Waits {
    pub(crate) fn new(name: &str) -> Waits {
        Waits { name: name.into(), rules: Vec::new(), settled: Vec::new() }
    }

    /// Returns the name of the type.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether a call of a method fails where its rule does not hold, instead of waiting:
    /// `done` of a wait group that counts nothing.
    #[must_use]
    pub fn fails(&self, method: &str) -> bool {
        (self.name(), method) == ("waitgroup", "done")
    }

    /// Returns all rules, in the order of the text.
    #[must_use]
    pub fn rules(&self) -> &[Arc<WaitRule>] {
        &self.rules
    }

    /// Returns the rules for a call.
    pub fn rules_of<'w>(&'w self, call: &'w Invocation) -> impl Iterator<Item = &'w Arc<WaitRule>> {
        self.rules.iter().filter(|rule| rule.applies(call))
    }

    /// Returns whether waiting alone settles the order of two calls: in every state in which both
    /// orders can happen, they have the same effect.
    #[must_use]
    pub fn settles(&self, a: &Invocation, b: &Invocation) -> bool {
        self.settled.iter().any(|(one, other)| {
            (one.matches(a) && other.matches(b)) || (one.matches(b) && other.matches(a))
        })
    }
}
