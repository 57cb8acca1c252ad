//! Shared ownership.
//!
//! The memory is that of a standard `Arc`, which both owners and [`Weak`]s hold. The number of
//! owners is an object of the engine: who finds itself to be the last one destroys the value.
//!
//! `Arc<T>` does not become `Arc<dyn Trait>` by itself: only types of the standard library can.
//! [`Arc::coerce`] does it with a word more.

use crate::runtime::{self, Slot};
use anyorder_threads::{Act, Object, ObjectId};
use std::alloc::Layout;
use std::borrow::Borrow;
use std::cell::UnsafeCell;
use std::hash::{Hash, Hasher};
use std::mem::{self, ManuallyDrop};
use std::ops::Deref;
use std::panic::Location;
use std::sync::Arc as StdArc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fmt, ptr, thread};

#[path = "arc_moved.rs"]
mod moved;

/// What an owner has. Seen only in [`Arc::coerce`].
#[repr(C)]
pub struct Shared<T: ?Sized> {
    owners: Slot,
    weak: Slot,
    /// How many owners and weak references there are in memory.
    owners_here: AtomicUsize,
    weak_here: AtomicUsize,
    value: UnsafeCell<ManuallyDrop<T>>,
}

// SAFETY: as for the `Arc` of the standard library, which bounds its own types.
unsafe impl<T: ?Sized + Sync + Send> Sync for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Sync + Send> Send for Shared<T> {}

impl<T: ?Sized> Shared<T> {
    fn owners(&self) -> ObjectId {
        self.owners.id(|| Object::Count(self.owners_here.load(Ordering::Relaxed) as u64))
    }

    fn weak(&self) -> ObjectId {
        self.weak.id(|| Object::Count(self.weak_here.load(Ordering::Relaxed) as u64))
    }

    fn value(&self) -> *mut T {
        self.value.get() as *mut T
    }

    /// Begins to watch whether the value is left behind.
    fn note_owned(&self) {
        runtime::note_owned(self.owners(), self.owners.made_at());
        runtime::note_counted(ptr::from_ref(self).addr());
    }
}

/// As [`std::sync::Arc`].
pub struct Arc<T: ?Sized> {
    shared: StdArc<Shared<T>>,
}

/// As [`std::sync::Weak`].
pub struct Weak<T: ?Sized> {
    shared: Option<StdArc<Shared<T>>>,
}

impl<T: ?Sized + std::panic::RefUnwindSafe> std::panic::UnwindSafe for Arc<T> {}
impl<T: ?Sized + std::panic::RefUnwindSafe> std::panic::RefUnwindSafe for Arc<T> {}

impl<T> Arc<T> {
    /// Makes the first owner of a value.
    #[track_caller]
    pub fn new(value: T) -> Arc<T> {
        let shared = Shared {
            owners: Slot::of(std::any::type_name::<Arc<T>>).make(|| Object::Count(1)),
            weak: Slot::of(std::any::type_name::<Weak<T>>).make(|| Object::Count(0)),
            owners_here: AtomicUsize::new(1),
            weak_here: AtomicUsize::new(0),
            value: UnsafeCell::new(ManuallyDrop::new(value)),
        };
        let arc = Arc { shared: StdArc::new(shared) };
        arc.shared.note_owned();
        arc
    }

    /// As [`new`](Self::new), in a pin.
    #[track_caller]
    pub fn pin(value: T) -> std::pin::Pin<Arc<T>> {
        // SAFETY: the value does not move while there are owners, and they give no exclusive borrow
        // through a pin.
        unsafe { std::pin::Pin::new_unchecked(Arc::new(value)) }
    }

