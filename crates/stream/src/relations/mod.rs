//! HB, WDC and EDC over a stream of events: one engine, generic in the relation.

pub(crate) mod compare;
pub(crate) mod engine;
pub(crate) mod hard;
pub(crate) mod lanes;
pub(crate) mod lock_clocks;
pub(crate) mod overlaps;
pub(crate) mod prefetch;
pub(crate) mod relation;
