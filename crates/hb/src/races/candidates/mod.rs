//! Candidates for order violations in an event-driven trace: what event-driven EDC leaves
//! unordered.
//!
//! Whether another run reverses a pair is for a search for witnesses to say.

pub use find::{CandidateLimits, CandidatePair, OrderCandidates, order_candidates};

mod find;
mod non_racy;
mod open;
mod point_races;
mod visits;
