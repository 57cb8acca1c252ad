//! Races in words, and as findings.

pub(crate) mod describe;
pub(crate) mod explain;
pub(crate) mod findings;
