//! A client of Chromium's DevTools protocol: commands go out, and replies and events come in one
//! ordered queue.
//!
//! The client knows nothing of the meaning of messages. The order in which the browser sends them
//! is the scheduler's input, so nothing is dispatched to callbacks: the owner takes message after
//! message.

mod client;
mod message;

pub use client::Client;
pub use message::{Event, Message, Reply};
