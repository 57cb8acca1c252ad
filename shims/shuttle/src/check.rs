//! Checks in one line. All of them explore every execution.

use crate::config::Config;
use crate::environment;
use crate::runner::explore;
use std::panic::Location;
use std::path::Path;

macro_rules! checks {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {$(
        /// Explores a closure in all of its executions; the other arguments have no effect.
        ///
        /// # Panics
        ///
        /// As [`Runner::run`](crate::Runner::run).
        #[track_caller]
        pub fn $name<F>(f: F, $($argument: $type),*)
        where
            F: Fn() + Send + Sync + 'static,
        {
            $(let _ = $argument;)*
            explore(&Config::default(), f, Location::caller());
        }
    )*};
}

checks! {
    check();
    check_random(iterations: usize);
    check_random_with_seed(seed: u64, iterations: usize);
    check_pct(iterations: usize, depth: usize);
    check_dfs(iterations_max: Option<usize>);
    check_urw(iterations: usize);
    check_uncontrolled_nondeterminism(iterations_max: usize);
}

/// Explores a closure in all of its executions. The schedule is not used.
///
/// # Panics
///
/// As [`Runner::run`](crate::Runner::run).
#[track_caller]
pub fn replay<F>(f: F, _schedule: &str)
where
    F: Fn() + Send + Sync + 'static,
{
    environment::say("a schedule of shuttle is not used: every execution is explored");
    explore(&Config::default(), f, Location::caller());
}

/// Explores a closure in all of its executions. The file is not read.
///
/// # Panics
///
/// As [`Runner::run`](crate::Runner::run).
#[track_caller]
pub fn replay_from_file<F, P>(f: F, _path: P)
where
    F: Fn() + Send + Sync + 'static,
    P: AsRef<Path>,
{
    replay(f, "");
}
