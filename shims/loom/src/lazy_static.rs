//! Values that each execution makes when it uses them first, and destroys when the closure of the
//! model ends: threads that outlive it must not use them.

use anyorder::sync::atomic::{AtomicBool, Ordering};
use anyorder::sync::{Mutex, OnceLock, PoisonError};
use std::fmt;

pub use anyorder::thread::{AccessError, panicking, yield_now};

/// A value that is made when it is used first. Behind `lazy_static!`.
pub struct Lazy<T: 'static> {
    value: OnceLock<Owned<T>>,
    make: fn() -> T,
}

/// A box: of the execution, which frees it.
struct Owned<T>(*mut T);

// SAFETY: loom takes values of every type, and so must this. All threads of a model are on one
// thread of the system, and are switched at operations of this crate alone.
unsafe impl<T> Sync for Owned<T> {}
// SAFETY: as above.
unsafe impl<T> Send for Owned<T> {}

/// Whether the closure of this execution has ended. Apart from what threads write when they make
/// values: otherwise each of them would see who was there before it.
static HAS_ENDED: AtomicBool = AtomicBool::new(false);

/// Whether there are values.
static HAS_MADE: AtomicBool = AtomicBool::new(false);

/// What frees the values of this execution, the oldest first.
static MADE: Mutex<Vec<Free>> = Mutex::new(Vec::new());

type Free = Box<dyn FnOnce() + Send>;

impl<T> Lazy<T> {
    #[doc(hidden)]
    pub const fn new(make: fn() -> T) -> Lazy<T> {
        Lazy { value: OnceLock::new(), make }
    }
}

impl<T> Lazy<T> {
    /// Returns the value.
    ///
    /// # Panics
    ///
    /// If the closure of the model has ended.
    #[track_caller]
    pub fn get(&'static self) -> &'static T {
        assert!(
            !HAS_ENDED.load(Ordering::SeqCst),
            "attempted to access lazy_static during shutdown: the closure of the model has ended"
        );
        let owned = self.value.get_or_init(|| {
            let owned = Owned(Box::into_raw(Box::new((self.make)())));
            let address = owned.0 as usize;
            // SAFETY: it was made above, and each function is called once.
            let free = move || drop(unsafe { Box::from_raw(address as *mut T) });
            MADE.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(free));
            HAS_MADE.store(true, Ordering::SeqCst);
            owned
        });
        // SAFETY: it is freed when the closure ends, and from then on nobody gets here. Who kept
        // it longer uses what is gone, as in loom.
        unsafe { &*owned.0 }
    }
}

/// Ends what the execution made. The newest first.
pub(crate) fn shut_down() {
    HAS_ENDED.store(true, Ordering::SeqCst);
    if !HAS_MADE.load(Ordering::SeqCst) {
        return;
    }
    let mut made = std::mem::take(&mut *MADE.lock().unwrap_or_else(PoisonError::into_inner));
    while let Some(free) = made.pop() {
        free();
    }
}

impl<T> fmt::Debug for Lazy<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lazy").finish_non_exhaustive()
    }
}
