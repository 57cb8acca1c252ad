//! The types in which engines and front ends exchange data about a program that can be run.
//!
//! This crate defines names of tasks, schedules and observations, and the traits that a program
//! implements. It searches nothing, reads no clock and prints nothing. Its only algorithm is the
//! contract check of [`Reducible`], [`check_contract`].
//!
//! | a program implements | when |
//! | --- | --- |
//! | [`SerdeSystem`] | its states are values that serde can write: three methods |
//! | [`StateSystem`] | its states are values that can be held, compared and written down |
//! | [`Reducible`], on top of it | its tasks can report which places they touch: needed by every search that leaves orders out |
//! | [`TaskSystem`] | it can only be run again, task by task |
//! | [`AsyncSystem`] | it consists of events and their tasks, and each task can run step by step |
//! | [`InterleavedSystem`], on top of it | it can also run by the rules of its handlers |
//!
//! The types to know: [`TaskName`], which survives re-execution; [`Schedule`], the choices that
//! reproduce a run; [`Observation`], the outcome of a run; [`Control`], which watches and stops a
//! long job.
//!
//! ```
//! use anyorder_system::{Choice, ProgramIdentity, Schedule, TaskName};
//!
//! let load = TaskName::root("load");
//! let timer = load.child("timeout").with_label("app.js:14").with_ordinal(1);
//! assert_eq!(timer.to_string(), "load/timeout@app.js:14#1");
//!
//! let mut schedule = Schedule::new(ProgramIdentity::new("demo"));
//! schedule.choices.push(Choice::of(load));
//! schedule.choices.push(Choice::of(timer));
//! let json = schedule.to_json();
//! assert_eq!(Schedule::from_json(&json)?, schedule);
//! # Ok::<(), anyorder_system::ScheduleError>(())
//! ```

#![forbid(unsafe_code)]

pub use actors::{Actor, Actors, PlaceOfStep, Role};
pub use anyorder_common::cancel::{Cancel, StopReason, Stopped};
pub use anyorder_common::hash::Hash128;
pub use anyorder_common::state_hash::StateHash;
pub use async_system::{
    AsyncSystem, EventInfo, HandlerInfo, HandlerOrder, InvocationId, InvocationStep, Lane,
    PostedInvocation, WaitPlace,
};
pub use capabilities::{AccessDetail, Capabilities, EnabledDetail};
pub use contract::{BrokenContract, Clause, ContractChecks, ContractOptions, check_contract};
pub use control::Control;
pub use failure::{BrokenProperty, Failure, FailureKind, FailureSite};
pub use interleaved::{InterleavedStep, InterleavedSystem, Taker};
pub use job_watch::{EnteredWatch, JobWatch};
pub use limits::Limits;
pub use observation::{Difference, Level, Observation, Part, PartPath};
pub use progress::{NoProgress, Progress};
pub use properties::{Classes, End, Invariant, Offers, Properties, Response};
pub use reducible::{Effects, Place, Reducible, TaskKey, TouchKind, Touched};
pub use run_error::RunError;
pub use schedule::{Choice, Divergence, Injected, ProgramIdentity, Schedule, ScheduleError, Value};
pub use serde_system::SerdeSystem;
pub use state_system::{StateSystem, Successor};
pub use task_name::{Segment, TaskName, TaskNameError};
pub use task_system::{
    Access, AccessKind, Accesses, Awaited, EnabledTask, Posted, SnapshotId, Snapshots, Step,
    SystemFactory, TASK_STATUS, TaskRole, TaskSystem, is_task_status,
};
pub use update::{Update, Updates, tidy_updates};

mod actors;
mod async_system;
mod capabilities;
mod contract;
mod control;
mod failure;
mod interleaved;
mod job_watch;
mod limits;
mod observation;
mod progress;
mod properties;
mod reducible;
mod run_error;
mod schedule;
mod serde_system;
mod state_system;
mod task_name;
mod task_system;
mod update;
