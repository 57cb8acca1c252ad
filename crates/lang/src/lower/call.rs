//! Calls of functions, function values and methods.

use super::body::{Body, Val};
use super::declare::size16;
use super::effects::builtin;
use super::symbols::{RecordInfo, Symbol};
use super::ty::Ty;
use crate::ast::{Expr, ExprKind, Ident};
use anyorder_vm::program::{Builtin, FuncId, Op, Reg};

impl<'a> Body<'_, 'a> {
    /// `f(a)`.
    pub(crate) fn call(
        &mut self,
        e: &'a Expr,
        callee: &'a Expr,
        args: &'a [Expr],
        want: Option<Reg>,
    ) -> Val {
        let dst = self.dst(want);
        let mark = self.mark();
        let ty = match self.known_function(callee) {
            Some((func, params, result)) => {
                let args = self.typed_operands(args, &params, &[]);
                self.emit_at(e.span, Op::Call { dst, func, args });
                result
            }
            None => {
                let callee = self.stable_callee(callee, args);
                self.call_value(e, &callee, args, dst)
            }
        };
        self.release(mark);
        Val::new(dst, ty)
    }

    fn stable_callee(&mut self, callee: &'a Expr, args: &'a [Expr]) -> Val {
        let later: Vec<&Expr> = args.iter().collect();
        self.stable(callee, &later)
    }

    fn call_value(&mut self, e: &'a Expr, callee: &Val, args: &'a [Expr], dst: Reg) -> Ty {
        let (first, _) = self.operands(args, &[]);
        let count = size16(args.len());
        self.emit_at(e.span, Op::CallValue { dst, callee: callee.reg, args: first, count });
        match callee.ty.solid() {
            Ty::Fn(result) => (**result).clone(),
            _ => Ty::Any,
        }
    }

    fn known_function(&self, callee: &Expr) -> Option<(FuncId, Vec<Ty>, Ty)> {
        let ExprKind::Name(name) = &callee.kind else { return None };
        if self.local(name).is_some() {
            return None;
        }
        match self.low.symbols.get(name)? {
            Symbol::Func(f) => {
                let info = self.low.symbols.funcs.get(f)?;
                Some((info.id, info.params.clone(), info.result.clone()))
            }
            Symbol::Task(t) => {
                let info = self.low.symbols.tasks.get(t)?;
                Some((info.body, info.params.clone(), Ty::Null))
            }
            _ => None,
        }
    }

    /// `a.b(c)`.
    pub(crate) fn method(
        &mut self,
        e: &'a Expr,
        receiver: &'a Expr,
        name: &'a Ident,
        args: &'a [Expr],
        want: Option<Reg>,
    ) -> Val {
        if let Some(variant) = self.variant_of(receiver, &name.name) {
            return self.variant_with(variant, args, want);
        }
        let dst = self.dst(want);
        let mark = self.mark();
        let method = builtin(&name.name);
        let ty = if method.is_some_and(Builtin::changes) && is_place(receiver) {
            self.changing(e, receiver, name, args, dst)
        } else {
            let later: Vec<&Expr> = args.iter().collect();
            let recv = self.stable(receiver, &later);
            match recv.ty.solid().clone() {
                Ty::Class(class) => self.object_method(e, class, &recv, name, args, dst),
                Ty::Record(_) => self.field_call(e, &recv, name, args, dst),
                ty => {
                    self.not_null(e, &recv, name, args);
                    self.value_method(e, recv.reg, &ty, name, args, dst)
                }
            }
        };
        self.release(mark);
        Val::new(dst, ty)
    }

    /// A method of an object, or a function in one of its fields.
    fn object_method(
        &mut self,
        e: &'a Expr,
        class: usize,
        recv: &Val,
        name: &'a Ident,
        args: &'a [Expr],
        dst: Reg,
    ) -> Ty {
        let Some((func, params, result)) = self.low.method(class, &name.name) else {
            // What has no methods fails here, not in the step that reads the field (X8).
            self.at(e.span);
            self.check(recv.reg, &recv.ty, &Ty::Class(class));
            return self.field_call(e, recv, name, args, dst);
        };
        let first = self.temp();
        self.receiver(e, class, recv, first);
        self.typed_args(args, &params);
        self.emit_at(e.span, Op::Call { dst, func, args: first });
        result
    }

    /// Puts the receiver of a call in its place; null fails here, not at the first use of `self`.
    fn receiver(&mut self, e: &Expr, class: usize, recv: &Val, first: Reg) {
        self.at(e.span);
        self.copy(first, recv.reg);
        let wanted = Ty::Class(class);
        let is_self = self.this.as_ref().is_some_and(|t| t.0 == recv.reg);
        if !is_self && recv.ty != wanted || recv.ty == Ty::Any {
            self.check(first, &recv.ty, &wanted);
        }
    }

    /// Calls a function that is held in a field.
    fn field_call(
        &mut self,
        e: &'a Expr,
        recv: &Val,
        name: &'a Ident,
        args: &'a [Expr],
        dst: Reg,
    ) -> Ty {
        let callee = self.temp();
        self.at(e.span);
        let ty = self.get_member(callee, recv, &name.name);
        self.call_value(e, &Val::new(callee, ty), args, dst)
    }

    /// A call by the name of a method that changes its receiver, which is a place: arguments first.
    fn changing(
        &mut self,
        e: &'a Expr,
        receiver: &'a Expr,
        name: &'a Ident,
        args: &'a [Expr],
        dst: Reg,
    ) -> Ty {
        let ty = self.static_ty(receiver).solid().clone();
        if let Ty::Class(class) = ty
            && let Some((func, params, result)) = self.low.method(class, &name.name)
        {
            let first = self.temp();
            self.typed_args(args, &params);
            let inner = self.mark();
            let recv = self.expr(receiver);
            self.receiver(e, class, &recv, first);
            self.release(inner);
            self.emit_at(e.span, Op::Call { dst, func, args: first });
            return result;
        }
        if matches!(ty, Ty::Class(_) | Ty::Record(_)) {
            let recv = self.expr(receiver);
            return self.field_call(e, &recv, name, args, dst);
        }
        let known = builtin(&name.name).filter(|m| usize::from(m.arguments()) == args.len());
        let Some(method) = known.filter(|_| ty != Ty::Any || !self.low.has_method(&name.name))
        else {
            return self.member_call(e, Err(receiver), name, args, dst);
        };
        let wanted = argument_types(method, &ty);
        let args = self.typed_operands(args, &wanted, &[receiver]);
        let to = self.place(receiver);
        self.at(e.span);
        let recv = self.read(to.place, None);
        // The result may be wanted where the receiver is.
        let result = if recv == dst { self.temp() } else { dst };
        self.emit(Op::Method { dst: result, method, recv, args });
        self.write(&to, recv);
        self.copy(dst, result);
        result_ty(method, &ty)
    }

    /// Null fails before the arguments are evaluated, where that makes a difference (X8).
    fn not_null(&mut self, e: &Expr, recv: &Val, name: &Ident, args: &[Expr]) {
        let may_be_null = matches!(recv.ty, Ty::Any | Ty::Null | Ty::Nullable(_));
        if may_be_null && !args.iter().all(|arg| self.is_plain(arg)) {
            let (dst, name) = (self.temp(), self.low.name(&name.name));
            self.emit_at(e.span, Op::IsFieldCall { dst, src: recv.reg, name });
        }
    }

    /// Whether an expression is a value that is written out, or a local.
    fn is_plain(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Int(_) | ExprKind::Bool(_) | ExprKind::Str(_) | ExprKind::Null => true,
            ExprKind::Name(name) => self.local(name).is_some(),
            _ => false,
        }
    }

    /// A method of a list, set, map, string or int, or of a value of unknown type.
    fn value_method(
        &mut self,
        e: &'a Expr,
        recv: Reg,
        ty: &Ty,
        name: &'a Ident,
        args: &'a [Expr],
        dst: Reg,
    ) -> Ty {
        let dynamic = *ty == Ty::Any && self.low.has_member(&name.name, args.is_empty());
        if dynamic && is_functional(&name.name, args) {
            return self.functional_or_member(e, recv, name, args, dst);
        }
        if self.functional(e, recv, ty, name, args, dst) {
            return functional_ty(&name.name, ty);
        }
        let known = builtin(&name.name).filter(|m| usize::from(m.arguments()) == args.len());
        let Some(method) = known.filter(|_| !dynamic) else {
            return self.member_call(e, Ok(recv), name, args, dst);
        };
        // A changing method works on a copy: the receiver is no place.
        let recv = if method.changes() { self.own(&Val::new(recv, Ty::Any)) } else { recv };
        let (args, _) = self.operands(args, &[]);
        self.emit_at(e.span, Op::Method { dst, method, recv, args });
        result_ty(method, ty)
    }

    /// A call of `map` and the like on what may be an object or a record with a member of that name.
    fn functional_or_member(
        &mut self,
        e: &'a Expr,
        recv: Reg,
        name: &'a Ident,
        args: &'a [Expr],
        dst: Reg,
    ) -> Ty {
        let (member, end) = (self.fb.label(), self.fb.label());
        self.at(e.span);
        self.unless_object(recv, member);
        let mark = self.mark();
        let is_record = self.temp();
        let field = self.low.name(&name.name);
        self.emit(Op::IsFieldCall { dst: is_record, src: recv, name: field });
        self.fb.jump_if(is_record, member);
        self.functional(e, recv, &Ty::Any, name, args, dst);
        self.release(mark);
        self.fb.jump(end);
        self.fb.bind(member);
        self.member_call(e, Ok(recv), name, args, dst);
        self.fb.bind(end);
        Ty::Any
    }

    /// A call that is looked up at run time, on a value or (arguments first) on a place to be changed.
    fn member_call(
        &mut self,
        e: &'a Expr,
        recv: Result<Reg, &'a Expr>,
        name: &'a Ident,
        args: &'a [Expr],
        dst: Reg,
    ) -> Ty {
        let in_field = self.temp();
        let first = self.temp();
        let count = size16(args.len()).saturating_add(1);
        let name = self.low.name(&name.name);
        match recv {
            Ok(recv) => {
                let (method, ready, end) = (self.fb.label(), self.fb.label(), self.fb.label());
                self.copy(first, recv);
                self.emit_at(e.span, Op::IsFieldCall { dst: in_field, src: first, name });
                self.fb.jump_if_not(in_field, ready);
                // What the field holds takes the place of the receiver, which is not needed any more (X8).
                self.emit(Op::GetMember { dst: first, src: first, name });
                self.fb.bind(ready);
                self.args(args);
                self.at(e.span);
                self.fb.jump_if_not(in_field, method);
                let rest = first.plus(1);
                self.emit(Op::CallValue { dst, callee: first, args: rest, count: count - 1 });
                self.fb.jump(end);
                self.fb.bind(method);
                self.emit(Op::CallMember { dst, name, args: first, count });
                self.fb.bind(end);
            }
            Err(place) => {
                self.args(args);
                let to = self.place(place);
                self.at(e.span);
                self.read(to.place, Some(first));
                self.emit(Op::CallMember { dst, name, args: first, count });
                let end = self.fb.label();
                self.unless_object(first, end);
                self.write(&to, first);
                self.fb.bind(end);
            }
        }
        Ty::Any
    }
}

