//! Values, their order, their hashes.

pub use self::collection::{Map, Seq, Set, Text};
pub use self::kinds::Value;
pub(crate) use self::kinds::{GHOST, counted};

pub(crate) mod mix;

mod kinds;

mod collection;

mod compare;

pub(crate) mod show;
