//! Orders for every engine: vector clocks over chains, and a solver for constraints over orders.
//!
//! This crate knows nothing of traces. Nodes, elements and chains are plain dense numbers, so each
//! engine can use it for events, tasks or transactions. It prints nothing.
//!
//! [`Clock`] and [`Chains`] serve engines that read a trace from start to end; [`ClockStore`] holds
//! very many clocks. [`solver`] finds a total order under constraints; [`sat`] is its core.

#![forbid(unsafe_code)]

// The suites name the crate as its users do.
#[cfg(test)]
extern crate self as anyorder_order;

pub use chains::Chains;
pub use clock::{ChainId, Clock};
pub use shared_clock::SharedClock;
pub use store::{ClockEdit, ClockRef, ClockStore, StoreFull, StoreStats};

mod chains;
mod clock;
mod rows;
pub mod sat;
mod shared_clock;
pub mod solver;
mod store;

#[cfg(test)]
#[path = "../tests/all.rs"]
mod tests;
