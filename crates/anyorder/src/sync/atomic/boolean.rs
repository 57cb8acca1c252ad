//! An atomic boolean.

use super::Register;
use super::register::Number;
use anyorder_threads::Change;
use std::fmt;
use std::sync::atomic::Ordering;

impl Number for bool {
    const BITS: u8 = 1;
    #[inline]
    fn number(self) -> u64 {
        u64::from(self)
    }
    #[inline]
    fn of(number: u64) -> bool {
        number & 1 == 1
    }
    #[inline]
    fn bits(self) -> u64 {
        u64::from(self)
    }
}

/// As [`std::sync::atomic::AtomicBool`].
#[repr(C)]
pub struct AtomicBool {
    register: Register<bool>,
}

impl std::panic::RefUnwindSafe for AtomicBool {}

/// Writes a method that changes the value and returns the one before.
macro_rules! fetch {
    ($($name:ident $change:ident;)*) => {$(
        #[doc = concat!("As that of the standard library: `", stringify!($change), "`.")]
        #[track_caller]
        pub fn $name(&self, value: bool, order: Ordering) -> bool {
            self.register.update(Change::$change(u64::from(value)), order)
        }
    )*};
}

impl AtomicBool {
    /// Makes an atomic boolean.
    #[must_use]
    #[track_caller]
    pub const fn new(value: bool) -> AtomicBool {
        AtomicBool { register: Register::new(value) }
    }

    /// Loads the value.
    #[track_caller]
    #[inline]
    pub fn load(&self, order: Ordering) -> bool {
        self.register.load(order)
    }

    /// Stores a value.
    #[track_caller]
    #[inline]
    pub fn store(&self, value: bool, order: Ordering) {
        self.register.store(value, order);
    }

    fetch! {
        swap Swap;
        fetch_and And;
        fetch_nand Nand;
        fetch_or Or;
        fetch_xor Xor;
    }

    /// As that of the standard library: negates the value.
    #[track_caller]
    pub fn fetch_not(&self, order: Ordering) -> bool {
        self.fetch_xor(true, order)
    }

    /// Stores `new` if the value is `current`. Returns the value before.
    ///
    /// # Errors
    ///
    /// The value, if it was another one.
    #[track_caller]
    pub fn compare_exchange(
        &self,
        current: bool,
        new: bool,
        success: Ordering,
        failure: Ordering,
    ) -> Result<bool, bool> {
        self.register.compare_exchange((current, new), (success, failure))
    }

    /// As [`compare_exchange`](Self::compare_exchange).
    ///
    /// # Errors
    ///
    /// The value, if it was another one.
    #[track_caller]
    pub fn compare_exchange_weak(
        &self,
        current: bool,
        new: bool,
        success: Ordering,
        failure: Ordering,
    ) -> Result<bool, bool> {
        self.compare_exchange(current, new, success, failure)
    }

    /// As the former method of the standard library. Returns the value before.
    #[track_caller]
    #[deprecated(note = "use compare_exchange instead")]
    pub fn compare_and_swap(&self, current: bool, new: bool, order: Ordering) -> bool {
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
        mut f: impl FnMut(bool) -> Option<bool>,
    ) -> Result<bool, bool> {
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
        f: impl FnMut(bool) -> Option<bool>,
    ) -> Result<bool, bool> {
        self.fetch_update(set_order, fetch_order, f)
    }

    /// As [`fetch_update`](Self::fetch_update), with an `f` that always has a value.
    #[track_caller]
    pub fn update(
        &self,
        set_order: Ordering,
        fetch_order: Ordering,
        mut f: impl FnMut(bool) -> bool,
    ) -> bool {
        match self.fetch_update(set_order, fetch_order, |value| Some(f(value))) {
            Ok(before) | Err(before) => before,
        }
    }

    /// Returns the value for changes without an operation.
    #[track_caller]
    pub fn get_mut(&mut self) -> &mut bool {
        self.register.get_mut()
    }

    /// Calls `f` with the value for changes without an operation.
    #[track_caller]
    pub fn with_mut<R>(&mut self, f: impl FnOnce(&mut bool) -> R) -> R {
        f(self.register.get_mut())
    }

    /// Returns the value of an atomic that nobody else uses.
    #[track_caller]
    #[must_use]
    pub fn into_inner(self) -> bool {
        self.register.consumed()
    }

    /// Loads without an ordering. A store that nothing orders with it is a race, and reported
    /// where an execution shows it.
    ///
    /// # Safety
    ///
    /// Nobody may write at the same time.
    #[track_caller]
    pub unsafe fn unsync_load(&self) -> bool {
        self.register.unsync_load()
    }
}

impl Default for AtomicBool {
    #[track_caller]
    fn default() -> AtomicBool {
        AtomicBool::new(false)
    }
}

impl From<bool> for AtomicBool {
    #[track_caller]
    fn from(value: bool) -> AtomicBool {
        AtomicBool::new(value)
    }
}

impl fmt::Debug for AtomicBool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.register.get(), f)
    }
}
