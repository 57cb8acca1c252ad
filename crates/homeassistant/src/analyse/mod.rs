//! Fights between automations: pairs that may meet, searched one by one.

pub use check::{Checked, Options, check};
pub use finding::{Finding, FindingKind, Step, Writer};
pub use slices::{Slice, slices};

mod check;
mod finding;
mod reaction;
mod search;
mod slices;
