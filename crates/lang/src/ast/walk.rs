//! The parts of expressions and statements, in the order of the text.

use super::{ArmBody, Block, ClosureBody, Expr, ExprKind, If, Match, PostTarget, Ref, StmtKind};

/// What stands directly below an expression or a statement.
#[derive(Clone, Copy)]
pub(crate) enum Part<'a> {
    Expr(&'a Expr),
    Block(&'a Block),
}

/// Takes the parts one by one.
type Visit<'v, 'a> = &'v mut dyn FnMut(Part<'a>);

/// Calls `f` for an expression and all expressions below it, including those in blocks and
/// closures.
pub(crate) fn walk_expr<'a>(e: &'a Expr, f: &mut dyn FnMut(&'a Expr)) {
    f(e);
    e.kind.parts(&mut |part| walk_part(part, f));
}

fn walk_part<'a>(part: Part<'a>, f: &mut dyn FnMut(&'a Expr)) {
    match part {
        Part::Expr(e) => walk_expr(e, f),
        Part::Block(block) => {
            for stmt in &block.stmts {
                stmt.kind.parts(&mut |part| walk_part(part, f));
            }
            block.value.iter().for_each(|e| walk_expr(e, f));
        }
    }
}

impl ExprKind {
    /// Calls `f` for each part.
    pub(crate) fn parts<'a>(&'a self, f: Visit<'_, 'a>) {
        match self {
            ExprKind::Paren(e)
            | ExprKind::Unary(_, e)
            | ExprKind::Choose(e)
            | ExprKind::Field { base: e, .. } => f(Part::Expr(e)),
            ExprKind::List(items) | ExprKind::Set(items) => exprs(items, f),
            ExprKind::Repeat(a, b)
            | ExprKind::Binary { left: a, right: b, .. }
            | ExprKind::Index { base: a, index: b } => exprs([&**a, &**b], f),
            ExprKind::Map(entries) => exprs(entries.iter().flat_map(|(k, v)| [k, v]), f),
            ExprKind::Record { fields, base, .. } => {
                exprs(fields.iter().map(|field| &field.value).chain(base.as_deref()), f);
            }
            ExprKind::New { fields, .. } => exprs(fields.iter().map(|field| &field.value), f),
            ExprKind::Closure(closure) => f(match &closure.body {
                ClosureBody::Expr(e) => Part::Expr(e),
                ClosureBody::Block(block) => Part::Block(block),
            }),
            ExprKind::If(node) => if_parts(node, f),
            ExprKind::Match(node) => match_parts(node, f),
            ExprKind::Call { callee: e, args } | ExprKind::Method { receiver: e, args, .. } => {
                exprs(std::iter::once(&**e).chain(args), f);
            }
            ExprKind::Enabled(event) => index(event, f),
            ExprKind::Post(post) => {
                exprs(&post.args, f);
                if let PostTarget::Handler(handler) = &post.target {
                    index(handler, f);
                }
                exprs(&post.after, f);
            }
            ExprKind::Fork(fork) => exprs(&fork.args, f),
            ExprKind::Int(_)
            | ExprKind::Bool(_)
            | ExprKind::Str(_)
            | ExprKind::Null
            | ExprKind::Name(_)
            | ExprKind::SelfRef
            | ExprKind::Error => {}
        }
    }
}

impl StmtKind {
    /// Calls `f` for each part.
    pub(crate) fn parts<'a>(&'a self, f: Visit<'_, 'a>) {
        match self {
            StmtKind::Assign { place, value, .. } => exprs([place, value], f),
            StmtKind::Let { value: e, .. }
            | StmtKind::Step { place: e, .. }
            | StmtKind::Expr(e)
            | StmtKind::Call(e)
            | StmtKind::Assume(e)
            | StmtKind::Assert { cond: e, .. }
            | StmtKind::Cancel(e)
            | StmtKind::Join(e) => f(Part::Expr(e)),
            StmtKind::If(node) => if_parts(node, f),
            StmtKind::Match(node) => match_parts(node, f),
            StmtKind::While { cond: e, body } | StmtKind::For { iter: e, body, .. } => {
                f(Part::Expr(e));
                f(Part::Block(body));
            }
            StmtKind::Loop(block) | StmtKind::Block(block) | StmtKind::Atomic(block) => {
                f(Part::Block(block));
            }
            StmtKind::Return(value) => exprs(value, f),
            StmtKind::Enable { event: r, .. }
            | StmtKind::Acquire(r)
            | StmtKind::Release(r)
            | StmtKind::Notify { cond: r, .. } => index(r, f),
            StmtKind::With { lock, body } => {
                index(lock, f);
                f(Part::Block(body));
            }
            StmtKind::Wait { cond, lock } => {
                index(cond, f);
                index(lock, f);
            }
            StmtKind::Choose(alternatives) => {
                alternatives.iter().for_each(|a| f(Part::Block(&a.body)));
            }
            StmtKind::Fail(_)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Yield
            | StmtKind::Error => {}
        }
    }
}

fn exprs<'a>(items: impl IntoIterator<Item = &'a Expr>, f: Visit<'_, 'a>) {
    items.into_iter().for_each(|e| f(Part::Expr(e)));
}

fn index<'a>(reference: &'a Ref, f: Visit<'_, 'a>) {
    exprs(reference.index.as_deref(), f);
}

fn if_parts<'a>(node: &'a If, f: Visit<'_, 'a>) {
    for (cond, block) in node.branches() {
        exprs(cond, f);
        f(Part::Block(block));
    }
}

fn match_parts<'a>(node: &'a Match, f: Visit<'_, 'a>) {
    f(Part::Expr(&node.subject));
    for arm in &node.arms {
        f(match &arm.body {
            ArmBody::Block(block) => Part::Block(block),
            ArmBody::Expr(e) => Part::Expr(e),
        });
    }
}
