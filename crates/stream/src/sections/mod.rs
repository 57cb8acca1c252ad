//! Critical sections: locksets of accesses, the clocks of releases, and open pairs under a common
//! lock.

pub(crate) mod candidates;
pub(crate) mod common;
pub(crate) mod ends;
pub(crate) mod held;
pub(crate) mod locksets;
mod sets_of_lanes;
pub(crate) mod snapshots;
pub(crate) mod table;
