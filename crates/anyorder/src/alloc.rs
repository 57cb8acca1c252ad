//! Memory that must be given back.
//!
//! What is left when all threads have ended is a failure.

use crate::runtime::{self, Slot};
use anyorder_threads::{Act, Object};
use std::fmt;
use std::panic::Location;

pub use std::alloc::Layout;

/// As [`std::alloc::alloc`].
///
/// # Safety
///
/// As that of the standard library.
#[track_caller]
#[must_use]
pub unsafe fn alloc(layout: Layout) -> *mut u8 {
    // SAFETY: the caller's promise.
    let address = unsafe { std::alloc::alloc(layout) };
    runtime::allocated(address as usize, Location::caller());
    address
}

/// As [`std::alloc::alloc_zeroed`].
///
/// # Safety
///
/// As that of the standard library.
#[track_caller]
#[must_use]
pub unsafe fn alloc_zeroed(layout: Layout) -> *mut u8 {
    // SAFETY: the caller's promise.
    let address = unsafe { std::alloc::alloc_zeroed(layout) };
    runtime::allocated(address as usize, Location::caller());
    address
}

/// As [`std::alloc::dealloc`].
///
/// # Safety
///
/// As that of the standard library.
#[track_caller]
pub unsafe fn dealloc(address: *mut u8, layout: Layout) {
    if let Some(allocation) = runtime::freed(address as usize) {
        runtime::perform_in_drop(allocation, Act::Drop, Location::caller());
    }
    // SAFETY: the caller's promise.
    unsafe { std::alloc::dealloc(address, layout) };
}

/// A value that must be dropped.
///
/// ```
/// use anyorder::{Builder, alloc::Track};
/// let summary = Builder::new().explore(|| std::mem::forget(Track::new(1)));
/// assert_eq!(summary.failures.len(), 1);
/// ```
pub struct Track<T> {
    value: T,
    debt: Debt,
}

/// What is owed until it is dropped.
struct Debt(Slot);

impl Drop for Debt {
    #[track_caller]
    fn drop(&mut self) {
        let object = self.0.id(|| Object::Count(1));
        runtime::forget_owned(object);
        runtime::perform_in_drop(object, Act::Drop, Location::caller());
    }
}

impl<T> Track<T> {
    /// Begins to follow a value.
    #[track_caller]
    pub fn new(value: T) -> Track<T> {
        let debt = Debt(Slot::made(|| Object::Count(1)));
        runtime::note_owned(debt.0.id(|| Object::Count(1)), Location::caller());
        Track { value, debt }
    }

    /// Returns the value.
    pub fn get_ref(&self) -> &T {
        &self.value
    }

    /// Returns the value for changes.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.value
    }

    /// Returns the value, which is not followed any more.
    #[track_caller]
    pub fn into_inner(self) -> T {
        let Track { value, debt } = self;
        drop(debt);
        value
    }
}

impl<T: fmt::Debug> fmt::Debug for Track<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Track").field("value", &self.value).finish_non_exhaustive()
    }
}
