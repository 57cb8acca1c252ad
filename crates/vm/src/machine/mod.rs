//! A program ready to run.
//!
//! `layout` numbers the parts of a state. `branching`, `live` and `memoizable` analyse the code,
//! and `prepare` replaces instructions by faster ones. `copies` has tasks for components that post
//! them. `literal` makes values of constants. `tables` numbers places for reduction. `limits` has
//! what no program may exceed, `growth` the longest mailbox so far.

pub use self::ready::Machine;
pub(crate) use self::ready::NO_COMPONENT;

pub(crate) use self::layout::{INIT_FLAG, Owner};
pub(crate) use self::limits::{DEPTH_MAX, FRAMES_MAX};
pub(crate) use self::tables::{Elements, Kind, Places, Tables};

mod branching;
mod copies;
mod growth;
mod layout;
mod limits;
pub(crate) mod literal;
mod live;
mod memoizable;
mod prepare;
mod ready;
mod tables;
