//! Symmetry: what is accepted is symmetric, what tells members apart is refused where it does, and
//! nothing is lost by it.

mod accepted;

mod explore;

pub(crate) mod generate;

mod oracle;

mod refused;

mod two_phase;
