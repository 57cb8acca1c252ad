//! Errors in requests.

use crate::finish::EVENTS_MAX;

/// Why no trace was made. All but [`NamesFull`](GenerateError::NamesFull) are found before memory
/// is allocated.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// The size is below the smallest one of the family.
    #[error("the size of family `{family}` must be at least {least}, not {size}")]
    TooSmall {
        /// The name of the family.
        family: &'static str,
        /// The requested size.
        size: u64,
        /// The smallest size.
        least: u64,
    },
    /// The trace would have too many events.
    #[error(
        "size {size} is too large for family `{family}`: about {events} events, where one trace \
         may have {EVENTS_MAX}"
    )]
    TooLarge {
        /// The name of the family.
        family: &'static str,
        /// The requested size.
        size: u64,
        /// Its approximate number of events.
        events: u64,
    },
    /// A number of a request is out of its range.
    #[error("{what} must be {expected}, not {found}")]
    OutOfRange {
        /// The number.
        what: &'static str,
        /// Its range.
        expected: String,
        /// The requested value.
        found: String,
    },
    /// A request sets a number that the family does not have.
    #[error("family `{family}` has no {what}")]
    NotOfFamily {
        /// The name of the family.
        family: &'static str,
        /// The number.
        what: &'static str,
    },
    /// A clause of a formula cannot be encoded.
    #[error("clause {number} {wrong}")]
    Clause {
        /// The number of the clause, from 1.
        number: usize,
        /// The mistake in it.
        wrong: String,
    },
    /// A variable of a formula occurs too often for the encoding.
    #[error("variable {variable} occurs in {occurrences} clauses; at most 3 are allowed here")]
    TooManyOccurrences {
        /// The variable, from 1.
        variable: usize,
        /// The number of clauses it occurs in.
        occurrences: usize,
    },
    /// The names of the trace would exceed 4 GiB together.
    #[error("the names of the trace together pass 4 GiB")]
    NamesFull,
}

impl GenerateError {
    /// Makes the error of a number out of its range.
    pub(crate) fn out_of_range(
        what: &'static str,
        expected: impl Into<String>,
        found: impl ToString,
    ) -> GenerateError {
        GenerateError::OutOfRange { what, expected: expected.into(), found: found.to_string() }
    }

    /// Refuses too many events.
    pub(crate) fn check_events(
        family: &'static str,
        size: u64,
        events: u64,
    ) -> Result<(), GenerateError> {
        if events > EVENTS_MAX {
            return Err(GenerateError::TooLarge { family, size, events });
        }
        Ok(())
    }
}
