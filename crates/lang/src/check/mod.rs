//! The static checker: names, kinds, types, constants, contexts and flow.
//!
//! **Guarantee**: in a model without errors, every name has a meaning, every expression has a type
//! and every constant has a value. The [`Program`] holds all facts that the lowering needs, and the
//! lowering accepts every such program. Types are gradual: values of type `any` and values that may
//! be null are checked when the model runs, and [`Program::runtime_checks`] lists these checks. The
//! checker never panics, whatever the recovery of the parser left. Its time is linear in the text
//! except for `match` (see `exhaust`).

mod action;
mod body;
mod builtin;
mod call;
mod checker;
mod collect;
mod component;
mod constant;
mod evaluate;
mod exhaust;
mod expr;
mod in_place;
mod infer;
mod item;
mod literal;
mod member;
mod members;
mod operator;
mod order;
mod pattern;
mod place;
mod program;
mod pure;
mod scope;
mod spec;
mod start;
mod stmt;
mod symmetry;
mod tail;
mod type_expr;
mod types;
mod unused;

pub use builtin::BuiltinMethod;
pub use constant::ConstValue;
pub use program::{
    ArrayInfo, ClassId, ClassInfo, CondId, ConstId, ConstInfo, EnumId, EnumInfo, EventId,
    EventInfo, EventMember, FnId, FnInfo, GlobalId, GlobalInfo, Granularity, HandlerId,
    HandlerInfo, IndexId, IndexInfo, LocalId, LocalInfo, LocalKind, LockId, Meaning, Program,
    RecordId, RecordInfo, STEPS_DEFAULT, TaskId, TaskInfo, ThreadId, ThreadInfo,
};
pub use types::Type;

use crate::ast::Model;
use crate::diagnostic::Diagnostic;
pub(crate) use evaluate::Evaluator;
pub(crate) use in_place::{changes_variables, in_place};

/// A checked model.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Tables; complete only if there are no errors.
    pub program: Program,
    /// The mistakes, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// Checks a parsed model. `text` is its source. The checker accepts trees with parser errors, too;
/// gaps from recovery give no further messages.
pub fn check(model: &Model, text: &str) -> Checked {
    let mut checker = checker::Checker::new(model, text);
    checker.run();
    let (program, mut diagnostics) = checker.finish();
    diagnostics.sort_by_key(|d| (d.primary.span.start, d.primary.span.end));
    Checked { program, diagnostics }
}

#[cfg(test)]
mod tests;
