//! As [`std::hint`].

use crate::runtime;
use std::panic::Location;

pub use std::hint::{assert_unchecked, black_box, unreachable_unchecked};

/// As [`std::hint::spin_loop`]: waits until something changes that the thread read since it gave
/// way last.
#[track_caller]
pub fn spin_loop() {
    runtime::give_way(Location::caller());
}