    /// Makes the first owner of a value that may have weak references to itself.
    #[track_caller]
    pub fn new_cyclic(make: impl FnOnce(&Weak<T>) -> T) -> Arc<T> {
        let shared = StdArc::new(Shared {
            owners: Slot::of(std::any::type_name::<Arc<T>>).make(|| Object::Count(0)),
            weak: Slot::of(std::any::type_name::<Weak<T>>).make(|| Object::Count(1)),
            owners_here: AtomicUsize::new(0),
            weak_here: AtomicUsize::new(1),
            value: UnsafeCell::new(ManuallyDrop::new(mem::MaybeUninit::<T>::uninit())),
        });
        // SAFETY: the layouts are the same; without owners nobody looks at the value.
        let shared = unsafe { StdArc::from_raw(StdArc::into_raw(shared).cast::<Shared<T>>()) };
        let weak = Weak { shared: Some(StdArc::clone(&shared)) };
        let value = make(&weak);
        // SAFETY: as above.
        unsafe { ptr::write(shared.value(), value) };
        shared.owners_here.fetch_add(1, Ordering::Relaxed);
        runtime::perform_in_drop(shared.owners(), Act::Retain, Location::caller());
        shared.note_owned();
        Arc { shared }
    }

    /// Returns the value if there is no other owner.
    ///
    /// # Errors
    ///
    /// The owner, if there is another one.
    #[track_caller]
    pub fn try_unwrap(this: Arc<T>) -> Result<T, Arc<T>> {
        if !this.take_sole(Location::caller()) {
            return Err(this);
        }
        this.see_before_move(Location::caller());
        let this = ManuallyDrop::new(this);
        // SAFETY: there is no owner any more. Both are read once, and the owner is not dropped.
        let (value, shared) = unsafe { (ptr::read(this.shared.value()), ptr::read(&this.shared)) };
        drop(shared);
        Ok(value)
    }

    /// Returns the value if there is no other owner: of several that try, one gets it.
    #[track_caller]
    pub fn into_inner(this: Arc<T>) -> Option<T> {
        let is_last = this.release(Location::caller());
        if is_last {
            this.see_before_move(Location::caller());
        }
        let this = ManuallyDrop::new(this);
        // SAFETY: as in `try_unwrap`.
        let shared = unsafe { ptr::read(&this.shared) };
        // SAFETY: it was the last owner.
        is_last.then(|| unsafe { ptr::read(shared.value()) })
    }

    /// Returns the value if there is no other owner, and a clone of it otherwise.
    #[track_caller]
    pub fn unwrap_or_clone(this: Arc<T>) -> T
    where
        T: Clone,
    {
        Arc::try_unwrap(this).unwrap_or_else(|this| (*this).clone())
    }
}

impl<T: ?Sized> Arc<T> {
    /// The value is moved elsewhere.
    fn see_before_move(&self, at: &'static Location<'static>) {
        runtime::see_before_move(self.shared.value().addr(), mem::size_of_val(&**self), at);
    }

    /// Removes the owner if it is the only one. Returns whether it did.
    fn take_sole(&self, at: &'static Location<'static>) -> bool {
        let is_sole = match runtime::is_checking() {
            true => runtime::perform(self.shared.owners(), Act::TakeSole, at) == 1,
            false => self.shared.owners_here.load(Ordering::Acquire) == 1,
        };
        if is_sole {
            runtime::forget_owned(self.shared.owners());
            self.shared.owners_here.fetch_sub(1, Ordering::AcqRel);
        }
        is_sole
    }

    /// Removes the owner. Returns whether it was the last one.
    fn release(&self, at: &'static Location<'static>) -> bool {
        // Each exists in memory for as long as it counts for the engine.
        let owners = self.shared.owners();
        let was_last_here = self.shared.owners_here.fetch_sub(1, Ordering::AcqRel) == 1;
        let is_last = match runtime::is_checking() {
            true => {
                let is_last = runtime::perform(owners, Act::Drop, at) == 1;
                // The operation of a thread that unwinds comes later. By then it may be that of the
                // last owner, and nobody destroys the value. Better than twice.
                if !is_last && thread::panicking() {
                    runtime::excuse_leaks();
                }
                is_last
            }
            false => was_last_here,
        };
        if is_last {
            runtime::forget_owned(owners);
        }
        is_last
    }

