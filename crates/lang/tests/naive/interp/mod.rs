//! The naive interpreter: a direct reading of docs/semantics.md over the syntax tree. States are
//! plain values, cloned whole for each step; a body that stands between two steps is run again from
//! its begin on the answers that it got so far. It shares the parser with the machine and nothing
//! else.

mod builtin;
pub mod canon;
pub mod ends;
mod expr;
pub mod fired;
mod live;
mod method;
mod mutant;
mod place;
pub mod program;
mod rename;
pub mod run;
pub mod state;
pub mod step;
mod stmt;
mod sync;
pub mod value;
