//! Paths: a primary expression with members, calls, indices and blocks behind it; and commands.

use super::parser::{Left, Parser, Res};
use crate::ast::{Access, Arg, Expr, ExprKind, Key, Member, MemberName};
use crate::lex::{Kind, PRIMITIVES};
use anyorder_common::source::Span;

impl Parser<'_> {
    pub(super) fn path(&mut self, left: Left) -> Res<Expr> {
        self.grown(|parser| {
            let start = parser.at;
            let mut path = parser.primary()?;
            while let Some(longer) = parser.path_step(&mut path, start, left)? {
                path = longer;
            }
            parser.last_path = (start, parser.at);
            Ok(path)
        })
    }

    /// Reads one more part of a path; `None` at its end.
    fn path_step(&mut self, path: &mut Expr, start: usize, left: Left) -> Res<Option<Expr>> {
        if !self.path_goes_on(left) {
            return Ok(None);
        }
        self.grow()?;
        let before = std::mem::replace(path, Expr::new(path.span, ExprKind::Error));
        if matches!(self.kind(), Kind::Op("(" | "{")) {
            self.check_callee(&before)?;
        }
        let kind = match self.kind() {
            Kind::Op("(") => {
                let arguments = self.arguments("(", ")")?;
                self.check_keys(&arguments)?;
                ExprKind::Call(Box::new(before), arguments)
            }
            Kind::Op("[") => ExprKind::Index(Box::new(before), self.arguments("[", "]")?),
            Kind::Op("{") => self.appended_block(before)?,
            Kind::Newline if self.is_op_at(self.at + 1, "{") => {
                self.bump();
                self.appended_block(before)?
            }
            _ => ExprKind::Member(self.member(before)?),
        };
        Ok(Some(Expr::new(self.span_from(start), kind)))
    }

    /// `a.this` and `a.super` are members, but no methods.
    fn check_callee(&mut self, callee: &Expr) -> Res<()> {
        if let ExprKind::Member(Member { name: MemberName::Fixed(name), .. }) = &callee.kind
            && (name == "this" || name == "super")
        {
            return Err(self.report(callee.span, format!("`{name}` is no method")));
        }
        if let ExprKind::Name(name) = &callee.kind
            && self.is_no_method(name, callee)
        {
            return Err(self.report(callee.span, format!("`{name}` is no method")));
        }
        Ok(())
    }

    /// Returns whether a name can not be called: a primitive type, or the constructor of the class
    /// or its parent at another place than the start of a constructor.
    fn is_no_method(&self, name: &str, callee: &Expr) -> bool {
        let is_constructor = name == "this" || name == "super";
        let allowed = self.constructor_call == Some(callee.span.start);
        PRIMITIVES[1..].contains(&name) || (is_constructor && !allowed)
    }

    fn path_goes_on(&self, left: Left) -> bool {
        match self.kind() {
            Kind::Op("(" | "{") => true,
            // `f [:]` is a command.
            Kind::Op("[") => !self.is_op_at(self.at + 1, ":"),
            Kind::Newline if self.is_op_at(self.at + 1, "{") => left == Left::Statement,
            _ => matches!(self.kind_behind_newline(), Kind::Op("." | "?." | "*." | ".&")),
        }
    }

    /// Appends a closure to a call; what is no call becomes one.
    fn appended_block(&mut self, before: Expr) -> Res<ExprKind> {
        let closure = Arg::Plain(self.closure()?);
        Ok(match before.kind {
            ExprKind::Call(callee, mut arguments) => {
                arguments.push(closure);
                ExprKind::Call(callee, arguments)
            }
            kind => ExprKind::Call(Box::new(Expr::new(before.span, kind)), vec![closure]),
        })
    }

    fn member(&mut self, object: Expr) -> Res<Member> {
        self.skip_newline();
        let access = match self.kind() {
            Kind::Op("?.") => Access::Safe,
            Kind::Op("*.") => Access::Spread,
            Kind::Op(".&") => Access::Pointer,
            _ => Access::Dot,
        };
        self.bump();
        self.skip_newline();
        let is_field = self.eat_op("@");
        let start = self.at;
        let name = match self.kind() {
            Kind::Name => MemberName::Fixed(self.text_at(start).to_owned()),
            Kind::Text => MemberName::Fixed(self.string_at(start)),
            Kind::Word(word) => MemberName::Fixed(word.to_owned()),
            Kind::TextStart | Kind::Op("(") => {
                let name = self.primary()?;
                MemberName::Computed(Box::new(name))
            }
            _ => return Err(self.expected("the name of a member")),
        };
        if matches!(name, MemberName::Fixed(_)) {
            self.bump();
        }
        let name_span = self.span_from(start);
        Ok(Member { object: Box::new(object), access, is_field, name, name_span })
    }

    /// Reads arguments in brackets, with the brackets.
    pub(super) fn arguments(&mut self, open: &str, close: &str) -> Res<Vec<Arg>> {
        self.expect_op(open)?;
        let mut arguments = Vec::new();
        while !self.is_op(close) {
            arguments.push(self.argument()?);
            if !self.eat_op(",") {
                break;
            }
            if self.is_op(",") {
                while self.eat_op(",") {}
                if self.is_op(close) {
                    return Err(self.expected("an argument"));
                }
            }
        }
        if self.is_op(close) || arguments.is_empty() {
            self.expect_op(close)?;
        } else {
            return Err(self.expected(&format!("`,` or `{close}`")));
        }
        Ok(arguments)
    }

    /// Reports a key that a call has twice.
    pub(super) fn check_keys(&mut self, arguments: &[Arg]) -> Res<()> {
        let mut keys: Vec<(String, Span)> = Vec::new();
        for argument in arguments {
            match argument {
                Arg::Named(Key::Name(name, span), _) => keys.push((name.clone(), *span)),
                Arg::Named(Key::Expr(Expr { span, kind: ExprKind::Text(text) }), _) => {
                    keys.push((text.clone(), *span));
                }
                Arg::Named(Key::Expr(key), _) if matches!(key.kind, ExprKind::Number(_)) => {
                    keys.push((key.span.of(self.source).to_owned(), key.span));
                }
                _ => {}
            }
        }
        keys.sort_unstable();
        match keys.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => {
                let message = format!("the argument `{}` is given twice", pair[1].0);
                Err(self.report(pair[1].1, message))
            }
            None => Ok(()),
        }
    }

    fn argument(&mut self) -> Res<Arg> {
        if self.is_label_at(self.at) {
            let key = self.key()?;
            self.expect_op(":")?;
            return Ok(Arg::Named(key, self.strict()?));
        }
        if !self.eat_op("*") {
            let value = self.strict()?;
            return if self.is_op(":") { Err(self.expected("`,`")) } else { Ok(Arg::Plain(value)) };
        }
        if self.eat_op(":") {
            Ok(Arg::SpreadMap(self.strict()?))
        } else {
            Ok(Arg::Spread(self.strict()?))
        }
    }

    fn key(&mut self) -> Res<Key> {
        let start = self.at;
        if matches!(self.kind(), Kind::Name | Kind::Word(_)) {
            self.bump();
            return Ok(Key::Name(self.text_at(start).to_owned(), self.span_at(start)));
        }
        Ok(Key::Expr(self.primary()?))
    }

    /// Reads the arguments of a command behind its name, and names and arguments behind those:
    /// `a b c d` is `a(b).c(d)`.
    pub(super) fn commands(&mut self, head: Expr, start: usize) -> Res<Expr> {
        let mut path = head;
        if !matches!(path.kind, ExprKind::Call(..)) && self.starts_argument() {
            path = self.command(path, start)?;
        }
        while self.starts_primary() {
            self.grow()?;
            let name_start = self.at;
            let name = match self.kind() {
                Kind::Name => MemberName::Fixed(self.text_at(name_start).to_owned()),
                Kind::Text => MemberName::Fixed(self.string_at(name_start)),
                Kind::Word("void") => MemberName::Fixed("void".to_owned()),
                Kind::Word("true" | "false" | "null") | Kind::Number | Kind::TextStart => {
                    let name = self.primary()?;
                    self.at -= 1;
                    MemberName::Computed(Box::new(name))
                }
                Kind::Word("new") | Kind::Op("[") => {
                    let name = self.primary()?;
                    self.at -= 1;
                    MemberName::Computed(Box::new(name))
                }
                _ => return Err(self.expected("the end of the statement")),
            };
            self.bump();
            let member = Member {
                object: Box::new(path),
                access: Access::Dot,
                is_field: false,
                name,
                name_span: self.span_at(name_start),
            };
            path = Expr::new(self.span_from(start), ExprKind::Member(member));
            if self.path_goes_on(Left::Statement) {
                while let Some(longer) = self.path_step(&mut path, start, Left::Statement)? {
                    path = longer;
                }
            } else if self.starts_argument() {
                path = self.command(path, start)?;
            }
        }
        Ok(path)
    }

    fn command(&mut self, callee: Expr, start: usize) -> Res<Expr> {
        self.grow()?;
        self.check_callee(&callee)?;
        let mut arguments = vec![self.command_argument()?];
        while self.eat_op(",") {
            self.skip_newline();
            arguments.push(self.command_argument()?);
        }
        self.check_keys(&arguments)?;
        Ok(Expr::new(self.span_from(start), ExprKind::Call(Box::new(callee), arguments)))
    }

    fn command_argument(&mut self) -> Res<Arg> {
        if self.is_label_at(self.at) {
            let key = self.key()?;
            self.expect_op(":")?;
            self.skip_newline();
            return Ok(Arg::Named(key, self.expr(Left::Inner)?));
        }
        Ok(Arg::Plain(self.expr(Left::Inner)?))
    }

    /// Returns whether an argument of a command begins here.
    fn starts_argument(&self) -> bool {
        match self.kind() {
            Kind::Op("!" | "~" | "++" | "--") => true,
            _ => self.starts_primary() || self.is_label_at(self.at),
        }
    }

    fn starts_primary(&self) -> bool {
        match self.kind() {
            Kind::Name | Kind::Number | Kind::Text | Kind::TextStart => true,
            Kind::Op("(" | "[" | "{") => true,
            Kind::Word(word) => {
                matches!(word, "new" | "this" | "super" | "true" | "false" | "null")
                    || self.is_primitive_at(self.at)
            }
            _ => false,
        }
    }
}
