//! Which line of the machine reports an access. Tests silence one line at a time, to see that a
//! check notices.

use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::{LazyLock, Mutex};

/// A line that reports: file, line, column.
type Line = (&'static str, u32, u32);

/// What the machine does with reports of accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[doc(hidden)]
pub enum Reports {
    /// It makes all of them.
    #[default]
    All,
    /// It also counts the reports of each line.
    Counted,
    /// It drops the reports of one line.
    Without(Line),
}

static COUNTS: LazyLock<Mutex<BTreeMap<Line, u64>>> = LazyLock::new(Mutex::default);

impl Reports {
    /// Returns whether the reports of the calling line are dropped.
    #[inline]
    #[track_caller]
    pub(crate) fn drops(self) -> bool {
        match self {
            Reports::All => false,
            Reports::Counted => {
                let mut counts = COUNTS.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                *counts.entry(line(Location::caller())).or_default() += 1;
                false
            }
            Reports::Without(dropped) => line(Location::caller()) == dropped,
        }
    }

    /// Returns the number of reports of each line since the process began, if they were counted.
    #[must_use]
    pub fn counts() -> BTreeMap<Line, u64> {
        COUNTS.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
    }
}

fn line(at: &'static Location<'static>) -> Line {
    (at.file(), at.line(), at.column())
}
