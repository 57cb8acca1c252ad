//! Patterns.

use super::parser::Parser;
use crate::ast::{Pattern, PatternKind};
use crate::lex::TokenKind;

impl Parser<'_> {
    /// Parses a pattern.
    pub(super) fn pattern(&mut self) -> Pattern {
        let start = self.span();
        let id = self.id();
        if !self.enter() {
            return Pattern { id, span: start, kind: PatternKind::Error };
        }
        let kind = self.pattern_kind();
        self.leave();
        Pattern { id, span: self.since(start), kind }
    }

    fn pattern_kind(&mut self) -> PatternKind {
        match self.kind() {
            TokenKind::Underscore => {
                self.bump();
                PatternKind::Wildcard
            }
            TokenKind::True | TokenKind::False => {
                PatternKind::Bool(self.bump().kind == TokenKind::True)
            }
            TokenKind::Null => {
                self.bump();
                PatternKind::Null
            }
            TokenKind::Str => PatternKind::Str(self.text_literal("a string").value),
            TokenKind::Int => PatternKind::Int(self.int_literal(false)),
            TokenKind::Minus if self.ahead(1) == TokenKind::Int => {
                self.bump();
                PatternKind::Int(self.int_literal(true))
            }
            kind if kind.is_name() && self.ahead(1) == TokenKind::Dot => self.variant_pattern(),
            kind if kind.is_name() => PatternKind::Binding(self.value_name("a name")),
            _ => {
                self.expected("a pattern");
                PatternKind::Error
            }
        }
    }

    fn variant_pattern(&mut self) -> PatternKind {
        let enum_name = self.bump_ident();
        self.bump();
        let variant = self.member_name();
        let mut args = Vec::new();
        if self.eat(TokenKind::LParen) {
            args = self.list(TokenKind::RParen, |p| p.pattern());
        }
        PatternKind::Variant { enum_name, variant, args }
    }
}
