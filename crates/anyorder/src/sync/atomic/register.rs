//! Values as numbers, and orderings: what both kinds of registers need.

use anyorder_threads::{Change, MemoryOrder};
use std::sync::atomic::Ordering;

/// A value as the number of a register, and back.
pub(super) trait Number: Copy + PartialEq {
    const BITS: u8;
    /// The number of a value that is stored.
    fn number(self) -> u64;
    /// The number of a value that is expected.
    fn expected(self) -> u64 {
        self.number()
    }
    /// The change that stores `new` in place of `current`.
    fn exchange(current: u64, new: u64) -> Change {
        Change::CompareExchange { current, new }
    }
    fn of(number: u64) -> Self;
    /// The value as it is in memory.
    #[cfg_attr(not(feature = "std-size"), expect(dead_code, reason = "only thin ones look at it"))]
    fn bits(self) -> u64;
}

/// Returns the ordering as the engines name it.
pub(super) fn memory_order(order: Ordering) -> MemoryOrder {
    match order {
        Ordering::Relaxed => MemoryOrder::Relaxed,
        Ordering::Acquire => MemoryOrder::Acquire,
        Ordering::Release => MemoryOrder::Release,
        Ordering::AcqRel => MemoryOrder::AcqRel,
        _ => MemoryOrder::SeqCst,
    }
}

/// Returns the ordering of the read of a change that does not write.
pub(super) fn failure_order(order: MemoryOrder) -> MemoryOrder {
    match order {
        MemoryOrder::Release => MemoryOrder::Relaxed,
        MemoryOrder::AcqRel => MemoryOrder::Acquire,
        other => other,
    }
}

#[track_caller]
pub(super) fn valid_load(order: Ordering) {
    match order {
        Ordering::Release => panic!("there is no such thing as a release load"),
        Ordering::AcqRel => panic!("there is no such thing as an acquire-release load"),
        _ => {}
    }
}

#[track_caller]
pub(super) fn valid_store(order: Ordering) {
    match order {
        Ordering::Acquire => panic!("there is no such thing as an acquire store"),
        Ordering::AcqRel => panic!("there is no such thing as an acquire-release store"),
        _ => {}
    }
}

#[track_caller]
pub(super) fn valid_failure(order: Ordering) {
    match order {
        Ordering::Release => panic!("there is no such thing as a release failure ordering"),
        Ordering::AcqRel => panic!("there is no such thing as an acquire-release failure ordering"),
        _ => {}
    }
}