/// Whether a receiver is written as a place.
fn is_place(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Paren(inner) => is_place(inner),
        ExprKind::Name(_) | ExprKind::SelfRef => true,
        ExprKind::Field { .. } | ExprKind::Index { .. } => true,
        _ => false,
    }
}

impl super::lowerer::Lowerer<'_> {
    /// The method of a class: its function, the types of its parameters, and of its result.
    fn method(&self, class: usize, name: &str) -> Option<(FuncId, Vec<Ty>, Ty)> {
        let methods = &self.symbols.classes.get(class)?.methods;
        let info = methods.iter().find(|m| m.decl.name.name == name)?;
        Some((info.id, info.params.clone(), info.result.clone()))
    }

    /// Whether some class has a method of that name.
    fn has_method(&self, name: &str) -> bool {
        self.symbols.classes.iter().any(|c| c.methods.iter().any(|m| m.decl.name.name == name))
    }

    /// Whether a call of that name on an `any` must ask first whether it is an object or a record: where some class or record has
    /// such a member, and where arguments would be evaluated before an object without it is noticed.
    fn has_member(&self, name: &str, no_arguments: bool) -> bool {
        let (classes, records) = (&self.symbols.classes, &self.symbols.records);
        if !no_arguments {
            return !classes.is_empty() || !records.is_empty();
        }
        let in_record = |r: &RecordInfo<'_>| r.decl.fields.iter().any(|f| f.name.name == name);
        self.has_method(name)
            || classes.iter().any(|c| c.fields.iter().any(|f| f.name == name))
            || records.iter().any(in_record)
    }
}

