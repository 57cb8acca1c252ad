//! Atomic integers.

use super::Register;
use super::register::Number;
use crate::runtime;
use anyorder_threads::Change;
use std::fmt;
use std::sync::atomic::Ordering;

macro_rules! numbers {
    ($($type:ty as $unsigned:ty),*) => {$(
        impl Number for $type {
            const BITS: u8 = <$type>::BITS as u8;
            #[inline]
            fn number(self) -> u64 {
                self as $unsigned as u64
            }
            #[inline]
            fn of(number: u64) -> $type {
                number as $type
            }
            #[inline]
            fn bits(self) -> u64 {
                self as u64
            }
        }
    )*};
}
numbers!(u8 as u8, i8 as u8, u16 as u16, i16 as u16, u32 as u32, i32 as u32);
numbers!(u64 as u64, i64 as u64, isize as usize);

/// Often an address in disguise, whose number is the same in all executions.
impl Number for usize {
    const BITS: u8 = usize::BITS as u8;
    #[inline]
    fn number(self) -> u64 {
        runtime::number_of_memory(self, true)
    }
    #[inline]
    fn expected(self) -> u64 {
        runtime::number_of_memory(self, false)
    }
    fn exchange(current: u64, new: u64) -> Change {
        Change::ExchangePlace { current, new }
    }
    #[inline]
    fn of(number: u64) -> usize {
        runtime::address_of_number(number)
    }
    #[inline]
    fn bits(self) -> u64 {
        self as u64
    }
}

/// Writes a method that changes the value and returns the one before.
macro_rules! fetch {
    ($($name:ident $change:ident;)*) => {$(
        #[doc = concat!("As that of the standard library: `", stringify!($change), "`.")]
        #[track_caller]
        #[inline]
        pub fn $name(&self, value: T, order: Ordering) -> T {
            let change = Change::$change(value.number());
            self.register.update(change, order)
        }
    )*};
}

