//! Function values. They capture by value the variables that they name.

use super::body::{Body, Local, Val};
use super::declare::{numbers, size16};
use super::ty::Ty;
use super::walk::{walk_block, walk_expr};
use crate::ast::{Closure, ClosureBody, Expr, ExprKind};
use anyorder_vm::program::{Op, Reg};

impl<'a> Body<'_, 'a> {
    pub(crate) fn closure(&mut self, closure: &'a Closure, want: Option<Reg>) -> Val {
        let captured = self.captured(closure);
        let this = self.this.clone().filter(|_| uses_self(closure));
        let dst = self.dst(want);
        let mark = self.mark();
        let count = size16(captured.len()).saturating_add(u16::from(this.is_some()));
        let captures = self.temps(count);
        for (local, i) in captured.iter().zip(numbers(0)) {
            self.copy(captures.plus(i), local.reg);
        }
        if let Some((reg, _)) = &this {
            self.copy(captures.plus(size16(captured.len())), *reg);
        }
        self.release(mark);
        let func = self.low.b.declare_function();
        self.emit(Op::Closure { dst, func, captures });

        let params = size16(closure.params.len());
        let result = Ty::of_option(&self.low.symbols, closure.result.as_ref());
        let bound = self.bound;
        let mut body = Body::new(self.low, "fn", params, count);
        body.bound = bound;
        body.result = result.clone();
        for (local, i) in captured.iter().zip(numbers(params)) {
            body.declare(local.name, Reg(i), local.ty.clone());
        }
        if let Some((_, ty)) = this {
            body.this = Some((Reg(params).plus(size16(captured.len())), ty));
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
