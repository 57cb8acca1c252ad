//! What every engine needs of orders: vector clocks over chains, and a solver of constraints over
//! orders.
//!
//! This crate knows nothing of traces: nodes, elements and chains are plain dense numbers, so that
//! each engine can use it for events, tasks or transactions alike. It prints nothing.
//!
//! [`Clock`] and [`Chains`] are the parts an engine that goes through a trace builds on,
//! [`ClockStore`] where there are very many clocks. [`solver`] finds a total order under
//! constraints, [`sat`] is the core below it.

pub use chains::Chains;
pub use clock::{ChainId, Clock};
pub use store::{ClockEdit, ClockRef, ClockStore, StoreFull, StoreStats};

mod chains;
mod clock;
pub mod sat;
pub mod solver;
mod store;
