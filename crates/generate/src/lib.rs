//! Generates event-driven traces, to test and measure consistency checkers.
//!
//! This crate decides nothing about traces. It makes *partial* traces: program order, the write of
//! each read, the order of the writes of each variable, and the poster of each message are given;
//! the orders of messages and of posts are left out. Traces recorded from a run with FIFO mailboxes
//! are consistent, and come with their run ([`Generated::run`]). Images of formulas are consistent
//! iff the formula is satisfiable. Equal requests give equal traces, on every machine.
//!
//! The main items: [`Family`], [`Request`], [`generate`], and for other formulas [`sat3_image`] and
//! [`bi3sat_image`]. [`smart_home`] makes models instead, for explorers.
//!
//! ```
//! use anyorder_generate::{Family, Request, generate};
//! use anyorder_trace::TraceOrder;
//!
//! let request = Request { seed: 7, ..Request::new(Family::Shuffle, 20) };
//! let trace = generate(&request)?;
//! assert_eq!(trace.len(), 100);
//! assert_eq!(trace.tables().meta.order, TraceOrder::Partial);
//! # Ok::<(), anyorder_generate::GenerateError>(())
//! ```

#![forbid(unsafe_code)]

pub use android::{PAPER_ROWS, PaperRow, generate_sized};
pub use bi3sat::{bi3sat_formula, bi3sat_image};
pub use counts::Counts;
pub use error::GenerateError;
pub use family::Family;
pub use finish::EVENTS_MAX;
pub use generate::{generate, generate_with_run};
pub use knot::knot_is_consistent;
pub use request::{Generated, Request, RunMailbox};
pub use sat3::{sat3_formula, sat3_image};
pub use smart_home::{SMART_HOME_EVENTS, smart_home};

mod android;
mod bi3sat;
mod counts;
mod draft;
mod error;
mod family;
mod finish;
mod flat;
mod formula;
mod generate;
mod knot;
mod programs;
mod recorder;
mod request;
mod sat3;
mod setup;
mod shuffle;
mod simulator;
mod smart_home;
