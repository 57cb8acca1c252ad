//! States of a program, their canonical form and their encoding.
//!
//! `parts` has states; `lazy` and `effect` have successors that are not built yet. `canonical`
//! brings a state into canonical form, with `reachable`, `unordered` and `colors`. `encode` and
//! `decode` convert a state to bytes and back. The other modules hold the parts of a state, or
//! serve symmetry.

pub use self::parts::State;

pub(crate) use self::chunks::Chunks;
pub(crate) use self::effect::{Effect, StepDelta};
pub(crate) use self::message::{Body, Message};
pub(crate) use self::object::Object;
pub(crate) use self::step_id::{StepId, threads};
pub(crate) use self::thread::{Frame, Origin, Status, Thread, ThreadBody, word};

pub(crate) mod bytes;
pub(crate) mod canonical;
mod chunks;
mod colors;
mod dead;
pub(crate) mod decode;
mod effect;
pub(crate) mod encode;
mod group;
mod lazy;
mod mail;
mod message;
mod object;
mod paint;
mod parts;
mod permute;
mod reachable;
pub(crate) mod rename;
pub(crate) mod representative;
mod step_id;
mod thread;
mod tint;
mod unordered;
