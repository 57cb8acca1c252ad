//! As [`std::hint`].

use crate::runtime;
use std::panic::Location;

pub use std::hint::{assert_unchecked, black_box, unreachable_unchecked};

/// As [`std::hint::spin_loop`]. A thread that read the same as before it gave way last waits until
/// something of it changes, unless its loop gives up after some turns
/// ([`Builder::turns_max`](crate::Builder::turns_max)).
#[track_caller]
pub fn spin_loop() {
    runtime::give_way(Location::caller());
}
