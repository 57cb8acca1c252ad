//! Operators with two operands.

use super::checker::Checker;
use super::infer::Fit;
use super::types::Type;
use crate::ast::{BinaryOp, Expr};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;

impl<'a> Checker<'a> {
    pub(super) fn binary(
        &mut self,
        op: BinaryOp,
        op_span: Span,
        left: &'a Expr,
        right: &'a Expr,
        want: Option<&Type>,
    ) -> Type {
        match op {
            BinaryOp::And | BinaryOp::Or => {
                self.expect(left, &Type::Bool);
                self.expect(right, &Type::Bool);
                Type::Bool
            }
            BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem | BinaryOp::Sub => {
                self.operand_is_int(op, op_span, left);
                self.operand_is_int(op, op_span, right);
                Type::Int
            }
            BinaryOp::Range => {
                self.expect(left, &Type::Int);
                self.expect(right, &Type::Int);
                Type::list(Type::Int)
            }
            BinaryOp::Add => self.addition(op_span, left, right, want),
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
                self.comparison(op, op_span, left, right);
                Type::Bool
            }
            BinaryOp::In => {
                self.membership(left, right);
                Type::Bool
            }
            BinaryOp::Eq | BinaryOp::Ne => {
                self.equality(op_span, left, right);
                Type::Bool
            }
        }
    }

    fn operand_is_int(&mut self, op: BinaryOp, op_span: Span, operand: &'a Expr) {
        let ty = self.expr_hinted(operand, &Type::Int);
        match self.solid(&ty) {
            Type::Int | Type::Any | Type::Unknown(_) | Type::Never if ty != Type::Null => {
                self.fit_here(operand, &ty, &Type::Int, None);
            }
            _ => self.bad_operand(op, op_span, operand, &ty),
        }
    }

    fn bad_operand(&mut self, op: BinaryOp, op_span: Span, operand: &Expr, written: &Type) {
        let what = self.show_found(written);
        let message = format!("`{}` does not take {what}", op.sign());
        let mut diagnostic = Diagnostic::new(Code::OPERAND, operand.span, message)
            .label(format!("this is {what}"))
            .also(op_span, "");
        if matches!(self.solid(written), Type::Index(_)) {
            diagnostic = diagnostic.note(super::symmetry::ONLY);
        }
        self.report(diagnostic);
    }

    /// Checks `+` on ints, strings and lists.
    fn addition(
        &mut self,
        op_span: Span,
        left: &'a Expr,
        right: &'a Expr,
        want: Option<&Type>,
    ) -> Type {
        let hint = want.cloned().unwrap_or(Type::Any);
        let first = self.expr_hinted(left, &hint);
        let kind = self.solid(&first);
        match kind {
            Type::Int | Type::Str => {
                self.fit_here(left, &first, &kind, None);
                let second = self.expr_hinted(right, &kind);
                match self.unknowns.fit(&second, &kind) {
                    Fit::Yes | Fit::Checked => self.fit_here(right, &second, &kind, None),
                    _ => self.no_sum(op_span, (left, &first), (right, &second)),
                }
                kind
            }
            Type::List(_) => {
                self.fit_here(left, &first, &kind, None);
                let second = self.expr_hinted(right, &kind);
                match self.unknowns.join(&kind, &self.unknowns.shallow(&second).solid().clone()) {
                    Some(joined)
                        if matches!(
                            self.solid(&second),
                            Type::List(_) | Type::Any | Type::Unknown(_)
                        ) =>
                    {
                        joined
                    }
                    _ => {
                        self.no_sum(op_span, (left, &first), (right, &second));
                        kind
                    }
                }
            }
            Type::Any | Type::Unknown(_) | Type::Never => {
                self.addition_of_any(op_span, &first, left, right)
            }
            _ => {
                self.expr(right);
                self.bad_operand(BinaryOp::Add, op_span, left, &first);
                Type::Any
            }
        }
    }

    /// The left side is of unknown type; the right side may decide.
    fn addition_of_any(
        &mut self,
        op_span: Span,
        first: &Type,
        left: &'a Expr,
        right: &'a Expr,
    ) -> Type {
        let second = self.expr(right);
        let kind = self.solid(&second);
        match kind {
            Type::Int | Type::Str | Type::List(_) => {
                self.fit_here(right, &second, &kind, None);
                self.fit_here(left, first, &kind, None);
                kind
            }
            Type::Any | Type::Unknown(_) | Type::Never => Type::Any,
            _ => {
                self.bad_operand(BinaryOp::Add, op_span, right, &second);
                Type::Any
            }
        }
    }

    fn no_sum(&mut self, op_span: Span, left: (&Expr, &Type), right: (&Expr, &Type)) {
        let message = |a: &str, b: &str| format!("`+` does not take `{a}` and `{b}`");
        let diagnostic = self.two_operands(op_span, left, right, message);
        let int = match (self.show(left.1).as_str(), self.show(right.1).as_str()) {
            ("str", "int") => right.0,
            ("int", "str") => left.0,
            _ => return self.report(diagnostic),
        };
        self.report(diagnostic.suggest("make it a string", int.span.after(), ".to_str()"));
    }

    /// A message about an operator that shows the types of both operands.
    fn two_operands(
        &self,
        op_span: Span,
        left: (&Expr, &Type),
        right: (&Expr, &Type),
        message: impl Fn(&str, &str) -> String,
    ) -> Diagnostic {
        let (a, b) = (self.show(left.1), self.show(right.1));
        Diagnostic::new(Code::OPERAND, op_span, message(&a, &b))
            .also(left.0.span, format!("`{a}`"))
            .also(right.0.span, format!("`{b}`"))
    }

    /// Checks a comparison of ints or strings.
    fn comparison(&mut self, op: BinaryOp, op_span: Span, left: &'a Expr, right: &'a Expr) {
        let first = self.expr(left);
        let second = self.expr(right);
        let (a, b) = (self.solid(&first), self.solid(&second));
        let open = |ty: &Type| matches!(ty, Type::Any | Type::Unknown(_) | Type::Never);
        for (expr, ty, solid) in [(left, &first, &a), (right, &second, &b)] {
            if !open(solid) && !matches!(solid, Type::Int | Type::Str) {
                self.bad_operand(op, op_span, expr, ty);
                return;
            }
        }
        let kind = if open(&a) { b } else { a };
        if open(&kind) {
            return;
        }
        self.fit_here(left, &first, &kind, None);
        if !matches!(self.unknowns.fit(&second, &kind), Fit::Yes | Fit::Checked) {
            self.not_comparable(op_span, (left, &first), (right, &second));
            return;
        }
        self.fit_here(right, &second, &kind, None);
    }

    fn not_comparable(&mut self, op_span: Span, left: (&Expr, &Type), right: (&Expr, &Type)) {
        let message = |a: &str, b: &str| format!("`{a}` is not comparable with `{b}`");
        self.report(self.two_operands(op_span, left, right, message));
    }

    fn equality(&mut self, op_span: Span, left: &'a Expr, right: &'a Expr) {
        let first = self.expr(left);
        // In `x == []`, the literal takes the type of the other side.
        let second = self.expr_hinted(right, &first);
        let (a, b) = (self.unknowns.shallow(&first), self.unknowns.shallow(&second));
        for (ty, other, expr) in [(&a, &b, right), (&b, &a, left)] {
            if *ty == Type::Null
                && !matches!(other, Type::Nullable(_) | Type::Any | Type::Null | Type::Unknown(_))
            {
                let text = self.show(other);
                let message = format!("a value of type `{text}` is never `null`");
                let diagnostic = Diagnostic::new(Code::NEVER_NULL, op_span, message);
                self.report(diagnostic.also(expr.span, format!("`{text}`")));
                return;
            }
        }
        let (from, to) = (a.solid().clone(), b.solid().clone());
        if a == Type::Nothing || b == Type::Nothing || self.unknowns.join(&from, &to).is_none() {
            self.not_comparable(op_span, (left, &first), (right, &second));
        }
    }

    /// Checks `in`: element of a list or set, key of a map, part of a string.
    fn membership(&mut self, left: &'a Expr, right: &'a Expr) {
        let container = self.expr(right);
        match self.solid(&container) {
            Type::List(t) | Type::Set(t) | Type::Map(t, _) | Type::Array(_, t) => {
                self.expect_for(left, &t, (right.span, "because of this"));
            }
            Type::Str => {
                self.expect_for(left, &Type::Str, (right.span, "because of this"));
            }
            Type::Any | Type::Unknown(_) | Type::Never => self.hidden(left),
            other => {
                self.expr(left);
                let message = format!("a value of type `{}` has no elements", self.show(&other));
                self.error(Code::OPERAND, right.span, message);
            }
        }
    }
}
