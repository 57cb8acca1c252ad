//! One page in a browser: its requests, its queue, its user and what it shows.
//!
//! On request, it releases a response, fires a queued event, or takes a step of a user, and waits
//! until the page has nothing left to do. It decides no order and names no events.

mod again;
mod driver;
mod failures;
mod handle;
pub(crate) mod input;
mod opened;
mod origin;
mod refresh;
mod release;
mod runtime;
mod see;
mod server;
mod sockets;
mod user;
mod workers;

pub(crate) use driver::{PageDriver, PageLimits};
pub(crate) use handle::{Held, by_value};
pub(crate) use input::key_of;
pub(crate) use opened::Opening;
pub(crate) use release::{Fault, fulfil_params};
pub(crate) use runtime::{HOLD_PATH, NAME, QueueReport, Queued, Record, SELECT};
pub(crate) use see::Seen;
pub(crate) use user::Readiness;
