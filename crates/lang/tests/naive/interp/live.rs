//! Which locals are live (C4): backwards over the text of the function, from what surrounds the
//! place where it stands.

use super::rename::SELF;
use super::state::Context;
use anyorder_lang::ast::*;
use std::collections::BTreeSet;

pub type Names = BTreeSet<String>;

/// The names of locals, and more, that a closure mentions.
pub fn free_locals(closure: &Closure) -> Names {
    let text = format!("{closure:?}");
    let mut names: Names =
        text.split('"').filter(|part| part.contains('·')).map(String::from).collect();
    if text.contains("SelfRef") {
        names.insert(SELF.into());
    }
    names
}

/// Where `break` and `continue` lead to: what is live there.
#[derive(Clone, Default)]
pub struct Targets {
    stop: Names,
    next: Names,
}

fn join(a: Names, b: &Names) -> Names {
    let mut a = a;
    a.extend(b.iter().cloned());
    a
}

fn without(mut a: Names, name: &str) -> Names {
    a.remove(name);
    a
}

/// What is live before a block of a body that ends after it.
pub fn body(block: &Block) -> Names {
    self::block(block, &Names::new(), &Targets::default())
}

/// What is live in each frame, given what surrounds the place where the innermost one stands.
pub fn of_stack(stack: &[Context]) -> Vec<Names> {
    let mut result: Vec<Names> = vec![];
    let mut live = Names::new();
    let mut targets = Targets::default();
    for context in stack {
        match context {
            Context::Frame(_) => {
                if !result.is_empty() {
                    *result.last_mut().expect("a frame") = live;
                }
                result.push(Names::new());
                live = Names::new();
                targets = Targets::default();
            }
            Context::Block(block, next) => live = block_from(block, *next, &live, &targets),
            Context::Kill(name) => live = without(live, name),
            Context::Operands { rest, .. } => live = exprs(rest, live),
            Context::IfCond(branch) => live = branches(branch, &live, &targets),
            Context::Subject(m) => live = arms(m, &live, &targets),
            Context::WhileCond(s) => {
                let StmtKind::While { body, .. } = &s.kind else { continue };
                let next = stmt(s, &live, &targets);
                let inner = block(body, &next, &Targets { stop: live.clone(), next: next.clone() });
                live.extend(inner);
            }
            Context::Loop(s) => {
                let next = stmt(s, &live, &targets);
                targets = Targets { stop: live, next: next.clone() };
                live = next;
            }
            Context::For(s, ..) => {
                let next = for_head(s, &live);
                targets = Targets { stop: live, next: next.clone() };
                live = next;
            }
            Context::ForIter(s) => live = for_head(s, &live),
            Context::Alternatives(s) => live = stmt(s, &live, &targets),
            Context::Body(b) => live = block(b, &live, &targets),
            Context::Leave(1) => live = targets.stop.clone(),
            Context::Leave(2) => live = targets.next.clone(),
            Context::Leave(_) => live = Names::new(),
            Context::Drop | Context::With(_) => {}
        }
    }
    if let Some(last) = result.last_mut() {
        *last = live;
    }
    result
}

fn for_head(s: &Stmt, after: &Names) -> Names {
    let StmtKind::For { var, body, .. } = &s.kind else { panic!("no `for`") };
    fixpoint(after.clone(), |head| {
        let targets = Targets { stop: after.clone(), next: head.clone() };
        join(without(block(body, head, &targets), &var.name), after)
    })
}

fn fixpoint(start: Names, f: impl Fn(&Names) -> Names) -> Names {
    let mut now = start;
    loop {
        let next = join(f(&now), &now);
        if next == now {
            return now;
        }
        now = next;
    }
}

fn block(b: &Block, after: &Names, targets: &Targets) -> Names {
    block_from(b, 0, after, targets)
}

fn block_from(b: &Block, from: usize, after: &Names, targets: &Targets) -> Names {
    if from == usize::MAX {
        return after.clone();
    }
    let mut live = after.clone();
    if let Some(value) = &b.value {
        live = expr(value, live);
    }
    for s in b.stmts[from.min(b.stmts.len())..].iter().rev() {
        live = stmt(s, &live, targets);
    }
    live
}

fn reference(r: &Ref, live: Names) -> Names {
    match &r.index {
        Some(index) => expr(index, live),
        None => live,
    }
}

