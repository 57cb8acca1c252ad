//! States of a program, their canonical form, and that as bytes.

pub use self::parts::State;

pub(crate) use self::chunks::Chunks;
pub(crate) use self::effect::{Deed, Effect};
pub(crate) use self::message::{Body, Message};
pub(crate) use self::object::Object;
pub(crate) use self::thread::{Frame, Origin, Status, Thread, What};

mod parts;

mod effect;

mod later;

mod chunks;

mod message;

mod mail;

mod thread;

mod object;

pub(crate) mod rename;

mod bytes;

mod colors;

mod paint;

mod loose;

mod reach;

pub(crate) mod representative;

mod permute;

mod group;

mod tint;

pub(crate) mod encode;

pub(crate) mod decode;

pub(crate) mod normal;
