//! Expressions: the type of each form.

use super::body::BodyKind;
use super::checker::{Checker, types_of};
use super::model::{GlobalId, Meaning};
use super::type_expr::what_is;
use super::types::Type;
use crate::ast::{Expr, ExprKind, UnaryOp};
use crate::diagnostic::{Code, Diagnostic};

/// The position of an expression.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// Inside another expression.
    Inner,
    /// Where `post`, `fork` and `choose` are allowed.
    Action,
}

impl<'a> Checker<'a> {
    /// Checks an expression and returns its type.
    pub(super) fn expr(&mut self, expr: &'a Expr) -> Type {
        self.typed(expr, None, Position::Inner)
    }

    /// The type of an expression in a place of type `want`: literals and closures take it over.
    pub(super) fn expr_hinted(&mut self, expr: &'a Expr, want: &Type) -> Type {
        self.typed(expr, Some(want), Position::Inner)
    }

    /// Returns the type of an expression that may be `post`, `fork` or `choose`.
    pub(super) fn expr_action(&mut self, expr: &'a Expr) -> Type {
        self.typed(expr, None, Position::Action)
    }

    /// Works as [`Checker::expect`], but also allows `post`, `fork` and `choose`.
    pub(super) fn expect_action(&mut self, expr: &'a Expr, want: &Type) -> Type {
        let found = self.typed(expr, Some(want), Position::Action);
        self.fit_here(expr, &found, want, None);
        found
    }

    fn typed(&mut self, expr: &'a Expr, want: Option<&Type>, position: Position) -> Type {
        // An unknown type is no hint.
        let want = want.map(|want| self.unknowns.shallow(want));
        let want = want.filter(|want| !matches!(want, Type::Unknown(_) | Type::Any));
        let ty = self.of_kind(expr, want.as_ref(), position);
        self.set_type(expr.id, &ty);
        self.unknowns.at = expr.span;
        ty
    }

    fn of_kind(&mut self, expr: &'a Expr, want: Option<&Type>, position: Position) -> Type {
        match &expr.kind {
            ExprKind::Int(_) => Type::Int,
            ExprKind::Bool(_) => Type::Bool,
            ExprKind::Str(_) => Type::Str,
            ExprKind::Null => Type::Null,
            ExprKind::Name(name) => self.name_value(name, expr),
            ExprKind::SelfRef => self.self_value(expr),
            ExprKind::Paren(inner) => {
                let ty = self.typed(inner, want, position);
                if let Some(wanted) = self.program.runtime_checks.get(&inner.id).cloned() {
                    self.program.runtime_checks.insert(expr.id, wanted);
                }
                ty
            }
            ExprKind::List(elements) => self.list_literal(elements, want),
            ExprKind::Repeat(value, count) => {
                let over = self.index_type(count);
                if over.is_none() {
                    self.expect(count, &Type::Int);
                }
                let element = self.element_hint(want);
                let element = self.one_of(value, element);
                match over {
                    Some(over) => Type::Array(over, Box::new(element)),
                    None => Type::list(element),
                }
            }
            ExprKind::Set(elements) => self.set_literal(elements, want),
            ExprKind::Map(entries) => self.map_literal(entries, want),
            ExprKind::Record { name, fields, base } => {
                self.record_literal(expr, name, fields, base.as_deref())
            }
            ExprKind::New { class, fields } => self.new_object(class, fields),
            ExprKind::Closure(closure) => self.closure(expr, closure, want),
            ExprKind::If(node) => self.if_value(expr, node, want),
            ExprKind::Match(node) => self.match_value(expr, node, want),
            ExprKind::Unary(UnaryOp::Not, operand) => {
                self.expect(operand, &Type::Bool);
                Type::Bool
            }
            ExprKind::Unary(UnaryOp::Neg, operand) => {
                self.expect(operand, &Type::Int);
                Type::Int
            }
            ExprKind::Binary { op, op_span, left, right } => {
                self.binary(*op, *op_span, left, right, want)
            }
            ExprKind::Field { base, name } => self.field(expr, base, name),
            ExprKind::Index { base, index } => self.index(base, index),
            ExprKind::Call { callee, args } => self.call(expr, callee, args),
            ExprKind::Method { receiver, name, args } => self.method(expr, receiver, name, args),
            ExprKind::Enabled(event) => {
                self.events_ref(event);
                Type::Bool
            }
            ExprKind::Post(_) | ExprKind::Fork(_) | ExprKind::Choose(_) => {
                self.action(expr, position)
            }
            ExprKind::Error => Type::Any,
        }
    }

