//! Expressions: operators by precedence, then calls, fields and indices.

use super::parser::Parser;
use crate::ast::{BinaryOp, Expr, ExprKind, UnaryOp};
use crate::diagnostic::{Code, Diagnostic};
use crate::lex::TokenKind;
use crate::source::Span;

/// Returns the binding strength of an operator. Larger binds tighter.
fn strength(op: BinaryOp) -> u8 {
    match op {
        BinaryOp::Range => 1,
        BinaryOp::Or => 2,
        BinaryOp::And => 3,
        BinaryOp::Eq | BinaryOp::Ne => 4,
        BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge | BinaryOp::In => 5,
        BinaryOp::Add | BinaryOp::Sub => 6,
        BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => 7,
    }
}

/// Returns the operator of a token.
fn binary_op(kind: TokenKind) -> Option<BinaryOp> {
    Some(match kind {
        TokenKind::Star => BinaryOp::Mul,
        TokenKind::Slash => BinaryOp::Div,
        TokenKind::Percent => BinaryOp::Rem,
        TokenKind::Plus => BinaryOp::Add,
        TokenKind::Minus => BinaryOp::Sub,
        TokenKind::Lt => BinaryOp::Lt,
        TokenKind::Le => BinaryOp::Le,
        TokenKind::Gt => BinaryOp::Gt,
        TokenKind::Ge => BinaryOp::Ge,
        TokenKind::In => BinaryOp::In,
        TokenKind::EqEq => BinaryOp::Eq,
        TokenKind::NotEq => BinaryOp::Ne,
        TokenKind::AndAnd => BinaryOp::And,
        TokenKind::OrOr => BinaryOp::Or,
        TokenKind::DotDot => BinaryOp::Range,
        _ => return None,
    })
}

impl Parser<'_> {
    /// Parses an expression.
    pub(super) fn expr(&mut self) -> Expr {
        self.operators(0)
    }

    /// Parses an expression whose operators bind tighter than `least`.
    fn operators(&mut self, least: u8) -> Expr {
        let start = self.span();
        if !self.enter() {
            self.skip_too_deep();
            return self.leaf(self.since(start), ExprKind::Error);
        }
        let mut left = self.unary();
        while let Some(op) = binary_op(self.kind()).filter(|op| strength(*op) > least) {
            let op_span = self.bump().span;
            let right = self.operators(strength(op));
            let span = left.span.to(right.span);
            let below = [left.id, right.id];
            let (left_box, right_box) = (Box::new(left), Box::new(right));
            let kind = ExprKind::Binary { op, op_span, left: left_box, right: right_box };
            left = self.expr_over(span, kind, &below);
            if self.chains(op, op_span) {
                left = self.leaf(left.span, ExprKind::Error);
            }
        }
        self.leave();
        left
    }

    /// Reports `a < b < c`, which would compare a boolean. Nobody means that.
    fn chains(&mut self, first: BinaryOp, first_span: Span) -> bool {
        let Some(second) = binary_op(self.kind()) else { return false };
        let comparison = |op| matches!(strength(op), 1 | 4 | 5) && op != BinaryOp::In;
        if strength(second) != strength(first) || !comparison(first) || !comparison(second) {
            return false;
        }
        let (text, span) = (self.kind().text(), self.span());
        let diagnostic =
            Diagnostic::new(Code::CHAIN, span, format!("`{text}` behind another comparison"))
                .also(first_span, "the first one")
                .note("comparisons do not chain: write `a < b && b < c`, or parentheses");
        self.report_always(diagnostic);
        true
    }

    fn unary(&mut self) -> Expr {
        let start = self.span();
        let op = match self.kind() {
            TokenKind::Not => UnaryOp::Not,
            TokenKind::Minus => UnaryOp::Neg,
            _ => return self.postfix(),
        };
        self.bump();
        // The least integer has no positive counterpart.
        if op == UnaryOp::Neg && self.at(TokenKind::Int) && self.is_least_int() {
            let value = self.int_literal(true);
            return self.leaf(self.since(start), ExprKind::Int(value));
        }
        if !self.enter() {
            self.skip_too_deep();
            return self.leaf(self.since(start), ExprKind::Error);
        }
        let operand = self.unary();
        self.leave();
        let (span, below) = (start.to(operand.span), [operand.id]);
        self.expr_over(span, ExprKind::Unary(op, Box::new(operand)), &below)
    }

    fn postfix(&mut self) -> Expr {
        let start = self.span();
        let mut expr = self.primary();
        loop {
            let below_one = expr.id;
            match self.kind() {
                TokenKind::LParen => {
                    self.bump();
                    let args = self.args();
                    let below = ids(below_one, &args);
                    let kind = ExprKind::Call { callee: Box::new(expr), args };
                    expr = self.expr_over(self.since(start), kind, &below);
                }
                TokenKind::LBracket => {
                    let index = self.bracketed_expr();
                    let below = [below_one, index.id];
                    let kind = ExprKind::Index { base: Box::new(expr), index: Box::new(index) };
                    expr = self.expr_over(self.since(start), kind, &below);
                }
                TokenKind::Dot => {
                    self.bump();
                    let name = self.member_name();
                    if self.eat(TokenKind::LParen) {
                        let args = self.args();
                        let below = ids(below_one, &args);
                        let kind = ExprKind::Method { receiver: Box::new(expr), name, args };
                        expr = self.expr_over(self.since(start), kind, &below);
                    } else {
                        let kind = ExprKind::Field { base: Box::new(expr), name };
                        expr = self.expr_over(self.since(start), kind, &[below_one]);
                    }
                }
                _ => return expr,
            }
        }
    }

    /// Parses arguments after a `(` just taken.
    pub(super) fn args(&mut self) -> Vec<Expr> {
        self.with_records(|p| p.list(TokenKind::RParen, |p| p.expr()))
    }

    /// Drops the rest of the statement beyond the depth limit, because its brackets cannot be
    /// matched.
    fn skip_too_deep(&mut self) {
        while !matches!(self.kind(), TokenKind::End | TokenKind::Semi | TokenKind::RBrace) {
            self.bump();
        }
        // The missing brackets are a consequence.
        self.mark_failed();
    }
}

/// Returns the ids of an expression and its arguments.
fn ids(first: crate::ast::NodeId, args: &[Expr]) -> Vec<crate::ast::NodeId> {
    std::iter::once(first).chain(args.iter().map(|arg| arg.id)).collect()
}
