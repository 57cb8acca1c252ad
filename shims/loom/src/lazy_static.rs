//! Values that each execution makes when it uses them first, and destroys when the closure of the
//! model ends: threads that outlive it must not use them.

use anyorder::sync::atomic::{AtomicUsize, Ordering};
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

// SAFETY: it is the value of a static; `Lazy` is as strict as the standard library.
unsafe impl<T: Send + Sync> Sync for Owned<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Send for Owned<T> {}

/// 1 when the closure of this execution has ended, and twice the number of values.
static STATE: AtomicUsize = AtomicUsize::new(0);

/// What frees the values of this execution, the oldest first.
static MADE: Mutex<Vec<Free>> = Mutex::new(Vec::new());

type Free = Box<dyn FnOnce() + Send>;

impl<T> Lazy<T> {
    #[doc(hidden)]
    pub const fn new(make: fn() -> T) -> Lazy<T> {
        Lazy { value: OnceLock::new(), make }
    }
}

impl<T: Send + Sync> Lazy<T> {
    /// Returns the value.
    ///
    /// # Panics
    ///
    /// If the closure of the model has ended.
    #[track_caller]
    pub fn get(&'static self) -> &'static T {
        assert!(
            STATE.load(Ordering::SeqCst) & 1 == 0,
            "attempted to access lazy_static during shutdown: the closure of the model has ended"
        );
        let owned = self.value.get_or_init(|| {
            let owned = Owned(Box::into_raw(Box::new((self.make)())));
            let address = owned.0 as usize;
            // SAFETY: it was made above, and each function is called once.
            let free = move || drop(unsafe { Box::from_raw(address as *mut T) });
            MADE.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(free));
            STATE.fetch_add(2, Ordering::SeqCst);
            owned
        });
        // SAFETY: it is freed when the closure ends, and from then on nobody gets here. Who kept
        // it longer uses what is gone, as in loom.
        unsafe { &*owned.0 }
    }
}

/// Ends what the execution made. The newest first.
pub(crate) fn shut_down() {
    if STATE.fetch_or(1, Ordering::SeqCst) == 0 {
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
