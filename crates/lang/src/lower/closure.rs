//! Function values. They capture by value the variables that they name.

use super::body::{Body, Local, Val};
use super::declare::{numbers, size16};
use super::ty::Ty;
use super::walk::{walk_block, walk_expr};
use crate::ast::{Closure, ClosureBody, Expr, ExprKind};
use anyorder_vm::program::{Op, Reg};

impl<'a> Body<'_, 'a> {
    /// Lowers a function value. Its code is lowered once, however often the text around it is: functions are equal by their
    /// place in the text (V3).
    pub(crate) fn closure(&mut self, e: &Expr, closure: &'a Closure, want: Option<Reg>) -> Val {
        let captured = self.captured(closure);
        let this = self.this.clone().filter(|_| uses_self(closure));
        // The index of a family whose members are lowered one by one is a captured value like any other.
        let bound =
            self.bound.filter(|(name, _)| self.local(name).is_none() && names(closure, name));
        let dst = self.dst(want);
        let mark = self.mark();
        let count = size16(captured.len())
            .saturating_add(u16::from(this.is_some()))
            .saturating_add(u16::from(bound.is_some()));
        let captures = self.temps(count);
        let mut next = captures;
        for local in &captured {
            self.copy(next, local.reg);
            next = next.plus(1);
        }
        if let Some((_, value)) = bound {
            self.load(&value.literal(), Some(next));
            next = next.plus(1);
        }
        if let Some((reg, _)) = &this {
            self.copy(next, *reg);
        }
        self.release(mark);
        let result = Ty::of_option(&self.low.symbols, closure.result.as_ref());
        if let Some(func) = self.low.closures.get(&e.id).copied() {
            self.emit(Op::Closure { dst, func, captures });
            return Val::new(dst, Ty::Fn(Box::new(result)));
        }
        let func = self.low.b.declare_function();
        self.low.closures.insert(e.id, func);
        self.emit(Op::Closure { dst, func, captures });

        let params = size16(closure.params.len());
        let mut body = Body::new(self.low, "fn", params, count);
        body.result = result.clone();
        let mut next = Reg(params);
        for local in &captured {
            body.declare(local.name, next, local.ty.clone());
            next = next.plus(1);
        }
        if let Some((name, member)) = bound {
            body.declare(name, next, member.index.map_or(Ty::Int, Ty::Index));
            next = next.plus(1);
        }
        if let Some((_, ty)) = this {
            body.this = Some((next, ty));
        }
        for (param, i) in closure.params.iter().zip(numbers(0)) {
            let ty = Ty::of_option(&body.low.symbols, param.ty.as_ref());
            body.at(param.name.span);
            body.check(Reg(i), &Ty::Any, &ty);
            body.declare(&param.name.name, Reg(i), ty);
        }
        match &closure.body {
            ClosureBody::Expr(e) => body.return_value(e),
            ClosureBody::Block(b) => body.function_block(b),
        }
        body.define(func);
        Val::new(dst, Ty::Fn(Box::new(result)))
    }

    /// The variables in scope that are named in the closure, in the order of their first use.
    fn captured(&self, closure: &Closure) -> Vec<Local<'a>> {
        let mut found: Vec<Local<'a>> = Vec::new();
        each_expr(closure, &mut |e| {
            let ExprKind::Name(name) = &e.kind else { return };
            let is_param = closure.params.iter().any(|p| p.name.name == *name);
            if is_param || found.iter().any(|l| l.name == name) {
                return;
            }
            if let Some(local) = self.local(name) {
                found.push(local.clone());
            }
        });
        found
    }
}

/// Whether a name occurs in a closure, and not as its parameter.
fn names(closure: &Closure, name: &str) -> bool {
    let mut found = false;
    each_expr(closure, &mut |e| found |= matches!(&e.kind, ExprKind::Name(n) if n == name));
    found && closure.params.iter().all(|p| p.name.name != name)
}

fn uses_self(closure: &Closure) -> bool {
    let mut found = false;
    each_expr(closure, &mut |e| found |= matches!(e.kind, ExprKind::SelfRef));
    found
}

fn each_expr<'a>(closure: &'a Closure, f: &mut dyn FnMut(&'a Expr)) {
    match &closure.body {
        ClosureBody::Expr(e) => walk_expr(e, f),
        ClosureBody::Block(b) => walk_block(b, f),
    }
}
