//! Data that nothing protects: two accesses at the same time, one of them a write, are a race.
//!
//! What a cell of [`std::cell`] holds is not seen. These cells tell the engine when they are read
//! and written. Their methods are those of loom: a closure gets the pointer.

use crate::runtime::{self, Contents, Slot};
use anyorder_threads::{Act, Object, ObjectId};
use std::fmt;
use std::panic::Location;

pub use std::cell::{Ref, RefCell, RefMut};

/// Data in which everybody may write who knows that nobody else does.
pub struct UnsafeCell<T: ?Sized> {
    slot: Slot,
    contents: Contents<T>,
}

/// A pointer for reading, and a read for as long as it lives.
#[derive(Debug)]
pub struct ConstPtr<T: ?Sized> {
    pointer: *const T,
    access: Access,
}

/// A pointer for writing, and a write for as long as it lives.
#[derive(Debug)]
pub struct MutPtr<T: ?Sized> {
    pointer: *mut T,
    access: Access,
}

/// An access that may go on for a while.
#[derive(Debug)]
struct Access {
    object: ObjectId,
    write: bool,
    at: &'static Location<'static>,
    /// What the thread had seen when it began.
    seen: u64,
}

impl Access {
    fn begin(object: ObjectId, write: bool, at: &'static Location<'static>) -> Access {
        runtime::perform(object, Act::Access { write }, at);
        Access { object, write, at, seen: runtime::fresh_version() }
    }

    /// Ends it. If the thread did something meanwhile, others may have come to know of the access
    /// and not of its end: so it is one again.
    fn end(&self) {
        if runtime::fresh_version() != self.seen {
            runtime::perform_in_drop(self.object, Act::Access { write: self.write }, self.at);
        }
    }
}

impl<T> UnsafeCell<T> {
    /// Makes a cell.
    #[track_caller]
    pub const fn new(value: T) -> UnsafeCell<T> {
        UnsafeCell { slot: Slot::of(std::any::type_name::<T>), contents: Contents::new(value) }
    }

    /// Returns the data.
    #[track_caller]
    pub fn into_inner(self) -> T {
        if runtime::is_checking() {
            let _ = self.get();
        }
        self.contents.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    fn id(&self) -> ObjectId {
        self.slot.id(|| {
            // SAFETY: the first access: nobody writes.
            Object::Data(runtime::version_of_model(unsafe { &*self.contents.get() }))
        })
    }

    /// Returns where the data is, without an access.
    pub(crate) fn pointer(&self) -> *const T {
        self.contents.get()
    }

    /// Reads: calls `f` with the pointer.
    #[track_caller]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        let pointer = self.get();
        f(pointer.pointer)
    }

    /// Writes: calls `f` with the pointer.
    #[track_caller]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        let pointer = self.get_mut();
        f(pointer.pointer)
    }

    /// Begins to read.
    #[track_caller]
    pub fn get(&self) -> ConstPtr<T> {
        let access = Access::begin(self.id(), false, Location::caller());
        ConstPtr { pointer: self.contents.get(), access }
    }

    /// Begins to write.
    #[track_caller]
    pub fn get_mut(&self) -> MutPtr<T> {
        let access = Access::begin(self.id(), true, Location::caller());
        MutPtr { pointer: self.contents.get(), access }
    }
}

impl<T: ?Sized> ConstPtr<T> {
    /// Returns the data.
    ///
    /// # Safety
    ///
    /// Nobody writes meanwhile.
    #[must_use]
    pub unsafe fn deref(&self) -> &T {
        // SAFETY: the caller's promise.
        unsafe { &*self.pointer }
    }

    /// Calls `f` with the pointer.
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.pointer)
    }
}

impl<T: ?Sized> Drop for ConstPtr<T> {
    fn drop(&mut self) {
        self.access.end();
    }
}

