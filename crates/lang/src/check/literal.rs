//! Lists, sets, maps, records, objects and closures.

use super::checker::{Checker, is_not, unknown};
use super::infer::Fit;
use super::model::{LocalKind, Meaning};
use super::types::Type;
use crate::ast::{Closure, ClosureBody, Expr, FieldInit, Ident};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;

impl<'a> Checker<'a> {
    /// Returns the expected element type if a list or set is expected.
    pub(super) fn element_hint(&self, want: Option<&Type>) -> Option<Type> {
        match self.solid(want?) {
            Type::List(t) | Type::Set(t) | Type::Array(_, t) => Some(*t),
            _ => None,
        }
    }

    /// The type of an element: the wanted one, or its own.
    pub(super) fn one_of(&mut self, element: &'a Expr, want: Option<Type>) -> Type {
        match want {
            Some(want) => {
                self.expect(element, &want);
                self.never_checked(element);
                want
            }
            None => {
                let ty = self.expr(element);
                if self.unknowns.shallow(&ty) == Type::Nothing {
                    self.error(
                        Code::TYPE_MISMATCH,
                        element.span,
                        "expected a value, found no value",
                    );
                    return Type::Any;
                }
                ty
            }
        }
    }

    pub(super) fn list_literal(&mut self, elements: &'a [Expr], want: Option<&Type>) -> Type {
        let hint = self.element_hint(want);
        Type::list(self.elements(elements.iter(), hint))
    }

    pub(super) fn set_literal(&mut self, elements: &'a [Expr], want: Option<&Type>) -> Type {
        let hint = self.element_hint(want);
        Type::Set(Box::new(self.elements(elements.iter(), hint)))
    }

    pub(super) fn map_literal(&mut self, entries: &'a [(Expr, Expr)], want: Option<&Type>) -> Type {
        let (keys, values) = match want.map(|want| self.solid(want)) {
            Some(Type::Map(k, v)) => (Some(*k), Some(*v)),
            _ => (None, None),
        };
        let key = self.elements(entries.iter().map(|(key, _)| key), keys);
        let value = self.elements(entries.iter().map(|(_, value)| value), values);
        Type::Map(Box::new(key), Box::new(value))
    }

    /// Returns the common type of elements.
    fn elements(&mut self, elements: impl Iterator<Item = &'a Expr>, want: Option<Type>) -> Type {
        let mut so_far: Option<(Type, Span)> = None;
        for element in elements {
            let ty = self.one_of(element, want.clone());
            let Some((known, first)) = so_far.take().filter(|_| want.is_none()) else {
                so_far = Some((ty, element.span));
                continue;
            };
            let joined = self.unknowns.join(&known, &ty);
            if joined.is_none() {
                let (a, b) = (self.show(&known), self.show(&ty));
                let message = format!("expected `{a}`, found `{b}`");
                self.report(
                    Diagnostic::new(Code::TYPE_MISMATCH, element.span, message)
                        .also(first, format!("the elements are `{a}`"))
                        .note("for elements of different types, write a type such as `list<any>`"),
                );
            }
            so_far = Some((joined.unwrap_or(known), first));
        }
        match (want, so_far) {
            (Some(want), _) => want,
            (None, Some((Type::Null, _))) => self.unknowns.fresh().nullable(),
            (None, Some((ty, _))) => ty,
            (None, None) => self.unknowns.fresh(),
        }
    }

    pub(super) fn record_literal(
        &mut self,
        expr: &'a Expr,
        name: &'a Ident,
        fields: &'a [FieldInit],
        base: Option<&'a Expr>,
    ) -> Type {
        let id = match self.resolve(&name.name, name.span, name.id) {
            Some(Meaning::Record(id)) => id,
            found => {
                if let Some(other) = found {
                    let mut diagnostic = is_not(name, other, "a record");
                    if matches!(other, Meaning::Class(_)) {
                        let place = name.span.before();
                        diagnostic =
                            diagnostic.suggest("an object is made with `new`", place, "new ");
                    }
                    self.report(diagnostic);
                }
                self.values(fields);
                base.map(|base| self.expr(base));
                return Type::Any;
            }
        };
        let known = self.program.records[id.index()].fields.clone();
        self.field_inits(&name.name, fields, &known, |at| Meaning::RecordField(id, at));
        let ty = Type::Record(id);
        match base {
            Some(base) => drop(self.expect(base, &ty)),
            None => self.all_fields(expr, name, fields, &known),
        }
        ty
    }

    fn all_fields(
        &mut self,
        expr: &Expr,
        name: &Ident,
        fields: &[FieldInit],
        known: &[(String, Type)],
    ) {
        let missing = known.iter().map(|(field, _)| field);
        let missing = missing.filter(|field| fields.iter().all(|init| init.name.name != **field));
        let missing: Vec<String> = missing.map(|field| format!("`{field}`")).collect();
        if missing.is_empty() {
            return;
        }
        let message = format!("`{}` misses {}", name.name, missing.join(", "));
        self.report(
            Diagnostic::new(Code::MISSING_FIELD, name.span, message)
                .label("all fields are needed")
                .note(format!(
                    "the others can come from another value: `{} {{ .., ..old }}`",
                    name.name
                ))
                .also(
                    Span::new(expr.span.end.saturating_sub(1).max(name.span.end), expr.span.end),
                    "",
                ),
        );
    }

