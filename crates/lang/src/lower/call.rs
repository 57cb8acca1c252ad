//! Calls of functions, function values and methods.

use super::body::Body;
use super::lowerer::size16;
use crate::ast::{Expr, ExprKind, Ident};
use crate::check::{BuiltinMethod, Meaning, Type};
use anyorder_vm::program::{Builtin, FuncId, Op, Reg};

impl<'a> Body<'_, 'a> {
    /// `f(a)`.
    pub(crate) fn call(
        &mut self,
        e: &'a Expr,
        callee: &'a Expr,
        args: &'a [Expr],
        want: Option<Reg>,
    ) -> Reg {
        let dst = self.dst(want);
        let mark = self.mark();
        let known = match self.meaning(e.id) {
            Some(Meaning::Function(id)) => Some(self.low.function(id)),
            Some(Meaning::Task(id)) => Some(self.low.task(id)),
            _ => None,
        };
        if let Some(func) = known {
            let args = self.typed_operands(args, &[]);
            self.emit_at(e.span, Op::Call { dst, func, args });
        } else {
            let later: Vec<&Expr> = args.iter().collect();
            let callee = self.stable(callee, &later);
            self.call_value(e, callee, args, dst);
        }
        self.release(mark);
        dst
    }

    fn call_value(&mut self, e: &'a Expr, callee: Reg, args: &'a [Expr], dst: Reg) {
        let first = self.operands(args, &[]);
        let count = size16(args.len());
        self.emit_at(e.span, Op::CallValue { dst, callee, args: first, count });
    }

    /// `a.b(c)`.
    pub(crate) fn method(
        &mut self,
        e: &'a Expr,
        receiver: &'a Expr,
        name: &'a Ident,
        args: &'a [Expr],
        want: Option<Reg>,
    ) -> Reg {
        let meaning = self.meaning(e.id);
        if let Some(Meaning::Variant(id, variant)) = meaning {
            return self.variant((id, variant), args, want);
        }
        let dst = self.dst(want);
        let mark = self.mark();
        let changes = BuiltinMethod::named(&name.name).is_some_and(BuiltinMethod::changes);
        if changes && is_place(receiver) {
            self.changing(e, receiver, name, args, dst);
        } else {
            let later: Vec<&Expr> = args.iter().collect();
            let recv = self.stable(receiver, &later);
            match meaning {
                Some(Meaning::Method(class, at)) => {
                    let func = self.low.method(class, at);
                    let first = self.temp();
                    self.receiver(e, receiver, recv, first);
                    self.typed_args(args);
                    self.emit_at(e.span, Op::Call { dst, func, args: first });
                }
                Some(Meaning::ClassField(..)) => {
                    // What has no methods fails here, not in the step that reads the field (X8).
                    self.at(e.span);
                    self.check(receiver, recv);
                    self.field_call(e, recv, name, args, dst);
                }
                Some(Meaning::RecordField(..)) => self.field_call(e, recv, name, args, dst),
                _ => {
                    let ty = self.ty(receiver);
                    self.not_null(e, recv, &ty, name, args);
                    self.value_method(e, recv, ty.solid(), name, args, dst);
                }
            }
        }
        self.release(mark);
        dst
    }

    /// Puts the receiver of a call in its place; null fails here, not at the first use of `self`.
    fn receiver(&mut self, e: &Expr, receiver: &Expr, recv: Reg, first: Reg) {
        self.at(e.span);
        self.copy(first, recv);
        self.check(receiver, first);
    }

    /// Calls a function that is held in a field.
    fn field_call(&mut self, e: &'a Expr, recv: Reg, name: &Ident, args: &'a [Expr], dst: Reg) {
        let callee = self.temp();
        self.at(e.span);
        self.get_member(callee, recv, e, &name.name);
        self.call_value(e, callee, args, dst);
    }

    /// A call by the name of a method that changes its receiver, which is a place: arguments first.
    fn changing(
        &mut self,
        e: &'a Expr,
        receiver: &'a Expr,
        name: &'a Ident,
        args: &'a [Expr],
        dst: Reg,
    ) {
        let method = match self.meaning(e.id) {
            Some(Meaning::Method(class, at)) => {
                let func = self.low.method(class, at);
                return self.changing_object(e, receiver, func, args, dst);
            }
            Some(Meaning::ClassField(..) | Meaning::RecordField(..)) => {
                let recv = self.expr(receiver);
                return self.field_call(e, recv, name, args, dst);
            }
            Some(Meaning::Builtin(method)) => machine_method(method.name(), args),
            _ if self.low.has_method(&name.name) => None,
            _ => machine_method(&name.name, args),
        };
        let Some(method) = method else {
            return self.member_call(e, Err(receiver), name, args, dst);
        };
        // What a container of a known type gets is of the type of its elements.
        let stores =
            matches!(method, Builtin::Push | Builtin::Add | Builtin::Insert | Builtin::Set);
        let args = if stores {
            self.typed_operands(args, &[receiver])
        } else {
            self.operands(args, &[receiver])
        };
        let to = self.place(receiver);
        self.at(e.span);
        let recv = self.read(to.place, None);
        // The result may be wanted where the receiver is.
        let result = if recv == dst { self.temp() } else { dst };
        self.emit(Op::Method { dst: result, method, recv, args });
        self.write(&to, recv);
        self.copy(dst, result);
    }

    /// A method of an object that has the name of a changing one.
    fn changing_object(
        &mut self,
        e: &'a Expr,
        receiver: &'a Expr,
        func: FuncId,
        args: &'a [Expr],
        dst: Reg,
    ) {
        let first = self.temp();
        self.typed_args(args);
        let inner = self.mark();
        let recv = self.expr(receiver);
        self.receiver(e, receiver, recv, first);
        self.release(inner);
        self.emit_at(e.span, Op::Call { dst, func, args: first });
    }

    /// Null fails before the arguments are evaluated, where that makes a difference (X8).
    fn not_null(&mut self, e: &Expr, recv: Reg, ty: &Type, name: &Ident, args: &[Expr]) {
        let may_be_null =
            matches!(ty, Type::Any | Type::Never | Type::Null | Type::Nothing | Type::Nullable(_));
        if may_be_null && !args.iter().all(|arg| self.is_plain(arg)) {
            let (dst, name) = (self.temp(), self.low.name(&name.name));
            self.emit_at(e.span, Op::IsFieldCall { dst, src: recv, name });
        }
    }

    /// Whether an expression is a value that is written out, or a local.
    fn is_plain(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Int(_) | ExprKind::Bool(_) | ExprKind::Str(_) | ExprKind::Null => true,
            ExprKind::Name(_) => self.variable(e).is_some(),
            _ => false,
        }
    }

    /// A method of a list, set, map, string or int, or of a value of unknown type.
    fn value_method(
        &mut self,
        e: &'a Expr,
        recv: Reg,
        ty: &Type,
        name: &'a Ident,
        args: &'a [Expr],
        dst: Reg,
    ) {
        let open = matches!(ty, Type::Any | Type::Never);
        let dynamic = open && self.low.has_member(&name.name, args.is_empty());
        if dynamic && is_functional(&name.name, args) {
            return self.functional_or_member(e, recv, name, args, dst);
        }
        if self.functional(e, recv, ty, name, args, dst) {
            return;
        }
        let known = machine_method(&name.name, args);
        let Some(method) = known.filter(|_| !dynamic) else {
            return self.member_call(e, Ok(recv), name, args, dst);
        };
        // A changing method works on a copy: the receiver is no place.
        let recv = if method.changes() { self.own(recv) } else { recv };
        let args = self.operands(args, &[]);
        self.emit_at(e.span, Op::Method { dst, method, recv, args });
    }

    /// A call of `map` and the like on what may be an object or a record with a member of that name.
    fn functional_or_member(
        &mut self,
        e: &'a Expr,
        recv: Reg,
        name: &'a Ident,
        args: &'a [Expr],
        dst: Reg,
    ) {
        let (member, end) = (self.fb.label(), self.fb.label());
        self.at(e.span);
        self.unless_object(recv, member);
        let mark = self.mark();
        let is_record = self.temp();
        let field = self.low.name(&name.name);
        self.emit(Op::IsFieldCall { dst: is_record, src: recv, name: field });
        self.fb.jump_if(is_record, member);
        self.functional(e, recv, &Type::Any, name, args, dst);
        self.release(mark);
        self.fb.jump(end);
        self.fb.bind(member);
        self.member_call(e, Ok(recv), name, args, dst);
        self.fb.bind(end);
    }

    /// A call that is looked up at run time, on a value or (arguments first) on a place to be changed.
    fn member_call(
        &mut self,
        e: &'a Expr,
        recv: Result<Reg, &'a Expr>,
        name: &'a Ident,
        args: &'a [Expr],
        dst: Reg,
    ) {
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
    }
}

