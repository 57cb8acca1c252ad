//! Random small traces that could really have happened.
//!
//! A trace is made by running a random program on a simulated machine: handlers with mailboxes,
//! plain threads, and untracked handlers that work in bursts, each doing random things, one event
//! at a time in random turns. Mailboxes keep their discipline by a virtual clock, locks exclude
//! each other, a fork comes before its thread, a join behind it. The same seed and shape always
//! give the same trace.

pub use program::random_trace;
pub use sections::random_sections;
pub use shape::{Act, Shape};

mod acts;
mod callbacks;
mod locks;
mod machine;
mod mailbox;
mod program;
mod requests;
mod sections;
mod shape;
mod steps;
