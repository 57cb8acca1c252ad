//! The interpreter: executes steps of a program.
//!
//! `interpreter` has its data, `run` its loop. `simple`, `arithmetic`, `element`, `builtin` and
//! `change` execute instructions on registers, `native` calls functions of the front end;
//! `visible`, `concurrent` and `post` those on shared state. `log` and `logging` record accesses,
//! `updates` changed attributes, `memo` whole steps.

pub(crate) use self::fault::Fault;

pub(crate) use self::concurrent::Blocked;
pub(crate) use self::fault::Stop;
pub(crate) use self::interpreter::{End, Interpreter, Mode};
pub(crate) use self::log::{Chosen, Log, LoggedAccess, LoggedPlace};
#[cfg(test)]
pub(crate) use self::post::insert;
pub(crate) use self::post::unpack;
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
mod native;
mod post;
mod run;
mod simple;
mod updates;
mod visible;
