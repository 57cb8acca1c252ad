//! Schedulers. They have no effect: every execution is explored.

use std::path::Path;

pub use crate::current::TaskId;

/// The choices of an execution.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Schedule {}

impl Schedule {
    /// Makes one without choices.
    #[must_use]
    pub fn new(_seed: u64) -> Schedule {
        Schedule {}
    }
}

/// A thread or task, as schedulers see it.
#[derive(Debug)]
pub struct Task {
    id: TaskId,
}

impl Task {
    /// Returns its id.
    #[must_use]
    pub fn id(&self) -> TaskId {
        self.id
    }
}

/// What would choose who runs next. Nobody calls it.
pub trait Scheduler {
    /// Begins an execution.
    fn new_execution(&mut self) -> Option<Schedule>;

    /// Chooses who runs next.
    fn next_task(
        &mut self,
        runnable_tasks: &[&Task],
        current_task: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId>;

    /// Chooses a number.
    fn next_u64(&mut self) -> u64;

    /// What this one would do that is not done here.
    #[doc(hidden)]
    fn not_done(&self) -> Option<&'static str> {
        Some("a scheduler of the test's own is not used: every execution is explored")
    }
}

macro_rules! schedulers {
    ($($(#[$doc:meta])* $name:ident { $($new:ident($($argument:ident: $type:ty),*);)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Default)]
        pub struct $name {}

        impl $name {
            $(
                /// Makes one. The arguments have no effect.
                #[must_use]
                pub fn $new($($argument: $type),*) -> $name {
                    $(let _ = $argument;)*
                    $name {}
                }
            )*
        }

        impl Scheduler for $name {
            fn new_execution(&mut self) -> Option<Schedule> {
                None
            }
            fn next_task(&mut self, _: &[&Task], _: Option<TaskId>, _: bool) -> Option<TaskId> {
                None
            }
            fn next_u64(&mut self) -> u64 {
                0
            }
            fn not_done(&self) -> Option<&'static str> {
                None
            }
        }
    )*};
}

schedulers! {
    /// Would explore by depth-first search.
    DfsScheduler { new(iterations_max: Option<usize>, allow_random_data: bool); }
    /// Would sample uniformly.
    RandomScheduler {
        new(iterations_max: usize);
        new_from_seed(seed: u64, iterations_max: usize);
    }
    /// Would sample by random priorities.
    PctScheduler {
        new(depth_max: usize, iterations_max: usize);
        new_from_seed(seed: u64, depth_max: usize, iterations_max: usize);
    }
    /// Would sample by random walks of uniform weight.
    UrwRandomScheduler {
        new(iterations_max: usize);
        new_from_seed(seed: u64, iterations_max: usize);
    }
    /// Would let each thread run in turn.
    RoundRobinScheduler { new(iterations_max: usize); }
    /// Would run one execution again.
    ReplayScheduler {
        new_from_encoded(schedule: &str);
        new_from_schedule(schedule: Schedule);
    }
}

impl ReplayScheduler {
    /// Makes one. The file is not read.
    ///
    /// # Errors
    ///
    /// None.
    pub fn new_from_file<P: AsRef<Path>>(_path: P) -> Result<ReplayScheduler, std::io::Error> {
        Ok(ReplayScheduler {})
    }

    /// Has no effect.
    pub fn set_allow_incomplete(&mut self) {}
}

/// Would compare executions. A program that is not a function of its schedule is always reported.
#[derive(Debug)]
pub struct UncontrolledNondeterminismCheckScheduler<S: Scheduler> {
    inner: S,
}

impl<S: Scheduler> UncontrolledNondeterminismCheckScheduler<S> {
    /// Makes one.
    pub fn new(scheduler: S) -> UncontrolledNondeterminismCheckScheduler<S> {
        UncontrolledNondeterminismCheckScheduler { inner: scheduler }
    }
}

impl<S: Scheduler> Scheduler for UncontrolledNondeterminismCheckScheduler<S> {
    fn new_execution(&mut self) -> Option<Schedule> {
        None
    }
    fn next_task(&mut self, _: &[&Task], _: Option<TaskId>, _: bool) -> Option<TaskId> {
        None
    }
    fn next_u64(&mut self) -> u64 {
        0
    }
    fn not_done(&self) -> Option<&'static str> {
        self.inner.not_done()
    }
}
