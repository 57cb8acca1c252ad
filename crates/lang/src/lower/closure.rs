//! Function values. They capture the variables that they name, by value.

use super::body::Body;
use super::lowerer::{literal, numbers, size16};
use crate::ast::{Closure, ClosureBody, Expr};
use anyorder_vm::program::{FuncId, Op, Reg};

impl<'a> Body<'_, 'a> {
    /// Lowers a function value. Its code is lowered only once, even if the surrounding text is
    /// lowered several times: functions are equal if they have the same place in the text (V3).
    pub(crate) fn closure(&mut self, e: &Expr, closure: &'a Closure, want: Option<Reg>) -> Reg {
        let tables = self.low.tables;
        let captured = tables.captures.get(&e.id).map_or(&[][..], Vec::as_slice);
        let this = self.this.filter(|_| tables.self_captures.contains(&e.id));
        let dst = self.dst(want);
        let mark = self.mark();
        let count = size16(captured.len()).saturating_add(u16::from(this.is_some()));
        let captures = self.temps(count);
        for (local, i) in captured.iter().zip(numbers(0)) {
            match (self.local(*local), self.member) {
                (Some(reg), _) => self.copy(captures.plus(i), reg),
                // The index of a family whose members are lowered one by one.
                (None, Some(member)) if member.0 == *local => {
                    self.load(&literal(&tables.member(member)), Some(captures.plus(i)));
                }
                _ => {}
            }
        }
        if let Some(reg) = this {
            self.copy(captures.plus(count - 1), reg);
        }
        self.release(mark);
        if let Some(func) = self.low.closures.get(&e.id).copied() {
            self.emit(Op::Closure { dst, func, captures });
            return dst;
        }
        let func = self.low.b.declare_function();
        self.low.closures.insert(e.id, func);
        self.emit(Op::Closure { dst, func, captures });
        self.closure_body(e, closure, func, count, this.is_some());
        dst
    }

    /// Lowers the code of a function value. Its parameters come first, then the captured variables.
    fn closure_body(
        &mut self,
        e: &Expr,
        closure: &'a Closure,
        func: FuncId,
        count: u16,
        has_self: bool,
    ) {
        let tables = self.low.tables;
        let captured = tables.captures.get(&e.id).map_or(&[][..], Vec::as_slice);
        let params = size16(closure.params.len());
        let mut body = Body::new(self.low, "fn", params, count);
        body.is_typed = closure.result.is_some();
        for (local, i) in captured.iter().zip(numbers(params)) {
            body.declare_local(*local, Reg(i));
        }
        body.this = has_self.then(|| Reg(params).plus(count - 1));
        for (param, i) in closure.params.iter().zip(numbers(0)) {
            body.at(param.name.span);
            if param.ty.is_some()
                && let Some(local) = body.local_of(&param.name)
            {
                body.check_type(Reg(i), &tables.locals[local.index()].ty);
            }
            body.declare(&param.name, Reg(i));
        }
        match &closure.body {
            ClosureBody::Expr(e) => body.return_value(e),
            ClosureBody::Block(b) => body.function_block(b),
        }
        body.define(func);
    }
}
