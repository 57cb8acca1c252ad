//! The surface of [shuttle](https://docs.rs/shuttle) on the engine of `anyorder`.
//!
//! A test of shuttle runs unchanged. Where shuttle samples executions, this explores all of them.
//! `docs/from-loom-or-shuttle.md` says what differs and why.
//!
//! `cargo anyorder test` puts this crate in the place of shuttle.

#![warn(missing_docs)]

pub use check::{
    check, check_dfs, check_pct, check_random, check_random_with_seed,
    check_uncontrolled_nondeterminism, check_urw, replay, replay_from_file,
};
pub use config::{
    Config, ContinuationFunctionBehavior, FailurePersistence, MaxSteps, UngracefulShutdownConfig,
};
pub use runner::{PortfolioRunner, Runner};

pub mod current;
pub mod future;
pub mod lazy_static;
pub mod rand;
pub mod scheduler;
pub mod sync;
pub mod thread;

mod check;
mod config;
mod environment;
mod runner;

pub mod hint {
    //! As `std::hint`.

    pub use anyorder::hint::spin_loop;
    pub use std::hint::{assert_unchecked, black_box, unreachable_unchecked};
}

/// The name of a variable of shuttle that has no effect.
pub const CAPTURE_BACKTRACE: &str = "SHUTTLE_CAPTURE_BACKTRACE";
/// The name of a variable of shuttle that has no effect.
pub const SILENCE_WARNINGS: &str = "SHUTTLE_SILENCE_WARNINGS";
/// The name of a variable of shuttle that has no effect.
pub const ANNOTATION_FILE: &str = "SHUTTLE_ANNOTATION_FILE";

/// As [`replay`].
#[cfg(feature = "annotation")]
pub use check::replay as annotate_replay;

/// As `std::thread_local!`, for the threads of a test.
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

/// As that of the crate `lazy_static`: each execution makes the value anew.
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
        impl $crate::lazy_static::LazyStatic for $name {
            fn initialize(lazy: &Self) {
                let _ = &**lazy;
            }
        }
        $crate::lazy_static!($($rest)*);
    };
}
