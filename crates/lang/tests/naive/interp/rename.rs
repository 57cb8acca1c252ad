//! Gives every local a name of its own, so that names of locals are never those of other locals,
//! nor of globals. Locals have a `·` in their names from then on.

use anyorder_lang::ast::*;
use std::collections::BTreeMap;

#[derive(Default)]
pub struct Renamer {
    scopes: Vec<BTreeMap<String, String>>,
    count: u32,
}

/// The name of `self`.
pub const SELF: &str = "self·";

impl Renamer {
    pub fn model(&mut self, model: &mut Model) {
        for item in &mut model.items {
            self.item(&mut item.kind);
        }
    }

    fn scoped(&mut self, f: impl FnOnce(&mut Self)) {
        self.scopes.push(BTreeMap::new());
        f(self);
        self.scopes.pop();
    }

    fn declare(&mut self, name: &mut String) {
        self.count += 1;
        let new = format!("{name}·{}", self.count);
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(std::mem::replace(name, new.clone()), new);
        }
    }

    fn params(&mut self, params: &mut [Param]) {
        params.iter_mut().for_each(|p| self.declare(&mut p.name.name));
    }

    fn item(&mut self, item: &mut ItemKind) {
        match item {
            ItemKind::Const(c) => self.expr(&mut c.value),
            ItemKind::Class(class) => {
                for member in &mut class.members {
                    match member {
                        ClassMember::Field(f) => f.var.init.iter_mut().for_each(|e| self.expr(e)),
                        ClassMember::Method(f) => self.function(f),
                    }
                }
            }
            ItemKind::Var(vars) => {
                vars.iter_mut().flat_map(|v| &mut v.init).for_each(|e| self.expr(e));
            }
            ItemKind::Fn(f) => self.function(f),
            ItemKind::Task(t) => self.scoped(|s| {
                s.params(&mut t.params);
                t.on.iter_mut().for_each(|r| s.reference(r));
                s.block(&mut t.body);
            }),
            ItemKind::Event(e) => self.scoped(|s| {
                s.family(&mut e.family);
                e.on.iter_mut().chain(&mut e.after).for_each(|r| s.reference(r));
                e.when.iter_mut().for_each(|w| s.expr(w));
                s.block(&mut e.body);
            }),
            ItemKind::Thread(t) => self.scoped(|s| {
                s.family(&mut t.family);
                s.block(&mut t.body);
            }),
            ItemKind::Init(b) => self.block(b),
            ItemKind::Invariant { expr, .. } | ItemKind::Final(expr) => self.expr(expr),
            ItemKind::Response(r) => {
                self.expr(&mut r.trigger);
                self.expr(&mut r.reaction);
            }
            _ => {}
        }
    }

    fn family(&mut self, family: &mut Option<Family>) {
        if let Some(family) = family {
            self.declare(&mut family.var.name);
        }
    }

    fn function(&mut self, f: &mut FnDecl) {
        self.scoped(|s| {
            s.params(&mut f.params);
            s.block(&mut f.body);
        });
    }

    fn reference(&mut self, r: &mut Ref) {
        r.index.iter_mut().for_each(|e| self.expr(e));
    }

    fn block(&mut self, block: &mut Block) {
        self.scoped(|s| {
            block.stmts.iter_mut().for_each(|stmt| s.stmt(&mut stmt.kind));
            block.value.iter_mut().for_each(|e| s.expr(e));
        });
    }

    fn stmt(&mut self, stmt: &mut StmtKind) {
        match stmt {
            StmtKind::Let { name, value, .. } => {
                self.expr(value);
                self.declare(&mut name.name);
            }
            StmtKind::Assign { place, value, .. } => {
                self.expr(value);
                self.expr(place);
            }
            StmtKind::Step { place: e, .. }
            | StmtKind::Expr(e)
            | StmtKind::Call(e)
            | StmtKind::Assert { cond: e, .. }
            | StmtKind::Assume(e)
            | StmtKind::Cancel(e)
            | StmtKind::Join(e) => self.expr(e),
            StmtKind::If(i) => self.branch(i),
            StmtKind::Match(m) => self.matching(m),
            StmtKind::While { cond, body } => {
                self.expr(cond);
                self.block(body);
            }
            StmtKind::Loop(b) | StmtKind::Block(b) | StmtKind::Atomic(b) => self.block(b),
            StmtKind::For { var, iter, body } => {
                self.expr(iter);
                self.scoped(|s| {
                    s.declare(&mut var.name);
                    s.block(body);
                });
            }
            StmtKind::Return(e) => e.iter_mut().for_each(|e| self.expr(e)),
            StmtKind::Enable { event: r, .. }
            | StmtKind::Acquire(r)
            | StmtKind::Release(r)
            | StmtKind::Notify { cond: r, .. } => self.reference(r),
            StmtKind::With { lock, body } => {
                self.reference(lock);
                self.block(body);
            }
            StmtKind::Wait { cond, lock } => {
                self.reference(cond);
                self.reference(lock);
            }
            StmtKind::Choose(alternatives) => {
                alternatives.iter_mut().for_each(|a| self.block(&mut a.body));
            }
            _ => {}
        }
    }

    fn branch(&mut self, i: &mut If) {
        self.expr(&mut i.cond);
        self.block(&mut i.then);
        match &mut i.otherwise {
            Some(IfElse::Block(b)) => self.block(b),
            Some(IfElse::If(i)) => self.branch(i),
            None => {}
        }
    }

    fn matching(&mut self, m: &mut Match) {
        self.expr(&mut m.subject);
        for arm in &mut m.arms {
            self.scoped(|s| {
                s.pattern(&mut arm.pattern);
                match &mut arm.body {
                    ArmBody::Block(b) => s.block(b),
                    ArmBody::Expr(e) => s.expr(e),
                }
            });
        }
    }

    fn pattern(&mut self, pattern: &mut Pattern) {
        match &mut pattern.kind {
            PatternKind::Binding(name) => self.declare(&mut name.name),
            PatternKind::Variant { args, .. } => args.iter_mut().for_each(|p| self.pattern(p)),
            _ => {}
        }
    }

    fn expr(&mut self, e: &mut Expr) {
        match &mut e.kind {
            ExprKind::Name(name) => {
                let found = self.scopes.iter().rev().find_map(|scope| scope.get(name));
                if let Some(new) = found {
                    *name = new.clone();
                }
            }
            ExprKind::Paren(a) | ExprKind::Unary(_, a) | ExprKind::Choose(a) => self.expr(a),
            ExprKind::Field { base: a, .. } => self.expr(a),
            ExprKind::List(items) | ExprKind::Set(items) => {
                items.iter_mut().for_each(|e| self.expr(e));
            }
            ExprKind::Map(entries) => entries.iter_mut().for_each(|(k, v)| {
                self.expr(k);
                self.expr(v);
            }),
            ExprKind::Repeat(a, b)
            | ExprKind::Binary { left: a, right: b, .. }
            | ExprKind::Index { base: a, index: b } => {
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Record { fields, base, .. } => {
                fields.iter_mut().for_each(|f| self.expr(&mut f.value));
                base.iter_mut().for_each(|e| self.expr(e));
            }
            ExprKind::New { fields, .. } => {
                fields.iter_mut().for_each(|f| self.expr(&mut f.value));
            }
            ExprKind::Closure(c) => self.scoped(|s| {
                s.params(&mut c.params);
                match &mut c.body {
                    ClosureBody::Expr(e) => s.expr(e),
                    ClosureBody::Block(b) => s.block(b),
                }
            }),
            ExprKind::If(i) => self.branch(i),
            ExprKind::Match(m) => self.matching(m),
            ExprKind::Call { callee, args } => {
                self.expr(callee);
                args.iter_mut().for_each(|e| self.expr(e));
            }
            ExprKind::Method { receiver, args, .. } => {
                self.expr(receiver);
                args.iter_mut().for_each(|e| self.expr(e));
            }
            ExprKind::Enabled(r) => self.reference(r),
            ExprKind::Post(p) => {
                p.args.iter_mut().for_each(|e| self.expr(e));
                if let PostTarget::Handler(r) = &mut p.target {
                    self.reference(r);
                }
                p.after.iter_mut().for_each(|e| self.expr(e));
            }
            ExprKind::Fork(f) => f.args.iter_mut().for_each(|e| self.expr(e)),
            _ => {}
        }
    }
}
