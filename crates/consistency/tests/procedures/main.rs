//! The procedures that enumerate, and the full problem: by hand, against the oracles of the
//! testkit, and by mutation.

mod agreement;
mod by_hand;
mod flat_is_hard;
mod mutants;
mod sketch_of_flat;
pub(crate) mod support;