    /// Checks `field: value` pairs against the fields of a record or class.
    fn field_inits(
        &mut self,
        owner: &str,
        fields: &'a [FieldInit],
        known: &[(String, Type)],
        meaning: impl Fn(u32) -> Meaning,
    ) {
        for (at, init) in fields.iter().enumerate() {
            let name = init.name.name.as_str();
            if let Some(first) = fields[..at].iter().find(|other| other.name.name == name) {
                let message = format!("`{name}` is set twice");
                self.report(
                    Diagnostic::new(Code::MISSING_FIELD, init.name.span, message)
                        .also(first.name.span, "first set here"),
                );
            }
            match known.iter().position(|(field, _)| field == name) {
                Some(at) => {
                    self.set_meaning(init.name.id, meaning(at as u32));
                    let ty = known[at].1.clone();
                    self.expect_for(&init.value, &ty, (init.name.span, "the field"));
                }
                None => {
                    self.expr(&init.value);
                    let what = format!("field of `{owner}`");
                    let names = known.iter().map(|(field, _)| field.as_str());
                    let place = (name, init.name.span);
                    self.report(unknown(Code::UNKNOWN_MEMBER, &what, place, names));
                }
            }
        }
    }

    /// Checks the values of fields that are not known.
    fn values(&mut self, fields: &'a [FieldInit]) {
        fields.iter().for_each(|field| drop(self.expr(&field.value)));
    }

    pub(super) fn new_object(&mut self, class: &'a Ident, fields: &'a [FieldInit]) -> Type {
        let found = self.resolve(&class.name, class.span, class.id);
        let Some(Meaning::Class(id)) = found else {
            self.report(found.map(|other| is_not(class, other, "a class")));
            self.values(fields);
            return Type::Any;
        };
        let known = self.program.classes[id.index()].fields.clone();
        self.field_inits(&class.name, fields, &known, |at| Meaning::ClassField(id, at));
        Type::Class(id)
    }

    pub(super) fn closure(
        &mut self,
        expr: &'a Expr,
        closure: &'a Closure,
        want: Option<&Type>,
    ) -> Type {
        let (want_params, want_result) = match want.map(|want| self.solid(want)) {
            Some(Type::Fn(params, result)) => (params, Some(*result)),
            _ => (vec![], None),
        };
        let mut params = Vec::new();
        for (at, param) in closure.params.iter().enumerate() {
            params.push(match (&param.ty, want_params.get(at)) {
                (Some(written), _) => self.ty(written),
                (None, Some(want)) => want.clone(),
                (None, None) => self.unknowns.fresh(),
            });
        }
        let written = closure.result.as_ref().map(|written| self.ty(written));
        self.program.captures.entry(expr.id).or_default();
        let around = (
            self.body.result.take(),
            std::mem::take(&mut self.body.loops),
            self.body.atomic.take(),
        );
        self.body.frames.push(expr.id);
        let result = self.in_scope(|c| {
            for (param, ty) in closure.params.iter().zip(&params) {
                c.declare_local(&param.name, ty.clone(), LocalKind::Param);
            }
            c.closure_body(closure, written, want_result)
        });
        self.body.frames.pop();
        (self.body.result, self.body.loops, self.body.atomic) = around;
        Type::Fn(params, Box::new(result))
    }

    fn closure_body(
        &mut self,
        closure: &'a Closure,
        written: Option<Type>,
        want: Option<Type>,
    ) -> Type {
        let checks = self.program.runtime_checks.len();
        let is_written = written.is_some();
        let result = self.closure_result(closure, written, want);
        // Without a written type, a result is not checked (X17).
        self.unknowns.is_loose |= !is_written && self.program.runtime_checks.len() > checks;
        result
    }

    fn closure_result(
        &mut self,
        closure: &'a Closure,
        written: Option<Type>,
        want: Option<Type>,
    ) -> Type {
        match (&closure.body, written) {
            (ClosureBody::Expr(value), Some(written)) => {
                self.expect(value, &written);
                written
            }
            (ClosureBody::Expr(value), None) => match want {
                // The caller takes no result: a value is dropped.
                None | Some(Type::Nothing) => self.expr(value),
                Some(want) => {
                    let found = self.expr_hinted(value, &want);
                    match self.unknowns.fit(&found, &want) {
                        Fit::Yes | Fit::Checked => {
                            self.fit_here(value, &found, &want, None);
                            want
                        }
                        _ => found,
                    }
                }
            },
            (ClosureBody::Block(block), written) => {
                let result = match (written, want) {
                    (Some(written), _) => written,
                    (None, Some(want)) if want != Type::Nothing => want,
                    _ if super::type_expr::gives_value(block) => self.unknowns.fresh(),
                    _ => Type::Nothing,
                };
                self.body.result = (result != Type::Nothing).then(|| result.clone());
                self.returning_block(block, &result, closure.result.as_ref());
                result
            }
        }
    }
}
