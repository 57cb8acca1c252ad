//! Types.

use super::parser::Parser;
use crate::ast::{TypeExpr, TypeKind};
use crate::lex::TokenKind;
use crate::source::Span;

impl Parser<'_> {
    /// Parses a type.
    pub(super) fn ty(&mut self) -> TypeExpr {
        let start = self.span();
        if !self.enter() {
            let (id, span) = (self.id(), self.since(start));
            return TypeExpr { id, span, kind: TypeKind::Error };
        }
        let kind = self.ty_kind();
        let mut ty = self.make_type(start, kind);
        while self.eat(TokenKind::Question) {
            // `T??` means the same as `T?`.
            if !matches!(ty.kind, TypeKind::Nullable(_)) {
                ty = self.make_type(start, TypeKind::Nullable(Box::new(ty)));
            }
        }
        self.leave();
        ty
    }

    fn make_type(&mut self, start: Span, kind: TypeKind) -> TypeExpr {
        TypeExpr { id: self.id(), span: self.since(start), kind }
    }

    fn ty_kind(&mut self) -> TypeKind {
        match self.kind() {
            // For `set`, `map` without `<` the checker reports that the elements are missing.
            TokenKind::Set => {
                self.bump();
                TypeKind::Set(Box::new(self.one_argument()))
            }
            TokenKind::Map => {
                self.bump();
                self.map_type()
            }
            TokenKind::Name if self.at_word("list") => {
                self.bump();
                TypeKind::List(Box::new(self.one_argument()))
            }
            kind if kind.is_name() => TypeKind::Named(self.bump_ident()),
            TokenKind::Fn => self.fn_type(),
            TokenKind::LBracket => self.array_type(),
            TokenKind::LParen => {
                let open = self.bump().span;
                let inner = self.ty();
                self.close(TokenKind::RParen, open);
                inner.kind
            }
            _ => {
                self.expected("a type");
                TypeKind::Error
            }
        }
    }

    fn one_argument(&mut self) -> TypeExpr {
        self.expect(TokenKind::Lt);
        let element = self.ty();
        self.close_angle();
        element
    }

    fn map_type(&mut self) -> TypeKind {
        self.expect(TokenKind::Lt);
        let key = self.ty();
        self.expect(TokenKind::Comma);
        let value = self.ty();
        self.close_angle();
        TypeKind::Map(Box::new(key), Box::new(value))
    }

    fn close_angle(&mut self) {
        if self.at(TokenKind::Ge) {
            self.split_ge();
        } else {
            self.expect(TokenKind::Gt);
        }
    }

    /// Parses `fn(T, U) -> V`.
    fn fn_type(&mut self) -> TypeKind {
        self.bump();
        let params = self.list_in(TokenKind::LParen, TokenKind::RParen, Self::ty);
        let result = self.eat(TokenKind::Arrow).then(|| Box::new(self.ty()));
        TypeKind::Fn(params, result)
    }

    /// Parses `[T; N]`.
    fn array_type(&mut self) -> TypeKind {
        let open = self.bump().span;
        let element = self.ty();
        self.expect(TokenKind::Semi);
        let size = self.with_records(|p| p.expr());
        self.close(TokenKind::RBracket, open);
        TypeKind::Array(Box::new(element), Box::new(size))
    }
}
