//! Whether what is declared `symmetric` is: the index of a member may only say which member is meant.
//!
//! **Problem.** Members of a family or array that is declared `symmetric` may be exchanged if every exchange of their indices, in
//! all places where the model keeps them, turns runs into runs. Decide that from the text.
//! **Source.** C. N. Ip and D. L. Dill, "Better verification through symmetry", Formal Methods in System Design 9, 1996: values of a
//! *scalarset* may be compared for equality, be stored and index arrays, nothing else.
//! **Guarantee.** What is accepted is symmetric, but for the order in which operations fail (docs/search.md). What is refused may
//! be symmetric all the same.
//! **How.** Every place that can hold an int gets a variable; assignments, arguments, comparisons and indexing make variables equal
//! (`expr`, `stmt`). A class of equal variables with a member declared `symmetric` in it is an *index set*. Uses that tell members
//! apart have been noted on variables on the way, and are mistakes where the variable belongs to an index set. Arrays belong to an index
//! set because its indices index them, whatever their size. Loops over an index set must do the same in any order (`order`).
//! **Cost.** Linear in the text, times the depth of types.

pub use self::result::{IndexSet, Symmetries, SymmetryRule};

pub(crate) use self::shape::Shape;

pub(crate) use self::result::Shapes;

mod result;

mod shape;

mod flow;

mod item;

mod expr;

mod method;

mod stmt;

mod code;

mod order;

mod steps;

mod report;

use crate::ast::Model;
use crate::check::Program;

/// Looks for the index sets of a model that was checked without errors.
pub fn symmetries(model: &Model, program: &Program) -> Symmetries {
    flow::Flow::new(model, program).run()
}
