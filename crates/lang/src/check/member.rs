//! Fields, methods and variants: what stands behind a dot.

use super::builtin::{names_of, signature};
use super::checker::Checker;
use super::program::{ClassId, EnumId, Meaning};
use super::pure::Callee;
use super::symmetry::Visit;
use super::types::Type;
use crate::ast::{Expr, ExprKind, Ident};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;

impl<'a> Checker<'a> {
    /// The enum that `base` names, if it does.
    fn enum_before_dot(&mut self, base: &'a Expr) -> Option<EnumId> {
        let ExprKind::Name(name) = &base.kind else { return None };
        if self.find_local(name).is_some() {
            return None;
        }
        match self.names.get(name.as_str()) {
            Some((Meaning::Enum(id), _)) => {
                let id = *id;
                self.mark_used(Meaning::Enum(id));
                self.set_meaning(base.id, Meaning::Enum(id));
                Some(id)
            }
            _ => None,
        }
    }

    /// `a.b`.
    pub(super) fn field(&mut self, expr: &'a Expr, base: &'a Expr, name: &'a Ident) -> Type {
        if let Some(id) = self.enum_before_dot(base) {
            return self.variant(expr, id, name, &[]);
        }
        let ty = self.expr(base);
        let (fields, owner) = match self.solid(&ty) {
            Type::Record(id) => {
                let info = &self.program.records[id.index()];
                let fields = info.fields.clone();
                (fields, Meaning::RecordField(id, 0))
            }
            Type::Class(id) => {
                (self.program.classes[id.index()].fields.clone(), Meaning::ClassField(id, 0))
            }
            Type::Any | Type::Unknown(_) | Type::Never => return self.dynamic(expr, name),
            other => {
                self.no_member("field", &other, name, &[]);
                return Type::Any;
            }
        };
        let Some(at) = fields.iter().position(|(field, _)| *field == name.name) else {
            let known: Vec<&str> = fields.iter().map(|(field, _)| field.as_str()).collect();
            let solid = self.solid(&ty);
            self.no_member("field", &solid, name, &known);
            return Type::Any;
        };
        let meaning = match owner {
            Meaning::RecordField(id, _) => Meaning::RecordField(id, at as u32),
            Meaning::ClassField(id, _) => Meaning::ClassField(id, at as u32),
            other => other,
        };
        self.set_meaning(expr.id, meaning);
        self.set_meaning(name.id, meaning);
        fields[at].1.clone()
    }

    /// A member of a value of which nothing is known: some declaration must have a member of that name.
    fn dynamic(&mut self, expr: &Expr, name: &Ident) -> Type {
        self.set_meaning(expr.id, Meaning::Dynamic);
        let p = &self.program;
        let fields = p.records.iter().map(|r| &r.fields).chain(p.classes.iter().map(|c| &c.fields));
        let mut known: Vec<String> = fields.flatten().map(|(field, _)| field.clone()).collect();
        known.extend(p.classes.iter().flat_map(|c| &c.methods).map(|m| m.name.clone()));
        known.extend(super::BuiltinMethod::ALL.iter().map(|m| m.name().to_string()));
        if !name.name.is_empty() && !known.contains(&name.name) {
            let known = known.iter().map(String::as_str);
            self.unknown(Code::UNKNOWN_MEMBER, "field or method", &name.name, name.span, known);
        }
        Type::Any
    }

    fn no_member(&mut self, what: &str, ty: &Type, name: &Ident, known: &[&str]) {
        if name.name.is_empty() {
            return;
        }
        let text = self.show(ty);
        let (text, quoted) = (text.clone(), format!("`{text}`"));
        let message = if text == "nothing" {
            format!("no value has no {what} `{}`", name.name)
        } else {
            format!("{quoted} has no {what} `{}`", name.name)
        };
        let mut diagnostic = Diagnostic::new(Code::UNKNOWN_MEMBER, name.span, message);
        let methods = match ty {
            Type::Class(id) => {
                let methods = &self.program.classes[id.index()].methods;
                methods.iter().map(|method| method.name.clone()).collect()
            }
            other => names_of(other).into_iter().map(String::from).collect::<Vec<_>>(),
        };
        if what == "field" && methods.contains(&name.name) {
            diagnostic = diagnostic.suggest("it is a method; call it", name.span.after(), "()");
        } else {
            let methods = methods.iter().map(String::as_str).filter(|_| what == "method");
            let all = known.iter().copied().chain(methods);
            if let Some(similar) = crate::diagnostic::most_similar(&name.name, all) {
                diagnostic = diagnostic.suggest("a similar name exists", name.span, similar);
            }
        }
        self.report(diagnostic);
    }

    fn variant(&mut self, expr: &'a Expr, id: EnumId, name: &'a Ident, args: &'a [Expr]) -> Type {
        let Some((at, payload)) = self.find_variant(id, name) else {
            args.iter().for_each(|arg| drop(self.expr(arg)));
            return Type::Enum(id);
        };
        self.set_meaning(expr.id, Meaning::Variant(id, at));
        self.set_meaning(name.id, Meaning::Variant(id, at));
        self.arguments("value", &payload, args, name.span, None);
        Type::Enum(id)
    }

