//! Which line of the machine reports an access: each can be silenced, to see that tests notice.

use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::{LazyLock, Mutex};

/// A line that reports: file, line, column.
type Line = (&'static str, u32, u32);

/// What the machine does with reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[doc(hidden)]
pub enum Reports {
    /// It makes them all.
    #[default]
    All,
    /// It also counts which line makes how many.
    Counted,
    /// It drops those of one line.
    Without(Line),
}

static COUNTS: LazyLock<Mutex<BTreeMap<Line, u64>>> = LazyLock::new(Mutex::default);

impl Reports {
    /// Whether a report of the line that calls is dropped.
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

    /// How many reports each line has made since the process began, where they were counted.
    #[must_use]
    pub fn counts() -> BTreeMap<Line, u64> {
        COUNTS.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
    }
}

fn line(at: &'static Location<'static>) -> Line {
    (at.file(), at.line(), at.column())
}
