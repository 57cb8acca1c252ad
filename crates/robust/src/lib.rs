//! Robustness against concurrency: does concurrency add an outcome to running each event, with all
//! its tasks, one after the other?
//!
//! Bouajjani, Emmi, Enea, Ozkan and Tasiran ("Verifying Robustness of Event-Driven Asynchronous
//! Programs Against Concurrency", ESOP 2017) split the question in two. Events are *deterministic*
//! if the tasks of one event always have the same outcome, and *serializable* if events that
//! overlap have an outcome that they have one after the other. Both are decided by conflicts
//! between accesses, and without an enumeration of interleavings.

#![forbid(unsafe_code)]

pub mod model;
pub mod trace;
pub mod transactions;
