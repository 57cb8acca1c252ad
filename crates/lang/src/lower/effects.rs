//! What the evaluation of an expression may change.

use super::walk::walk_expr;
use crate::ast::{Expr, ExprKind};
use anyorder_vm::program::Builtin;

/// The built-in method of a name.
pub(crate) fn builtin(name: &str) -> Option<Builtin> {
    // This serves the lowering and is no method of the language.
    let inner = |b: &Builtin| matches!(b, Builtin::Elements);
    Builtin::ALL.iter().find(|b| b.name() == name && !inner(b)).copied()
}

/// Whether variables of the function may have other values after the expression: by a method that changes its receiver, or
/// by statements inside.
pub(crate) fn changes_variables(e: &Expr) -> bool {
    let mut found = false;
    walk_expr(e, &mut |e| match &e.kind {
        ExprKind::Method { name, .. } => {
            found |= builtin(&name.name).is_some_and(Builtin::changes);
        }
        ExprKind::If(_) | ExprKind::Match(_) => found = true,
        _ => {}
    });
    found
}
