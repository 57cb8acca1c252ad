//! Atomics of the size of the standard library's: the feature `std-size`.
//!
//! Nothing but the value is in them, so an atomic is known by its address. In an execution, a table
//! of the core has the object of each address and the value that it left there. Memory with another
//! value has been given to another atomic since: it was moved to, written over, or is on a part of
//! the stack that is used again. If the values are the same the two are one object, which is right
//! but for what the earlier one synchronised.
//!
//! Where one is dropped, the next one at that address is another one.
//!
//! The value in memory follows the register, so that an atomic can be moved, read as plain data, or
//! made of plain data. That of a static does not: it is what every execution begins with.

use super::register::Number;
use crate::runtime;
use anyorder_threads::{Act, Change, MemoryOrder, Object};
use std::cell::UnsafeCell;
use std::panic::Location;

/// A shared value.
#[repr(C)]
pub(super) struct Register<V> {
    /// Has no size, and is at the address of the value. Not a `Drop` of the whole: what a pointer
    /// points to could then not be borrowed from beside it.
    end: End,
    value: UnsafeCell<V>,
}

/// Notes that an atomic is dropped.
struct End;

impl Drop for End {
    #[inline]
    fn drop(&mut self) {
        runtime::end_at(std::ptr::from_ref(self) as usize);
    }
}

// SAFETY: all threads of a check are on one thread of the system, and outside of checks only
// exclusive borrows change the value.
unsafe impl<V: Send> Sync for Register<V> {}
// SAFETY: as above.
unsafe impl<V> Send for Register<V> {}

impl<V> Register<V> {
    pub(super) const fn new(value: V) -> Register<V> {
        Register { end: End, value: UnsafeCell::new(value) }
    }
}

impl<V: Number> Register<V> {
    /// The value that is here.
    pub(super) fn here(&self) -> V {
        // SAFETY: nobody has an exclusive borrow, and values are plain numbers.
        unsafe { *self.value.get() }
    }

    fn address(&self) -> usize {
        self.value.get() as usize
    }

    /// Performs an operation, and returns its result.
    pub(super) fn perform(&self, act: Act, at: &'static Location<'static>) -> V {
        let (address, here) = (self.address(), self.here());
        let about = (std::any::type_name::<V> as fn() -> &'static str, at);
        let at_first = || Object::Register(here.expected());
        let object = runtime::register_at(address, here.bits(), at_first, about);
        let change = match &act {
            Act::Store(number, _) => Some((Change::Swap(*number), V::BITS)),
            Act::Update { change, bits, .. } => Some((*change, *bits)),
            _ => None,
        };
        let result = runtime::perform(object, act, at);
        let after = change.and_then(|(change, bits)| change.of(result, bits));
        if let Some(after) = after {
            let after = V::of(after);
            if runtime::keep_at(address, after.bits()) {
                // SAFETY: as above; the memory is not that of a static.
                unsafe { *self.value.get() = after };
            }
        }
        V::of(result)
    }

    /// Returns the value of an atomic that is consumed. It was moved here, so it is read where it
    /// was.
    #[track_caller]
    pub(super) fn consumed(self) -> V {
        if runtime::is_checking() {
            let (address, bits) = (self.address(), self.here().bits());
            if let Some(object) = runtime::moved_register(address, bits, std::any::type_name::<V>) {
                let load = Act::Load(MemoryOrder::Relaxed);
                return V::of(runtime::perform(object, load, Location::caller()));
            }
        }
        self.get()
    }

    /// Returns the value for changes without an operation. From then on it is a new register.
    #[track_caller]
    pub(super) fn get_mut(&mut self) -> &mut V {
        let value = self.get();
        runtime::leave(self.address());
        *self.value.get_mut() = value;
        self.value.get_mut()
    }
}
