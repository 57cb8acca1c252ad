//! Declarations with types and bodies: constants, types, functions, tasks, events, threads,
//! specifications.

use super::item::Modifiers;
use super::parser::Parser;
use crate::ast::{
    Block, ClassDecl, ClassField, ClassMember, ConstDecl, EnumDecl, EventDecl, FnDecl, Ident,
    ItemKind, RecordDecl, RecordField, SpecCall, SpecClause, SpecDecl, TaskDecl, ThreadDecl,
    Variant,
};
use crate::diagnostic::{Code, Diagnostic};
use crate::lex::TokenKind;

impl Parser<'_> {
    pub(super) fn const_item(&mut self) -> ItemKind {
        let name = self.value_name("the name of a constant");
        let ty = self.eat(TokenKind::Colon).then(|| self.ty());
        self.expect(TokenKind::Eq);
        let value = self.expr();
        self.semi("the constant");
        ItemKind::Const(ConstDecl { name, ty, value })
    }

    pub(super) fn enum_item(&mut self) -> ItemKind {
        let name = self.name("the name of an enum");
        let variants = self.list_in(TokenKind::LBrace, TokenKind::RBrace, |p| {
            let name = p.name("the name of a variant");
            let carries = p.eat(TokenKind::LParen);
            let payload = if carries { p.list(TokenKind::RParen, Self::ty) } else { vec![] };
            Variant { name, payload }
        });
        ItemKind::Enum(EnumDecl { name, variants })
    }

    pub(super) fn record_item(&mut self) -> ItemKind {
        let name = self.name("the name of a record");
        let fields = self.list_in(TokenKind::LBrace, TokenKind::RBrace, |p| RecordField {
            name: p.name_and("the name of a field", TokenKind::Colon),
            ty: p.declared_ty(),
        });
        ItemKind::Record(RecordDecl { name, fields })
    }

    pub(super) fn class_item(&mut self) -> ItemKind {
        let name = self.name("the name of a class");
        let mut members = Vec::new();
        if self.expect(TokenKind::LBrace) {
            let open = self.before();
            loop {
                match self.kind() {
                    TokenKind::Var => self.class_fields(&mut members),
                    TokenKind::Fn => members.push(ClassMember::Method(self.function())),
                    TokenKind::RBrace | TokenKind::End => break,
                    kind if super::recovery::starts_item(kind) => break,
                    _ => {
                        let here = self.here();
                        self.expected("`var` or `fn`");
                        self.skip_statement();
                        if here == self.here() {
                            self.bump();
                        }
                    }
                }
            }
            self.close(TokenKind::RBrace, open);
        }
        ItemKind::Class(ClassDecl { name, members })
    }

    fn class_fields(&mut self, members: &mut Vec<ClassMember>) {
        let start = self.bump().span;
        let vars = self.var_list(Self::name);
        let span = self.since(start);
        members.extend(vars.into_iter().map(|var| ClassMember::Field(ClassField { var, span })));
    }

    /// Parses `fn name(a: int) -> int { .. }`.
    pub(super) fn function(&mut self) -> FnDecl {
        let start = self.bump().span;
        let id = self.id();
        let name = self.name("the name of a function");
        let params = self.params();
        let result = self.eat(TokenKind::Arrow).then(|| self.ty());
        let body = self.value_block();
        let daemon = false;
        FnDecl { id, daemon, name, params, result, body, span: self.since(start) }
    }

    pub(super) fn task_item(&mut self, procedure: bool, modifiers: &Modifiers) -> ItemKind {
        let daemon = modifiers.has(TokenKind::Daemon);
        let name = self.name("the name of a task");
        let params = self.params();
        let on = self.eat_word("on").then(|| self.reference("the name of a handler"));
        let body = self.block();
        ItemKind::Task(TaskDecl { procedure, daemon, name, params, on, body })
    }

    pub(super) fn event_item(&mut self, modifiers: &Modifiers) -> ItemKind {
        let name = self.name("the name of an event");
        let family = self.family();
        let mut event = EventDecl {
            once: modifiers.has(TokenKind::Once),
            disabled: modifiers.has(TokenKind::Disabled),
            unfair: modifiers.has(TokenKind::Unfair),
            daemon: modifiers.has(TokenKind::Daemon),
            name,
            family,
            on: None,
            when: None,
            after: vec![],
            body: Block { stmts: vec![], value: None, span: self.span() },
        };
        if self.at(TokenKind::LParen) {
            let span = self.span();
            self.report(
                Diagnostic::new(Code::EXPECTED, span, "events have no parameters")
                    .note("a family of events has one: `event click[i in 0..3] { .. }`"),
            );
            self.bump();
            self.list(TokenKind::RParen, |p| p.expr());
        }
        self.event_clauses(&mut event);
        event.body = self.block();
        ItemKind::Event(event)
    }

    fn event_clauses(&mut self, event: &mut EventDecl) {
        loop {
            let span = self.span();
            if self.eat_word("on") {
                if event.on.is_some() {
                    self.twice(span, "on");
                }
                event.on = Some(self.reference("the name of a handler"));
            } else if self.eat_word("when") {
                if event.when.is_some() {
                    self.twice(span, "when");
                }
                event.when = Some(self.condition());
            } else if self.eat_word("after") {
                event.after.extend(self.separated(|p| p.reference("the name of an event")));
            } else {
                return;
            }
        }
    }

    fn twice(&mut self, span: crate::source::Span, word: &str) {
        let message = format!("`{word}` stands here twice");
        self.report_always(Diagnostic::new(Code::EXPECTED, span, message));
    }

    pub(super) fn thread_item(&mut self, modifiers: &Modifiers) -> ItemKind {
        let name = self.name("the name of a thread");
        let family = self.family();
        let body = self.block();
        ItemKind::Thread(ThreadDecl {
            unfair: modifiers.has(TokenKind::Unfair),
            daemon: modifiers.has(TokenKind::Daemon),
            name,
            family,
            body,
        })
    }

    /// Parses `spec Set { add(a)/r ~ contains(b)/s when a != b; }`.
    pub(super) fn spec_item(&mut self) -> ItemKind {
        let class = self.name("the name of a class");
        let mut clauses = Vec::new();
        if self.expect(TokenKind::LBrace) {
            let open = self.before();
            while !matches!(self.kind(), TokenKind::RBrace | TokenKind::End) {
                let here = self.here();
                clauses.push(self.spec_clause());
                if here == self.here() {
                    break;
                }
            }
            self.close(TokenKind::RBrace, open);
        }
        ItemKind::Spec(SpecDecl { class, clauses })
    }

    fn spec_clause(&mut self) -> SpecClause {
        let start = self.span();
        let left = self.spec_call();
        self.expect(TokenKind::Tilde);
        let right = self.spec_call();
        let when = self.eat_word("when").then(|| self.expr());
        self.semi("the clause");
        SpecClause { left, right, when, span: self.since(start) }
    }

    fn spec_call(&mut self) -> SpecCall {
        let method = self.member_name();
        let args = self.list_in(TokenKind::LParen, TokenKind::RParen, Self::spec_name);
        let result = self.eat(TokenKind::Slash).then(|| self.spec_name());
        SpecCall { method, args, result }
    }

    fn spec_name(&mut self) -> Ident {
        self.name_or_blank("a name for the value")
    }
}
