//! Methods that take functions, as loops: `map`, `filter`, `all`, `any`, `count`.

use super::body::Body;
use super::call::Call;
use super::lowerer::number;
use crate::ast::{Expr, ExprKind, Ident};
use crate::check::{BuiltinMethod, Type, in_place};
use anyorder_program::{Builtin, Label, Op, Reg};

/// The function argument. One that is written in place is lowered in place.
enum Function<'a> {
    InPlace(&'a Ident, &'a Expr),
    Value(Reg),
}

impl<'a> Body<'_, 'a> {
    /// Lowers such a call on the value in a register.
    pub(crate) fn functional(
        &mut self,
        call: &Call<'a>,
        (method, function): (BuiltinMethod, &'a Expr),
        recv: Reg,
        ty: &Type,
    ) {
        let Call { e, dst, .. } = *call;
        self.at(e.span);
        let is_one_step = self.low.tables.one_step.contains(&e.id);
        let (function, items) = if is_one_step {
            // A thread must not rest while a register holds the list, because the list follows the
            // order of indices.
            let function = self.function(function);
            self.emit_at(e.span, Op::AtomicBegin);
            (function, self.items(recv, ty))
        } else {
            let items = self.items(recv, ty);
            (self.function(function), items)
        };
        self.at(e.span);
        let is_list = matches!(ty, Type::Any | Type::Never).then(|| self.is_list(recv, items));
        self.emit(match method {
            BuiltinMethod::All | BuiltinMethod::Any => {
                Op::Bool { dst, value: method == BuiltinMethod::All }
            }
            BuiltinMethod::Count => Op::Int { dst, value: 0 },
            _ => Op::List { dst, args: dst, count: 0 },
        });
        let (at, length, item) = (self.temp(), self.temp(), self.temp());
        let (next, round, end) = (self.fb.label(), self.fb.label(), self.fb.label());
        self.emit(Op::Int { dst: at, value: 0 });
        self.emit(Op::Method { dst: length, method: Builtin::Len, recv: items, args: items });
        self.fb.jump(next);
        self.fb.bind(round);
        self.emit(Op::Index { dst: item, src: items, index: at });
        self.emit(Op::AddInt { dst: at, a: at, value: 1 });
        let mark = self.mark();
        self.round(call, method, &function, item, (next, end));
        self.release(mark);
        self.fb.bind(next);
        self.emit(Op::Lt { dst: item, a: at, b: length });
        self.fb.jump_if(item, round);
        self.fb.bind(end);
        if is_one_step {
            self.emit(Op::AtomicEnd);
        }
        if let Type::Array(over, _) = self.ty(e) {
            self.emit(Op::Array { dst, src: dst, index: number(over.0) });
        }
        if method == BuiltinMethod::Filter && (is_list.is_some() || matches!(ty, Type::Set(_))) {
            let end = self.fb.label();
            if let Some(is_list) = is_list {
                self.fb.jump_if(is_list, end);
            }
            self.emit(Op::Method { dst, method: Builtin::ToSet, recv: dst, args: dst });
            self.fb.bind(end);
        }
    }

    /// Whether a value of unknown type, whose elements are known, is a list; a failure unless it is
    /// a list or a set.
    fn is_list(&mut self, recv: Reg, items: Reg) -> Reg {
        let (is_list, set, end) = (self.temp(), self.temp(), self.fb.label());
        self.emit(Op::Eq { dst: is_list, a: recv, b: items });
        self.fb.jump_if(is_list, end);
        self.emit(Op::Method { dst: set, method: Builtin::ToSet, recv, args: recv });
        self.fb.bind(end);
        is_list
    }

    /// The elements of a loop, as a list that nobody changes.
    fn items(&mut self, recv: Reg, ty: &Type) -> Reg {
        if matches!(ty, Type::List(_) | Type::Array(..)) && !self.is_variable(recv) {
            return recv;
        }
        let items = self.temp();
        self.elements(recv, ty, items);
        items
    }

    /// Puts the elements of a loop into a register, as a list.
    pub(crate) fn elements(&mut self, recv: Reg, ty: &Type, dst: Reg) {
        if matches!(ty, Type::List(_) | Type::Array(..)) {
            self.copy(dst, recv);
        } else {
            self.emit(Op::Method { dst, method: Builtin::Elements, recv, args: recv });
        }
    }

    fn function(&mut self, e: &'a Expr) -> Function<'a> {
        if let ExprKind::Closure(closure) = &e.kind
            && let Some((param, body)) = in_place(closure)
        {
            return Function::InPlace(&param.name, body);
        }
        let value = self.expr(e);
        Function::Value(self.own(value))
    }

    fn round(
        &mut self,
        call: &Call<'a>,
        method: BuiltinMethod,
        function: &Function<'a>,
        item: Reg,
        (next, end): (Label, Label),
    ) {
        let Call { e, dst: result, .. } = *call;
        if method == BuiltinMethod::Map {
            let value = self.apply(e, function, item);
            self.at(e.span);
            return self.push(result, value);
        }
        // `all` continues while it holds, `any` while it does not; the others act where it holds.
        let continues_when = method == BuiltinMethod::All;
        match function {
            Function::InPlace(param, body) => {
                let mark = self.mark();
                self.declare(param, item);
                self.jump_when(body, continues_when, next);
                self.release(mark);
            }
            Function::Value(_) => {
                let cond = self.apply(e, function, item);
                self.jump_on(cond, continues_when, next);
            }
        }
        self.at(e.span);
        match method {
            BuiltinMethod::All | BuiltinMethod::Any => {
                self.emit(Op::Bool { dst: result, value: method == BuiltinMethod::Any });
                self.fb.jump(end);
            }
            BuiltinMethod::Count => self.emit(Op::AddInt { dst: result, a: result, value: 1 }),
            _ => self.push(result, item),
        }
    }

    fn push(&mut self, recv: Reg, args: Reg) {
        let dst = self.temp();
        self.emit(Op::Method { dst, method: Builtin::Push, recv, args });
    }

    fn apply(&mut self, e: &'a Expr, function: &Function<'a>, item: Reg) -> Reg {
        match function {
            Function::InPlace(param, body) => {
                let scope = self.locals.len();
                self.declare(param, item);
                let value = self.expr(body);
                self.locals.truncate(scope);
                value
            }
            Function::Value(callee) => {
                let (dst, args) = (self.temp(), self.temp());
                self.at(e.span);
                self.copy(args, item);
                self.emit(Op::CallValue { dst, callee: *callee, args, count: 1 });
                dst
            }
        }
    }
}
