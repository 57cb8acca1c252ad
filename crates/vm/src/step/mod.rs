//! The interpreter: executes steps of a program.
//!
//! `interpreter` has its data, `run` its loop. `simple`, `arithmetic`, `element`, `builtin` and
//! `change` execute instructions on registers; `visible`, `concurrent` and `post` those on shared
//! state. `log` and `logging` record accesses, `updates` changed attributes, `memo` whole steps.
//! `poll` lets a job be stopped inside a step.

pub(crate) use self::fault::Fault;

pub(crate) use self::concurrent::Blocked;
pub(crate) use self::fault::Stop;
pub(crate) use self::interpreter::{DEPTH_MAX, End, FRAMES_MAX, Interpreter, Mode};
pub(crate) use self::log::{Chosen, Log, LoggedAccess, LoggedPlace};
pub(crate) use self::poll::{Poll, START_WORK};
pub(crate) use self::post::{insert, unpack};
pub(crate) use self::updates::{AttributeUpdate, effects_update};

mod arithmetic;
mod builtin;
mod change;
mod concurrent;
mod element;
mod fault;
mod interpreter;
mod log;
mod logging;
pub(crate) mod memo;
mod poll;
mod post;
mod run;
mod simple;
mod updates;
mod visible;
