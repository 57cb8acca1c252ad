//! Statements.

use super::body::{Body, Loop};
use crate::ast::{AssignOp, BinaryOp, Block, Expr, ExprKind, Ident, Stmt, StmtKind, Text};
use anyorder_program::{Builtin, Literal, Op, Reg};

impl<'a> Body<'_, 'a> {
    /// Lowers the block of a function. It returns the value at its end.
    pub(crate) fn function_block(&mut self, b: &'a Block) {
        let mark = self.mark();
        b.stmts.iter().for_each(|s| self.stmt(s));
        if let Some(value) = &b.value {
            self.return_value(value);
        }
        self.release(mark);
    }

    /// Returns the value of an expression.
    pub(crate) fn return_value(&mut self, e: &'a Expr) {
        let mark = self.mark();
        if let ExprKind::Binary { op: op @ (BinaryOp::And | BinaryOp::Or), left, right, .. } =
            &e.kind
            && self.cleanups.is_empty()
            && self.known(e).is_none()
        {
            // Each side returns on its own.
            let and = *op == BinaryOp::And;
            let short = self.fb.label();
            self.jump_when(left, !and, short);
            let src = self.expr(right);
            self.at(right.span);
            self.check(right, src);
            self.emit(Op::Return { src });
            self.fb.bind(short);
            let src = self.load(&Literal::Bool(!and), None);
            self.emit(Op::Return { src });
            self.release(mark);
            return;
        }
        let src = self.expr(e);
        self.at(e.span);
        if self.is_typed {
            self.check(e, src);
        }
        self.unwind(0);
        self.emit(Op::Return { src });
        self.release(mark);
    }

    /// Lowers a statement. Only `let` keeps a register.
    pub(crate) fn stmt(&mut self, s: &'a Stmt) {
        self.at(s.span);
        if let StmtKind::Let { name, ty, value } = &s.kind {
            self.let_statement(name, ty.is_some(), value);
            return;
        }
        let mark = self.mark();
        match &s.kind {
            StmtKind::Let { .. } => {}
            StmtKind::Assign { place, op, value } => self.assign(s, place, *op, value),
            StmtKind::Step { place, up } => self.step(s, place, if *up { 1 } else { -1 }),
            StmtKind::Expr(e) | StmtKind::Call(e) => self.effect(e),
            StmtKind::If(i) => self.if_(i, None),
            StmtKind::Match(m) => self.match_(m, None),
            StmtKind::While { cond, body } => self.while_loop(Some(cond), body),
            StmtKind::Loop(body) => self.while_loop(None, body),
            StmtKind::For { var, iter, body } if self.low.tables.one_step.contains(&iter.id) => {
                self.atomic(|code| code.for_loop(var, iter, body));
            }
            StmtKind::For { var, iter, body } => self.for_loop(var, iter, body),
            StmtKind::Break | StmtKind::Continue => self.leave(s),
            StmtKind::Return(None) => {
                self.unwind(0);
                self.emit(Op::ReturnNull);
            }
            StmtKind::Return(Some(e)) => self.return_value(e),
            StmtKind::Block(b) => self.block(b, None),
            StmtKind::Assert { cond, message } => self.assert(s, cond, message.as_ref()),
            StmtKind::Assume(e) | StmtKind::Cancel(e) | StmtKind::Join(e) => {
                let src = self.expr(e);
                self.emit_at(
                    s.span,
                    match s.kind {
                        StmtKind::Assume(_) => Op::Assume { cond: src },
                        StmtKind::Cancel(_) => Op::Cancel { src },
                        _ => Op::Join { src },
                    },
                );
            }
            StmtKind::Fail(text) => {
                let message = self.load(&Literal::Str(text.value.clone()), None);
                self.emit(Op::Fail { message });
            }
            StmtKind::Yield => self.emit(Op::Yield),
            StmtKind::Choose(alternatives) => self.choose_block(s, alternatives),
            StmtKind::Atomic(b) => self.atomic(|code| code.block(b, None)),
            StmtKind::Enable { event, on } => self.enable(s, event, *on),
            StmtKind::Acquire(r) => self.acquire(s, r),
            StmtKind::Release(r) => self.release_lock(s, r),
            StmtKind::With { lock, body } => self.with_lock(s, lock, body),
            StmtKind::Wait { cond, lock } => self.wait(s, cond, lock),
            StmtKind::Notify { cond, all } => self.notify(s, cond, *all),
            // Left by recovery; models with errors are not lowered.
            StmtKind::Error => {}
        }
        self.release(mark);
    }

    fn let_statement(&mut self, name: &'a Ident, is_typed: bool, value: &'a Expr) {
        let reg = self.temp();
        let mark = self.mark();
        self.expr_to(value, reg);
        self.release(mark);
        if is_typed {
            self.at(value.span);
            self.check(value, reg);
        }
        self.declare(name, reg);
    }

    /// Lowers an expression whose value is dropped.
    fn effect(&mut self, e: &'a Expr) {
        match &e.kind {
            ExprKind::Post(post) => self.post(e, post, Reg::NONE),
            ExprKind::Paren(inner) => self.effect(inner),
            _ => drop(self.expr(e)),
        }
    }

    /// Lowers an assignment: the right side first, then the place.
    fn assign(&mut self, s: &'a Stmt, place: &'a Expr, op: AssignOp, value: &'a Expr) {
        let Some(op) = operator(op) else {
            if let Some(variable) = self.variable(place)
                && writes_once(value)
            {
                self.expr_to(value, variable);
                self.at(s.span);
                self.check(value, variable);
                return;
            }
            let src = self.stable(value, &[place]);
            let to = self.place(place);
            self.at(s.span);
            self.check(value, src);
            self.write(&to, src);
            return;
        };
        if let Some(value) = self.step_value(op, value) {
            return self.step(s, place, value);
        }
        let value = self.stable(value, &[place]);
        let to = self.place(place);
        self.at(s.span);
        let now = self.read(to.place, None);
        self.operate(op, now, now, value);
        self.write(&to, now);
    }

    /// Returns the number to add for `+= 1` and `-= 1`.
    fn step_value(&self, op: BinaryOp, value: &Expr) -> Option<i32> {
        let Some(Literal::Int(v)) = self.known(value) else { return None };
        let v = match op {
            BinaryOp::Add => v,
            BinaryOp::Sub => v.checked_neg()?,
            _ => return None,
        };
        i32::try_from(v).ok()
    }

    fn step(&mut self, s: &Stmt, place: &'a Expr, value: i32) {
        let to = self.place(place);
        self.at(s.span);
        let a = self.read(to.place, None);
        self.emit(Op::AddInt { dst: a, a, value });
        self.write(&to, a);
    }

    fn while_loop(&mut self, cond: Option<&'a Expr>, body: &'a Block) {
        let (next, end) = (self.fb.label(), self.fb.label());
        self.fb.bind(next);
        if let Some(cond) = cond {
            self.jump_when(cond, false, end);
        }
        self.loops.push(Loop { end, next, cleanups: self.cleanups.len() });
        self.block(body, None);
        self.loops.pop();
        self.fb.jump(next);
        self.fb.bind(end);
    }

    fn for_loop(&mut self, var: &'a Ident, iter: &'a Expr, body: &'a Block) {
        let (next, round) = (self.fb.label(), self.fb.label());
        let (step, end) = (self.fb.label(), self.fb.label());
        let (at, last, more) = (self.temp(), self.temp(), self.temp());
        let mark = self.mark();
        // The test uses the register of the element, too.
        let items = match iter.as_range() {
            Some((from, to)) => {
                self.expr_to(from, at);
                self.at(from.span);
                self.check(from, at);
                self.expr_to(to, last);
                self.at(to.span);
                self.check(to, last);
                self.release(mark);
                None
            }
            None => {
                let items = self.temp();
                let value = self.expr(iter);
                self.at(iter.span);
                let ty = self.ty(iter);
                self.elements(value, &ty, items);
                self.emit(Op::Int { dst: at, value: 0 });
                let (method, recv) = (Builtin::Len, items);
                self.emit(Op::Method { dst: last, method, recv, args: items });
                Some(items)
            }
        };
        self.fb.jump(next);
        self.fb.bind(round);
        match items {
            None => self.copy(more, at),
            Some(src) => self.emit(Op::Index { dst: more, src, index: at }),
        }
        let scope = self.mark();
        self.declare(var, more);
        self.loops.push(Loop { end, next: step, cleanups: self.cleanups.len() });
        self.block(body, None);
        self.loops.pop();
        self.release(scope);
        self.fb.bind(step);
        self.at(iter.span);
        self.emit(Op::AddInt { dst: at, a: at, value: 1 });
        self.fb.bind(next);
        self.emit(Op::Lt { dst: more, a: at, b: last });
        self.fb.jump_if(more, round);
        self.fb.bind(end);
    }

    /// Lowers `break` and `continue`.
    fn leave(&mut self, s: &Stmt) {
        let Some(l) = self.loops.last() else { return };
        let (end, next, cleanups) = (l.end, l.next, l.cleanups);
        self.unwind(cleanups);
        self.fb.jump(if matches!(s.kind, StmtKind::Break) { end } else { next });
    }

    fn assert(&mut self, s: &Stmt, cond: &'a Expr, message: Option<&Text>) {
        let text = match message {
            Some(text) => text.value.clone(),
            None => cond.span.of(self.low.source.text()).to_owned(),
        };
        let cond = self.expr(cond);
        let message = self.low.constant(&Literal::Str(text));
        self.emit_at(s.span, Op::Assert { cond, message });
    }
}

/// Whether the code of an expression writes its result only in its last instruction, after it has
/// read all operands.
fn writes_once(e: &Expr) -> bool {
    match &e.unwrapped().kind {
        ExprKind::Binary { op, .. } => !matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::In),
        ExprKind::Int(_)
        | ExprKind::Bool(_)
        | ExprKind::Str(_)
        | ExprKind::Null
        | ExprKind::Name(_)
        | ExprKind::Unary(..)
        | ExprKind::List(_)
        | ExprKind::Set(_)
        | ExprKind::Call { .. }
        | ExprKind::Choose(_) => true,
        _ => false,
    }
}

fn operator(op: AssignOp) -> Option<BinaryOp> {
    Some(match op {
        AssignOp::Set => return None,
        AssignOp::Add => BinaryOp::Add,
        AssignOp::Sub => BinaryOp::Sub,
        AssignOp::Mul => BinaryOp::Mul,
        AssignOp::Div => BinaryOp::Div,
        AssignOp::Rem => BinaryOp::Rem,
    })
}
