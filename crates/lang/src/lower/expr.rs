//! Expressions. Operands are evaluated from left to right.

use super::body::Body;
use super::lowerer::{literal, number, numbers, size16};
use crate::ast::{BinaryOp, Expr, ExprKind, UnaryOp};
use crate::check::{Meaning, Type, changes_variables};
use anyorder_vm::program::{GlobalId, Literal, Op, Reg};

impl<'a> Body<'_, 'a> {
    /// Lowers an expression. The value may be in the register of a variable.
    pub(crate) fn expr(&mut self, e: &'a Expr) -> Reg {
        self.lower(e, None)
    }

    /// Lowers an expression into a register. The code may write the register before the whole
    /// expression is evaluated.
    pub(crate) fn expr_to(&mut self, e: &'a Expr, dst: Reg) {
        self.lower(e, Some(dst));
    }

    /// Lowers an expression whose value must stay unchanged while the code after it is evaluated.
    pub(crate) fn stable(&mut self, e: &'a Expr, later: &[&Expr]) -> Reg {
        let value = self.expr(e);
        if self.is_variable(value) && later.iter().any(|l| changes_variables(l)) {
            return self.own(value);
        }
        value
    }

    /// Lowers expressions into consecutive new registers.
    pub(crate) fn args(&mut self, args: &'a [Expr]) -> Reg {
        let first = self.temps(size16(args.len()));
        for (arg, i) in args.iter().zip(numbers(0)) {
            let mark = self.mark();
            self.expr_to(arg, first.plus(i));
            self.release(mark);
        }
        first
    }

    /// Lowers the operands of one instruction into consecutive registers; a single operand may stay
    /// in its register. Nothing in `later` may change them.
    pub(crate) fn operands(&mut self, args: &'a [Expr], later: &[&Expr]) -> Reg {
        match args {
            [one] => self.stable(one, later),
            _ => self.args(args),
        }
    }

    /// Lowers the operands of one instruction and checks those that are not known to fit.
    pub(crate) fn typed_operands(&mut self, args: &'a [Expr], later: &[&Expr]) -> Reg {
        let first = self.operands(args, later);
        self.check_all(args, first);
        first
    }

    /// Lowers arguments for parameters of known types and checks those that are not known to fit.
    pub(crate) fn typed_args(&mut self, args: &'a [Expr]) -> Reg {
        let first = self.args(args);
        self.check_all(args, first);
        first
    }

    fn check_all(&mut self, args: &[Expr], first: Reg) {
        for (arg, i) in args.iter().zip(numbers(0)) {
            self.at(arg.span);
            self.check(arg, first.plus(i));
        }
    }

    pub(crate) fn lower(&mut self, e: &'a Expr, want: Option<Reg>) -> Reg {
        self.at(e.span);
        if let Some(value) = self.known(e) {
            return self.load(&value, want);
        }
        self.lower_kind(e, want)
    }

    fn lower_kind(&mut self, e: &'a Expr, want: Option<Reg>) -> Reg {
        match &e.kind {
            ExprKind::Paren(inner) => self.lower(inner, want),
            ExprKind::Name(_) => self.named(e, want),
            ExprKind::SelfRef => self.given(self.this.unwrap_or_default(), want),
            ExprKind::List(items) => self.list(items, want),
            ExprKind::Repeat(value, count) => self.repeat(e, value, count, want),
            ExprKind::Set(items) => self.set(items, want),
            ExprKind::Map(entries) => self.map(entries, want),
            ExprKind::Record { name, fields, base } => {
                self.record(e, name, fields, base.as_deref(), want)
            }
            ExprKind::New { fields, .. } => self.new_object(e, fields, want),
            ExprKind::Closure(closure) => self.closure(e, closure, want),
            ExprKind::If(i) => self.if_value(i, want),
            ExprKind::Match(m) => self.match_value(m, want),
            ExprKind::Unary(op, inner) => self.unary(e, *op, inner, want),
            ExprKind::Binary { op: BinaryOp::And | BinaryOp::Or, .. } => self.logical(e, want),
            ExprKind::Binary { op, left, right, .. } => self.binary(e, *op, left, right, want),
            ExprKind::Field { base, name } => self.field_value_of(e, base, &name.name, want),
            ExprKind::Index { base, index } => self.element_value(e, base, index, want),
            ExprKind::Call { callee, args } => self.call(e, callee, args, want),
            ExprKind::Method { receiver, name, args } => {
                self.method(e, receiver, &name.name, args, want)
            }
            ExprKind::Enabled(event) => self.enabled(e, event, want),
            ExprKind::Post(post) => self.post(e, post, Some(want)),
            ExprKind::Fork(fork) => self.fork(e, fork, want),
            ExprKind::Choose(from) => self.choose_value(e, from, want),
            // Constants, and gaps left by recovery (models with errors are not lowered).
            ExprKind::Int(_)
            | ExprKind::Bool(_)
            | ExprKind::Str(_)
            | ExprKind::Null
            | ExprKind::Error => self.load(&Literal::Null, want),
        }
    }

    /// Returns the register that already holds a value, or copies it to the wanted one.
    fn given(&mut self, reg: Reg, want: Option<Reg>) -> Reg {
        if let Some(dst) = want {
            self.copy(dst, reg);
        }
        want.unwrap_or(reg)
    }

    fn named(&mut self, e: &Expr, want: Option<Reg>) -> Reg {
        if let Some(reg) = self.variable(e) {
            return self.given(reg, want);
        }
        if let Some(Meaning::Const(id)) = self.meaning(e.id) {
            // The value does not have the type that the check here requires.
            let value = &self.low.tables.consts[id.index()].value;
            return self.load(&value.as_ref().map(literal).unwrap_or_default(), want);
        }
        let dst = self.dst(want);
        let op = match self.meaning(e.id) {
            Some(Meaning::Global(id)) => Op::GetGlobal { dst, global: GlobalId(number(id.0)) },
            Some(Meaning::Function(id)) => {
                Op::Closure { dst, func: self.low.function(id), captures: dst }
            }
            // The checker accepts no other name as a value.
            _ => Op::Null { dst },
        };
        self.emit(op);
        dst
    }

    fn unary(&mut self, e: &Expr, op: UnaryOp, inner: &'a Expr, want: Option<Reg>) -> Reg {
        let dst = self.dst(want);
        let mark = self.mark();
        let a = self.expr(inner);
        self.release(mark);
        let op = match op {
            UnaryOp::Not => Op::Not { dst, a },
            UnaryOp::Neg => Op::Neg { dst, a },
        };
        self.emit_at(e.span, op);
        dst
    }

    fn binary(
        &mut self,
        e: &'a Expr,
        op: BinaryOp,
        left: &'a Expr,
        right: &'a Expr,
        want: Option<Reg>,
    ) -> Reg {
        let dst = self.dst(want);
        let mark = self.mark();
        if self.short_form(e, op, left, right, dst).is_none() {
            let a = self.stable(left, &[right]);
            let b = self.expr(right);
            self.at(e.span);
            self.operate(op, dst, a, b);
        }
        self.release(mark);
        dst
    }

    /// Returns an instruction with the right operand inside; `None` if there is none.
    pub(crate) fn short_form(
        &mut self,
        e: &'a Expr,
        op: BinaryOp,
        left: &'a Expr,
        right: &'a Expr,
        dst: Reg,
    ) -> Option<()> {
        if op == BinaryOp::In {
            return self.in_range(e, left, right, dst);
        }
        let (operand, value, swapped) = match (self.known(left), self.known(right)) {
            (_, Some(value)) => (left, value, false),
            (Some(value), None) => (right, value, true),
            _ => return None,
        };
        match (op, &value) {
            (BinaryOp::Eq, Literal::Int(v)) => {
                let value = i32::try_from(*v).ok()?;
                let a = self.expr(operand);
                self.emit_at(e.span, Op::EqInt { dst, a, value });
            }
            (BinaryOp::Eq, Literal::Enum(ty, variant, payload)) if payload.is_empty() => {
                let src = self.expr(operand);
                self.emit_at(e.span, Op::IsVariant { dst, src, ty: *ty, variant: *variant });
            }
            (BinaryOp::Add | BinaryOp::Sub, Literal::Int(v)) => {
                let negative = op == BinaryOp::Sub;
                if swapped && negative {
                    return None;
                }
                let v = if negative { v.checked_neg()? } else { *v };
                let value = i32::try_from(v).ok()?;
                let a = self.expr(operand);
                self.emit_at(e.span, Op::AddInt { dst, a, value });
            }
            _ => return None,
        }
        Some(())
    }

    /// Lowers `x in a..b` for an int without building a list.
    fn in_range(&mut self, e: &'a Expr, left: &'a Expr, right: &'a Expr, dst: Reg) -> Option<()> {
        let ExprKind::Binary { op: BinaryOp::Range, left: from, right: to, .. } = &right.kind
        else {
            return None;
        };
        let value = self.stable(left, &[from, to]);
        let from = self.stable(from, &[to]);
        let to = self.expr(to);
        self.at(e.span);
        if self.ty(left) != Type::Int {
            let list = self.temp();
            self.emit(Op::Range { dst: list, a: from, b: to });
            self.emit(Op::In { dst, a: value, b: list });
            return Some(());
        }
        let end = self.fb.label();
        let inside = self.temp();
        self.emit(Op::Le { dst: inside, a: from, b: value });
        let last = self.temp();
        self.copy(last, inside);
        self.fb.jump_if_not(inside, end);
        self.emit(Op::Lt { dst: last, a: value, b: to });
        self.fb.bind(end);
        self.copy(dst, last);
        Some(())
    }

    /// Emits one operator on two registers.
    pub(crate) fn operate(&mut self, op: BinaryOp, dst: Reg, a: Reg, b: Reg) {
        self.emit(match op {
            BinaryOp::Add => Op::Add { dst, a, b },
            BinaryOp::Sub => Op::Sub { dst, a, b },
            BinaryOp::Mul => Op::Mul { dst, a, b },
            BinaryOp::Div => Op::Div { dst, a, b },
            BinaryOp::Rem => Op::Rem { dst, a, b },
            BinaryOp::Lt => Op::Lt { dst, a, b },
            BinaryOp::Le => Op::Le { dst, a, b },
            BinaryOp::Gt => Op::Lt { dst, a: b, b: a },
            BinaryOp::Ge => Op::Le { dst, a: b, b: a },
            BinaryOp::In => Op::In { dst, a, b },
            BinaryOp::Eq => Op::Eq { dst, a, b },
            BinaryOp::Ne => Op::Ne { dst, a, b },
            BinaryOp::Range => Op::Range { dst, a, b },
            // Lowered to jumps already.
            BinaryOp::And | BinaryOp::Or => Op::Move { dst, src: b },
        });
    }
}
