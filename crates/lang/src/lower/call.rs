//! Calls of functions, function values and methods.

use super::body::Body;
use super::lowerer::number;
use crate::ast::{Expr, ExprKind};
use crate::check::{BuiltinMethod, Meaning, Type};
use anyorder_program::{Builtin, Op, Reg};

/// A call of a method.
pub(crate) struct Call<'a> {
    pub(crate) e: &'a Expr,
    pub(crate) receiver: &'a Expr,
    pub(crate) name: &'a str,
    pub(crate) args: &'a [Expr],
    /// The register of the result.
    pub(crate) dst: Reg,
}

impl<'a> Body<'_, 'a> {
    /// `f(a)`.
    pub(crate) fn call(&mut self, e: &Expr, callee: &'a Expr, args: &'a [Expr], dst: Reg) {
        if let Some(func) = self.callee(e.id) {
            let args = self.typed_operands(args);
            return self.emit_at(e.span, Op::Call { dst, func, args });
        }
        let callee = self.stable(callee, &args.iter().collect::<Vec<_>>());
        self.call_value(e, callee, args, dst);
    }

    fn call_value(&mut self, e: &Expr, callee: Reg, args: &'a [Expr], dst: Reg) {
        let first = self.operands(args, &[]);
        let count = number(args.len());
        self.emit_at(e.span, Op::CallValue { dst, callee, args: first, count });
    }

    /// `a.b(c)`.
    pub(crate) fn method(&mut self, call: &Call<'a>) {
        let Call { e, receiver, args, .. } = *call;
        let meaning = self.meaning(e.id);
        if let Some(Meaning::Variant(id, variant)) = meaning {
            return self.variant((id, variant), args, call.dst);
        }
        let changes = BuiltinMethod::named(call.name).is_some_and(BuiltinMethod::changes);
        if changes && is_place(receiver) {
            return self.changing(call, meaning);
        }
        let recv = self.stable(receiver, &args.iter().collect::<Vec<_>>());
        match meaning {
            Some(Meaning::Method(class, at)) => {
                let func = self.low.method(class, at);
                let first = self.temp();
                self.receiver(call, recv, first);
                self.typed_args(args);
                self.emit_at(e.span, Op::Call { dst: call.dst, func, args: first });
            }
            Some(Meaning::ClassField(..)) => {
                // What has no methods fails here, not in the step that reads the field (X8).
                self.at(e.span);
                self.check(receiver, recv);
                self.field_call(call, recv);
            }
            Some(Meaning::RecordField(..)) => self.field_call(call, recv),
            _ => {
                let ty = self.ty(receiver);
                self.not_null(call, recv, &ty);
                self.value_method(call, recv, ty.solid());
            }
        }
    }

    /// Moves the receiver of a call to its register. Null fails here, not at the first use of
    /// `self`.
    fn receiver(&mut self, call: &Call<'a>, recv: Reg, first: Reg) {
        self.at(call.e.span);
        self.copy(first, recv);
        self.check(call.receiver, first);
    }

    /// Calls a function stored in a field.
    fn field_call(&mut self, call: &Call<'a>, recv: Reg) {
        let callee = self.temp();
        self.at(call.e.span);
        self.get_member(callee, recv, call.e, call.name);
        self.call_value(call.e, callee, call.args, call.dst);
    }

    /// A call with the name of a changing method, on a place: the arguments come first.
    fn changing(&mut self, call: &Call<'a>, meaning: Option<Meaning>) {
        let Call { e, receiver, args, dst, .. } = *call;
        match meaning {
            Some(Meaning::Method(class, at)) => {
                let func = self.low.method(class, at);
                let first = self.temp();
                self.typed_args(args);
                let inner = self.mark();
                let recv = self.expr(receiver);
                self.receiver(call, recv, first);
                self.release(inner);
                return self.emit_at(e.span, Op::Call { dst, func, args: first });
            }
            Some(Meaning::ClassField(..) | Meaning::RecordField(..)) => {
                let recv = self.expr(receiver);
                return self.field_call(call, recv);
            }
            _ => {}
        }
        let dynamic = meaning == Some(Meaning::Dynamic) && self.low.has_method(call.name);
        let Some(method) = call.builtin().filter(|_| !dynamic) else {
            return self.changing_member(call);
        };
        let args = self.operands(args, &[receiver]);
        // What a container of a known type gets is of the type of its elements.
        if matches!(method, Builtin::Push | Builtin::Add | Builtin::Insert | Builtin::Set) {
            self.check_all(call.args, args);
        }
        let to = self.place(receiver);
        self.at(e.span);
        let recv = self.read(to.place, None);
        // The result may share the register of the receiver.
        let result = if recv == dst { self.temp() } else { dst };
        self.emit(Op::Method { dst: result, method, recv, args });
        self.write(&to, recv);
        self.copy(dst, result);
    }

    /// Makes null fail before the arguments are evaluated, if that makes a difference (X8).
    fn not_null(&mut self, call: &Call<'a>, recv: Reg, ty: &Type) {
        let may_be_null =
            matches!(ty, Type::Any | Type::Never | Type::Null | Type::Nothing | Type::Nullable(_));
        if may_be_null && !call.args.iter().all(|arg| self.is_plain(arg)) {
            let (dst, name) = (self.temp(), self.low.name(call.name));
            self.emit_at(call.e.span, Op::IsFieldCall { dst, src: recv, name });
        }
    }

    /// Whether an expression is a literal or a local.
    fn is_plain(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Int(_) | ExprKind::Bool(_) | ExprKind::Str(_) | ExprKind::Null => true,
            ExprKind::Name(_) => self.variable(e).is_some(),
            _ => false,
        }
    }

    /// Lowers a method of a list, set, map, string or int, or of a value of unknown type.
    fn value_method(&mut self, call: &Call<'a>, recv: Reg, ty: &Type) {
        let open = matches!(ty, Type::Any | Type::Never);
        let dynamic = open && self.low.has_member(call.name, call.args.is_empty());
        if let Some((method, function)) = call.functional() {
            if dynamic {
                return self.functional_or_member(call, recv);
            }
            return self.functional(call, (method, function), recv, ty);
        }
        let Some(method) = call.builtin().filter(|_| !dynamic) else {
            return self.member_call(call, recv);
        };
        // A changing method works on a copy, because the receiver is not a place.
        let recv = if method.changes() { self.own(recv) } else { recv };
        let args = self.operands(call.args, &[]);
        self.emit_at(call.e.span, Op::Method { dst: call.dst, method, recv, args });
    }

    /// A call of `map` and the like on a value that may be an object or a record with a member of
    /// that name.
    fn functional_or_member(&mut self, call: &Call<'a>, recv: Reg) {
        let (member, end) = (self.fb.label(), self.fb.label());
        self.at(call.e.span);
        self.unless_object(recv, member);
        let mark = self.mark();
        let is_record = self.temp();
        let field = self.low.name(call.name);
        self.emit(Op::IsFieldCall { dst: is_record, src: recv, name: field });
        self.fb.jump_if(is_record, member);
        if let Some(functional) = call.functional() {
            self.functional(call, functional, recv, &Type::Any);
        }
        self.release(mark);
        self.fb.jump(end);
        self.fb.bind(member);
        self.member_call(call, recv);
        self.fb.bind(end);
    }

    /// A call of a member that is looked up at run time.
    fn member_call(&mut self, call: &Call<'a>, recv: Reg) {
        let Call { e, args, dst, .. } = *call;
        let (in_field, first) = (self.temp(), self.temp());
        let count = number(args.len()).saturating_add(1);
        let name = self.low.name(call.name);
        let (method, ready, end) = (self.fb.label(), self.fb.label(), self.fb.label());
        self.copy(first, recv);
        self.emit_at(e.span, Op::IsFieldCall { dst: in_field, src: first, name });
        self.fb.jump_if_not(in_field, ready);
        // What the field holds replaces the receiver, which is not needed any more (X8).
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

    /// A call of a changing method that is looked up at run time: the arguments come first.
    fn changing_member(&mut self, call: &Call<'a>) {
        let Call { e, args, dst, .. } = *call;
        let first = self.temp();
        let count = number(args.len()).saturating_add(1);
        let name = self.low.name(call.name);
        self.args(args);
        let to = self.place(call.receiver);
        self.at(e.span);
        self.read(to.place, Some(first));
        self.emit(Op::CallMember { dst, name, args: first, count });
        let end = self.fb.label();
        self.unless_object(first, end);
        self.write(&to, first);
        self.fb.bind(end);
    }
}

