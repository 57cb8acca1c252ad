//! From a checked model to a program of the machine.
//!
//! The lowering reads the meanings of names, types, constants, captures and calls from the tables
//! of the checker ([`crate::check::Program`]); it resolves nothing itself. The order of evaluation
//! and the meaning of places follow `docs/semantics.md`; names such as X5 are its rules.
//!
//! [`compile`] runs all phases in one call.

pub use compile::{Compiled, compile, lower};

mod compile;

mod lowerer;

mod declare;

mod events;

mod functions;

mod symmetry;

mod body;

mod expr;

mod cond;

mod place;

mod aggregate;

mod call;

mod functional;

mod closure;

mod branch;

mod stmt;

mod choose;

mod post;

mod sync;
