//! Jobs on programs given as states: check, simulate, export the graph, replay and compare paths.
//!
//! A front end implements [`StateProgram`]: a state system and its descriptions. The jobs are
//! shared by all front ends. The descriptions have defaults, so any state system can be checked:
//! see [`Named`].

pub use anyorder_search::{Exported, Gauge, GraphFormat, Limit, Order, PathDifference, Storage};
pub use by_threads::{ThreadBudget, ThreadSearch};
pub use check::{
    Algorithm, CheckOptions, CheckResult, Watcher, check_states, check_states_watched,
};
pub use full::{GraphOptions, SimulateOptions, export_graph, simulate};
pub use named::Named;
pub use program::{AttributeUpdate, Described, NoSchedule, RunEnd, StateProgram};
pub use progress::SearchProgress;
pub use reduction::Reduction;
pub(crate) use replay::path_of;
pub use replay::{Compared, ReplayVerdict, Replayed, compare, replay_path};

pub(crate) use conflicts::{Conflict, is_conflict};
pub(crate) use program::{offers_of, wrong_end};
pub(crate) use report::{explanation, report, report_conflict};

// The interface for front ends.
mod named;
mod program;
mod reduction;
mod sampled;

// The jobs.
mod by_threads;
mod check;
mod full;
mod reduced;
mod replay;

// Shared by the jobs.
mod checkpoint;
mod conflicts;
mod progress;
mod report;
