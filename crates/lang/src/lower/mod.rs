//! From a checked model to a program of the machine.
//!
//! The order of evaluation and the meaning of places follow `docs/semantics.md`; names such as X5 are its rules.
//!
//! [`compile`] does it all in one call; [`lower`] is the last part of it.

pub use compile::{Compiled, compile, lower};

mod compile;

mod hints;

mod entry;

mod lowerer;

mod symbols;

mod ty;

mod fold;

mod walk;

mod effects;

mod uses_main;

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
