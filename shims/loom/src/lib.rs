//! The surface of [loom](https://docs.rs/loom) on the engine of `anyorder`.
//!
//! A test of loom runs unchanged: [`model`](fn@model) explores its closure until no thread can see
//! anything new, without a bound. `docs/from-loom-or-shuttle.md` says what differs and why.
//!
//! `cargo anyorder test` puts this crate in the place of loom.

#![warn(missing_docs)]

pub mod alloc;
pub mod cell;
#[cfg(feature = "futures")]
pub mod future;
pub mod hint;
pub mod lazy_static;
pub mod model;
pub mod sync;
pub mod thread;

mod environment;

#[doc(inline)]
pub use crate::model::model;

/// The most threads of a model of loom. Here there is no such limit.
pub const MAX_THREADS: usize = 5;

/// Begins to explore. Everything is explored from the start on.
pub fn explore() {}

/// Ends to explore. Everything is explored to the end.
pub fn stop_exploring() {}

/// Explores no further. Everything is explored to the end.
pub fn skip_branch() {}

/// As `std::thread_local!`, for the threads of models.
#[macro_export]
macro_rules! thread_local {
    () => {};
    ($(#[$attr:meta])* $vis:vis static $name:ident: $t:ty = const { $init:expr } $(; $($rest:tt)*)?) => {
        $(#[$attr])* $vis static $name: $crate::thread::LocalKey<$t> =
            $crate::thread::LocalKey { init: || -> $t { $init } };
        $($crate::thread_local!($($rest)*);)?
    };
    ($(#[$attr:meta])* $vis:vis static $name:ident: $t:ty = $init:expr $(; $($rest:tt)*)?) => {
        $(#[$attr])* $vis static $name: $crate::thread::LocalKey<$t> =
            $crate::thread::LocalKey { init: || -> $t { $init } };
        $($crate::thread_local!($($rest)*);)?
    };
}

/// As that of the crate `lazy_static`. What it makes is destroyed when the closure of the model
/// ends.
#[macro_export]
macro_rules! lazy_static {
    () => {};
    ($(#[$attr:meta])* $vis:vis static ref $name:ident: $t:ty = $init:expr; $($rest:tt)*) => {
        #[allow(missing_copy_implementations, non_camel_case_types, dead_code)]
        $(#[$attr])* $vis struct $name { __private_field: () }
        #[doc(hidden)]
        $vis static $name: $name = $name { __private_field: () };
        impl ::core::ops::Deref for $name {
            type Target = $t;
            fn deref(&self) -> &$t {
                fn __make() -> $t { $init }
                static LAZY: $crate::lazy_static::Lazy<$t> =
                    $crate::lazy_static::Lazy::new(__make);
                LAZY.get()
            }
        }
        $crate::lazy_static!($($rest)*);
    };
}
