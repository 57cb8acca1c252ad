//! The static checker: names, kinds, types, constants, contexts and flow.
//!
//! **Guarantee**: a model without errors has a meaning for every name, a type for every expression
//! and a value for every constant. The lowering takes all that from the [`CheckedModel`]. Types are
//! gradual: the machine checks values of type `any` and values that may be null when the model
//! runs, at the places in [`CheckedModel::runtime_checks`]. The checker never panics, even on a
//! tree with the parser's gaps. Time: linear in the text except for `match` (see `exhaust`).

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
mod model;
mod operator;
mod order;
mod pattern;
mod place;
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
pub use model::{
    ArrayInfo, CheckedModel, ClassId, ClassInfo, CondId, ConstId, ConstInfo, EnumId, EnumInfo,
    EventId, EventInfo, EventMember, FnId, FnInfo, GlobalId, GlobalInfo, Granularity, HandlerId,
    HandlerInfo, IndexId, IndexInfo, LocalId, LocalInfo, LocalKind, LockId, Meaning, RecordId,
    RecordInfo, STEPS_DEFAULT, TaskId, TaskInfo, ThreadId, ThreadInfo,
};
pub use types::Type;

use crate::ast::Model;
use crate::diagnostic::Diagnostic;
pub(crate) use evaluate::Evaluator;
pub(crate) use in_place::{changes_variables, in_place};

/// A checked model.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Tables; complete only when there are no errors.
    pub model: CheckedModel,
    /// The mistakes, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// Checks a parsed model. `text` is its source. A tree with gaps of the parser is checked, too. The
/// gaps give no further messages.
pub fn check(model: &Model, text: &str) -> Checked {
    let mut checker = checker::Checker::new(model, text);
    checker.run();
    let (program, mut diagnostics) = checker.finish();
    diagnostics.sort_by_key(|d| (d.primary.span.start, d.primary.span.end));
    Checked { model: program, diagnostics }
}

#[cfg(test)]
mod tests;
