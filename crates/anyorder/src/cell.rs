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
pub struct ConstPtr<T: ?Sized>(*const T);

/// A pointer for writing, and a write for as long as it lives.
#[derive(Debug)]
pub struct MutPtr<T: ?Sized> {
    pointer: *mut T,
    object: ObjectId,
    at: &'static Location<'static>,
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
        f(self.get().0)
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
        runtime::perform(self.id(), Act::Access { write: false }, Location::caller());
        ConstPtr(self.contents.get())
    }

    /// Begins to write.
    #[track_caller]
    pub fn get_mut(&self) -> MutPtr<T> {
        let (object, at) = (self.id(), Location::caller());
        runtime::perform(object, Act::Access { write: true }, at);
        MutPtr { pointer: self.contents.get(), object, at }
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
        unsafe { &*self.0 }
    }

    /// Calls `f` with the pointer.
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.0)
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
        // SAFETY: the cell outlives the pointer, and a write excludes others.
        let version = runtime::version_of(unsafe { &*self.pointer });
        runtime::perform_in_drop(self.object, Act::Alter(version), self.at);
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