    fn count(&self, object: ObjectId, here: &AtomicUsize, at: &'static Location<'static>) -> usize {
        match runtime::is_checking() {
            true => runtime::perform(object, Act::Owners, at) as usize,
            false => here.load(Ordering::Acquire),
        }
    }

    /// Returns the number of owners.
    #[track_caller]
    pub fn strong_count(this: &Arc<T>) -> usize {
        this.count(this.shared.owners(), &this.shared.owners_here, Location::caller())
    }

    /// Returns the number of weak references.
    #[track_caller]
    pub fn weak_count(this: &Arc<T>) -> usize {
        this.count(this.shared.weak(), &this.shared.weak_here, Location::caller())
    }

    /// Returns a weak reference.
    #[track_caller]
    pub fn downgrade(this: &Arc<T>) -> Weak<T> {
        Weak::of(&this.shared, Location::caller())
    }

    /// Returns whether both own the same value.
    #[must_use]
    pub fn ptr_eq(this: &Arc<T>, other: &Arc<T>) -> bool {
        ptr::addr_eq(Arc::as_ptr(this), Arc::as_ptr(other))
    }

    /// Returns the address of the value.
    #[must_use]
    pub fn as_ptr(this: &Arc<T>) -> *const T {
        this.shared.value()
    }

    /// Returns the value for changes if there is no other owner and no weak reference.
    #[track_caller]
    pub fn get_mut(this: &mut Arc<T>) -> Option<&mut T> {
        let is_alone = Arc::weak_count(this) == 0 && Arc::strong_count(this) == 1;
        // SAFETY: nobody else has a reference, and nobody can get one.
        is_alone.then(|| unsafe { &mut *this.shared.value() })
    }

    /// Gives the owner up for an address; [`from_raw`](Self::from_raw) gets it back.
    #[must_use]
    pub fn into_raw(this: Arc<T>) -> *const T {
        let this = ManuallyDrop::new(this);
        Arc::as_ptr(&this)
    }

    /// Gets an owner back.
    ///
    /// # Safety
    ///
    /// The address must be one of [`into_raw`](Self::into_raw), of this type, used once.
    #[must_use]
    pub unsafe fn from_raw(value: *const T) -> Arc<T> {
        // SAFETY: the caller gives an address of a live value that is behind the counts.
        let shared = unsafe {
            let header = Layout::new::<Shared<()>>();
            let offset = header.size().next_multiple_of(mem::align_of_val(&*value));
            StdArc::from_raw(value.byte_sub(offset) as *const Shared<T>)
        };
        Arc { shared }
    }

    /// Adds an owner.
    ///
    /// # Safety
    ///
    /// As that of the standard library.
    #[track_caller]
    pub unsafe fn increment_strong_count(value: *const T) {
        // SAFETY: the caller's promise.
        let this = ManuallyDrop::new(unsafe { Arc::from_raw(value) });
        mem::forget(Arc::clone(&this));
    }

    /// Removes an owner.
    ///
    /// # Safety
    ///
    /// As that of the standard library.
    #[track_caller]
    pub unsafe fn decrement_strong_count(value: *const T) {
        // SAFETY: the caller's promise.
        drop(unsafe { Arc::from_raw(value) });
    }

    /// Makes the first owner of a value that an `Arc` of the standard library has, which need not
    /// be of known size: so there is an `Arc<dyn Trait>`. Moves the value.
    ///
    /// # Panics
    ///
    /// If it has another owner or a weak reference.
    ///
    /// ```
    /// use anyorder::sync::Arc;
    /// anyorder::check(|| {
    ///     let std: std::sync::Arc<dyn Fn() -> u32 + Send + Sync> = std::sync::Arc::new(|| 1);
    ///     assert_eq!(Arc::from_std(std)(), 1);
    /// });
    /// ```
    #[track_caller]
    #[must_use]
    pub fn from_std(mut std: StdArc<T>) -> Arc<T> {
        assert!(StdArc::get_mut(&mut std).is_some(), "the Arc has another owner");
        let shared = moved::into_shared(std);
        shared.note_owned();
        Arc { shared }
    }

