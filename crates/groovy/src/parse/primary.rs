//! Primary expressions: names, constants, strings, lists, maps, closures, `new`.

use super::parser::{Left, Parser, Res};
use crate::ast::{
    Class, ClassKind, Closure, Expr, ExprKind, Modifiers, Number, Parameter, StmtKind, TextParts,
};
use crate::lex::Kind;

impl Parser<'_> {
    pub(super) fn primary(&mut self) -> Res<Expr> {
        let start = self.at;
        let kind = match self.kind() {
            Kind::Name => ExprKind::Name(self.text_at(start).to_owned()),
            Kind::Word(word @ ("this" | "super")) => ExprKind::Name(word.to_owned()),
            Kind::Word("true") => ExprKind::Bool(true),
            Kind::Word("false") => ExprKind::Bool(false),
            Kind::Word("null") => ExprKind::Null,
            Kind::Word(word) if self.is_primitive_at(start) => ExprKind::Name(word.to_owned()),
            Kind::Text => ExprKind::Text(self.string_at(start)),
            Kind::Number => self.number()?,
            Kind::Word("new") => return self.nested(|parser| parser.creation()),
            Kind::TextStart => return self.nested(|parser| parser.text_parts()),
            Kind::Op("(") => return self.nested(|parser| parser.parenthesized()),
            Kind::Op("{") => return self.closure(),
            Kind::Op("[") => return self.nested(|parser| parser.list()),
            _ => return Err(self.no_expression()),
        };
        self.bump();
        Ok(Expr::new(self.span_at(start), kind))
    }

    fn number(&mut self) -> Res<ExprKind> {
        match Number::parse(self.text_at(self.at)) {
            Some(number) => Ok(ExprKind::Number(number)),
            None => {
                let message = format!("the number `{}` is out of range", self.text_at(self.at));
                Err(self.report(self.span(), message))
            }
        }
    }

    fn parenthesized(&mut self) -> Res<Expr> {
        let start = self.at;
        self.bump();
        let inner = self.expr(Left::Inner)?;
        self.expect_op(")")?;
        self.grow()?;
        Ok(Expr::new(self.span_from(start), ExprKind::Paren(Box::new(inner))))
    }

    fn list(&mut self) -> Res<Expr> {
        let start = self.at;
        if self.is_op_at(start + 1, ":") && self.is_op_at(start + 2, "]") {
            self.at += 3;
            return Ok(Expr::new(self.span_from(start), ExprKind::EmptyMap));
        }
        let entries = self.grown(|parser| parser.arguments("[", "]"))?;
        let keys = entries.iter().filter(|entry| entry.is_entry()).count();
        if keys != 0 && keys != entries.len() {
            let message = "a map has a key before each value, a list before none".to_owned();
            return Err(self.report(self.span_from(start), message));
        }
        self.grow()?;
        Ok(Expr::new(self.span_from(start), ExprKind::List(entries)))
    }

    /// Reads a string with parts to insert.
    fn text_parts(&mut self) -> Res<Expr> {
        let start = self.at;
        let mut parts = TextParts { texts: vec![self.string_at(start)], values: vec![] };
        self.bump();
        loop {
            let value =
                if self.is_op("{") { self.inserted_block()? } else { self.inserted_name()? };
            parts.values.push(value);
            if !matches!(self.kind(), Kind::TextMiddle | Kind::TextEnd) {
                return Err(self.expected("the rest of the string"));
            }
            parts.texts.push(self.string_at(self.at));
            self.bump();
            if self.kind_at(self.at - 1) == Kind::TextEnd {
                self.grow()?;
                return Ok(Expr::new(self.span_from(start), ExprKind::Parts(parts)));
            }
        }
    }

    /// Reads `a.b.c` behind a dollar.
    fn inserted_name(&mut self) -> Res<Expr> {
        let start = self.at;
        let is_this = self.is_word("this") || self.is_word("super");
        if self.kind() != Kind::Name && !is_this {
            return Err(self.expected("a name"));
        }
        if is_this {
            self.bump();
            let name = self.text_at(start).to_owned();
            return Ok(Expr::new(self.span_at(start), ExprKind::Name(name)));
        }
        let mut path = Expr::new(self.span(), ExprKind::Name(self.text_at(start).to_owned()));
        self.bump();
        while self.eat_op(".") {
            if !self.is_name_behind_dot(self.at) {
                return Err(self.expected("a name"));
            }
            let name = crate::ast::MemberName::Fixed(self.text_at(self.at).to_owned());
            let member = crate::ast::Member {
                object: Box::new(path),
                access: crate::ast::Access::Dot,
                is_field: false,
                name,
                name_span: self.span(),
            };
            self.bump();
            self.grow()?;
            path = Expr::new(self.span_from(start), ExprKind::Member(member));
        }
        Ok(path)
    }

    /// Reads `{...}` behind a dollar: one expression stands for itself, several statements for the
    /// call of a closure. With an arrow it is a closure.
    fn inserted_block(&mut self) -> Res<Expr> {
        let start = self.at;
        let mut closure = self.closure()?;
        if let ExprKind::Closure(Closure { parameters: None, body }) = &mut closure.kind {
            if body.statements.is_empty() {
                return Ok(Expr::new(self.span_from(start), ExprKind::Null));
            }
            let single = matches!(&body.statements[..], [one] if one.labels.is_empty()
                && matches!(one.kind, StmtKind::Expr(_)));
            if single && let Some(StmtKind::Expr(e)) = body.statements.pop().map(|one| one.kind) {
                return Ok(e);
            }
            let span = closure.span;
            return Ok(Expr::new(span, ExprKind::Call(Box::new(closure), vec![])));
        }
        Ok(closure)
    }

    pub(super) fn closure(&mut self) -> Res<Expr> {
        let start = self.at;
        let (parameters, body) =
            self.grown(|parser| parser.nested(|parser| parser.closure_parts()))?;
        self.grow()?;
        let closure = Closure { parameters, body };
        Ok(Expr::new(self.span_from(start), ExprKind::Closure(closure)))
    }

    fn closure_parts(&mut self) -> Res<(Option<Vec<Parameter>>, crate::ast::Block)> {
        let start = self.at;
        self.expect_op("{")?;
        self.skip_newline();
        let parameters = if self.has_arrow(self.at) {
            let parameters = if self.is_op_at(self.behind_newline(self.at), "->") {
                vec![]
            } else {
                self.parameters()?
            };
            self.skip_newline();
            self.expect_op("->")?;
            self.skip_newline();
            Some(parameters)
        } else {
            None
        };
        Ok((parameters, self.rest_of_block(start)?))
    }

    fn creation(&mut self) -> Res<Expr> {
        let start = self.at;
        self.bump();
        self.skip_newline();
        let mut created = self.type_name_without_brackets()?;
        let is_array = self.is_op("[");
        self.grow()?;
        if is_array {
            let (mut sizes, mut empty) = (Vec::new(), 0);
            while self.is_op("[") {
                self.bump();
                if self.eat_op("]") {
                    empty += 1;
                    continue;
                }
                if empty > 0 {
                    return Err(self.expected("`]`"));
                }
                sizes.push(self.expr(Left::Inner)?);
                self.expect_op("]")?;
            }
            if sizes.is_empty() {
                return Err(self.report(self.span_from(start), "an array needs a size".to_owned()));
            }
            created.dimensions = 0;
            let kind = ExprKind::NewArray(created, sizes, empty);
            return Ok(Expr::new(self.span_from(start), kind));
        }
        self.skip_newline();
        if !self.is_op("(") {
            return Err(self.expected("`(` or `[`"));
        }
        let arguments = self.grown(|parser| parser.arguments("(", ")"))?;
        self.check_keys(&arguments)?;
        // Behind an arrow at once it is a closure for a call of the new object. Anything else is a
        // class, so that a closure with parameters is a mistake.
        let is_closure = self.is_op_at(self.behind_newline(self.at + 1), "->");
        let body = if self.is_op("{") && !is_closure {
            Some(Box::new(self.anonymous_class()?))
        } else {
            None
        };
        let kind = ExprKind::New(created, arguments, body);
        Ok(Expr::new(self.span_from(start), kind))
    }

    fn anonymous_class(&mut self) -> Res<Class> {
        let start = self.at;
        let mut class = Class {
            span: self.span(),
            kind: ClassKind::Anonymous,
            modifiers: Modifiers::default(),
            name: String::new(),
            type_parameters: vec![],
            extends: vec![],
            implements: vec![],
            constants: vec![],
            items: vec![],
        };
        self.class_body(&mut class)?;
        class.span = self.span_from(start);
        Ok(class)
    }
}
