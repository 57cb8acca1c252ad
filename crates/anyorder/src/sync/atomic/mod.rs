//! As [`std::sync::atomic`].
//!
//! `compare_exchange_weak` does not fail without a reason.

pub use boolean::AtomicBool;
pub use integer::{
    AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicU8, AtomicU16, AtomicU32,
    AtomicU64, AtomicUsize,
};
pub use pointer::AtomicPtr;
pub use std::sync::atomic::{Ordering, compiler_fence};

use crate::runtime;
use anyorder_threads::{Act, ObjectId};
use std::panic::Location;

mod boolean;
mod integer;
mod operations;
mod pointer;
mod register;
#[cfg(feature = "std-size")]
mod thin;
#[cfg(not(feature = "std-size"))]
mod wide;

#[cfg(feature = "std-size")]
use thin::Register;
#[cfg(not(feature = "std-size"))]
use wide::Register;

/// As [`std::sync::atomic::fence`].
#[track_caller]
pub fn fence(order: Ordering) {
    assert!(order != Ordering::Relaxed, "there is no such thing as a relaxed fence");
    runtime::perform(ObjectId::NONE, Act::Fence(register::memory_order(order)), Location::caller());
}

/// As the former `std::sync::atomic::spin_loop_hint`.
#[track_caller]
#[deprecated(note = "use hint::spin_loop instead")]
pub fn spin_loop_hint() {
    runtime::give_way(Location::caller());
}
