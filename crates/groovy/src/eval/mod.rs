//! A reference evaluator: it walks the tree, slowly and plainly.
//!
//! It gives the meaning that later stages are tested against. What it does not know it says:
//! [`Stop::Unsupported`] is no result.

mod call;
mod expr;
mod format;
mod interp;
mod list;
mod map;
mod number;
mod number_methods;
mod operator;
pub(crate) mod pure;
mod regex;
mod scope;
mod stmt;
mod text;
mod value;

pub use expr::getter;
pub use interp::{Evaluator, Host, Methods, NoHost, Stop, TIME};
pub use number::Decimal;
pub use scope::{ClosureValue, Scope};
pub use value::{List, Map, Value, compare, equal, show};
