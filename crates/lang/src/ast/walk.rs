//! Visits all expressions below a node, in the order of the text.

use super::{
    ArmBody, Block, ClosureBody, Expr, ExprKind, If, IfElse, Match, PostTarget, Ref, Stmt, StmtKind,
};

/// Calls `f` for an expression and all expressions below it, including those in blocks and
/// closures.
pub(crate) fn walk_expr<'a>(e: &'a Expr, f: &mut dyn FnMut(&'a Expr)) {
    f(e);
    match &e.kind {
        ExprKind::Paren(inner) | ExprKind::Unary(_, inner) | ExprKind::Choose(inner) => {
            walk_expr(inner, f);
        }
        ExprKind::List(items) | ExprKind::Set(items) => walk_all(items, f),
        ExprKind::Repeat(a, b) => {
            walk_expr(a, f);
            walk_expr(b, f);
        }
        ExprKind::Map(entries) => {
            for (k, v) in entries {
                walk_expr(k, f);
                walk_expr(v, f);
            }
        }
        ExprKind::Record { fields, base, .. } => {
            fields.iter().for_each(|field| walk_expr(&field.value, f));
            base.iter().for_each(|b| walk_expr(b, f));
        }
        ExprKind::New { fields, .. } => fields.iter().for_each(|field| walk_expr(&field.value, f)),
        ExprKind::Closure(c) => match &c.body {
            ClosureBody::Expr(e) => walk_expr(e, f),
            ClosureBody::Block(b) => walk_block(b, f),
        },
        ExprKind::If(i) => walk_if(i, f),
        ExprKind::Match(m) => walk_match(m, f),
        ExprKind::Binary { left, right, .. } => {
            walk_expr(left, f);
            walk_expr(right, f);
        }
        ExprKind::Field { base, .. } => walk_expr(base, f),
        ExprKind::Index { base, index } => {
            walk_expr(base, f);
            walk_expr(index, f);
        }
        ExprKind::Call { callee, args } => {
            walk_expr(callee, f);
            walk_all(args, f);
        }
        ExprKind::Method { receiver, args, .. } => {
            walk_expr(receiver, f);
            walk_all(args, f);
        }
        ExprKind::Enabled(r) => walk_ref(r, f),
        ExprKind::Post(p) => {
            walk_all(&p.args, f);
            if let PostTarget::Handler(r) = &p.target {
                walk_ref(r, f);
            }
            p.after.iter().for_each(|e| walk_expr(e, f));
        }
        ExprKind::Fork(k) => walk_all(&k.args, f),
        ExprKind::Int(_)
        | ExprKind::Bool(_)
        | ExprKind::Str(_)
        | ExprKind::Null
        | ExprKind::Name(_)
        | ExprKind::SelfRef
        | ExprKind::Error => {}
    }
}

/// Calls `f` for all expressions in a block.
fn walk_block<'a>(b: &'a Block, f: &mut dyn FnMut(&'a Expr)) {
    b.stmts.iter().for_each(|s| walk_stmt(s, f));
    b.value.iter().for_each(|e| walk_expr(e, f));
}

fn walk_all<'a>(items: &'a [Expr], f: &mut dyn FnMut(&'a Expr)) {
    items.iter().for_each(|e| walk_expr(e, f));
}

fn walk_ref<'a>(r: &'a Ref, f: &mut dyn FnMut(&'a Expr)) {
    r.index.iter().for_each(|e| walk_expr(e, f));
}

fn walk_if<'a>(i: &'a If, f: &mut dyn FnMut(&'a Expr)) {
    walk_expr(&i.cond, f);
    walk_block(&i.then, f);
    match &i.otherwise {
        Some(IfElse::Block(b)) => walk_block(b, f),
        Some(IfElse::If(i)) => walk_if(i, f),
        None => {}
    }
}

fn walk_match<'a>(m: &'a Match, f: &mut dyn FnMut(&'a Expr)) {
    walk_expr(&m.subject, f);
    for arm in &m.arms {
        match &arm.body {
            ArmBody::Block(b) => walk_block(b, f),
            ArmBody::Expr(e) => walk_expr(e, f),
        }
    }
}

fn walk_stmt<'a>(s: &'a Stmt, f: &mut dyn FnMut(&'a Expr)) {
    match &s.kind {
        StmtKind::Let { value, .. } => walk_expr(value, f),
        StmtKind::Assign { place, value, .. } => {
            walk_expr(place, f);
            walk_expr(value, f);
        }
        StmtKind::Step { place: e, .. }
        | StmtKind::Expr(e)
        | StmtKind::Call(e)
        | StmtKind::Assume(e)
        | StmtKind::Assert { cond: e, .. }
        | StmtKind::Cancel(e)
        | StmtKind::Join(e) => walk_expr(e, f),
        StmtKind::If(i) => walk_if(i, f),
        StmtKind::Match(m) => walk_match(m, f),
        StmtKind::While { cond, body } => {
            walk_expr(cond, f);
            walk_block(body, f);
        }
        StmtKind::For { iter, body, .. } => {
            walk_expr(iter, f);
            walk_block(body, f);
        }
        StmtKind::Loop(b) | StmtKind::Block(b) | StmtKind::Atomic(b) => walk_block(b, f),
        StmtKind::Return(e) => e.iter().for_each(|e| walk_expr(e, f)),
        StmtKind::Enable { event: r, .. }
        | StmtKind::Acquire(r)
        | StmtKind::Release(r)
        | StmtKind::Notify { cond: r, .. } => walk_ref(r, f),
        StmtKind::With { lock, body } => {
            walk_ref(lock, f);
            walk_block(body, f);
        }
        StmtKind::Wait { cond, lock } => {
            walk_ref(cond, f);
            walk_ref(lock, f);
        }
        StmtKind::Choose(alternatives) => {
            alternatives.iter().for_each(|a| walk_block(&a.body, f));
        }
        StmtKind::Fail(_)
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Yield
        | StmtKind::Error => {}
    }
}