/// Whether a receiver is written as a place.
fn is_place(e: &Expr) -> bool {
    use ExprKind::{Field, Index, Name, SelfRef};
    matches!(e.unwrapped().kind, Name(_) | SelfRef | Field { .. } | Index { .. })
}

impl super::lowerer::Lowerer<'_> {
    /// Whether some class has a method of that name.
    fn has_method(&self, name: &str) -> bool {
        self.tables.classes.iter().any(|c| c.methods.iter().any(|m| m.name == name))
    }

    /// Whether a call of that name on an `any` must ask first whether it is an object or a record: where some class or record has
    /// such a member, and where arguments would be evaluated before an object without it is noticed.
    fn has_member(&self, name: &str, no_arguments: bool) -> bool {
        let (classes, records) = (&self.tables.classes, &self.tables.records);
        if !no_arguments {
            return !classes.is_empty() || !records.is_empty();
        }
        let fields = classes.iter().map(|c| &c.fields).chain(records.iter().map(|r| &r.fields));
        self.has_method(name) || fields.flatten().any(|(field, _)| field == name)
    }
}

/// The machine's method of a name, if it takes as many arguments.
fn machine_method(name: &str, args: &[Expr]) -> Option<Builtin> {
    let known = Builtin::ALL.iter().copied().find(|b| b.name() == name);
    // This one serves the lowering and is no method of the language.
    known.filter(|b| *b != Builtin::Elements && usize::from(b.arguments()) == args.len())
}

/// Whether a call is one of `map`, `filter`, `all`, `any` and `count` by its name.
pub(crate) fn is_functional(name: &str, args: &[Expr]) -> bool {
    args.len() == 1 && matches!(name, "map" | "filter" | "all" | "any" | "count")
}