macro_rules! atomic {
    (#[$repr:meta] $name:ident, $type:ident, $max:ident, $min:ident) => {
        #[doc = concat!("As [`std::sync::atomic::", stringify!($name), "`].")]
        #[$repr]
        pub struct $name {
            register: Register<$type>,
        }

        impl std::panic::RefUnwindSafe for $name {}

        const _: () = {
            type T = $type;

            impl $name {
                /// Makes an atomic integer.
                #[must_use]
                #[track_caller]
                pub const fn new(value: $type) -> $name {
                    $name { register: Register::new(value) }
                }

                /// Loads the value.
                #[track_caller]
                #[inline]
                pub fn load(&self, order: Ordering) -> $type {
                    self.register.load(order)
                }

                /// Stores a value.
                #[track_caller]
                #[inline]
                pub fn store(&self, value: $type, order: Ordering) {
                    self.register.store(value, order);
                }

                fetch! {
                    swap Swap;
                    fetch_add Add;
                    fetch_sub Sub;
                    fetch_and And;
                    fetch_nand Nand;
                    fetch_or Or;
                    fetch_xor Xor;
                    fetch_max $max;
                    fetch_min $min;
                }

                /// Stores `new` if the value is `current`. Returns the value before.
                ///
                /// # Errors
                ///
                /// The value, if it was another one.
                #[track_caller]
                #[inline]
                pub fn compare_exchange(
                    &self,
                    current: $type,
                    new: $type,
                    success: Ordering,
                    failure: Ordering,
                ) -> Result<$type, $type> {
                    self.register.compare_exchange((current, new), (success, failure))
                }

                /// As [`compare_exchange`](Self::compare_exchange).
                ///
                /// # Errors
                ///
                /// The value, if it was another one.
                #[track_caller]
                #[inline]
                pub fn compare_exchange_weak(
                    &self,
                    current: $type,
                    new: $type,
                    success: Ordering,
                    failure: Ordering,
                ) -> Result<$type, $type> {
                    self.compare_exchange(current, new, success, failure)
                }

                /// As the former method of the standard library. Returns the value before.
                #[track_caller]
                #[deprecated(note = "use compare_exchange instead")]
                pub fn compare_and_swap(
                    &self,
                    current: $type,
                    new: $type,
                    order: Ordering,
                ) -> $type {
                    let failure = match order {
                        Ordering::Release => Ordering::Relaxed,
                        Ordering::AcqRel => Ordering::Acquire,
                        other => other,
                    };
                    match self.compare_exchange(current, new, order, failure) {
                        Ok(before) | Err(before) => before,
                    }
                }

                /// Stores `f` of the value until nobody comes in between; ends where it is `None`.
                ///
                /// # Errors
                ///
                /// The value for which `f` was `None`.
                #[track_caller]
                pub fn fetch_update(
                    &self,
                    set_order: Ordering,
                    fetch_order: Ordering,
                    mut f: impl FnMut($type) -> Option<$type>,
                ) -> Result<$type, $type> {
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
                    f: impl FnMut($type) -> Option<$type>,
                ) -> Result<$type, $type> {
                    self.fetch_update(set_order, fetch_order, f)
                }

                /// As [`fetch_update`](Self::fetch_update), with an `f` that always has a value.
                #[track_caller]
                pub fn update(
                    &self,
                    set_order: Ordering,
                    fetch_order: Ordering,
                    mut f: impl FnMut($type) -> $type,
                ) -> $type {
                    match self.fetch_update(set_order, fetch_order, |value| Some(f(value))) {
                        Ok(before) | Err(before) => before,
                    }
                }

                /// Returns the value for changes without an operation.
                #[track_caller]
                pub fn get_mut(&mut self) -> &mut $type {
                    self.register.get_mut()
                }

                /// Calls `f` with the value for changes without an operation.
                #[track_caller]
                pub fn with_mut<R>(&mut self, f: impl FnOnce(&mut $type) -> R) -> R {
                    f(self.register.get_mut())
                }

                /// Returns the value of an atomic that nobody else uses.
                #[track_caller]
                #[must_use]
                pub fn into_inner(self) -> $type {
                    self.register.consumed()
                }

                /// Loads without an ordering. A store that nothing orders with it is a race, and
                /// reported where an execution shows it.
                ///
                /// # Safety
                ///
                /// Nobody may write at the same time.
                #[track_caller]
                pub unsafe fn unsync_load(&self) -> $type {
                    self.register.unsync_load()
                }
            }

            impl Default for $name {
                #[track_caller]
                fn default() -> $name {
                    $name::new(0)
                }
            }

            impl From<$type> for $name {
                #[track_caller]
                fn from(value: $type) -> $name {
                    $name::new(value)
                }
            }

            impl fmt::Debug for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    fmt::Debug::fmt(&self.register.get(), f)
                }
            }
        };
    };
}

atomic!(
    #[repr(C)]
    AtomicU8,
    u8,
    Max,
    Min
);
atomic!(
    #[repr(C)]
    AtomicI8,
    i8,
    SignedMax,
    SignedMin
);
atomic!(
    #[repr(C)]
    AtomicU16,
    u16,
    Max,
    Min
);
atomic!(
    #[repr(C)]
    AtomicI16,
    i16,
    SignedMax,
    SignedMin
);
atomic!(
    #[repr(C)]
    AtomicU32,
    u32,
    Max,
    Min
);
atomic!(
    #[repr(C)]
    AtomicI32,
    i32,
    SignedMax,
    SignedMin
);
atomic!(
    #[repr(C, align(8))]
    AtomicU64,
    u64,
    Max,
    Min
);
atomic!(
    #[repr(C, align(8))]
    AtomicI64,
    i64,
    SignedMax,
    SignedMin
);
atomic!(
    #[repr(C)]
    AtomicUsize,
    usize,
    Max,
    Min
);
atomic!(
    #[repr(C)]
    AtomicIsize,
    isize,
    SignedMax,
    SignedMin
);
