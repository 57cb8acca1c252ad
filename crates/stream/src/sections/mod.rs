//! Critical sections: locksets of accesses, the clocks of releases, and open pairs under a common
//! lock.

pub(crate) mod candidates;
pub(crate) mod common;
pub(crate) mod held;
pub(crate) mod locksets;
pub(crate) mod snapshots;
pub(crate) mod table;
