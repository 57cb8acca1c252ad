//! Methods that take functions, as loops: `map`, `filter`, `all`, `any`, `count`.

use super::body::Body;
use super::call::Call;
use super::lowerer::number;
use crate::ast::{Expr, ExprKind, Ident};
use crate::check::{Type, in_place};
use anyorder_vm::program::{Builtin, Label, Op, Reg};

/// The methods that take a function.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Functional {
    Map,
    Filter,
    All,
    Any,
    Count,
}

impl Functional {
    /// Returns the method of that name.
    pub(crate) fn named(name: &str) -> Option<Functional> {
        Some(match name {
            "map" => Functional::Map,
            "filter" => Functional::Filter,
            "all" => Functional::All,
            "any" => Functional::Any,
            "count" => Functional::Count,
            _ => return None,
        })
    }
}

/// The function argument. A function written in place is also lowered in place.
enum Function<'a> {
    InPlace(&'a Ident, &'a Expr),
    Value(Reg),
}

impl<'a> Body<'_, 'a> {
    /// Lowers such a call on the value in a register.
    pub(crate) fn functional(
        &mut self,
        call: &Call<'a>,
        (method, function): (Functional, &'a Expr),
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
        self.emit(match method {
            Functional::All | Functional::Any => Op::Bool { dst, value: method == Functional::All },
            Functional::Count => Op::Int { dst, value: 0 },
            Functional::Map | Functional::Filter => Op::List { dst, args: dst, count: 0 },
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
        if method == Functional::Filter && matches!(ty, Type::Set(_)) {
            self.emit(Op::Method { dst, method: Builtin::ToSet, recv: dst, args: dst });
        }
    }

    /// Returns the collection of a loop, as a list that nobody changes.
    fn items(&mut self, recv: Reg, ty: &Type) -> Reg {
        if matches!(ty, Type::List(_) | Type::Array(..)) && !self.is_variable(recv) {
            return recv;
        }
        let items = self.temp();
        self.elements(recv, ty, items);
        items
    }

    /// Puts the collection of a loop into a register, as a list.
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
        method: Functional,
        function: &Function<'a>,
        item: Reg,
        (next, end): (Label, Label),
    ) {
        let Call { e, dst: result, .. } = *call;
        if method == Functional::Map {
            let value = self.apply(e, function, item);
            self.at(e.span);
            return self.push(result, value);
        }
        // `all` continues while the function returns true, `any` while it returns false. The other
        // methods act if it returns true.
        let go_on_when = method == Functional::All;
        match function {
            Function::InPlace(param, body) => {
                let mark = self.mark();
                self.declare(param, item);
                self.jump_when(body, go_on_when, next);
                self.release(mark);
            }
            Function::Value(_) => {
                let cond = self.apply(e, function, item);
                if go_on_when {
                    self.fb.jump_if(cond, next);
                } else {
                    self.fb.jump_if_not(cond, next);
                }
            }
        }
        self.at(e.span);
        match method {
            Functional::All | Functional::Any => {
                self.emit(Op::Bool { dst: result, value: method == Functional::Any });
                self.fb.jump(end);
            }
            Functional::Count => self.emit(Op::AddInt { dst: result, a: result, value: 1 }),
            Functional::Map | Functional::Filter => self.push(result, item),
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
