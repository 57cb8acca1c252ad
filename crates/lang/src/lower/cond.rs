//! Conditions: short circuits as jumps.

use super::body::Body;
use crate::ast::{BinaryOp, Expr, ExprKind, UnaryOp};
use anyorder_program::{Label, Literal, Reg};

impl<'a> Body<'_, 'a> {
    /// Jumps to a label if the condition is `when`, and falls through otherwise. A constant
    /// condition has both branches, too: liveness follows the text of the model (C4).
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
                self.jump_on(cond, when != negated, label);
            }
            _ => {
                let mark = self.mark();
                let cond = self.expr(e);
                self.release(mark);
                self.at(e.span);
                self.jump_on(cond, when, label);
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

    /// `a != b`. Returns `true` if the register holds `a == b`, which has a shorter instruction.
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

    pub(crate) fn jump_on(&mut self, cond: Reg, when: bool, label: Label) {
        if when {
            self.fb.jump_if(cond, label);
        } else {
            self.fb.jump_if_not(cond, label);
        }
    }

    /// `a && b`, `a || b` as a value.
    pub(crate) fn logical(&mut self, op: BinaryOp, left: &'a Expr, right: &'a Expr, dst: Reg) {
        let and = op == BinaryOp::And;
        let (end, short) = (self.fb.label(), self.fb.label());
        self.jump_when(left, !and, short);
        self.expr_to(right, dst);
        self.at(right.span);
        self.check(right, dst);
        self.fb.jump(end);
        self.fb.bind(short);
        self.load(&Literal::Bool(!and), Some(dst));
        self.fb.bind(end);
    }
}
