//! Methods that take functions, as loops: `map`, `filter`, `all`, `any`, `count`.

use super::body::{Body, Val};
use super::call::is_functional;
use super::effects::changes_variables;
use super::ty::Ty;
use super::walk::walk_expr;
use crate::ast::{Closure, ClosureBody, Expr, ExprKind, Ident};
use crate::check;
use anyorder_vm::program::{Builtin, Label, Op, Reg};

/// The function given: one written in place is lowered in place.
enum Function<'a> {
    InPlace(&'a str, Ty, &'a Expr),
    Value(Reg),
}

impl<'a> Body<'_, 'a> {
    /// Lowers such a call; `false` when it is none.
    pub(crate) fn functional(
        &mut self,
        e: &'a Expr,
        recv: Reg,
        ty: &Ty,
        name: &'a Ident,
        args: &'a [Expr],
        dst: Reg,
    ) -> bool {
        let [function] = args else { return false };
        if !is_functional(&name.name, args) {
            return false;
        }
        self.at(e.span);
        let one_step = self.low.tables.one_step.contains(&e.id);
        let (function, items) = if one_step {
            // A thread must not rest with the list: it is in the order of indices.
            let function = self.function(function, ty);
            self.emit_at(e.span, Op::AtomicBegin);
            (function, self.items(recv, ty))
        } else {
            let items = self.items(recv, ty);
            (self.function(function, ty), items)
        };
        self.at(e.span);
        self.begin(&name.name, dst);
        let (at, length, item) = (self.temp(), self.temp(), self.temp());
        let (next, round, end) = (self.fb.label(), self.fb.label(), self.fb.label());
        self.emit(Op::Int { dst: at, value: 0 });
        self.emit(Op::Method { dst: length, method: Builtin::Len, recv: items, args: items });
        self.fb.jump(next);
        self.fb.bind(round);
        self.emit(Op::Index { dst: item, src: items, index: at });
        self.emit(Op::AddInt { dst: at, a: at, value: 1 });
        let mark = self.mark();
        self.round(e, &name.name, &function, item, dst, (next, end));
        self.release(mark);
        self.fb.bind(next);
        self.emit(Op::Lt { dst: item, a: at, b: length });
        self.fb.jump_if(item, round);
        self.fb.bind(end);
        if one_step {
            self.emit(Op::AtomicEnd);
        }
        if let check::Type::Array(over, _) = self.low.tables.type_of(e.id)
            && let Ok(index) = u16::try_from(over.0)
        {
            self.emit(Op::Array { dst, src: dst, index });
        }
        if name.name == "filter" && matches!(ty, Ty::Set(_)) {
            self.emit(Op::Method { dst, method: Builtin::ToSet, recv: dst, args: dst });
        }
        true
    }

    /// What a loop goes through, as a list that nobody changes.
    fn items(&mut self, recv: Reg, ty: &Ty) -> Reg {
        let is_variable = self.locals.iter().any(|l| l.reg == recv);
        if matches!(ty, Ty::List(_)) && !is_variable {
            return recv;
        }
        let items = self.temp();
        self.elements(recv, ty, items);
        items
    }

    /// Puts what a loop goes through into a register, as a list.
    pub(crate) fn elements(&mut self, recv: Reg, ty: &Ty, dst: Reg) {
        if matches!(ty, Ty::List(_)) {
            self.copy(dst, recv);
        } else {
            self.emit(Op::Method { dst, method: Builtin::Elements, recv, args: recv });
        }
    }

    fn function(&mut self, e: &'a Expr, receiver: &Ty) -> Function<'a> {
        if let ExprKind::Closure(closure) = &e.kind
            && let Some((param, body)) = in_place(closure)
        {
            let ty = match &closure.params[0].ty {
                Some(ty) => Ty::of(&self.low.symbols, ty),
                None => receiver.element(),
            };
            return Function::InPlace(param, ty, body);
        }
        let value = self.expr(e);
        Function::Value(self.own(&value))
    }

    fn begin(&mut self, name: &str, result: Reg) {
        let op = match name {
            "all" | "any" => Op::Bool { dst: result, value: name == "all" },
            "count" => Op::Int { dst: result, value: 0 },
            _ => Op::List { dst: result, args: result, count: 0 },
        };
        self.emit(op);
    }

    fn round(
        &mut self,
        e: &'a Expr,
        name: &str,
        function: &Function<'a>,
        item: Reg,
        result: Reg,
        (next, end): (Label, Label),
    ) {
        if name == "map" {
            let value = self.apply(e, function, item).reg;
            self.at(e.span);
            let none = self.temp();
            let (method, recv) = (Builtin::Push, result);
            self.emit(Op::Method { dst: none, method, recv, args: value });
            return;
        }
        // `all` goes on while it holds, `any` while it does not, the others look at what to do when it holds.
        let go_on_when = name == "all";
        match function {
            Function::InPlace(param, ty, body) => {
                let mark = self.mark();
                self.declare(param, item, ty.clone());
                self.jump_when(body, go_on_when, next);
                self.release(mark);
            }
            Function::Value(_) => {
                let cond = self.apply(e, function, item).reg;
                if go_on_when {
                    self.fb.jump_if(cond, next);
                } else {
                    self.fb.jump_if_not(cond, next);
                }
            }
        }
        self.at(e.span);
        match name {
            "all" | "any" => {
                self.emit(Op::Bool { dst: result, value: name == "any" });
                self.fb.jump(end);
            }
            "count" => self.emit(Op::AddInt { dst: result, a: result, value: 1 }),
            _ => {
                let none = self.temp();
                let (method, recv) = (Builtin::Push, result);
                self.emit(Op::Method { dst: none, method, recv, args: item });
            }
        }
    }

    fn apply(&mut self, e: &'a Expr, function: &Function<'a>, item: Reg) -> Val {
        match function {
            Function::InPlace(param, ty, body) => {
                let scope = self.locals.len();
                self.declare(param, item, ty.clone());
                let value = self.expr(body);
                self.locals.truncate(scope);
                value
            }
            Function::Value(callee) => {
                let (dst, args) = (self.temp(), self.temp());
                self.at(e.span);
                self.copy(args, item);
                self.emit(Op::CallValue { dst, callee: *callee, args, count: 1 });
                Val::new(dst, Ty::Any)
            }
        }
    }
}

/// A function whose body is an expression that makes no difference whether it works on captured values or on the variables.
pub(crate) fn in_place(closure: &Closure) -> Option<(&str, &Expr)> {
    let ([param], ClosureBody::Expr(body)) = (closure.params.as_slice(), &closure.body) else {
        return None;
    };
    let mut plain = !changes_variables(body);
    walk_expr(body, &mut |e| plain &= !matches!(e.kind, ExprKind::Closure(_)));
    plain.then_some((param.name.name.as_str(), body))
}
