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
            return self.skip_too_deep(start);
        }
        let mut left = self.unary();
        while let Some(op) = binary_op(self.kind()).filter(|op| strength(*op) > least) {
            let op_span = self.bump().span;
            let right = self.operators(strength(op));
            left = self.binary(op, op_span, left, right);
            if self.chains(op, op_span) {
                left = self.make(left.span, ExprKind::Error);
            }
        }
        self.leave();
        left
    }

    pub(super) fn binary(&mut self, op: BinaryOp, op_span: Span, left: Expr, right: Expr) -> Expr {
        let span = left.span.to(right.span);
        let (left, right) = (Box::new(left), Box::new(right));
        self.make(span, ExprKind::Binary { op, op_span, left, right })
    }

    /// `a < b < c` would compare a boolean. Nobody means that.
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
            return self.make(self.since(start), ExprKind::Int(value));
        }
        if !self.enter() {
            return self.skip_too_deep(start);
        }
        let operand = self.unary();
        self.leave();
        self.make(start.to(operand.span), ExprKind::Unary(op, Box::new(operand)))
    }

    fn postfix(&mut self) -> Expr {
        let start = self.span();
        let mut expr = self.primary();
        loop {
            let kind = match self.kind() {
                TokenKind::LParen => {
                    self.bump();
                    ExprKind::Call { callee: Box::new(expr), args: self.args() }
                }
                TokenKind::LBracket => {
                    let index = Box::new(self.bracketed_expr());
                    ExprKind::Index { base: Box::new(expr), index }
                }
                TokenKind::Dot => {
                    self.bump();
                    let name = self.member_name();
                    if self.eat(TokenKind::LParen) {
                        ExprKind::Method { receiver: Box::new(expr), name, args: self.args() }
                    } else {
                        ExprKind::Field { base: Box::new(expr), name }
                    }
                }
                _ => return expr,
            };
            expr = self.make(self.since(start), kind);
        }
    }

    /// Parses arguments after a `(` just taken.
    pub(super) fn args(&mut self) -> Vec<Expr> {
        self.with_records(|p| p.list(TokenKind::RParen, |p| p.expr()))
    }

    /// Beyond the depth limit: drops the rest of the statement, because its brackets cannot be
    /// matched. Gives the gap.
    fn skip_too_deep(&mut self, start: Span) -> Expr {
        while !matches!(self.kind(), TokenKind::End | TokenKind::Semi | TokenKind::RBrace) {
            self.bump();
        }
        // The missing brackets are a consequence.
        self.mark_failed();
        self.make(self.since(start), ExprKind::Error)
    }
}
