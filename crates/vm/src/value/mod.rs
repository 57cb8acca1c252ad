//! Values, their order, their hashes.

pub use self::collection::{Map, Seq, Set, Text};
pub(crate) use self::counted::live_bytes;
pub use self::kinds::Value;
pub(crate) use self::kinds::{GHOST, live_handle};
pub(crate) use self::lasting::lasting;

mod collection;
mod compare;
mod counted;
mod kinds;
mod lasting;
pub(crate) mod mix;
pub(crate) mod show;
