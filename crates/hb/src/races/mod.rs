//! Races: the conflicting pairs that the relation leaves unordered, and a selection of those that
//! matter.

pub(crate) mod at_location;
pub(crate) mod candidates;
pub(crate) mod category;
pub(crate) mod coverage;
pub(crate) mod crowd;
pub(crate) mod detector;
pub(crate) mod filters;
pub(crate) mod groups;
pub(crate) mod guards;
pub(crate) mod like_runs;
pub(crate) mod list;
pub(crate) mod lock_memory;
pub(crate) mod places;
pub(crate) mod profile;
pub(crate) mod race_groups;
pub(crate) mod racy;
pub(crate) mod run_set;
pub(crate) mod unordered;