    /// Makes the owner one of another type, where `f` is `|shared| shared as _`.
    ///
    /// ```
    /// use anyorder::sync::Arc;
    /// let number = Arc::new(1);
    /// let shown: Arc<dyn std::fmt::Display> = Arc::coerce(number, |shared| shared as _);
    /// assert_eq!(shown.to_string(), "1");
    /// ```
    pub fn coerce<U: ?Sized>(
        this: Arc<T>,
        f: impl FnOnce(StdArc<Shared<T>>) -> StdArc<Shared<U>>,
    ) -> Arc<U> {
        let this = ManuallyDrop::new(this);
        // SAFETY: it is read once, and the owner is not dropped.
        Arc { shared: f(unsafe { ptr::read(&this.shared) }) }
    }
}

impl<T: Clone> Arc<T> {
    /// Returns the value for changes; a clone of it if it has another owner.
    #[track_caller]
    pub fn make_mut(this: &mut Arc<T>) -> &mut T {
        if Arc::weak_count(this) != 0 || Arc::strong_count(this) != 1 {
            // Weak references do not hold the value: it may leave them.
            let value = match this.take_sole(Location::caller()) {
                true => {
                    this.see_before_move(Location::caller());
                    // SAFETY: there is no owner any more: the value is read once.
                    let value = unsafe { ptr::read(this.shared.value()) };
                    let old = mem::replace(this, Arc::new(value));
                    let old = ManuallyDrop::new(old);
                    // SAFETY: the owner was removed above; only its memory is left.
                    drop(unsafe { ptr::read(&old.shared) });
                    None
                }
                false => Some((**this).clone()),
            };
            if let Some(value) = value {
                *this = Arc::new(value);
            }
        }
        // SAFETY: nobody else has a reference, and nobody can get one.
        unsafe { &mut *this.shared.value() }
    }
}

impl<T: ?Sized> Deref for Arc<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the value lives while there are owners.
        unsafe { &*self.shared.value() }
    }
}

impl<T: ?Sized> Clone for Arc<T> {
    #[track_caller]
    fn clone(&self) -> Arc<T> {
        let owners = self.shared.owners();
        self.shared.owners_here.fetch_add(1, Ordering::Relaxed);
        runtime::perform_in_drop(owners, Act::Retain, Location::caller());
        Arc { shared: StdArc::clone(&self.shared) }
    }
}

impl<T: ?Sized> Drop for Arc<T> {
    #[track_caller]
    fn drop(&mut self) {
        if self.release(Location::caller()) {
            // SAFETY: it was the last owner, and the value is destroyed once.
            unsafe { ptr::drop_in_place(self.shared.value()) };
        }
    }
}

impl<T> Weak<T> {
    /// Makes a reference to nothing.
    #[must_use]
    pub const fn new() -> Weak<T> {
        Weak { shared: None }
    }
}

impl<T: ?Sized> Weak<T> {
    fn of(shared: &StdArc<Shared<T>>, at: &'static Location<'static>) -> Weak<T> {
        let weak = shared.weak();
        shared.weak_here.fetch_add(1, Ordering::Relaxed);
        runtime::perform_in_drop(weak, Act::Retain, at);
        Weak { shared: Some(StdArc::clone(shared)) }
    }