fn stmt(s: &Stmt, after: &Names, targets: &Targets) -> Names {
    let live = after.clone();
    match &s.kind {
        StmtKind::Let { name, value, .. } => expr(value, without(live, &name.name)),
        StmtKind::Assign { place, op, value } => match &place.kind {
            ExprKind::Name(name) if *op == AssignOp::Set && is_name(value, name) => live,
            ExprKind::Name(name) if *op == AssignOp::Set => expr(value, without(live, name)),
            _ => expr(value, expr(place, live)),
        },
        StmtKind::Step { place: e, .. }
        | StmtKind::Expr(e)
        | StmtKind::Call(e)
        | StmtKind::Assert { cond: e, .. }
        | StmtKind::Assume(e)
        | StmtKind::Cancel(e)
        | StmtKind::Join(e) => expr(e, live),
        StmtKind::If(branch) => expr(&branch.cond, branches(branch, after, targets)),
        StmtKind::Match(m) => expr(&m.subject, arms(m, after, targets)),
        StmtKind::While { cond, body } => fixpoint(Names::new(), |head| {
            let inner = Targets { stop: after.clone(), next: head.clone() };
            expr(cond, join(block(body, head, &inner), after))
        }),
        StmtKind::Loop(body) => fixpoint(Names::new(), |head| {
            let inner = Targets { stop: after.clone(), next: head.clone() };
            block(body, head, &inner)
        }),
        StmtKind::For { iter, .. } => expr(iter, for_head(s, after)),
        StmtKind::Break => targets.stop.clone(),
        StmtKind::Continue => targets.next.clone(),
        StmtKind::Return(e) => match e {
            Some(e) => expr(e, Names::new()),
            None => Names::new(),
        },
        StmtKind::Block(b) | StmtKind::Atomic(b) => block(b, after, targets),
        StmtKind::Fail(_) => Names::new(),
        StmtKind::Enable { event: r, .. }
        | StmtKind::Acquire(r)
        | StmtKind::Release(r)
        | StmtKind::Notify { cond: r, .. } => reference(r, live),
        StmtKind::With { lock, body } => reference(lock, block(body, after, targets)),
        StmtKind::Wait { cond, lock } => reference(cond, reference(lock, live)),
        StmtKind::Choose(alternatives) => {
            let all = alternatives.iter().map(|a| block(&a.body, after, targets));
            all.fold(Names::new(), |a, b| join(a, &b))
        }
        StmtKind::Yield | StmtKind::Error => live,
    }
}

/// C4: a local assigned to itself is not read.
fn is_name(e: &Expr, name: &str) -> bool {
    match &e.kind {
        ExprKind::Paren(inner) => is_name(inner, name),
        ExprKind::Name(other) => other == name,
        _ => false,
    }
}

fn branches(branch: &If, after: &Names, targets: &Targets) -> Names {
    let then = block(&branch.then, after, targets);
    match &branch.otherwise {
        None => join(then, after),
        Some(IfElse::Block(b)) => join(then, &block(b, after, targets)),
        Some(IfElse::If(i)) => join(then, &expr(&i.cond, branches(i, after, targets))),
    }
}

fn arms(m: &Match, after: &Names, targets: &Targets) -> Names {
    let all = m.arms.iter().map(|arm| {
        let mut live = match &arm.body {
            ArmBody::Block(b) => block(b, after, targets),
            ArmBody::Expr(e) => expr(e, after.clone()),
        };
        unbind(&arm.pattern, &mut live);
        live
    });
    all.fold(Names::new(), |a, b| join(a, &b))
}

/// What a pattern binds is not live before it.
fn unbind(pattern: &Pattern, live: &mut Names) {
    match &pattern.kind {
        PatternKind::Binding(name) => {
            live.remove(&name.name);
        }
        PatternKind::Variant { args, .. } => args.iter().for_each(|arg| unbind(arg, live)),
        _ => {}
    }
}

fn exprs(all: &[&Expr], after: Names) -> Names {
    all.iter().rev().fold(after, |live, e| expr(e, live))
}

fn expr(e: &Expr, after: Names) -> Names {
    let mut live = after;
    match &e.kind {
        ExprKind::Name(name) => {
            live.insert(name.clone());
            live
        }
        ExprKind::SelfRef => {
            live.insert(SELF.into());
            live
        }
        ExprKind::Paren(a)
        | ExprKind::Unary(_, a)
        | ExprKind::Choose(a)
        | ExprKind::Field { base: a, .. } => expr(a, live),
        ExprKind::List(items) | ExprKind::Set(items) => {
            exprs(&items.iter().collect::<Vec<_>>(), live)
        }
        ExprKind::Map(entries) => {
            exprs(&entries.iter().flat_map(|(k, v)| [k, v]).collect::<Vec<_>>(), live)
        }
        ExprKind::Binary { op: BinaryOp::And | BinaryOp::Or, left, right, .. } => {
            let right = expr(right, live.clone());
            expr(left, join(right, &live))
        }
        ExprKind::Repeat(a, b)
        | ExprKind::Binary { left: a, right: b, .. }
        | ExprKind::Index { base: a, index: b } => expr(a, expr(b, live)),
        ExprKind::Record { fields, base, .. } => {
            let mut all: Vec<&Expr> = fields.iter().map(|f| &f.value).collect();
            all.extend(base.as_deref());
            exprs(&all, live)
        }
        ExprKind::New { fields, .. } => {
            exprs(&fields.iter().map(|f| &f.value).collect::<Vec<_>>(), live)
        }
        ExprKind::Closure(closure) => join(live, &free_locals(closure)),
        ExprKind::If(branch) => expr(&branch.cond, branches(branch, &live, &Targets::default())),
        ExprKind::Match(m) => expr(&m.subject, arms(m, &live, &Targets::default())),
        ExprKind::Call { callee: a, args } | ExprKind::Method { receiver: a, args, .. } => {
            let all: Vec<&Expr> = std::iter::once(&**a).chain(args).collect();
            exprs(&all, live)
        }
        ExprKind::Enabled(r) => reference(r, live),
        ExprKind::Post(post) => {
            let mut all: Vec<&Expr> = post.args.iter().collect();
            if let PostTarget::Handler(Ref { index: Some(index), .. }) = &post.target {
                all.push(index);
            }
            all.extend(&post.after);
            exprs(&all, live)
        }
        ExprKind::Fork(fork) => exprs(&fork.args.iter().collect::<Vec<_>>(), live),
        _ => live,
    }
}
