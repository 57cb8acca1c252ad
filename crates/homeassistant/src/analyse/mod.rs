//! Fights between automations: pairs that may meet, searched one by one.

pub use check::{Checked, Options, check};
pub use finding::{Finding, FindingKind, Step, Writer};
pub use slices::{Slice, slices};
pub use understanding::{Understanding, understanding, written};

mod check;
mod finding;
mod judge;
mod modes;
mod reaction;
mod rings;
mod search;
mod slices;
mod understanding;
