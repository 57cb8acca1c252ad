//! Function values. They capture the variables that they name, by value.

use super::body::Body;
use super::lowerer::{literal, number, numbers};
use crate::ast::{Closure, ClosureBody, Expr};
use crate::check::LocalId;
use anyorder_program::{FuncId, Op, Reg};

impl<'a> Body<'_, 'a> {
    /// Lowers a function value. Its code is lowered once, even if the text around it is lowered
    /// several times: functions are equal by their place in the text (V3).
    pub(crate) fn closure(&mut self, e: &Expr, closure: &'a Closure, dst: Reg) {
        let tables = self.low.tables;
        let captured = tables.captures.get(&e.id).map_or(&[][..], Vec::as_slice);
        let this = self.this.filter(|_| tables.self_captures.contains(&e.id));
        let count = number(captured.len()).saturating_add(u16::from(this.is_some()));
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
        let known = self.low.closures.get(&e.id).copied();
        let func = known.unwrap_or_else(|| self.low.b.declare_function());
        self.emit(Op::Closure { dst, func, captures });
        if known.is_none() {
            self.low.closures.insert(e.id, func);
            self.closure_body(closure, func, captured, this.is_some());
        }
    }

    /// Lowers the code of a function value. Its parameters come first, then the captured variables.
    fn closure_body(
        &mut self,
        closure: &'a Closure,
        func: FuncId,
        captured: &[LocalId],
        has_self: bool,
    ) {
        let tables = self.low.tables;
        let (params, locals) = (number(closure.params.len()), number(captured.len()));
        let captures = locals.saturating_add(u16::from(has_self));
        let mut body = Body::new(self.low, "fn", params, captures);
        body.is_typed = closure.result.is_some();
        for (local, i) in captured.iter().zip(numbers(params)) {
            body.declare_local(*local, Reg(i));
        }
        body.this = has_self.then(|| Reg(params).plus(locals));
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
