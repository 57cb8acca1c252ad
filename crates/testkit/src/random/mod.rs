//! Random small traces that can really happen.
//!
//! A random program on a simulated machine produces each trace: handlers with mailboxes, plain
//! threads, and untracked handlers that run bursts. Each does random acts, one event at a time in
//! random turns. A virtual clock keeps the discipline of mailboxes, locks exclude each other, a
//! fork comes before its thread, and a join after it. The same seed and shape always give the same
//! trace.

pub use program::random_trace;
pub use replies::random_replies;
pub use sections::random_sections;
pub use shape::{Act, Shape};

mod acts;
mod callbacks;
mod locks;
mod machine;
mod mailbox;
mod program;
mod replies;
mod requests;
mod sections;
mod shape;
mod steps;
