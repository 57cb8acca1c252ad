//! States of a program, their canonical form, and that as bytes.

pub use self::parts::State;

pub(crate) use self::message::{Message, Queue};
pub(crate) use self::object::Object;
pub(crate) use self::thread::{Frame, Origin, Status, Thread, What};

mod parts;

mod globals;

mod message;

mod thread;

mod object;

pub(crate) mod rename;

mod bytes;

mod colors;

pub(crate) mod permute;

pub(crate) mod encode;

pub(crate) mod decode;

pub(crate) mod normal;
