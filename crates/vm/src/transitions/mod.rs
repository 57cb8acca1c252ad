//! The transitions of a state.
//!
//! `candidates` lists the steps that may be possible. `executor` runs their alternatives; `lookup`
//! takes known outcomes from the memo instead. `begin` says what a step runs, `threads` what it
//! leaves behind, and `messages` what it takes.

pub use self::action::Action;

pub(crate) use self::candidates::{candidates, event_is_open, open_messages};
#[cfg(test)]
pub(crate) use self::executor::ghosts;
pub(crate) use self::executor::{Executed, Outcome, StepExecutor};
pub(crate) use self::initial::{initial, unstarted};
pub(crate) use self::lookup::{Lookup, look_up_known};

mod action;
mod begin;
mod candidates;
mod executor;
mod initial;
mod lookup;
mod messages;
mod threads;
