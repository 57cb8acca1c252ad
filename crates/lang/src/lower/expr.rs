//! Expressions. Operands are evaluated from left to right.

use super::body::Body;
use super::call::Call;
use super::lowerer::{literal, number, numbers};
use crate::ast::{BinaryOp, Expr, ExprKind, UnaryOp};
use crate::check::{Meaning, changes_variables};
use anyorder_program::{Literal, Op, Reg};

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

    /// Lowers an expression whose value the evaluation of `later` must not change.
    pub(crate) fn stable(&mut self, e: &'a Expr, later: &[&Expr]) -> Reg {
        let value = self.expr(e);
        if self.is_variable(value) && later.iter().any(|l| changes_variables(l)) {
            return self.own(value);
        }
        value
    }

    /// Lowers expressions into consecutive new registers.
    pub(crate) fn args(&mut self, args: &'a [Expr]) -> Reg {
        let first = self.temps(number(args.len()));
        for (arg, i) in args.iter().zip(numbers(0)) {
            let mark = self.mark();
            self.expr_to(arg, first.plus(i));
            self.release(mark);
        }
        first
    }

    /// Lowers operands of one instruction into consecutive registers; a single one stays where it
    /// is. The evaluation of `later` must not change them.
    pub(crate) fn operands(&mut self, args: &'a [Expr], later: &[&Expr]) -> Reg {
        match args {
            [one] => self.stable(one, later),
            _ => self.args(args),
        }
    }

    /// Lowers operands of one instruction, and checks those whose types are not certain.
    pub(crate) fn typed_operands(&mut self, args: &'a [Expr]) -> Reg {
        let first = self.operands(args, &[]);
        self.check_all(args, first);
        first
    }

    /// Lowers arguments for parameters of known types, and checks those whose types are not
    /// certain.
    pub(crate) fn typed_args(&mut self, args: &'a [Expr]) -> Reg {
        let first = self.args(args);
        self.check_all(args, first);
        first
    }

    pub(crate) fn check_all(&mut self, args: &[Expr], first: Reg) {
        for (arg, i) in args.iter().zip(numbers(0)) {
            self.at(arg.span);
            self.check(arg, first.plus(i));
        }
    }

    fn lower(&mut self, e: &'a Expr, want: Option<Reg>) -> Reg {
        self.at(e.span);
        if let Some(value) = self.known(e) {
            return self.load(&value, want);
        }
        let given = match &e.kind {
            ExprKind::Paren(inner) => return self.lower(inner, want),
            ExprKind::Name(_) => self.variable(e),
            ExprKind::SelfRef => self.this,
            _ => None,
        };
        if let Some(reg) = given {
            if let Some(dst) = want {
                self.copy(dst, reg);
            }
            return want.unwrap_or(reg);
        }
        let dst = self.dst(want);
        let mark = self.mark();
        self.compute(e, dst);
        self.release(mark);
        dst
    }

    /// Lowers an expression that is neither a constant nor in a register already.
    fn compute(&mut self, e: &'a Expr, dst: Reg) {
        match &e.kind {
            ExprKind::Name(_) => self.named(e, dst),
            ExprKind::List(items) => {
                let (args, count) = (self.operands(items, &[]), number(items.len()));
                self.emit(Op::List { dst, args, count });
            }
            ExprKind::Set(items) => {
                let (args, count) = (self.operands(items, &[]), number(items.len()));
                self.emit(Op::Set { dst, args, count });
            }
            ExprKind::Repeat(value, count) => self.repeat(e, value, count, dst),
            ExprKind::Map(entries) => self.map(entries, dst),
            ExprKind::Record { name, fields, base } => {
                self.record(e, name, fields, base.as_deref(), dst);
            }
            ExprKind::New { fields, .. } => self.new_object(e, fields, dst),
            ExprKind::Closure(closure) => self.closure(e, closure, dst),
            ExprKind::If(i) => self.if_(i, Some(dst)),
            ExprKind::Match(m) => self.match_(m, Some(dst)),
            ExprKind::Unary(op, inner) => {
                let a = self.expr(inner);
                let op = match op {
                    UnaryOp::Not => Op::Not { dst, a },
                    UnaryOp::Neg => Op::Neg { dst, a },
                };
                self.emit_at(e.span, op);
            }
            ExprKind::Binary { op: op @ (BinaryOp::And | BinaryOp::Or), left, right, .. } => {
                self.logical(*op, left, right, dst);
            }
            ExprKind::Binary { op, left, right, .. } => self.binary(e, *op, left, right, dst),
            ExprKind::Field { base, name } => self.field_value(e, base, &name.name, dst),
            ExprKind::Index { base, index } => self.element_value(e, base, index, dst),
            ExprKind::Call { callee, args } => self.call(e, callee, args, dst),
            ExprKind::Method { receiver, name, args } => {
                self.method(&Call { e, receiver, name: &name.name, args, dst });
            }
            ExprKind::Enabled(event) => self.enabled(e, event, dst),
            ExprKind::Post(post) => self.post(e, post, dst),
            ExprKind::Fork(fork) => self.fork(e, fork, dst),
            ExprKind::Choose(from) => self.choose_value(e, from, dst),
            // Lowered before, or left by recovery in a model that is not lowered.
            ExprKind::Int(_)
            | ExprKind::Bool(_)
            | ExprKind::Str(_)
            | ExprKind::Null
            | ExprKind::Paren(_)
            | ExprKind::SelfRef
            | ExprKind::Error => self.emit(Op::Null { dst }),
        }
    }

    fn named(&mut self, e: &Expr, dst: Reg) {
        let op = match self.meaning(e.id) {
            Some(Meaning::Const(id)) => {
                // Its value is not of the type that this place needs.
                let value = &self.low.tables.consts[id.index()].value;
                self.load(&value.as_ref().map(literal).unwrap_or_default(), Some(dst));
                return;
            }
            Some(Meaning::Global(id)) => Op::GetGlobal { dst, global: id.into() },
            Some(Meaning::Function(id)) => {
                Op::Closure { dst, func: self.low.function(id), captures: dst }
            }
            // The checker accepts no other name as a value.
            _ => Op::Null { dst },
        };
        self.emit(op);
    }

    fn binary(&mut self, e: &'a Expr, op: BinaryOp, left: &'a Expr, right: &'a Expr, dst: Reg) {
        if self.short_form(e, op, left, right, dst).is_none() {
            let a = self.stable(left, &[right]);
            let b = self.expr(right);
            self.at(e.span);
            self.operate(op, dst, a, b);
        }
    }

    /// Emits an instruction that contains an operand; `None` where there is none.
    pub(crate) fn short_form(
        &mut self,
        e: &'a Expr,
        op: BinaryOp,
        left: &'a Expr,
        right: &'a Expr,
        dst: Reg,
    ) -> Option<()> {
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

    /// One operator on two registers.
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