impl<T: ?Sized> MutPtr<T> {
    /// Returns the data.
    ///
    /// # Safety
    ///
    /// Nobody else reads or writes meanwhile.
    #[must_use]
    #[expect(clippy::mut_from_ref, reason = "the caller promises to be alone")]
    pub unsafe fn deref(&self) -> &mut T {
        // SAFETY: the caller's promise.
        unsafe { &mut *self.pointer }
    }

    /// Calls `f` with the pointer.
    pub fn with<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.pointer)
    }
}

impl<T: ?Sized> Drop for MutPtr<T> {
    fn drop(&mut self) {
        self.access.end();
        // SAFETY: the cell outlives the pointer, and a write excludes others.
        let version = runtime::version_of(unsafe { &*self.pointer });
        runtime::perform_in_drop(self.access.object, Act::Alter(version), self.access.at);
    }
}

impl<T: Default> Default for UnsafeCell<T> {
    #[track_caller]
    fn default() -> UnsafeCell<T> {
        UnsafeCell::new(T::default())
    }
}

impl<T> From<T> for UnsafeCell<T> {
    #[track_caller]
    fn from(value: T) -> UnsafeCell<T> {
        UnsafeCell::new(value)
    }
}

impl<T: ?Sized> fmt::Debug for UnsafeCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnsafeCell").finish_non_exhaustive()
    }
}

/// As [`std::cell::Cell`].
#[derive(Default)]
pub struct Cell<T> {
    cell: UnsafeCell<T>,
}

impl<T> Cell<T> {
    /// Makes a cell.
    #[track_caller]
    pub const fn new(value: T) -> Cell<T> {
        Cell { cell: UnsafeCell::new(value) }
    }

    /// Sets the value.
    #[track_caller]
    pub fn set(&self, value: T) {
        drop(self.replace(value));
    }

    /// Sets the value, and returns the one before.
    #[track_caller]
    pub fn replace(&self, value: T) -> T {
        // SAFETY: the pointer is valid, and no borrow of the value is given out.
        self.cell.with_mut(|pointer| unsafe { pointer.replace(value) })
    }

    /// Exchanges the values of two cells.
    #[track_caller]
    pub fn swap(&self, other: &Cell<T>) {
        if !std::ptr::eq(self, other) {
            self.cell.with_mut(|own| {
                // SAFETY: the pointers are valid and different.
                other.cell.with_mut(|other| unsafe { own.swap(other) });
            });
        }
    }

    /// Returns the value.
    #[track_caller]
    pub fn get(&self) -> T
    where
        T: Copy,
    {
        // SAFETY: the pointer is valid.
        self.cell.with(|pointer| unsafe { *pointer })
    }

    /// Takes the value, and leaves the default.
    #[track_caller]
    pub fn take(&self) -> T
    where
        T: Default,
    {
        self.replace(T::default())
    }

    /// Returns the value of a cell that nobody else uses.
    #[track_caller]
    pub fn into_inner(self) -> T {
        self.cell.into_inner()
    }
}

impl<T: Copy> Clone for Cell<T> {
    #[track_caller]
    fn clone(&self) -> Cell<T> {
        Cell::new(self.get())
    }
}

impl<T: Copy + PartialEq> PartialEq for Cell<T> {
    #[track_caller]
    fn eq(&self, other: &Cell<T>) -> bool {
        self.get() == other.get()
    }
}

impl<T: Copy + Eq> Eq for Cell<T> {}

impl<T: Copy + PartialOrd> PartialOrd for Cell<T> {
    #[track_caller]
    fn partial_cmp(&self, other: &Cell<T>) -> Option<std::cmp::Ordering> {
        self.get().partial_cmp(&other.get())
    }
}

impl<T: Copy + Ord> Ord for Cell<T> {
    #[track_caller]
    fn cmp(&self, other: &Cell<T>) -> std::cmp::Ordering {
        self.get().cmp(&other.get())
    }
}

impl<T> From<T> for Cell<T> {
    #[track_caller]
    fn from(value: T) -> Cell<T> {
        Cell::new(value)
    }
}

impl<T> fmt::Debug for Cell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cell").finish_non_exhaustive()
    }
}
