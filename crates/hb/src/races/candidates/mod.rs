//! Candidates for order violations in an event-driven trace: the pairs that event-driven EDC leaves
//! unordered.
//!
//! A search for witnesses decides whether another run reverses a pair.

pub use find::{CandidateLimits, CandidatePair, OrderCandidates, order_candidates};

mod find;
mod non_racy;
mod open;
mod point_races;
mod visits;
