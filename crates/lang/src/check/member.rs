//! Fields, methods and variants: the names behind a dot.

use super::builtin::{BuiltinMethod, names_of, signature};
use super::checker::{Checker, types_of, unknown};
use super::infer::Fit;
use super::model::{ClassId, EnumId, FnInfo, Meaning};
use super::pure::Callee;
use super::symmetry::Visit;
use super::types::Type;
use crate::ast::{Expr, ExprKind, Ident, ItemKind};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;

/// The meaning of a name behind a dot.
struct Member {
    meaning: Meaning,
    /// The type of the field or of the result.
    ty: Type,
    /// For a method: types of its parameters.
    params: Option<Vec<Type>>,
}

impl<'a> Checker<'a> {
    /// Returns the enum that `base` names, if it names one.
    fn enum_before_dot(&mut self, base: &'a Expr) -> Option<EnumId> {
        let ExprKind::Name(name) = &base.kind else { return None };
        if self.find_local(name).is_some() {
            return None;
        }
        let Some(&(Meaning::Enum(id), _)) = self.names.get(name.as_str()) else { return None };
        self.mark_used(Meaning::Enum(id));
        self.set_meaning(base.id, Meaning::Enum(id));
        Some(id)
    }

    /// Checks `a.b` and returns its type.
    pub(super) fn field(&mut self, expr: &'a Expr, base: &'a Expr, name: &'a Ident) -> Type {
        if let Some(id) = self.enum_before_dot(base) {
            return self.variant(expr, id, name, &[]);
        }
        let ty = self.expr(base);
        let solid = self.solid(&ty);
        if is_open(&solid) {
            return self.dynamic(expr, name);
        }
        match self.find_member(&solid, name, false) {
            Some(found) => {
                self.set_meaning(expr.id, found.meaning);
                self.set_meaning(name.id, found.meaning);
                found.ty
            }
            None => {
                self.no_member("field", &solid, name);
                Type::Any
            }
        }
    }

    /// The member that a name behind a dot means, of a value of type `ty` (without null).
    fn find_member(&mut self, ty: &Type, name: &Ident, called: bool) -> Option<Member> {
        let p = &self.program;
        let field = |fields: &[(String, Type)], meaning: &dyn Fn(u32) -> Meaning| {
            let at = fields.iter().position(|(field, _)| *field == name.name)?;
            let (meaning, ty) = (meaning(at as u32), fields[at].1.clone());
            Some(Member { meaning, ty, params: None })
        };
        let found = match ty {
            Type::Record(id) => {
                field(&p.records[id.index()].fields, &|at| Meaning::RecordField(*id, at))
            }
            Type::Class(id) => {
                let info = &p.classes[id.index()];
                let method = info.methods.iter().position(|method| method.name == name.name);
                if let Some(at) = method.filter(|_| called) {
                    let FnInfo { params, result, .. } = &info.methods[at];
                    let meaning = Meaning::Method(*id, at as u32);
                    let params = Some(types_of(params));
                    return Some(Member { meaning, ty: result.clone(), params });
                }
                return field(&info.fields, &|at| Meaning::ClassField(*id, at));
            }
            _ => None,
        };
        if found.is_some() || !called {
            return found;
        }
        let unknowns = &mut self.unknowns;
        let method = signature(ty, &name.name, &mut || unknowns.fresh())?;
        let meaning = Meaning::Builtin(method.method);
        Some(Member { meaning, ty: method.result, params: Some(method.params) })
    }

    /// A member of a value of unknown type: some declaration must have a member of that name.
    fn dynamic(&mut self, expr: &'a Expr, name: &'a Ident) -> Type {
        self.set_meaning(expr.id, Meaning::Dynamic);
        self.open_members.push(expr);
        let p = &self.program;
        let fields = p.records.iter().map(|r| &r.fields).chain(p.classes.iter().map(|c| &c.fields));
        let mut known: Vec<String> = fields.flatten().map(|(field, _)| field.clone()).collect();
        known.extend(p.classes.iter().flat_map(|c| &c.methods).map(|m| m.name.clone()));
        known.extend(super::BuiltinMethod::ALL.iter().map(|m| m.name().to_string()));
        if !name.name.is_empty() && !known.contains(&name.name) {
            let (known, place) = (known.iter().map(String::as_str), (&*name.name, name.span));
            self.report(unknown(Code::UNKNOWN_MEMBER, "field or method", place, known));
        }
        Type::Any
    }

    /// Gives a member its meaning, once later text has settled the type of the value.
    pub(super) fn late_member(&mut self, expr: &'a Expr) {
        let (base, name, args) = match &expr.kind {
            ExprKind::Field { base, name } => (base, name, None),
            ExprKind::Method { receiver, name, args } => (receiver, name, Some(args.as_slice())),
            _ => return,
        };
        let is_call = args.is_some();
        let ty = self.unknowns.finished(&self.program.type_of(base.id));
        let args = args.unwrap_or_default();
        let found = self.find_member(ty.solid(), name, is_call);
        let fits = |found: &Member| found.params.as_ref().is_none_or(|p| p.len() == args.len());
        let Some(found) = found.filter(fits) else { return };
        self.set_meaning(expr.id, found.meaning);
        if is_call && matches!(ty.solid(), Type::Class(_)) {
            self.object_is_there(base, &ty);
        }
        for (arg, param) in args.iter().zip(found.params.iter().flatten()) {
            let has = self.unknowns.finished(&self.program.type_of(arg.id));
            if self.unknowns.fit(&has, param) != Fit::Yes {
                self.program.runtime_checks.insert(arg.id, param.clone());
                self.never_checked(arg);
            }
        }
    }

