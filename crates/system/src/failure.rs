//! Failures of steps of a program.

use std::cmp::Ordering;
use std::fmt;

/// The kind of a failure.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FailureKind {
    /// An assertion does not hold.
    Assertion,
    /// The program reports a failure itself.
    Fail,
    /// A result does not fit into 64 bits.
    Overflow,
    /// Division by zero.
    Division,
    /// A missing position or key.
    Index,
    /// `null` in place of a value.
    Null,
    /// A value of the wrong type.
    Type,
    /// No case of a `match` fits.
    NoMatch,
    /// More instructions in one step than allowed.
    StepLimit,
    /// Too deep calls.
    Recursion,
    /// A value larger than allowed.
    Size,
    /// A thread releases a lock that it does not hold.
    NotHeld,
    /// An atomic body would have to wait.
    Blocking,
    /// A guard or property that changes something.
    Impure,
    /// Another failure; only the message describes it.
    Other,
}

impl FailureKind {
    /// All kinds.
    pub const ALL: &[FailureKind] = &[
        FailureKind::Assertion,
        FailureKind::Fail,
        FailureKind::Overflow,
        FailureKind::Division,
        FailureKind::Index,
        FailureKind::Null,
        FailureKind::Type,
        FailureKind::NoMatch,
        FailureKind::StepLimit,
        FailureKind::Recursion,
        FailureKind::Size,
        FailureKind::NotHeld,
        FailureKind::Blocking,
        FailureKind::Impure,
        FailureKind::Other,
    ];

    /// Returns its description; empty for [`Other`](FailureKind::Other).
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            FailureKind::Assertion => "assertion",
            FailureKind::Fail => "failure",
            FailureKind::Overflow => "overflow",
            FailureKind::Division => "division by zero",
            FailureKind::Index => "index",
            FailureKind::Null => "null",
            FailureKind::Type => "type",
            FailureKind::NoMatch => "no match",
            FailureKind::StepLimit => "step_limit",
            FailureKind::Recursion => "recursion",
            FailureKind::Size => "size",
            FailureKind::NotHeld => "lock not held",
            FailureKind::Blocking => "blocking in an atomic body",
            FailureKind::Impure => "impure guard",
            FailureKind::Other => "",
        }
    }
}

/// A position in the source of a program.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FailureSite {
    /// The name of the file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

impl fmt::Display for FailureSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// A stated property that a step breaks. A system that checks its properties itself reports them as
/// failures.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum BrokenProperty {
    /// The invariant with this name does not hold.
    Invariant(String),
    /// All that must happen has happened, and the program must not end here.
    Final,
    /// Two components update one attribute to different values.
    UpdateConflict {
        /// The attribute.
        attribute: String,
        /// The names of the two components.
        components: [String; 2],
    },
}

impl fmt::Display for BrokenProperty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BrokenProperty::Invariant(name) => write!(f, "invariant {name}"),
            BrokenProperty::Final => f.write_str("final"),
            BrokenProperty::UpdateConflict { attribute, components: [a, b] } => {
                write!(f, "update_conflict {attribute} {a} {b}")
            }
        }
    }
}

/// A failure of a program: its kind, a message, and its site.
///
/// Failures with the same text and the same broken property are equal, and failures are ordered by
/// their texts: results list each once, in this order.
///
/// ```
/// use anyorder_system::{Failure, FailureKind, FailureSite};
/// let site = FailureSite { file: "counter.any".to_owned(), line: 3, column: 5 };
/// let message = "the counter is 1".to_owned();
/// let failure = Failure { kind: FailureKind::Assertion, message, site: Some(site), broken: None };
/// assert_eq!(failure.to_string(), "assertion: the counter is 1 at counter.any:3:5");
/// assert_eq!(Failure::from("out of paper").to_string(), "out of paper");
/// ```
#[derive(Clone, Debug)]
pub struct Failure {
    /// The kind.
    pub kind: FailureKind,
    /// The message; may be empty if the kind is enough.
    pub message: String,
    /// The site, if the system knows it.
    pub site: Option<FailureSite>,
    /// The property that is broken, if the failure is no failure of the program's code.
    pub broken: Option<BrokenProperty>,
}

impl Failure {
    fn parts(&self) -> (FailureKind, &str, Option<&FailureSite>, Option<&BrokenProperty>) {
        (self.kind, &self.message, self.site.as_ref(), self.broken.as_ref())
    }
}

impl From<BrokenProperty> for Failure {
    fn from(broken: BrokenProperty) -> Failure {
        Failure { broken: Some(broken.clone()), ..Failure::from(broken.to_string()) }
    }
}

impl From<&str> for Failure {
    fn from(message: &str) -> Failure {
        Failure::from(message.to_owned())
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure { kind: FailureKind::Other, message, site: None, broken: None }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = self.kind.word();
        f.write_str(word)?;
        if !word.is_empty() && !self.message.is_empty() {
            f.write_str(": ")?;
        }
        f.write_str(&self.message)?;
        self.site.as_ref().map_or(Ok(()), |site| write!(f, " at {site}"))
    }
}

impl PartialEq for Failure {
    fn eq(&self, other: &Failure) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Failure {}

impl PartialOrd for Failure {
    fn partial_cmp(&self, other: &Failure) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Failure {
    fn cmp(&self, other: &Failure) -> Ordering {
        if self.parts() == other.parts() {
            return Ordering::Equal;
        }
        self.to_string().cmp(&other.to_string()).then_with(|| self.broken.cmp(&other.broken))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32) -> Failure {
        let site = FailureSite { file: "a.any".to_owned(), line, column: 5 };
        Failure { kind: FailureKind::Null, message: String::new(), site: Some(site), broken: None }
    }

    #[test]
    fn failures_are_ordered_as_their_texts() {
        assert!(at(10) < at(9), "as texts, not as numbers");
        assert_eq!(at(9), Failure::from("null at a.any:9:5"), "whoever has put it together");
        assert!(Failure::from("a") < at(1));
    }

    #[test]
    fn a_program_that_says_what_a_broken_property_says_breaks_none() {
        let broken = Failure::from(BrokenProperty::Invariant("safe".to_owned()));
        let said = Failure::from("invariant safe");
        assert_eq!(broken.to_string(), said.to_string());
        assert!(said < broken && said.broken.is_none());
    }
}
