//! Expressions. Operands are evaluated from left to right.

use super::body::{Body, Val};
use super::symbols::Symbol;
use super::ty::Ty;
use crate::ast::{BinaryOp, Expr, ExprKind, UnaryOp};
use crate::diagnostic::Code;
use anyorder_vm::program::{Literal, Op, Reg};

impl<'a> Body<'_, 'a> {
    /// Lowers an expression; the value may be in the register of a variable.
    pub(crate) fn expr(&mut self, e: &'a Expr) -> Val {
        self.lower(e, None)
    }

    /// Lowers an expression into a register. The register may be written before the whole expression is evaluated.
    pub(crate) fn expr_to(&mut self, e: &'a Expr, dst: Reg) -> Ty {
        self.lower(e, Some(dst)).ty
    }

    /// Lowers an expression that must not change when what follows is evaluated.
    pub(crate) fn stable(&mut self, e: &'a Expr, later: &[&Expr]) -> Val {
        let value = self.expr(e);
        let is_variable = self.locals.iter().any(|l| l.reg == value.reg);
        if is_variable && later.iter().any(|l| super::effects::changes_variables(l)) {
            let copy = self.temp();
            self.copy(copy, value.reg);
            return Val::new(copy, value.ty);
        }
        value
    }

    /// Lowers expressions into consecutive new registers.
    pub(crate) fn args(&mut self, args: &'a [Expr]) -> (Reg, Vec<Ty>) {
        let first = self.temps(super::declare::size16(args.len()));
        let types = args
            .iter()
            .zip(super::declare::numbers(0))
            .map(|(arg, i)| {
                let dst = first.plus(i);
                let mark = self.mark();
                let ty = self.expr_to(arg, dst);
                self.release(mark);
                ty
            })
            .collect();
        (first, types)
    }

    /// Lowers operands of one instruction: into consecutive registers, a single one where it is. Nothing in `later` may change
    /// them.
    pub(crate) fn operands(&mut self, args: &'a [Expr], later: &[&Expr]) -> (Reg, Vec<Ty>) {
        match args {
            [one] => {
                let value = self.stable(one, later);
                (value.reg, vec![value.ty])
            }
            _ => self.args(args),
        }
    }

    /// Lowers operands of one instruction, with a look at those that are not known to fit.
    pub(crate) fn typed_operands(
        &mut self,
        args: &'a [Expr],
        wanted: &[Ty],
        later: &[&Expr],
    ) -> Reg {
        let (first, types) = self.operands(args, later);
        self.check_all(args, first, &types, wanted);
        first
    }

    /// Lowers arguments for parameters of known types, with a look at those that are not known to fit.
    pub(crate) fn typed_args(&mut self, args: &'a [Expr], wanted: &[Ty]) -> Reg {
        let (first, types) = self.args(args);
        self.check_all(args, first, &types, wanted);
        first
    }

    fn check_all(&mut self, args: &[Expr], first: Reg, types: &[Ty], wanted: &[Ty]) {
        for (i, (have, want)) in types.iter().zip(wanted).enumerate() {
            self.at(args[i].span);
            let reg = first.plus(super::declare::size16(i));
            self.check(reg, have, want);
        }
    }

    fn lower(&mut self, e: &'a Expr, want: Option<Reg>) -> Val {
        self.at(e.span);
        if let Some(value) = self.fold(e) {
            return self.load(&value, want);
        }
        let mut value = self.lower_kind(e, want);
        if value.ty == Ty::Any
            && let Some(hint) = (self.low.hints)(&self.low.symbols, e.id)
        {
            value.ty = hint;
        }
        value
    }

    fn lower_kind(&mut self, e: &'a Expr, want: Option<Reg>) -> Val {
        match &e.kind {
            ExprKind::Paren(inner) => self.lower(inner, want),
            ExprKind::Name(name) => self.named(e, name, want),
            ExprKind::SelfRef => match self.this.clone() {
                Some((reg, ty)) => self.given(reg, ty, want),
                None => self.unknown(Code::CONTEXT, e.span, "`self` outside of a method"),
            },
            ExprKind::List(items) => self.list(items, want),
            ExprKind::Repeat(value, count) => self.repeat(e, value, count, want),
            ExprKind::Set(items) => self.set(items, want),
            ExprKind::Map(entries) => self.map(entries, want),
            ExprKind::Record { name, fields, base } => {
                self.record(name, fields, base.as_deref(), want)
            }
            ExprKind::New { class, fields } => self.new_object(e, class, fields, want),
            ExprKind::Closure(closure) => self.closure(e, closure, want),
            ExprKind::If(i) => self.if_value(i, want),
            ExprKind::Match(m) => self.match_value(e, m, want),
            ExprKind::Unary(op, inner) => self.unary(e, *op, inner, want),
            ExprKind::Binary { op: BinaryOp::And | BinaryOp::Or, .. } => self.logical(e, want),
            ExprKind::Binary { op, left, right, .. } => self.binary(e, *op, left, right, want),
            ExprKind::Field { base, name } => match self.variant_value(e, want) {
                Some(value) => value,
                None => self.field_value_of(e, base, &name.name, want),
            },
            ExprKind::Index { base, index } => self.element_value(e, base, index, want),
            ExprKind::Call { callee, args } => self.call(e, callee, args, want),
            ExprKind::Method { receiver, name, args } => self.method(e, receiver, name, args, want),
            ExprKind::Enabled(event) => self.enabled(e, event, want),
            ExprKind::Post(post) => self.post(e, post, Some(want)),
            ExprKind::Fork(fork) => self.fork(e, fork, want),
            ExprKind::Choose(from) => self.choose_value(e, from, want),
            // Folded already, or left by recovery.
            ExprKind::Int(_) | ExprKind::Bool(_) | ExprKind::Str(_) | ExprKind::Null => {
                self.load(&Literal::Null, want)
            }
            ExprKind::Error => self.unknown(Code::EXPECTED, e.span, "no expression"),
        }
    }

    /// A value that is in a register already.
    fn given(&mut self, reg: Reg, ty: Ty, want: Option<Reg>) -> Val {
        if let Some(dst) = want {
            self.copy(dst, reg);
        }
        Val::new(want.unwrap_or(reg), ty)
    }

    fn named(&mut self, e: &Expr, name: &str, want: Option<Reg>) -> Val {
        if let Some(local) = self.local(name).cloned() {
            return self.given(local.reg, local.ty, want);
        }
        match self.low.symbols.get(name) {
            Some(Symbol::Global(g)) => {
                let info = &self.low.symbols.globals[g];
                let (global, ty) = (info.id, info.ty.clone());
                let dst = self.dst(want);
                self.emit(Op::GetGlobal { dst, global });
                Val::new(dst, ty)
            }
            Some(Symbol::Func(f)) => {
                let info = &self.low.symbols.funcs[f];
                let (func, ty) = (info.id, Ty::Fn(Box::new(info.result.clone())));
                let dst = self.dst(want);
                self.emit(Op::Closure { dst, func, captures: dst });
                Val::new(dst, ty)
            }
            Some(Symbol::Task(t)) => {
                let func = self.low.symbols.tasks[t].body;
                let dst = self.dst(want);
                self.emit(Op::Closure { dst, func, captures: dst });
                Val::new(dst, Ty::Fn(Box::new(Ty::Null)))
            }
            _ => {
                let message = format!("`{name}` is no value");
                self.unknown(Code::UNKNOWN_NAME, e.span, message)
            }
        }
    }

    fn unary(&mut self, e: &Expr, op: UnaryOp, inner: &'a Expr, want: Option<Reg>) -> Val {
        let dst = self.dst(want);
        let mark = self.mark();
        let a = self.expr(inner).reg;
        self.release(mark);
        let (op, ty) = match op {
            UnaryOp::Not => (Op::Not { dst, a }, Ty::Bool),
            UnaryOp::Neg => (Op::Neg { dst, a }, Ty::Int),
        };
        self.emit_at(e.span, op);
        Val::new(dst, ty)
    }

    fn binary(
        &mut self,
        e: &'a Expr,
        op: BinaryOp,
        left: &'a Expr,
        right: &'a Expr,
        want: Option<Reg>,
    ) -> Val {
        let dst = self.dst(want);
        let mark = self.mark();
        let ty = match self.short_form(e, op, left, right, dst) {
            Some(ty) => ty,
            None => {
                let a = self.stable(left, &[right]);
                let b = self.expr(right);
                self.at(e.span);
                self.operate(op, dst, &a, &b)
            }
        };
        self.release(mark);
        Val::new(dst, ty)
    }

    /// Instructions with the right operand inside.
    pub(crate) fn short_form(
        &mut self,
        e: &'a Expr,
        op: BinaryOp,
        left: &'a Expr,
        right: &'a Expr,
        dst: Reg,
    ) -> Option<Ty> {
        if op == BinaryOp::In {
            return self.in_range(e, left, right, dst);
        }
        let (operand, value, swapped) = match (self.fold(left), self.fold(right)) {
            (_, Some(value)) => (left, value, false),
            (Some(value), None) => (right, value, true),
            _ => return None,
        };
        match (op, &value) {
            (BinaryOp::Eq, Literal::Int(v)) => {
                let value = i32::try_from(*v).ok()?;
                let a = self.expr(operand).reg;
                self.emit_at(e.span, Op::EqInt { dst, a, value });
                Some(Ty::Bool)
            }
            (BinaryOp::Eq, Literal::Enum(ty, variant, payload)) if payload.is_empty() => {
                let src = self.expr(operand).reg;
                self.emit_at(e.span, Op::IsVariant { dst, src, ty: *ty, variant: *variant });
                Some(Ty::Bool)
            }
            (BinaryOp::Add | BinaryOp::Sub, Literal::Int(v)) => {
                let negative = op == BinaryOp::Sub;
                if swapped && negative {
                    return None;
                }
                let v = if negative { v.checked_neg()? } else { *v };
                let value = i32::try_from(v).ok()?;
                let a = self.expr(operand).reg;
                self.emit_at(e.span, Op::AddInt { dst, a, value });
                Some(Ty::Int)
            }
            _ => None,
        }
    }

    /// `x in a..b` for an int needs no list.
    fn in_range(&mut self, e: &'a Expr, left: &'a Expr, right: &'a Expr, dst: Reg) -> Option<Ty> {
        let ExprKind::Binary { op: BinaryOp::Range, left: from, right: to, .. } = &right.kind
        else {
            return None;
        };
        let value = self.stable(left, &[from, to]);
        let from = self.stable(from, &[to]);
        let to = self.expr(to);
        self.at(e.span);
        if value.ty != Ty::Int {
            let list = self.temp();
            self.emit(Op::Range { dst: list, a: from.reg, b: to.reg });
            self.emit(Op::In { dst, a: value.reg, b: list });
            return Some(Ty::Bool);
        }
        let end = self.fb.label();
        let inside = self.temp();
        self.emit(Op::Le { dst: inside, a: from.reg, b: value.reg });
        let last = self.temp();
        self.copy(last, inside);
        self.fb.jump_if_not(inside, end);
        self.emit(Op::Lt { dst: last, a: value.reg, b: to.reg });
        self.fb.bind(end);
        self.copy(dst, last);
        Some(Ty::Bool)
    }

    /// One operator on two registers.
    pub(crate) fn operate(&mut self, op: BinaryOp, dst: Reg, a: &Val, b: &Val) -> Ty {
        let (x, y) = (a.reg, b.reg);
        let (op, ty) = match op {
            BinaryOp::Add => (Op::Add { dst, a: x, b: y }, sum_ty(&a.ty, &b.ty)),
            BinaryOp::Sub => (Op::Sub { dst, a: x, b: y }, Ty::Int),
            BinaryOp::Mul => (Op::Mul { dst, a: x, b: y }, Ty::Int),
            BinaryOp::Div => (Op::Div { dst, a: x, b: y }, Ty::Int),
            BinaryOp::Rem => (Op::Rem { dst, a: x, b: y }, Ty::Int),
            BinaryOp::Lt => (Op::Lt { dst, a: x, b: y }, Ty::Bool),
            BinaryOp::Le => (Op::Le { dst, a: x, b: y }, Ty::Bool),
            BinaryOp::Gt => (Op::Lt { dst, a: y, b: x }, Ty::Bool),
            BinaryOp::Ge => (Op::Le { dst, a: y, b: x }, Ty::Bool),
            BinaryOp::In => (Op::In { dst, a: x, b: y }, Ty::Bool),
            BinaryOp::Eq => (Op::Eq { dst, a: x, b: y }, Ty::Bool),
            BinaryOp::Ne => (Op::Ne { dst, a: x, b: y }, Ty::Bool),
            BinaryOp::Range => (Op::Range { dst, a: x, b: y }, Ty::list(Ty::Int)),
            // Lowered to jumps before.
            BinaryOp::And | BinaryOp::Or => (Op::Move { dst, src: y }, Ty::Bool),
        };
        self.emit(op);
        ty
    }

    /// A look at a value that is not known to be of the type wanted.
    pub(crate) fn check(&mut self, src: Reg, have: &Ty, want: &Ty) {
        if have.needs_check(want)
            && let Some(ty) = self.low.runtime_type(want)
        {
            self.emit(Op::Check { src, ty });
        }
    }
}

fn sum_ty(a: &Ty, b: &Ty) -> Ty {
    match (a, b) {
        (Ty::Int, _) | (_, Ty::Int) => Ty::Int,
        (Ty::Str, _) | (_, Ty::Str) => Ty::Str,
        (Ty::List(x), Ty::List(y)) => Ty::list(x.as_ref().clone().join(y.as_ref().clone())),
        (list @ Ty::List(_), _) | (_, list @ Ty::List(_)) => list.clone(),
        _ => Ty::Any,
    }
}