    /// The receiver of a method must not be null. The machine checks it before the call.
    fn object_is_there(&mut self, receiver: &Expr, ty: &Type) {
        if let Type::Nullable(_) = self.unknowns.shallow(ty) {
            self.program.runtime_checks.insert(receiver.id, self.solid(ty));
        }
    }

    fn no_member(&mut self, what: &str, ty: &Type, name: &Ident) {
        if name.name.is_empty() {
            return;
        }
        let message = format!("{} has no {what} `{}`", self.show_found(ty), name.name);
        let diagnostic = Diagnostic::new(Code::UNKNOWN_MEMBER, name.span, message);
        let (records, classes) = (&self.program.records, &self.program.classes);
        let methods: Vec<&str> = match ty {
            Type::Class(id) => classes[id.index()].methods.iter().map(|m| &*m.name).collect(),
            other => names_of(other),
        };
        self.report(if what == "method" {
            diagnostic.similar("name", name.span, &name.name, methods)
        } else if methods.contains(&&*name.name) {
            diagnostic.suggest("it is a method; call it", name.span.after(), "()")
        } else {
            let fields = match ty {
                Type::Record(id) => &records[id.index()].fields[..],
                Type::Class(id) => &classes[id.index()].fields,
                _ => &[],
            };
            let fields = fields.iter().map(|(field, _)| field.as_str());
            diagnostic.similar("name", name.span, &name.name, fields)
        });
    }

    fn variant(&mut self, expr: &'a Expr, id: EnumId, name: &'a Ident, args: &'a [Expr]) -> Type {
        let Some((at, payload)) = self.find_variant(id, name) else {
            self.exprs(args);
            return Type::Enum(id);
        };
        self.set_meaning(expr.id, Meaning::Variant(id, at));
        self.set_meaning(name.id, Meaning::Variant(id, at));
        self.arguments("value", &payload, args, name.span, None);
        Type::Enum(id)
    }

    /// Returns a variant by name, or reports that there is none.
    pub(super) fn find_variant(&mut self, id: EnumId, name: &Ident) -> Option<(u32, Vec<Type>)> {
        let info = &self.program.enums[id.index()];
        if let Some(at) = info.variants.iter().position(|(variant, _)| *variant == name.name) {
            return Some((at as u32, info.variants[at].1.clone()));
        }
        let what = format!("variant of `{}`", info.name);
        let known = info.variants.iter().map(|(variant, _)| variant.as_str());
        self.report(unknown(Code::UNKNOWN_MEMBER, &what, (&name.name, name.span), known));
        None
    }

    /// Checks `a.b(c)` and returns its type.
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
        let solid = self.solid(&ty);
        if is_open(&solid) {
            args.iter().for_each(|arg| self.hidden(arg));
            self.set_meaning(name.id, Meaning::Dynamic);
            return self.dynamic(expr, name);
        }
        let Some(found) = self.find_member(&solid, name, true) else {
            self.exprs(args);
            self.no_member("method", &solid, name);
            return Type::Any;
        };
        self.set_meaning(expr.id, found.meaning);
        self.set_meaning(name.id, found.meaning);
        if let Type::Class(_) = solid {
            self.object_is_there(receiver, &ty);
        }
        // A member without parameters is a field that holds a function.
        let Some(params) = found.params else {
            return self.call_value(&found.ty, name.span, args);
        };
        let mut declared = None;
        if let Meaning::Method(id, at) = found.meaning {
            self.calls(Callee::Method(id, at), name.span);
            declared = self.method_place(id, at as usize);
        }
        if found.meaning == Meaning::Builtin(BuiltinMethod::Sum)
            && let Type::List(element) | Type::Array(_, element) = &solid
            && self.unknowns.fit(element, &Type::Int) == Fit::No
        {
            let message = format!("`sum` adds ints, not `{}`", self.show(element));
            self.error(Code::OPERAND, name.span, message);
        }
        self.arguments("argument", &params, args, name.span, declared);
        if let Meaning::Builtin(method) = found.meaning {
            args.iter().for_each(|arg| self.never_checked(arg));
            let (call, span) = (expr.id, expr.span);
            self.visits.push(Visit::Method { call, span, receiver, method, args });
            if method.changes() {
                self.changed_receiver(receiver, name);
            }
        }
        found.ty
    }

    fn method_place(&self, id: ClassId, at: usize) -> Option<Span> {
        let item = &self.model.items[self.program.classes[id.index()].item];
        let ItemKind::Class(decl) = &item.kind else { return None };
        decl.methods().nth(at).map(|method| method.name.span)
    }
}

/// Whether a type is unknown.
fn is_open(ty: &Type) -> bool {
    matches!(ty, Type::Any | Type::Unknown(_) | Type::Never)
}