impl<'a> Call<'a> {
    /// Returns the machine's method of that name if it takes as many arguments.
    fn builtin(&self) -> Option<Builtin> {
        let known = Builtin::ALL.iter().copied().find(|b| b.name() == self.name);
        // `Elements` only serves the lowering; it is not a method of the language.
        known.filter(|b| *b != Builtin::Elements && usize::from(b.arguments()) == self.args.len())
    }

    /// The method, where it is one that takes a function, and that function.
    fn functional(&self) -> Option<(BuiltinMethod, &'a Expr)> {
        let [function] = self.args else { return None };
        let method = BuiltinMethod::named(self.name).filter(|method| method.applies())?;
        Some((method, function))
    }
}

/// Returns whether a receiver is written as a place.
fn is_place(e: &Expr) -> bool {
    use ExprKind::{Field, Index, Name, SelfRef};
    matches!(e.unwrapped().kind, Name(_) | SelfRef | Field { .. } | Index { .. })
}

impl super::lowerer::Lowerer<'_> {
    /// Returns whether some class has a method of that name.
    fn has_method(&self, name: &str) -> bool {
        self.tables.classes.iter().any(|c| c.methods.iter().any(|m| m.name == name))
    }

    /// Whether a call of that name on an `any` must first find out whether it is an object or a
    /// record. It must if some class or record has such a member. With arguments it must if there
    /// is any class or record: a missing member must fail before the arguments are evaluated.
    fn has_member(&self, name: &str, no_arguments: bool) -> bool {
        let (classes, records) = (&self.tables.classes, &self.tables.records);
        if !no_arguments {
            return !classes.is_empty() || !records.is_empty();
        }
        let fields = classes.iter().map(|c| &c.fields).chain(records.iter().map(|r| &r.fields));
        self.has_method(name) || fields.flatten().any(|(field, _)| field == name)
    }
}
