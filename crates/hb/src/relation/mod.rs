//! The relation: strands, the orders that a trace gives, and the pass that closes them.

// The rules, and the orders that the trace gives before any rule applies.
pub(crate) mod conflicts;
pub(crate) mod given;
pub(crate) mod locks;
pub(crate) mod rules;
pub(crate) mod sections;
pub(crate) mod strands;

// One pass over the trace, and its state.
mod begun;
pub(crate) mod by_key;
mod chain_map;
mod delayed;
mod fifo;
pub(crate) mod pass;
pub(crate) mod state;
mod task_order;
pub(crate) mod task_orders;

// The fixpoint, and queries on it.
pub(crate) mod components;
pub(crate) mod ends;
pub(crate) mod engine;
pub(crate) mod happens_before;
pub(crate) mod over;

pub(crate) mod sabotage;
