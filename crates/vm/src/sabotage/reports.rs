//! Which line of the machine reports an access. Tests silence one line at a time, to see that a
//! check notices.

#[cfg(test)]
pub(crate) use silenced::{Counts, Reports};

/// What the machine does with reports of accesses: outside of tests it makes all of them.
#[cfg(not(test))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reports;

#[cfg(not(test))]
impl Reports {
    /// It makes all of them.
    #[allow(non_upper_case_globals, reason = "named as in tests")]
    pub(crate) const All: Reports = Reports;

    /// Returns whether the reports of the calling line are dropped.
    #[inline(always)]
    pub(crate) const fn drops(self) -> bool {
        false
    }
}

#[cfg(test)]
mod silenced {
    use std::collections::BTreeMap;
    use std::panic::Location;
    use std::sync::{Mutex, PoisonError};

    /// A line that reports: file, line, column.
    pub(crate) type Line = (&'static str, u32, u32);

    /// The number of reports of each line.
    #[derive(Debug)]
    pub(crate) struct Counts(Mutex<BTreeMap<Line, u64>>);

    impl Counts {
        pub(crate) const fn new() -> Counts {
            Counts(Mutex::new(BTreeMap::new()))
        }

        /// Returns the number of reports of each line so far.
        pub(crate) fn by_line(&self) -> BTreeMap<Line, u64> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
        }

        fn add(&self, line: Line) {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(line).or_default() += 1;
        }
    }

    /// What the machine does with reports of accesses.
    #[derive(Clone, Copy, Debug)]
    pub(crate) enum Reports {
        /// It makes all of them.
        All,
        /// It also counts the reports of each line.
        Counted(&'static Counts),
        /// It drops the reports of one line.
        Without(Line),
    }

    impl Reports {
        /// Returns whether the reports of the calling line are dropped.
        #[track_caller]
        pub(crate) fn drops(self) -> bool {
            let caller = Location::caller();
            let line = (caller.file(), caller.line(), caller.column());
            match self {
                Reports::All => {}
                Reports::Counted(counts) => counts.add(line),
                Reports::Without(dropped) => return line == dropped,
            }
            false
        }
    }
}
