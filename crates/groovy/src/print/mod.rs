//! Trees as text: in the canonical form of a Groovy compiler, and as Groovy.

mod canonical;
mod class;
mod groovy;
mod groovy_stmt;
mod text;

pub use canonical::show;
pub use groovy::{print, print_expr};
