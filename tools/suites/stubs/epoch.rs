//! What is used of crossbeam-epoch, and frees nothing.

use anyorder::sync::atomic::{AtomicPtr, Ordering, fence};
use std::marker::PhantomData;

pub struct Guard(());

impl Guard {
    pub unsafe fn defer_unchecked<F: FnOnce() -> R, R>(&self, _: F) {}
    pub fn flush(&self) {}
}

pub fn pin() -> Guard {
    fence(Ordering::SeqCst);
    Guard(())
}

pub fn is_pinned() -> bool {
    false
}

pub unsafe fn unprotected() -> &'static Guard {
    static NONE: Guard = Guard(());
    &NONE
}

pub struct Atomic<T>(AtomicPtr<T>);

pub struct Owned<T>(Box<T>);

pub struct Shared<'g, T>(*mut T, PhantomData<&'g T>);

impl<T> Clone for Shared<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Shared<'_, T> {}

impl<T> PartialEq for Shared<'_, T> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<T> Atomic<T> {
    pub fn new(value: T) -> Self {
        Atomic(AtomicPtr::new(Box::into_raw(Box::new(value))))
    }
    pub fn load<'g>(&self, order: Ordering, _: &'g Guard) -> Shared<'g, T> {
        Shared(self.0.load(order), PhantomData)
    }
    pub fn swap<'g>(&self, new: Shared<'_, T>, order: Ordering, _: &'g Guard) -> Shared<'g, T> {
        Shared(self.0.swap(new.0, order), PhantomData)
    }
}

impl<T> Owned<T> {
    pub fn new(value: T) -> Self {
        Owned(Box::new(value))
    }
    pub fn into_shared<'g>(self, _: &'g Guard) -> Shared<'g, T> {
        Shared(Box::into_raw(self.0), PhantomData)
    }
    pub fn into_box(self) -> Box<T> {
        self.0
    }
}

impl<T> Shared<'_, T> {
    pub unsafe fn deref(&self) -> &T {
        unsafe { &*self.0 }
    }
    pub unsafe fn into_owned(self) -> Owned<T> {
        Owned(unsafe { Box::from_raw(self.0) })
    }
}
