//! An atomic pointer.

use super::Register;
use super::register::Number;
use crate::runtime;
use anyorder_threads::Change;
use std::fmt;
use std::sync::atomic::Ordering;

/// An address is not the same in all executions; its number is.
impl<T> Number for *mut T {
    const BITS: u8 = 64;
    #[inline]
    fn number(self) -> u64 {
        runtime::number_of_address(self as usize, true)
    }
    #[inline]
    fn expected(self) -> u64 {
        runtime::number_of_address(self as usize, false)
    }
    fn exchange(current: u64, new: u64) -> Change {
        Change::ExchangePlace { current, new }
    }
    #[inline]
    fn of(number: u64) -> *mut T {
        std::ptr::with_exposed_provenance_mut(runtime::address_of_number(number))
    }
    #[inline]
    fn bits(self) -> u64 {
        self as usize as u64
    }
}

/// As [`std::sync::atomic::AtomicPtr`].
#[repr(C)]
pub struct AtomicPtr<T> {
    register: Register<*mut T>,
}

// SAFETY: as for that of the standard library: it hands out pointers, not what they point at.
unsafe impl<T> Sync for AtomicPtr<T> {}
// SAFETY: as above.
unsafe impl<T> Send for AtomicPtr<T> {}
impl<T> std::panic::RefUnwindSafe for AtomicPtr<T> {}

/// Writes a method that changes the address and returns the pointer before.
macro_rules! fetch {
    ($($name:ident $change:ident;)*) => {$(
        #[doc = concat!("As that of the standard library: `", stringify!($change), "` of the address.")]
        #[track_caller]
        pub fn $name(&self, value: usize, order: Ordering) -> *mut T {
            self.register.update(Change::$change(value as u64), order)
        }
    )*};
}

impl<T> AtomicPtr<T> {
    /// Makes an atomic pointer.
    #[must_use]
    #[track_caller]
    pub const fn new(pointer: *mut T) -> AtomicPtr<T> {
        AtomicPtr { register: Register::new(pointer) }
    }

    /// Loads the pointer.
    #[track_caller]
    #[inline]
    pub fn load(&self, order: Ordering) -> *mut T {
        self.register.load(order)
    }

    /// Stores a pointer.
    #[track_caller]
    #[inline]
    pub fn store(&self, pointer: *mut T, order: Ordering) {
        self.register.store(pointer, order);
    }

    /// Stores a pointer. Returns the one before.
    #[track_caller]
    pub fn swap(&self, pointer: *mut T, order: Ordering) -> *mut T {
        self.register.update(Change::Swap(pointer.number()), order)
    }

    fetch! {
        fetch_byte_add Add;
        fetch_byte_sub Sub;
        fetch_and And;
        fetch_or Or;
        fetch_xor Xor;
    }

    /// Stores `new` if the pointer is `current`. Returns the pointer before.
    ///
    /// # Errors
    ///
    /// The pointer, if it was another one.
    #[track_caller]
    pub fn compare_exchange(
        &self,
        current: *mut T,
        new: *mut T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T> {
        self.register.compare_exchange((current, new), (success, failure))
    }

    /// As [`compare_exchange`](Self::compare_exchange).
    ///
    /// # Errors
    ///
    /// The pointer, if it was another one.
    #[track_caller]
    pub fn compare_exchange_weak(
        &self,
        current: *mut T,
        new: *mut T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T> {
        self.compare_exchange(current, new, success, failure)
    }

    /// As the former method of the standard library. Returns the pointer before.
    #[track_caller]
    #[deprecated(note = "use compare_exchange instead")]
    pub fn compare_and_swap(&self, current: *mut T, new: *mut T, order: Ordering) -> *mut T {
        let failure = match order {
            Ordering::Release => Ordering::Relaxed,
            Ordering::AcqRel => Ordering::Acquire,
            other => other,
        };
        match self.compare_exchange(current, new, order, failure) {
            Ok(before) | Err(before) => before,
        }
    }

    /// Stores `f` of the pointer until nobody comes in between; ends where it is `None`.
    ///
    /// # Errors
    ///
    /// The pointer for which `f` was `None`.
    #[track_caller]
    pub fn fetch_update(
        &self,
        set_order: Ordering,
        fetch_order: Ordering,
        mut f: impl FnMut(*mut T) -> Option<*mut T>,
    ) -> Result<*mut T, *mut T> {
        let mut before = self.load(fetch_order);
        while let Some(next) = f(before) {
            match self.compare_exchange(before, next, set_order, fetch_order) {
                Ok(before) => return Ok(before),
                Err(other) => before = other,
            }
        }
        Err(before)
    }

    /// As [`fetch_update`](Self::fetch_update).
    ///
    /// # Errors
    ///
    /// The value for which `f` was `None`.
    #[track_caller]
    pub fn try_update(
        &self,
        set_order: Ordering,
        fetch_order: Ordering,
        f: impl FnMut(*mut T) -> Option<*mut T>,
    ) -> Result<*mut T, *mut T> {
        self.fetch_update(set_order, fetch_order, f)
    }

    /// As [`fetch_update`](Self::fetch_update), with an `f` that always has a value.
    #[track_caller]
    pub fn update(
        &self,
        set_order: Ordering,
        fetch_order: Ordering,
        mut f: impl FnMut(*mut T) -> *mut T,
    ) -> *mut T {
        match self.fetch_update(set_order, fetch_order, |value| Some(f(value))) {
            Ok(before) | Err(before) => before,
        }
    }

    /// As that of the standard library: moves the pointer on by so many values. Returns the one
    /// before.
    #[track_caller]
    pub fn fetch_ptr_add(&self, count: usize, order: Ordering) -> *mut T {
        self.fetch_byte_add(count.wrapping_mul(size_of::<T>()), order)
    }

    /// As that of the standard library: moves the pointer back by so many values. Returns the one
    /// before.
    #[track_caller]
    pub fn fetch_ptr_sub(&self, count: usize, order: Ordering) -> *mut T {
        self.fetch_byte_sub(count.wrapping_mul(size_of::<T>()), order)
    }

    /// Returns the pointer for changes without an operation.
    #[track_caller]
    pub fn get_mut(&mut self) -> &mut *mut T {
        self.register.get_mut()
    }

    /// Calls `f` with the pointer for changes without an operation.
    #[track_caller]
    pub fn with_mut<R>(&mut self, f: impl FnOnce(&mut *mut T) -> R) -> R {
        f(self.register.get_mut())
    }

    /// Returns the pointer of an atomic that nobody else uses.
    #[track_caller]
    #[must_use]
    pub fn into_inner(self) -> *mut T {
        self.register.consumed()
    }

    /// Loads without an ordering. A store that nothing orders with it is a race, and reported
    /// where an execution shows it.
    ///
    /// # Safety
    ///
    /// Nobody may write at the same time.
    #[track_caller]
    pub unsafe fn unsync_load(&self) -> *mut T {
        self.register.unsync_load()
    }
}

impl<T> Default for AtomicPtr<T> {
    #[track_caller]
    fn default() -> AtomicPtr<T> {
        AtomicPtr::new(std::ptr::null_mut())
    }
}

impl<T> From<*mut T> for AtomicPtr<T> {
    #[track_caller]
    fn from(pointer: *mut T) -> AtomicPtr<T> {
        AtomicPtr::new(pointer)
    }
}

impl<T> fmt::Pointer for AtomicPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Pointer::fmt(&self.register.get(), f)
    }
}

impl<T> fmt::Debug for AtomicPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.register.get(), f)
    }
}