    /// A variant by name, or a message.
    pub(super) fn find_variant(&mut self, id: EnumId, name: &Ident) -> Option<(u32, Vec<Type>)> {
        let info = &self.program.enums[id.index()];
        if let Some(at) = info.variants.iter().position(|(variant, _)| *variant == name.name) {
            return Some((at as u32, info.variants[at].1.clone()));
        }
        let what = format!("variant of `{}`", info.name);
        let known: Vec<String> = info.variants.iter().map(|(variant, _)| variant.clone()).collect();
        let known = known.iter().map(String::as_str);
        self.unknown(Code::UNKNOWN_MEMBER, &what, &name.name, name.span, known);
        None
    }

    /// `a.b(c)`.
    pub(super) fn method(
        &mut self,
        expr: &'a Expr,
        receiver: &'a Expr,
        name: &'a Ident,
        args: &'a [Expr],
    ) -> Type {
        if let Some(id) = self.enum_before_dot(receiver) {
            return self.variant(expr, id, name, args);
        }
        let ty = self.expr(receiver);
        match self.solid(&ty) {
            Type::Class(id) => self.class_method(expr, id, name, args),
            Type::Record(id) => {
                let fields = self.program.records[id.index()].fields.clone();
                self.called_field(expr, &fields, |at| Meaning::RecordField(id, at), name, args)
                    .unwrap_or_else(|| self.built_in(expr, receiver, &Type::Record(id), name, args))
            }
            Type::Any | Type::Unknown(_) | Type::Never => {
                args.iter().for_each(|arg| self.hidden(arg));
                self.set_meaning(name.id, Meaning::Dynamic);
                self.dynamic(expr, name)
            }
            other => self.built_in(expr, receiver, &other, name, args),
        }
    }

    fn class_method(
        &mut self,
        expr: &'a Expr,
        id: ClassId,
        name: &'a Ident,
        args: &'a [Expr],
    ) -> Type {
        let info = &self.program.classes[id.index()];
        if let Some(at) = info.methods.iter().position(|method| method.name == name.name) {
            let method = info.methods[at].clone();
            let meaning = Meaning::Method(id, at as u32);
            self.set_meaning(expr.id, meaning);
            self.set_meaning(name.id, meaning);
            self.calls(Callee::Method(id, at as u32), name.span);
            let params: Vec<Type> = method.params.into_iter().map(|(_, ty)| ty).collect();
            let declared = self.method_place(id, at);
            self.arguments("argument", &params, args, name.span, declared);
            return method.result;
        }
        let fields = info.fields.clone();
        if let Some(ty) =
            self.called_field(expr, &fields, |at| Meaning::ClassField(id, at), name, args)
        {
            return ty;
        }
        args.iter().for_each(|arg| drop(self.expr(arg)));
        self.no_member("method", &Type::Class(id), name, &[]);
        Type::Any
    }

    fn method_place(&self, id: ClassId, at: usize) -> Option<Span> {
        let item = &self.model.items[self.program.classes[id.index()].item];
        let crate::ast::ItemKind::Class(decl) = &item.kind else { return None };
        let methods = decl.members.iter().filter_map(|member| match member {
            crate::ast::ClassMember::Method(method) => Some(method.name.span),
            crate::ast::ClassMember::Field(_) => None,
        });
        methods.into_iter().nth(at)
    }

    /// A function value held in a field.
    fn called_field(
        &mut self,
        expr: &'a Expr,
        fields: &[(String, Type)],
        meaning: impl Fn(u32) -> Meaning,
        name: &'a Ident,
        args: &'a [Expr],
    ) -> Option<Type> {
        let at = fields.iter().position(|(field, _)| *field == name.name)?;
        self.set_meaning(expr.id, meaning(at as u32));
        self.set_meaning(name.id, meaning(at as u32));
        Some(self.call_value(&fields[at].1, name.span, args))
    }

    fn built_in(
        &mut self,
        expr: &'a Expr,
        receiver: &'a Expr,
        ty: &Type,
        name: &'a Ident,
        args: &'a [Expr],
    ) -> Type {
        let unknowns = &mut self.unknowns;
        let Some(found) = signature(ty, &name.name, &mut || unknowns.fresh()) else {
            args.iter().for_each(|arg| drop(self.expr(arg)));
            self.no_member("method", ty, name, &[]);
            return Type::Any;
        };
        self.set_meaning(expr.id, Meaning::Builtin(found.method));
        self.set_meaning(name.id, Meaning::Builtin(found.method));
        if found.method == super::BuiltinMethod::Sum
            && let Type::List(element) | Type::Array(_, element) = ty
            && self.unknowns.fit(element, &Type::Int) == super::infer::Fit::No
        {
            let message = format!("`sum` adds ints, not `{}`", self.show(element));
            self.error(Code::OPERAND, name.span, message);
        }
        self.arguments("argument", &found.params, args, name.span, None);
        let (method, span) = (found.method, expr.span);
        self.visits.push(Visit::Method { call: expr.id, span, receiver, method, args });
        if found.changes {
            self.changed_receiver(receiver, name);
        }
        found.result
    }
}
