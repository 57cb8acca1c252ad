//! Conditions: short circuits as jumps.

use super::body::Body;
use crate::ast::{BinaryOp, Expr, ExprKind, UnaryOp};
use anyorder_vm::program::{Label, Literal, Reg};

impl<'a> Body<'_, 'a> {
    /// Jumps to a label if the condition is `when`, and falls through otherwise. A constant
    /// condition gets both ways, too: liveness follows the text of the model (C4).
    pub(crate) fn jump_when(&mut self, e: &'a Expr, when: bool, label: Label) {
        match &e.kind {
            ExprKind::Paren(inner) => self.jump_when(inner, when, label),
            ExprKind::Unary(UnaryOp::Not, inner) => self.jump_when(inner, !when, label),
            ExprKind::Binary { op: BinaryOp::And, left, right, .. } => {
                self.jump_both(left, right, true, when, label);
            }
            ExprKind::Binary { op: BinaryOp::Or, left, right, .. } => {
                self.jump_both(left, right, false, when, label);
            }
            ExprKind::Binary { op: BinaryOp::Ne, left, right, .. } => {
                let mark = self.mark();
                let (cond, negated) = self.not_equal(e, left, right);
                self.release(mark);
                self.jump_on(cond, negated, when, label);
            }
            _ => {
                let mark = self.mark();
                let cond = self.expr(e);
                self.release(mark);
                self.at(e.span);
                self.jump_on(cond, false, when, label);
            }
        }
    }

    /// Jumps on `a && b` (`and`) or `a || b`.
    fn jump_both(&mut self, a: &'a Expr, b: &'a Expr, and: bool, when: bool, label: Label) {
        if and == when {
            let skip = self.fb.label();
            self.jump_when(a, !when, skip);
            self.jump_when(b, when, label);
            self.fb.bind(skip);
        } else {
            self.jump_when(a, when, label);
            self.jump_when(b, when, label);
        }
    }

    /// Lowers `a != b`. Returns `true` with an `==` to be negated where that has a shorter
    /// instruction.
    fn not_equal(&mut self, e: &'a Expr, left: &'a Expr, right: &'a Expr) -> (Reg, bool) {
        let dst = self.temp();
        if self.short_form(e, BinaryOp::Eq, left, right, dst).is_some() {
            return (dst, true);
        }
        let a = self.stable(left, &[right]);
        let b = self.expr(right);
        self.at(e.span);
        self.operate(BinaryOp::Ne, dst, a, b);
        (dst, false)
    }

    fn jump_on(&mut self, cond: Reg, negated: bool, when: bool, label: Label) {
        if when != negated {
            self.fb.jump_if(cond, label);
        } else {
            self.fb.jump_if_not(cond, label);
        }
    }

    /// Lowers `a && b` and `a || b` as values.
    pub(crate) fn logical(&mut self, e: &'a Expr, want: Option<Reg>) -> Reg {
        let dst = self.dst(want);
        let ExprKind::Binary { op, left, right, .. } = &e.kind else {
            return dst;
        };
        let and = *op == BinaryOp::And;
        let (end, short) = (self.fb.label(), self.fb.label());
        self.jump_when(left, !and, short);
        let mark = self.mark();
        self.expr_to(right, dst);
        self.at(right.span);
        self.check(right, dst);
        self.release(mark);
        self.fb.jump(end);
        self.fb.bind(short);
        self.load(&Literal::Bool(!and), Some(dst));
        self.fb.bind(end);
        dst
    }
}
