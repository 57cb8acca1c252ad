//! How a program fails.

use crate::program::{Program, SiteId};
use std::fmt::Write;

/// The kind of a failure.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FaultKind {
    /// An assertion does not hold.
    Assertion,
    /// The program executes `fail`.
    Fail,
    /// A result does not fit into 64 bits.
    Overflow,
    /// Division by zero.
    Division,
    /// A position or key that is not there.
    Index,
    /// `null` where a value is needed.
    Null,
    /// A value of the wrong type.
    Type,
    /// No case of a `match` fits.
    NoMatch,
    /// More instructions in one step than allowed.
    StepLimit,
    /// Calls nest too deep.
    Recursion,
    /// Something has grown larger than allowed.
    Size,
    /// A thread releases a lock that it does not hold.
    NotHeld,
    /// An atomic body would have to wait.
    Blocking,
    /// A guard or property changes something.
    Impure,
}

impl FaultKind {
    /// Returns its name.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            FaultKind::Assertion => "assertion",
            FaultKind::Fail => "failure",
            FaultKind::Overflow => "overflow",
            FaultKind::Division => "division by zero",
            FaultKind::Index => "index",
            FaultKind::Null => "null",
            FaultKind::Type => "type",
            FaultKind::NoMatch => "no match",
            FaultKind::StepLimit => "step_limit",
            FaultKind::Recursion => "recursion",
            FaultKind::Size => "size",
            FaultKind::NotHeld => "lock not held",
            FaultKind::Blocking => "blocking in an atomic body",
            FaultKind::Impure => "impure guard",
        }
    }
}

/// A failure of the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Its kind.
    pub kind: FaultKind,
    /// What happened.
    pub message: String,
    /// Its source position.
    pub site: SiteId,
}

impl Fault {
    /// Returns the failure as one line: the kind, the message, the position where it is known.
    #[must_use]
    pub fn line(&self, program: &Program) -> String {
        let mut line = self.kind.word().to_owned();
        if !self.message.is_empty() {
            // Writing to a string does not fail.
            let _ = write!(line, ": {}", self.message);
        }
        let site = program.sites.get(self.site.index()).filter(|site| site.line > 0);
        if let Some(site) = site {
            let file = program.files.get(usize::from(site.file)).map_or("", String::as_str);
            let _ = write!(line, " at {file}:{}:{}", site.line, site.column);
        }
        line
    }
}

/// Why a step stops early.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Stop {
    /// The program failed.
    Fault(Box<Fault>),
    /// There is no such transition: an assumption fails, a choice is empty, or a thread cannot
    /// continue.
    NoTransition,
}
