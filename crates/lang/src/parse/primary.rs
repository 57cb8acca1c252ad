//! Expressions that begin with a sign or word of their own.

use super::parser::Parser;
use crate::ast::{Closure, ClosureBody, Expr, ExprKind, FieldInit, Fork, Param, Post, PostTarget};
use crate::diagnostic::{Code, Diagnostic};
use crate::lex::{IntError, TokenKind, parse_int};

impl Parser<'_> {
    pub(super) fn primary(&mut self) -> Expr {
        let span = self.span();
        match self.kind() {
            TokenKind::Int => {
                let value = self.int_literal(false);
                self.make(span, ExprKind::Int(value))
            }
            TokenKind::Str => {
                let value = self.text_literal("a string").value;
                self.make(span, ExprKind::Str(value))
            }
            TokenKind::True => self.word(ExprKind::Bool(true)),
            TokenKind::False => self.word(ExprKind::Bool(false)),
            TokenKind::Null => self.word(ExprKind::Null),
            TokenKind::SelfWord => self.word(ExprKind::SelfRef),
            TokenKind::LParen => self.parenthesised(),
            TokenKind::LBracket => self.list_literal(),
            TokenKind::Set if self.ahead(1) == TokenKind::LBracket => self.set_literal(),
            TokenKind::Map if self.ahead(1) == TokenKind::LBracket => self.map_literal(),
            TokenKind::New if self.word_has_operand() => self.new_object(),
            TokenKind::Fn => self.closure(),
            TokenKind::If => self.if_expr(),
            TokenKind::Match => self.match_expr(),
            TokenKind::Enabled if self.ahead(1) == TokenKind::LParen => self.enabled(),
            TokenKind::Post if self.word_has_operand() => self.post(),
            TokenKind::Async if self.ahead(1) == TokenKind::LBracket => self.post(),
            TokenKind::Fork if self.word_has_operand() => self.fork(),
            TokenKind::Choose if self.ahead(1) != TokenKind::LBrace => self.choose_value(),
            TokenKind::LBrace if !self.no_record => self.braces_as_value(),
            kind if kind.is_name() && !self.is_misplaced_word() => self.name_or_record(),
            _ if !self.on_new_line() && self.reserved_as_name("an expression") => {
                self.word(ExprKind::Error)
            }
            _ => {
                self.expected("an expression");
                self.make(self.before().after(), ExprKind::Error)
            }
        }
    }

    fn word(&mut self, kind: ExprKind) -> Expr {
        let span = self.bump().span;
        self.make(span, kind)
    }

    /// Takes a number. 2^63 is only allowed after `-`.
    pub(super) fn int_literal(&mut self, negative: bool) -> i64 {
        let span = self.bump().span;
        let value = parse_int(span.of(self.text));
        let message = match value {
            Ok(value) if negative => return (value as i64).wrapping_neg(),
            Ok(value) if value < 1 << 63 => return value as i64,
            Ok(_) | Err(IntError::TooLarge) => "this number does not fit into 64 bits",
            Err(IntError::Malformed) => "this is not a number",
        };
        let diagnostic = Diagnostic::new(Code::NUMBER, span, message);
        self.report_always(match value {
            Err(IntError::Malformed) => {
                diagnostic.note("numbers are decimal (`1_000`) or hexadecimal (`0xff`)")
            }
            _ => diagnostic.note("integers go from -9223372036854775808 to 9223372036854775807"),
        });
        0
    }

    /// Returns whether the current token is the number 2^63 and no token after it binds tighter
    /// than `-`.
    pub(super) fn is_least_int(&self) -> bool {
        let tighter =
            matches!(self.ahead(1), TokenKind::Dot | TokenKind::LBracket | TokenKind::LParen);
        !tighter && parse_int(self.span().of(self.text)) == Ok(1 << 63)
    }

    fn name_or_record(&mut self) -> Expr {
        if self.ahead(1) != TokenKind::LParen && self.foreign_await().is_some() {
            return self.primary();
        }
        let span = self.bump().span;
        let record = !self.no_record && self.at(TokenKind::LBrace) && self.looks_like_fields();
        if !record {
            return self.make(span, ExprKind::Name(span.of(self.text).to_string()));
        }
        let name = self.ident(span);
        self.bump();
        let (fields, base) = self.field_inits();
        let kind = ExprKind::Record { name, fields, base: base.map(Box::new) };
        self.make(self.since(span), kind)
    }

    /// Returns whether `{ field:`, `{ ..` or `{}` follows a `Name`.
    fn looks_like_fields(&self) -> bool {
        match self.ahead(1) {
            TokenKind::DotDot | TokenKind::RBrace => true,
            _ => self.ahead(2) == TokenKind::Colon,
        }
    }

    /// Parses `a: 1, b: 2, ..old }` after the `{`.
    fn field_inits(&mut self) -> (Vec<FieldInit>, Option<Expr>) {
        let mut base = None;
        let fields = self.with_records(|p| {
            p.list(TokenKind::RBrace, |p| {
                if p.eat(TokenKind::DotDot) {
                    base = Some(p.expr());
                    return None;
                }
                let name = p.name_and("a field", TokenKind::Colon);
                Some(FieldInit { name, value: p.expr() })
            })
        });
        (fields.into_iter().flatten().collect(), base)
    }

    fn parenthesised(&mut self) -> Expr {
        let open = self.bump().span;
        let inner = self.with_records(|p| p.expr());
        self.close(TokenKind::RParen, open);
        self.make(self.since(open), ExprKind::Paren(Box::new(inner)))
    }

    /// Parses `[a, b]` or `[e; n]`.
    fn list_literal(&mut self) -> Expr {
        let open = self.bump().span;
        if self.eat(TokenKind::RBracket) {
            return self.make(self.since(open), ExprKind::List(vec![]));
        }
        let first = self.with_records(|p| p.expr());
        if self.eat(TokenKind::Semi) {
            let count = self.with_records(|p| p.expr());
            self.close(TokenKind::RBracket, open);
            let kind = ExprKind::Repeat(Box::new(first), Box::new(count));
            return self.make(self.since(open), kind);
        }
        let mut elements = vec![first];
        if self.eat(TokenKind::Comma) {
            elements
                .extend(self.with_records(|p| p.list_from(open, TokenKind::RBracket, Self::expr)));
        } else {
            self.close(TokenKind::RBracket, open);
        }
        self.make(self.since(open), ExprKind::List(elements))
    }

    fn set_literal(&mut self) -> Expr {
        let start = self.bump().span;
        self.bump();
        let elements = self.with_records(|p| p.list(TokenKind::RBracket, |p| p.expr()));
        self.make(self.since(start), ExprKind::Set(elements))
    }

    fn map_literal(&mut self) -> Expr {
        let start = self.bump().span;
        self.bump();
        let entries = self.with_records(|p| {
            p.list(TokenKind::RBracket, |p| {
                let key = p.expr();
                p.expect(TokenKind::Colon);
                (key, p.expr())
            })
        });
        self.make(self.since(start), ExprKind::Map(entries))
    }

    /// Parses `new Node()` and `new Node { v: 3 }`.
    fn new_object(&mut self) -> Expr {
        let start = self.bump().span;
        let class = self.name("the name of a class");
        let mut fields = Vec::new();
        if self.eat(TokenKind::LParen) {
            let open = self.before();
            if !self.at(TokenKind::RParen) {
                let diagnostic =
                    Diagnostic::new(Code::EXPECTED, self.span(), "`new` takes no arguments").note(
                        format!("fields are set by name: `new {} {{ field: value }}`", class.name),
                    );
                self.report_always(diagnostic);
                let _ = self.args();
            } else {
                self.close(TokenKind::RParen, open);
            }
        } else if self.at(TokenKind::LBrace) && !self.no_record {
            self.bump();
            let (inits, base) = self.field_inits();
            fields = inits;
            if let Some(base) = base {
                let message = "an object is not made from another one";
                self.report_always(Diagnostic::new(Code::EXPECTED, base.span, message));
            }
        } else {
            self.expected("`()` or `{ field: value }`");
        }
        self.make(self.since(start), ExprKind::New { class, fields })
    }

    /// Parses `fn(x) x + 1` and `fn(x: int) -> int { .. }`.
    fn closure(&mut self) -> Expr {
        let mark = self.mark();
        let start = self.bump().span;
        let params = self.params();
        let result = self.eat(TokenKind::Arrow).then(|| self.ty());
        let body = if self.at(TokenKind::LBrace) {
            ClosureBody::Block(self.with_records(|p| p.value_block()))
        } else {
            ClosureBody::Expr(self.expr())
        };
        let kind = ExprKind::Closure(Box::new(Closure { params, result, body }));
        self.expr_since(self.since(start), kind, mark)
    }

    /// Parses `(a: int, b)`.
    pub(super) fn params(&mut self) -> Vec<Param> {
        self.list_in(TokenKind::LParen, TokenKind::RParen, |p| {
            let name = p.value_name("the name of a parameter");
            let ty = p.eat(TokenKind::Colon).then(|| p.declared_ty());
            Param { name, ty }
        })
    }

    /// Parses `enabled(e)`.
    fn enabled(&mut self) -> Expr {
        let start = self.bump().span;
        let opened = self.expect(TokenKind::LParen);
        let open = self.before();
        let event = self.with_records(|p| p.reference("the name of an event"));
        if opened {
            self.close(TokenKind::RParen, open);
        }
        self.make(self.since(start), ExprKind::Enabled(event))
    }

    /// Parses `post t(a)`, `post any t(a)` and `async[main] t(a)`; `to`, `after` and `front` may
    /// follow.
    fn post(&mut self) -> Expr {
        let start = self.span();
        let async_form = self.bump().kind == TokenKind::Async;
        let mut target = PostTarget::Default;
        if async_form {
            let open = self.span();
            if self.expect(TokenKind::LBracket) {
                if self.eat_word("any") {
                    target = PostTarget::Any;
                } else {
                    target = PostTarget::Handler(self.reference("`any` or the name of a handler"));
                }
                self.close(TokenKind::RBracket, open);
            }
        } else if self.at_word("any") && self.names_something(1) {
            self.bump();
            target = PostTarget::Any;
        }
        let task = self.name("the name of a task");
        let args = if self.expect(TokenKind::LParen) { self.args() } else { vec![] };
        let mut post = Post { task, args, target, after: None, front: false, async_form };
        self.post_options(&mut post);
        self.make(self.since(start), ExprKind::Post(Box::new(post)))
    }

    fn post_options(&mut self, post: &mut Post) {
        loop {
            let span = self.span();
            if self.eat_word("to") {
                if !matches!(post.target, PostTarget::Default) {
                    let message = "this task has a destination already";
                    self.report_always(Diagnostic::new(Code::EXPECTED, span, message));
                }
                post.target = PostTarget::Handler(self.reference("the name of a handler"));
            } else if self.eat_word("after") {
                post.after = Some(self.expr());
            } else if self.eat_word("front") {
                post.front = true;
            } else {
                return;
            }
        }
    }

    /// Parses `fork f(a)`.
    fn fork(&mut self) -> Expr {
        let start = self.bump().span;
        let function = self.name("the name of a function");
        let args = if self.expect(TokenKind::LParen) { self.args() } else { vec![] };
        self.make(self.since(start), ExprKind::Fork(Box::new(Fork { function, args })))
    }

    /// Parses `choose 0..3`.
    fn choose_value(&mut self) -> Expr {
        let start = self.bump().span;
        let from = Box::new(self.expr());
        self.make(self.since(start), ExprKind::Choose(from))
    }
}
