//! Names, references, texts and lists: the common parts of declarations and statements.

use super::parser::Parser;
use crate::ast::{BinaryOp, Expr, Ident, Ref, Text};
use crate::diagnostic::{Code, Diagnostic};
use crate::lex::{TokenKind, unescape};
use crate::source::Span;

impl Parser<'_> {
    /// Parses a new name. `what` completes "expected ...".
    pub(super) fn name(&mut self, what: &str) -> Ident {
        if self.at_name() {
            return self.bump_ident();
        }
        if self.kind().is_reserved() && !self.failed_here() {
            self.is_reserved_word(what);
            return self.bump_ident();
        }
        self.expected(what);
        self.missing_name()
    }

    /// Reports the current word, which is used as a name.
    pub(super) fn is_reserved_word(&mut self, expected: &str) {
        let (span, word) = (self.span(), self.kind().text());
        self.report(
            Diagnostic::new(Code::RESERVED, span, format!("`{word}` is a reserved word"))
                .label(format!("expected {expected}"))
                .suggest("use another name", span, format!("{word}_")),
        );
    }

    /// A new name, and the sign or word behind it.
    pub(super) fn name_and(&mut self, what: &str, behind: TokenKind) -> Ident {
        let name = self.name(what);
        self.expect(behind);
        name
    }

    /// A new name of a value, or `_`.
    pub(super) fn name_or_blank(&mut self, what: &str) -> Ident {
        if self.at(TokenKind::Underscore) { self.bump_ident() } else { self.value_name(what) }
    }

    /// The empty name that replaces a missing one.
    pub(super) fn missing_name(&mut self) -> Ident {
        let span = self.before().after();
        Ident { id: self.id(), name: String::new(), span }
    }

    /// Parses the name of a member after a dot, where all words are names.
    pub(super) fn member_name(&mut self) -> Ident {
        if self.at_name() || self.kind().is_reserved() {
            return self.bump_ident();
        }
        self.expected("the name of a field, method or variant");
        self.missing_name()
    }

    /// Parses `h` or `h[i]`.
    pub(super) fn reference(&mut self, what: &str) -> Ref {
        let name = self.name(what);
        let start = name.span;
        let index = self.at(TokenKind::LBracket).then(|| Box::new(self.bracketed_expr()));
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

    /// One element or more, separated by commas, up to the `;`. `what` is what the `;` ends.
    pub(super) fn separated_to_semi<T>(
        &mut self,
        element: impl FnMut(&mut Self) -> T,
        what: &str,
    ) -> Vec<T> {
        let out = self.separated(element);
        self.semi(what);
        out
    }

    /// One element or more, separated by commas.
    pub(super) fn separated<T>(&mut self, mut element: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let mut out = vec![element(self)];
        while self.eat(TokenKind::Comma) {
            out.push(element(self));
        }
        out
    }

    /// A list in brackets: `open`, elements and `close`. Reports a missing `open`.
    pub(super) fn list_in<T>(
        &mut self,
        open: TokenKind,
        close: TokenKind,
        element: impl FnMut(&mut Self) -> T,
    ) -> Vec<T> {
        if self.expect(open) { self.list(close, element) } else { vec![] }
    }

    /// Elements between `open` (just taken) and `close`, separated by commas; a comma at the end is
    /// fine.
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
        if self.eat(close) || self.failed_here() {
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
        self.with_no_record(false, parse)
    }

    /// Parses with `Name {` as a name and the start of a block.
    pub(super) fn before_block<T>(&mut self, parse: impl FnOnce(&mut Self) -> T) -> T {
        self.with_no_record(true, parse)
    }

    fn with_no_record<T>(&mut self, no_record: bool, parse: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.no_record, no_record);
        let out = parse(self);
        self.no_record = before;
        out
    }

    /// Parses an expression before a block.
    pub(super) fn condition(&mut self) -> Expr {
        self.before_block(|p| {
            let expr = p.expr();
            if p.at(TokenKind::Eq) { p.condition_with_assignment(expr) } else { expr }
        })
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
        self.binary(BinaryOp::Eq, op_span, left, right)
    }
}
