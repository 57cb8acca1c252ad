//! Blocks within expressions: comments inside them are printed with their statements.

use crate::ast::{ArmBody, Expr, ExprKind, Match, Part, Stmt};
use crate::source::Span;

/// The outermost braces with statements or arms in them, within the expressions of a statement
/// without own blocks.
pub(super) fn of_stmt(stmt: &Stmt) -> Vec<Span> {
    let mut out = Vec::new();
    stmt.kind.parts(&mut |part| of_part(part, &mut out));
    out
}

/// As [`of_stmt`], within an expression.
pub(super) fn of_expr(expr: &Expr, out: &mut Vec<Span>) {
    match &expr.kind {
        ExprKind::Match(node) => of_match(node, expr.span.end, out),
        kind => kind.parts(&mut |part| of_part(part, out)),
    }
}

fn of_part(part: Part<'_>, out: &mut Vec<Span>) {
    match part {
        Part::Expr(expr) => of_expr(expr, out),
        Part::Block(block) => out.push(block.span),
    }
}

fn of_match(node: &Match, end: u32, out: &mut Vec<Span>) {
    of_expr(&node.subject, out);
    let is_closure = |expr: &Expr| matches!(expr.kind, ExprKind::Closure(_));
    if !node.arms.iter().any(|arm| matches!(&arm.body, ArmBody::Expr(e) if is_closure(e))) {
        out.push(Span::new(node.subject.span.end, end));
    }
}
