//! What partial-order reduction relies on where the machine is a task system: by brute force, in
//! the states of random walks.

mod changed;
mod diamonds;

#[path = "../../../../pipe/tests/contract/enumerate.rs"]
#[allow(dead_code, reason = "shared with the contract of task systems")]
mod enumerate;
