//! Syntax of other languages. The parser reports how to write it here. Where possible, the parser
//! also understands it, so that one habit gives one message.

use super::parser::Parser;
use super::recovery::{starts_item, starts_statement};
use crate::ast::{Block, Expr, ExprKind, TypeExpr, TypeKind};
use crate::diagnostic::{Code, Diagnostic, foreign_word_hint};
use crate::lex::TokenKind::{self, *};
use crate::source::Span;

/// Longest statement whose end the parser searches for.
const STATEMENT_TOKENS_MAX: usize = 200;

/// Longest text that a suggestion shows in full.
const SHOWN_BYTES_MAX: usize = 60;

/// Signs that follow a name.
const FOLLOWS_NAME: &[TokenKind] = &[
    Comma, Dot, Eq, LParen, LBracket, Minus, MinusEq, MinusMinus, Plus, PlusEq, PlusPlus, RBracket,
    RParen, Semi, EqEq, NotEq, Lt, Le, Gt, Ge,
];

impl Parser<'_> {
    /// Parses the body of `if`, `while` and the like: a block, or one statement without braces.
    pub(super) fn body(&mut self, value_allowed: bool) -> Block {
        if self.at(TokenKind::LBrace) || self.failed_here() || !self.is_bare_statement() {
            return self.block_of(value_allowed);
        }
        let (start, found) = (self.span(), self.found());
        if !self.enter() {
            return self.block_of(value_allowed);
        }
        let before = self.diagnostics.len();
        let stmt = self.bare_statement();
        self.leave();
        let span = self.since(start);
        if self.diagnostics.len() == before {
            let text = span.of(self.text);
            let diagnostic =
                Diagnostic::new(Code::EXPECTED, start, format!("expected `{{`, found {found}"))
                    .label("expected `{`");
            self.report_always(if text.len() <= SHOWN_BYTES_MAX && !text.contains('\n') {
                diagnostic.suggest("a body stands in braces", span, format!("{{ {text} }}"))
            } else {
                diagnostic.note("a body stands in braces: `{ .. }`")
            });
        }
        Block { stmts: stmt.into_iter().collect(), value: None, span }
    }

    /// Returns whether the text continues with one statement, up to its `;`.
    fn is_bare_statement(&self) -> bool {
        if starts_item(self.kind()) || !(starts_statement(self.kind()) || self.begins_expression())
        {
            return false;
        }
        for n in 0..STATEMENT_TOKENS_MAX {
            match self.ahead(n) {
                TokenKind::Semi => return true,
                TokenKind::Else | TokenKind::LBrace | TokenKind::RBrace | TokenKind::End => {
                    return false;
                }
                _ => {}
            }
        }
        false
    }

    /// Parses a type and `[3]` after it, as in `x: int[3]`: an array as other languages write it.
    pub(super) fn declared_ty(&mut self) -> TypeExpr {
        let start = self.span();
        let mut ty = self.ty();
        while self.at(TokenKind::LBracket) && !self.on_new_line() && !self.failed_here() {
            let bracket = self.span();
            let element = ty.span.of(self.text).to_owned();
            let size = self.bracketed_expr();
            let text = format!("[{element}; {}]", size.span.of(self.text));
            let span = self.since(start);
            self.report_always(
                Diagnostic::new(Code::EXPECTED, bracket, "a size does not stand behind a type")
                    .suggest("an array is written", span, text),
            );
            let kind = TypeKind::Array(Box::new(ty), Box::new(size));
            ty = TypeExpr { id: self.id(), span, kind };
        }
        ty
    }

    /// Parses `{}`, `{1, 2}` or `{"a": 1}` as a value.
    pub(super) fn braces_as_value(&mut self) -> Expr {
        let start = self.span();
        let message = "expected an expression, found `{`";
        let diagnostic =
            Diagnostic::new(Code::EXPECTED, start, message).label("expected an expression");
        let failed = self.failed_here();
        self.bump();
        let (mut depth, mut pairs, mut parts) = (1usize, false, 0usize);
        while depth > 0 && !self.at(TokenKind::End) {
            match self.bump().kind {
                TokenKind::LBrace => depth += 1,
                TokenKind::RBrace => depth -= 1,
                TokenKind::Colon => pairs |= depth == 1,
                _ => parts += 1,
            }
        }
        let span = self.since(start);
        let text = span.of(self.text);
        let inner = text.trim_start_matches('{').trim_end_matches('}').trim();
        let short = text.len() <= SHOWN_BYTES_MAX && !text.contains('\n');
        let written = |what: &str, form: &str| {
            diagnostic.clone().suggest(format!("{what} is written"), span, form)
        };
        if !failed {
            self.report_always(match (parts, pairs) {
                (0, _) => diagnostic.note(
                    "an empty set is `set[]`, an empty map `map[]`, an empty list `[]`; a block has no value here",
                ),
                (_, true) if short => written("a map", &format!("map[{inner}]")),
                (_, false) if short => written("a set", &format!("set[{inner}]")),
                _ => diagnostic.note("a set is `set[1, 2]`, a map `map[1: \"a\"]`, a record `Name { field: 1 }`"),
            });
        }
        self.make(span, ExprKind::Error)
    }

    /// Reports `always` at the start of an invariant.
    pub(super) fn always_in_invariant(&mut self) {
        if !self.at_word("always") || !self.begins_expression_at(1) {
            return;
        }
        let span = self.bump().span;
        let with_blank = Span::new(span.start, self.span().start);
        self.report_always(
            Diagnostic::new(Code::EXPECTED, span, "`always` is no word of models")
                .note("an invariant holds in every state that is reached")
                .suggest("leave it out", with_blank, ""),
        );
    }

    /// Takes `await` from `await f()` as a value, or from `await x;` or `await(c);` as a statement.
    /// Returns `None` if the text may declare a function of that name.
    pub(super) fn foreign_await(&mut self) -> Option<Span> {
        let foreign = self.at_word("await") && !self.text.contains("fn await");
        if !foreign || !self.begins_expression_at(1) {
            return None;
        }
        let span = self.bump().span;
        let diagnostic = Diagnostic::new(Code::EXPECTED, span, "`await` is no word of models");
        self.report_always(diagnostic.note(foreign_word_hint("await").unwrap_or_default()));
        Some(span)
    }

    /// Reports a reserved word that is used as a name, as in `once = 2;`. Returns whether it did.
    pub(super) fn reserved_as_name(&mut self, expected: &str) -> bool {
        let follows = FOLLOWS_NAME.contains(&self.ahead(1));
        if !self.kind().is_reserved() || !follows || self.failed_here() {
            return false;
        }
        self.is_reserved_word(expected);
        true
    }
}
