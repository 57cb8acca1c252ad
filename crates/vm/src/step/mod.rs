//! Executes steps of a program.

pub(crate) use self::fault::Fault;

pub(crate) use self::concurrent::Blocked;
pub(crate) use self::fault::Stop;
pub(crate) use self::log::{Log, Place, Touch};
pub(crate) use self::post::{insert, unpack};
pub(crate) use self::runner::{DEPTH_MAX, End, FRAMES_MAX, Mode, Runner};
pub(crate) use self::updates::{Updated, effects_update};

mod fault;

mod log;

mod runner;

mod run;

mod simple;

mod arithmetic;

mod element;

mod builtin;

mod change;

mod visible;

mod concurrent;

mod post;

pub(crate) mod memo;

mod record;

mod updates;
