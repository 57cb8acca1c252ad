//! What every engine needs of orders: vector clocks over chains, reachability, incremental edges.
//!
//! This crate knows nothing of traces: nodes, elements and chains are plain dense numbers, so that each
//! engine can use it for events, tasks or transactions alike. It prints nothing.
//!
//! [`Clock`], [`Epoch`] and [`Chains`] are the parts an engine that goes through a trace builds on.

pub use antichain::greatest_antichain;
pub use chains::{Chains, ChainsStats};
pub use clock::{ChainId, Clock, Epoch};
pub use dag::{Dag, DagError};
pub use incremental::{IncrementalReachability, InsertError, InsertStats};
pub use incremental_dag::{Cycle, IncrementalDag, IncrementalStats};
pub use reach::{ReachError, ReachLimits, Reachability};
pub use store::{ClockEdit, ClockRef, ClockStore, StoreFull, StoreStats};

mod clock;

mod chains;

mod store;

mod dag;

mod reach;

mod incremental_dag;

mod incremental;

mod antichain;

pub mod sat;

pub mod solver;
