//! Processes that a program started and left: this system has no way to adopt them.

use std::collections::BTreeSet;

/// The environment variable of a program and of what it starts.
pub(crate) const MARK: &str = "ANYORDER_PROGRAM";

/// Does nothing on this system.
pub fn adopt_orphans() {}

/// Returns nothing: this system does not tell.
pub(crate) fn started_by(_program: u32) -> BTreeSet<u32> {
    BTreeSet::new()
}

/// Does nothing on this system.
pub(crate) fn end_those_of(_: u32, _mark: &str, _below_it: BTreeSet<u32>, _own: &BTreeSet<u32>) {}

/// Does nothing on this system.
pub(crate) fn end_all() {}
