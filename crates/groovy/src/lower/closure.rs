//! Closures.

use super::Code;
use super::body::Body;
use super::names::Names;
use crate::ast::Closure;
use anyorder_program::{Literal, Op, Reg};

impl Body<'_> {
    /// Makes a closure: a function with the variables that it uses as captures.
    pub(super) fn closure(&mut self, closure: &Closure) -> Reg {
        let names = Names::of_block(&closure.body);
        let mut captured = Vec::new();
        for variable in self.scope.iter().rev() {
            let is_first =
                !captured.iter().any(|one: &super::body::Variable| one.name == variable.name);
            if is_first && names.used.contains(&variable.name) {
                captured.push(variable.clone());
            }
        }
        let parameters = closure.parameters.as_deref();
        let count = parameters.map_or(1, <[_]>::len);
        let count = u16::try_from(count).unwrap_or(u16::MAX);
        if parameters
            .is_some_and(|all| all.iter().any(|one| one.default.is_some() || one.is_variable))
        {
            return self.gap("a closure with default or variable parameters");
        }
        let captures = u16::try_from(captured.len()).unwrap_or(u16::MAX);
        let (unit, shared, span) = (self.unit, self.shared.clone(), self.code.span());
        let mut code = Code::new(self.code.lowering(), "closure", count, captures);
        code.set_unit(unit);
        code.at(span);
        let mut inner = Body::new(code, &mut *self.platform, unit, shared);
        for (at, one) in (count..).zip(&captured) {
            let reg = inner.code.param(at);
            inner.scope.push(super::body::Variable { reg, ..one.clone() });
        }
        match parameters {
            None => {
                let it = inner.code.param(0);
                inner.declare("it", None, it);
            }
            Some(parameters) => {
                for (at, one) in (0..).zip(parameters) {
                    let mut value = inner.code.param(at);
                    if let Some(typed) = &one.type_name {
                        value = inner.cast_parameter(value, typed);
                    }
                    inner.declare(&one.name, one.type_name.clone(), value);
                }
            }
        }
        inner.whole(&closure.body.statements);
        let func = inner.code.finish();
        let regs: Vec<Reg> = captured.iter().map(|one| one.reg).collect();
        let captures = self.code.row(&regs);
        let function = self.code.value(|dst| Op::Closure { dst, func, captures });
        let most = self.literal(Literal::Int(i64::from(count)));
        let args = self.code.row(&[function, most]);
        let ty = self.code.kinds().closure;
        self.code.value(|dst| Op::Record { dst, ty, args })
    }

    /// Makes a closure of a method of the script: `this.&name`.
    pub(super) fn method_pointer(&mut self, name: &str) -> Reg {
        let unit = self.unit;
        let app = self.code.lowering().app(unit);
        let [method] = app.methods(name) else {
            return self.gap("a method as a closure that is not one of the script's");
        };
        let count = u16::try_from(method.parameters.len()).unwrap_or(u16::MAX);
        let Some(target) = self.code.lowering().method(unit, name, count) else {
            return self.gap("a method as a closure");
        };
        let mut code = Code::new(self.code.lowering(), name, count, 0);
        let arguments: Vec<Reg> = (0..count).map(|at| code.param(at)).collect();
        let result = code.call(target, &arguments);
        code.ret(result);
        let func = code.finish();
        let function = self.code.value(|dst| Op::Closure { dst, func, captures: Reg(0) });
        let most = self.literal(Literal::Int(i64::from(count)));
        let args = self.code.row(&[function, most]);
        let ty = self.code.kinds().closure;
        self.code.value(|dst| Op::Record { dst, ty, args })
    }
}