    /// `post`, `fork` or `choose`.
    fn action(&mut self, expr: &'a Expr, position: Position) -> Type {
        let (word, ty) = match &expr.kind {
            ExprKind::Post(post) => ("post", self.post(expr, post)),
            ExprKind::Fork(fork) => ("fork", self.fork(expr, fork)),
            ExprKind::Choose(from) => ("choose", self.choose_from(expr, from)),
            _ => return Type::Any,
        };
        if position == Position::Action {
            return ty;
        }
        let message = format!("`{word}` inside an expression");
        self.report(
            Diagnostic::new(Code::ACTION_PLACE, expr.span, message)
                .note(format!("it stands alone, or to the right of `=`: `let a = {word} ..;`")),
        );
        Type::Any
    }

    /// Checks expressions whose values go nowhere.
    pub(super) fn exprs(&mut self, exprs: &'a [Expr]) {
        exprs.iter().for_each(|expr| drop(self.expr(expr)));
    }

    /// The type of an expression whose value goes into a place of type `any`.
    pub(super) fn hidden(&mut self, expr: &'a Expr) {
        let ty = self.expr(expr);
        self.unknowns.hide(&ty);
    }

    /// Returns an unknown or nullable type without null, as far as it is known.
    pub(super) fn solid(&self, ty: &Type) -> Type {
        let ty = self.unknowns.shallow(ty);
        self.unknowns.shallow(ty.solid())
    }

    fn name_value(&mut self, name: &'a str, expr: &'a Expr) -> Type {
        let Some(meaning) = self.resolve(name, expr.span, expr.id) else { return Type::Any };
        match meaning {
            Meaning::Local(id) => self.local_type(id),
            Meaning::Index(id) => Type::Set(Box::new(Type::Index(id))),
            Meaning::Const(id) => self.const_type(id),
            Meaning::Global(id) => {
                self.global_is_ready(id, name, expr);
                self.program.globals[id.index()].ty.clone()
            }
            Meaning::Function(id) => {
                let info = &self.program.functions[id.index()];
                Type::Fn(types_of(&info.params), Box::new(info.result.clone()))
            }
            other => {
                let declared = self.names.get(name).map(|(_, span)| *span);
                let message = format!("`{name}` is {}, not a value", what_is(other));
                let diagnostic = Diagnostic::new(Code::WRONG_KIND, expr.span, message);
                self.report(diagnostic.declared(declared));
                Type::Any
            }
        }
    }

    /// Checks that a first value reads no later global. First values are computed in order.
    fn global_is_ready(&mut self, id: GlobalId, name: &str, expr: &Expr) {
        let early = self.globals_ready.is_some_and(|first| id >= first);
        if early && self.body.kind == BodyKind::FirstValue && self.body.frames.is_empty() {
            let message = format!("`{name}` has no value yet here");
            self.report(
                Diagnostic::new(Code::CONTEXT, expr.span, message)
                    .note("globals get their first values in the order of the file"),
            );
        }
    }

    fn self_value(&mut self, expr: &'a Expr) -> Type {
        self.set_meaning(expr.id, Meaning::SelfObject);
        self.program.self_captures.extend(&self.body.frames);
        match &self.body.object {
            Some(ty) => ty.clone(),
            None => {
                let message = "`self` outside of a method";
                self.error(Code::CONTEXT, expr.span, message);
                Type::Any
            }
        }
    }

    fn index(&mut self, base: &'a Expr, index: &'a Expr) -> Type {
        let ty = self.expr(base);
        match self.solid(&ty) {
            Type::List(element) => {
                self.expect(index, &Type::Int);
                *element
            }
            Type::Map(key, value) => {
                self.expect(index, &key);
                *value
            }
            Type::Array(over, element) => {
                self.expect(index, &Type::Index(over));
                *element
            }
            Type::Any | Type::Unknown(_) | Type::Never => {
                self.hidden(index);
                Type::Any
            }
            other => {
                self.expr(index);
                let message = format!("a value of type `{}` has no elements", self.show(&other));
                let mut diagnostic = Diagnostic::new(Code::OPERAND, base.span, message);
                if other == Type::Str {
                    diagnostic = diagnostic.note("a part of a string: `s.slice(0, 1)`");
                }
                self.report(diagnostic);
                Type::Any
            }
        }
    }
}