/// Types that the arguments of a method must have to keep the elements of a container of their type.
fn argument_types(method: Builtin, ty: &Ty) -> Vec<Ty> {
    match (method, ty) {
        (Builtin::Push, Ty::List(of)) | (Builtin::Add, Ty::Set(of)) => vec![(**of).clone()],
        (Builtin::Insert, Ty::List(of)) => vec![Ty::Int, (**of).clone()],
        (Builtin::Set, Ty::Map(key, value)) => vec![(**key).clone(), (**value).clone()],
        _ => Vec::new(),
    }
}

fn functional_ty(name: &str, receiver: &Ty) -> Ty {
    match name {
        "all" | "any" => Ty::Bool,
        "count" => Ty::Int,
        "filter" => match receiver {
            Ty::Set(of) => Ty::Set(of.clone()),
            other => Ty::list(other.element()),
        },
        _ => Ty::list(Ty::Any),
    }
}

fn result_ty(method: Builtin, receiver: &Ty) -> Ty {
    use Builtin as M;
    match method {
        M::Len | M::IndexOf | M::ToInt => Ty::Int,
        M::IsEmpty | M::Contains | M::Add | M::Has | M::StartsWith => Ty::Bool,
        M::Push | M::Insert | M::Reverse | M::Sort | M::Clear | M::Set => Ty::Null,
        M::Pop | M::First | M::Last | M::TakeFirst | M::Min | M::Max => receiver.element(),
        M::Sum => Ty::Int,
        M::Slice | M::Union | M::Intersect | M::Minus => receiver.clone(),
        M::ToList | M::Keys => Ty::list(receiver.element()),
        M::ToSet => Ty::Set(Box::new(receiver.element())),
        M::Values => Ty::list(receiver.indexed()),
        M::GetOr => Ty::Any,
        M::Get => nullable(receiver.indexed()),
        M::Remove => match receiver {
            Ty::Set(_) => Ty::Bool,
            Ty::List(of) => (**of).clone(),
            _ => nullable(receiver.indexed()),
        },
        M::ToStr => Ty::Str,
        _ => Ty::Any,
    }
}

fn nullable(ty: Ty) -> Ty {
    Ty::Null.join(ty)
}

/// Whether a call is one of `map`, `filter`, `all`, `any` and `count` by its name.
pub(crate) fn is_functional(name: &str, args: &[Expr]) -> bool {
    args.len() == 1 && matches!(name, "map" | "filter" | "all" | "any" | "count")
}
