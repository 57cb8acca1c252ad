//! From a checked model to a program of the machine.
//!
//! What names, types, constants, captures and calls mean is read from the tables of the check
//! ([`crate::check::CheckedModel`]); nothing is resolved here. The order of evaluation and the
//! meaning of places follow `docs/semantics.md`; names such as X5 are its rules.
//!
//! [`compile`] runs all phases in one call.

pub use compile::{Compiled, compile, lower};

mod aggregate;
mod body;
mod branch;
mod call;
mod choose;
mod closure;
mod compile;
mod cond;
mod declare;
mod events;
mod expr;
mod functional;
mod functions;
mod lowerer;
mod place;
mod post;
mod spec;
mod stmt;
mod symmetry;
mod sync;
