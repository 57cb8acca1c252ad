//! Critical sections: locksets of accesses, the clocks of releases, and pairs under a lock that are
//! still open.

pub(crate) mod candidates;
pub(crate) mod locksets;
pub(crate) mod snapshots;
pub(crate) mod table;
