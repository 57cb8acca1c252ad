//! Values that each execution makes when it uses them first.

use anyorder::sync::LazyLock;
use std::fmt;

pub use crate::lazy_static;
pub use core::ops::Deref as __Deref;

/// A value that is made when it is used first. Behind `lazy_static!`.
pub struct Lazy<T: Sync + 'static> {
    value: LazyLock<T>,
}

impl<T: Sync> Lazy<T> {
    #[doc(hidden)]
    #[must_use]
    pub const fn new(make: fn() -> T) -> Lazy<T> {
        Lazy { value: LazyLock::new(make) }
    }

    /// Returns the value.
    #[track_caller]
    pub fn get(&'static self) -> &'static T {
        LazyLock::force(&self.value)
    }
}

impl<T: Sync> fmt::Debug for Lazy<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lazy").finish_non_exhaustive()
    }
}

/// A static that can be made before it is used.
pub trait LazyStatic {
    #[doc(hidden)]
    fn initialize(lazy: &Self);
}

/// Makes the value of a static.
pub fn initialize<T: LazyStatic>(lazy: &T) {
    LazyStatic::initialize(lazy);
}