    /// Becomes an owner, if there still is one.
    #[track_caller]
    pub fn upgrade(&self) -> Option<Arc<T>> {
        let shared = self.shared.as_ref()?;
        let owners = shared.owners();
        let is_alive = match runtime::is_checking() {
            true => runtime::perform(owners, Act::Upgrade, Location::caller()) == 1,
            false => shared.owners_here.load(Ordering::Acquire) > 0,
        };
        if !is_alive {
            return None;
        }
        shared.owners_here.fetch_add(1, Ordering::AcqRel);
        Some(Arc { shared: StdArc::clone(shared) })
    }

    /// Returns the number of owners.
    #[track_caller]
    #[must_use]
    pub fn strong_count(&self) -> usize {
        let Some(shared) = &self.shared else { return 0 };
        match runtime::is_checking() {
            true => {
                let at = Location::caller();
                runtime::perform(shared.owners(), Act::Owners, at) as usize
            }
            false => shared.owners_here.load(Ordering::Acquire),
        }
    }

    /// Returns the number of weak references; 0 without an owner.
    #[track_caller]
    #[must_use]
    pub fn weak_count(&self) -> usize {
        let Some(shared) = &self.shared else { return 0 };
        if self.strong_count() == 0 {
            return 0;
        }
        match runtime::is_checking() {
            true => runtime::perform(shared.weak(), Act::Owners, Location::caller()) as usize,
            false => shared.weak_here.load(Ordering::Acquire),
        }
    }

    /// Returns whether both refer to the same value.
    #[must_use]
    pub fn ptr_eq(&self, other: &Weak<T>) -> bool {
        match (&self.shared, &other.shared) {
            (Some(shared), Some(other)) => ptr::addr_eq(shared.value(), other.value()),
            (None, None) => true,
            _ => false,
        }
    }
}

impl<T: ?Sized> Clone for Weak<T> {
    #[track_caller]
    fn clone(&self) -> Weak<T> {
        match &self.shared {
            Some(shared) => Weak::of(shared, Location::caller()),
            None => Weak { shared: None },
        }
    }
}

impl<T: ?Sized> Drop for Weak<T> {
    #[track_caller]
    fn drop(&mut self) {
        if let Some(shared) = &self.shared {
            let weak = shared.weak();
            shared.weak_here.fetch_sub(1, Ordering::Relaxed);
            runtime::perform_in_drop(weak, Act::Drop, Location::caller());
        }
    }
}

impl<T> Default for Weak<T> {
    fn default() -> Weak<T> {
        Weak::new()
    }
}

impl<T: ?Sized> fmt::Debug for Weak<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(Weak)")
    }
}

impl<T: Default> Default for Arc<T> {
    #[track_caller]
    fn default() -> Arc<T> {
        Arc::new(T::default())
    }
}

impl<T> From<T> for Arc<T> {
    #[track_caller]
    fn from(value: T) -> Arc<T> {
        Arc::new(value)
    }
}

impl<T: ?Sized> AsRef<T> for Arc<T> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T: ?Sized> Borrow<T> for Arc<T> {
    fn borrow(&self) -> &T {
        self
    }
}

impl<T: ?Sized + PartialEq> PartialEq for Arc<T> {
    fn eq(&self, other: &Arc<T>) -> bool {
        **self == **other
    }
}

impl<T: ?Sized + Eq> Eq for Arc<T> {}

impl<T: ?Sized + PartialOrd> PartialOrd for Arc<T> {
    fn partial_cmp(&self, other: &Arc<T>) -> Option<std::cmp::Ordering> {
        (**self).partial_cmp(&**other)
    }
}

impl<T: ?Sized + Ord> Ord for Arc<T> {
    fn cmp(&self, other: &Arc<T>) -> std::cmp::Ordering {
        (**self).cmp(&**other)
    }
}

impl<T: ?Sized + Hash> Hash for Arc<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized> fmt::Pointer for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Pointer::fmt(&Arc::as_ptr(self), f)
    }
}

impl<T: ?Sized + std::error::Error> std::error::Error for Arc<T> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        (**self).source()
    }
}
