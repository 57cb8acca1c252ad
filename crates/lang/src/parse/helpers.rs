//! Names, references, texts and lists: the common parts of declarations and statements.

use super::parser::Parser;
use crate::ast::{BinaryOp, Expr, ExprKind, Ident, Ref, Text};
use crate::diagnostic::{Code, Diagnostic};
use crate::lex::{TokenKind, unescape};
use crate::source::Span;

impl Parser<'_> {
    /// Parses a new name. `what` completes "expected ...".
    pub(super) fn name(&mut self, what: &str) -> Ident {
        if self.at(TokenKind::Name) {
            let span = self.bump().span;
            return self.ident(span);
        }
        if self.kind().is_reserved() && !self.failed_here() {
            let span = self.span();
            let word = self.kind().text();
            self.report(
                Diagnostic::new(Code::RESERVED, span, format!("`{word}` is a reserved word"))
                    .label(format!("expected {what}"))
                    .suggest("use another name", span, format!("{word}_")),
            );
            self.bump();
            return self.ident(span);
        }
        self.expected(what);
        self.missing_name()
    }

    /// Returns the empty name that replaces a missing one.
    pub(super) fn missing_name(&mut self) -> Ident {
        let span = self.before().after();
        Ident { id: self.id(), name: String::new(), span }
    }

    /// Parses the name of a member after a dot, where reserved words are names, too.
    pub(super) fn member_name(&mut self) -> Ident {
        if self.at(TokenKind::Name) || self.kind().is_reserved() {
            let span = self.bump().span;
            return self.ident(span);
        }
        self.expected("the name of a field, method or variant");
        self.missing_name()
    }

    /// Parses `h` or `h[i]`.
    pub(super) fn reference(&mut self, what: &str) -> Ref {
        let name = self.name(what);
        let start = name.span;
        let mut index = None;
        if self.at(TokenKind::LBracket) {
            index = Some(Box::new(self.bracketed_expr()));
        }
        Ref { name, index, span: self.since(start) }
    }

    /// Parses `[e]`.
    pub(super) fn bracketed_expr(&mut self) -> Expr {
        let open = self.bump().span;
        let expr = self.with_records(|p| p.expr());
        self.close(TokenKind::RBracket, open);
        expr
    }

    /// Parses a string literal.
    pub(super) fn text_literal(&mut self, what: &str) -> Text {
        if !self.at(TokenKind::Str) {
            self.expected(what);
            return Text { value: String::new(), span: self.before().after() };
        }
        let span = self.bump().span;
        let (value, wrong) = unescape(span.of(self.text), span.start);
        for place in wrong {
            let escape = place.of(self.text);
            self.report_always(
                Diagnostic::new(Code::ESCAPE, place, format!("unknown escape `{escape}`"))
                    .note(r#"known escapes: \n \t \r \0 \" \\ \u{1F600}"#),
            );
        }
        Text { value, span }
    }

    /// Parses elements between `open` (just taken) and `close`, separated by commas. A comma at the
    /// end is allowed.
    pub(super) fn list<T>(
        &mut self,
        close: TokenKind,
        element: impl FnMut(&mut Self) -> T,
    ) -> Vec<T> {
        self.list_from(self.before(), close, element)
    }

    /// Works as [`Parser::list`], with some elements already taken.
    pub(super) fn list_from<T>(
        &mut self,
        open: Span,
        close: TokenKind,
        mut element: impl FnMut(&mut Self) -> T,
    ) -> Vec<T> {
        let mut out = Vec::new();
        while !self.at(close) && !self.at(TokenKind::End) {
            let here = self.here();
            out.push(element(self));
            if self.at(close) {
                break;
            }
            if !self.eat(TokenKind::Comma) {
                if here == self.here() || !self.failed_here() {
                    self.expected(&format!("`,` or `{}`", close.text()));
                }
                if !self.skip_in_list(close) {
                    break;
                }
            }
        }
        self.close(close, open);
        out
    }

    /// Takes the closing bracket of `open`, or reports that it is missing.
    pub(super) fn close(&mut self, close: TokenKind, open: Span) {
        if self.eat(close) {
            return;
        }
        if self.failed_here() {
            return;
        }
        let (text, opened) = (close.text(), open.of(self.text));
        let message = format!("expected `{text}`, found {}", self.found());
        let diagnostic = Diagnostic::new(Code::UNCLOSED, self.span(), message)
            .label(format!("expected `{text}`"))
            .also(open, format!("this `{opened}` is not closed"));
        self.report(diagnostic);
    }

    /// Runs `parse` with `Name { .. }` as a record, which brackets allow.
    pub(super) fn with_records<T>(&mut self, parse: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.no_record, false);
        let out = parse(self);
        self.no_record = before;
        out
    }

    /// Parses an expression before a block.
    pub(super) fn condition(&mut self) -> Expr {
        let before = std::mem::replace(&mut self.no_record, true);
        let mut out = self.expr();
        if self.at(TokenKind::Eq) {
            out = self.condition_with_assignment(out);
        }
        self.no_record = before;
        out
    }

    /// Reports `if x = 1 {` and parses it as a comparison.
    fn condition_with_assignment(&mut self, left: Expr) -> Expr {
        let op_span = self.span();
        self.report(
            Diagnostic::new(Code::EXPECTED, op_span, "`=` assigns; an assignment is no condition")
                .suggest("to compare, write", op_span, "=="),
        );
        self.bump();
        let right = self.expr();
        let (span, below) = (left.span.to(right.span), [left.id, right.id]);
        let (left, right) = (Box::new(left), Box::new(right));
        let kind = ExprKind::Binary { op: BinaryOp::Eq, op_span, left, right };
        self.expr_over(span, kind, &below)
    }
}
