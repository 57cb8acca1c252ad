//! A program ready to run.
//!
//! `layout` numbers the parts of a state. `branching` and `live` analyse the code, and `prepare`
//! replaces instructions by faster ones. `copies` has tasks for components that post them.
//! `literal` makes values of constants.

pub(crate) use self::ready::NO_COMPONENT;
pub use self::ready::{Machine, Switches};

pub(crate) use self::branching::functions_with;
pub(crate) use self::layout::{INIT_FLAG, Owner};
pub(crate) use self::live::Liveness;

mod branching;
mod copies;
mod layout;
pub(crate) mod literal;
mod live;
mod prepare;
mod ready;
