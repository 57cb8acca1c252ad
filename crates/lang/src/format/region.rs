//! Blocks within expressions: comments inside them are printed with their statements.

use crate::ast::{
    ArmBody, Block, ClosureBody, Expr, ExprKind, If, IfElse, Match, PostTarget, Ref, Stmt, StmtKind,
};
use crate::source::Span;

/// Returns the outermost braces that contain statements or arms, within the expressions of a
/// statement without blocks of its own.
pub(super) fn of_stmt(stmt: &Stmt) -> Vec<Span> {
    let mut out = Vec::new();
    match &stmt.kind {
        StmtKind::Let { value, .. } => of_expr(value, &mut out),
        StmtKind::Assign { place, value, .. } => {
            of_expr(place, &mut out);
            of_expr(value, &mut out);
        }
        StmtKind::Step { place: e, .. }
        | StmtKind::Expr(e)
        | StmtKind::Call(e)
        | StmtKind::Return(Some(e))
        | StmtKind::Assert { cond: e, .. }
        | StmtKind::Assume(e)
        | StmtKind::Cancel(e)
        | StmtKind::Join(e) => of_expr(e, &mut out),
        _ => {}
    }
    out
}

fn of_ref(reference: &Ref, out: &mut Vec<Span>) {
    if let Some(index) = &reference.index {
        of_expr(index, out);
    }
}

fn of_block(block: &Block, out: &mut Vec<Span>) {
    out.push(block.span);
}

fn of_if(node: &If, out: &mut Vec<Span>) {
    of_expr(&node.cond, out);
    of_block(&node.then, out);
    match &node.otherwise {
        None => {}
        Some(IfElse::Block(block)) => of_block(block, out),
        Some(IfElse::If(inner)) => of_if(inner, out),
    }
}

fn of_match(node: &Match, end: u32, out: &mut Vec<Span>) {
    of_expr(&node.subject, out);
    let arms = node.arms.iter().all(|arm| !matches!(&arm.body, ArmBody::Expr(e) if has_closure(e)));
    if arms {
        out.push(Span::new(node.subject.span.end, end));
    }
}

fn has_closure(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Closure(_))
}

pub(super) fn of_expr(expr: &Expr, out: &mut Vec<Span>) {
    match &expr.kind {
        ExprKind::Closure(closure) => match &closure.body {
            ClosureBody::Block(block) => of_block(block, out),
            ClosureBody::Expr(value) => of_expr(value, out),
        },
        ExprKind::If(node) => of_if(node, out),
        ExprKind::Match(node) => of_match(node, expr.span.end, out),
        ExprKind::Paren(e) | ExprKind::Unary(_, e) | ExprKind::Choose(e) => of_expr(e, out),
        ExprKind::Field { base, .. } => of_expr(base, out),
        ExprKind::List(es) | ExprKind::Set(es) => es.iter().for_each(|e| of_expr(e, out)),
        ExprKind::Map(entries) => entries.iter().for_each(|(k, v)| {
            of_expr(k, out);
            of_expr(v, out);
        }),
        ExprKind::Repeat(a, b) | ExprKind::Index { base: a, index: b } => {
            of_expr(a, out);
            of_expr(b, out);
        }
        ExprKind::Binary { left, right, .. } => {
            of_expr(left, out);
            of_expr(right, out);
        }
        ExprKind::Record { fields, base, .. } => {
            fields.iter().for_each(|field| of_expr(&field.value, out));
            base.iter().for_each(|base| of_expr(base, out));
        }
        ExprKind::New { fields, .. } => fields.iter().for_each(|field| of_expr(&field.value, out)),
        ExprKind::Call { callee, args } => {
            of_expr(callee, out);
            args.iter().for_each(|e| of_expr(e, out));
        }
        ExprKind::Method { receiver, args, .. } => {
            of_expr(receiver, out);
            args.iter().for_each(|e| of_expr(e, out));
        }
        ExprKind::Enabled(event) => of_ref(event, out),
        ExprKind::Post(post) => {
            post.args.iter().for_each(|e| of_expr(e, out));
            if let PostTarget::Handler(handler) = &post.target {
                of_ref(handler, out);
            }
            post.after.iter().for_each(|e| of_expr(e, out));
        }
        ExprKind::Fork(fork) => fork.args.iter().for_each(|e| of_expr(e, out)),
        ExprKind::Int(_)
        | ExprKind::Bool(_)
        | ExprKind::Str(_)
        | ExprKind::Null
        | ExprKind::Name(_)
        | ExprKind::SelfRef
        | ExprKind::Error => {}
    }
}
