//! Places in files, and what was wrong there.

use std::fmt;

/// A place in a file of a configuration.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Place {
    /// The file, by its number in [`Files::names`](crate::config::Files::names).
    pub file: u16,
    /// The line, from 1; 0 for "nowhere".
    pub line: u32,
    /// The column, from 1; 0 for "nowhere".
    pub column: u32,
}

/// What a problem means for the verdict.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// Home Assistant refuses it, or it can never work.
    Mistake,
    /// It was not understood: the answer leaves it out.
    NotUnderstood,
    /// It was replaced by "anything can happen here", so findings may not be real.
    Havoc,
    /// A word to the reader.
    Note,
}

/// Something that a reader must know about one place.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Problem {
    /// Where it is.
    pub place: Place,
    /// What it means for the verdict.
    pub severity: Severity,
    /// The construct, in a few fixed words, so that equal problems can be counted.
    pub construct: String,
    /// What is wrong, in one phrase.
    pub text: String,
}

impl Problem {
    /// Makes a problem whose text names its construct.
    #[must_use]
    pub fn new(
        place: Place,
        severity: Severity,
        construct: impl Into<String>,
        text: impl Into<String>,
    ) -> Problem {
        Problem { place, severity, construct: construct.into(), text: text.into() }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Mistake => "mistake",
            Severity::NotUnderstood => "not understood",
            Severity::Havoc => "anything assumed",
            Severity::Note => "note",
        })
    }
}
