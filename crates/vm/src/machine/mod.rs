//! A program ready to run.

pub(crate) use self::ready::NOBODY;
pub use self::ready::{Machine, Switches};

pub(crate) use self::layout::INIT_FLAG;
pub(crate) use self::live::Live;

pub(crate) mod literal;

mod ready;

mod layout;

mod live;

mod branching;

mod prepare;
