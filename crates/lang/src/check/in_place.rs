//! Facts that the text of an expression alone gives about the variables of the surrounding
//! function.

use super::builtin::BuiltinMethod;
use crate::ast::{Closure, ClosureBody, Expr, ExprKind, Param, walk_expr};

/// Returns whether an expression may change variables, by a method that changes its receiver or by
/// statements inside.
pub(crate) fn changes_variables(e: &Expr) -> bool {
    let mut found = false;
    walk_expr(e, &mut |e| match &e.kind {
        ExprKind::Method { name, .. } => {
            found |= BuiltinMethod::named(&name.name).is_some_and(BuiltinMethod::changes);
        }
        ExprKind::If(_) | ExprKind::Match(_) => found = true,
        _ => {}
    });
    found
}

/// Returns the parameter and the body of a function whose body is an expression that gives the same
/// result on captured values as on the variables.
pub(crate) fn in_place(closure: &Closure) -> Option<(&Param, &Expr)> {
    let ([param], ClosureBody::Expr(body)) = (closure.params.as_slice(), &closure.body) else {
        return None;
    };
    let mut plain = !changes_variables(body);
    walk_expr(body, &mut |e| plain &= !matches!(e.kind, ExprKind::Closure(_)));
    plain.then_some((param, body))
}
