//! Methods of scripts.

use super::Code;
use super::body::Body;
use super::lowering::{Lowering, Wanted};
use super::names::Names;
use super::platform::Platform;
use super::unit::UnitId;
use crate::ast::{Method, Stmt, TypeName};
use anyorder_program::{FuncId, Op, Reg};
use std::rc::Rc;
use std::sync::Arc;

/// Returns whether a method takes so many arguments.
pub(super) fn takes_count(method: &Method, arguments: u16) -> bool {
    let (required, all, variable) = counts(method);
    // A method with one parameter may be called without an argument: it is null.
    let alone = all == 1 && arguments == 0;
    let arguments = usize::from(arguments);
    method.body.is_some() && (arguments >= required || alone) && (arguments <= all || variable)
}

/// Returns how many arguments a method needs, how many parameters it has, and whether the last
/// takes any number.
fn counts(method: &Method) -> (usize, usize, bool) {
    let parameters = &method.parameters;
    let variable = parameters.last().is_some_and(|last| last.is_variable);
    let optional = parameters.iter().filter(|one| one.default.is_some()).count();
    (parameters.len() - optional - usize::from(variable), parameters.len(), variable)
}

/// Returns whether the arguments must be compared with the types of the parameters.
fn is_typed(method: &Method) -> bool {
    let parameters = &method.parameters;
    let defaults = parameters.iter().any(|one| one.default.is_some());
    !defaults && !counts(method).2 && parameters.iter().any(|one| one.type_name.is_some())
}

impl Body<'_> {
    /// Compiles the statements of a whole body, which gives the value of the last one.
    pub(super) fn whole(&mut self, statements: &[Stmt]) {
        let dst = self.code.null();
        self.statements(statements, Some(dst));
        self.leave_with(dst);
    }

    /// Converts an argument to the type of its parameter, unless it is null.
    pub(super) fn cast_parameter(&mut self, value: Reg, typed: &TypeName) -> Reg {
        let own = self.code.temp();
        let end = self.code.label();
        self.code.set(own, value);
        let is_null = self.code.is(value, self.code.kinds().types.null);
        self.code.jump_if(is_null, end);
        let cast = self.cast(value, typed, false);
        self.code.set(own, cast);
        self.code.bind(end);
        own
    }

    /// Jumps to `other` unless the types of the parameters take the arguments.
    fn check_types(&mut self, method: &Method, arguments: u16, other: anyorder_program::Label) {
        for (at, one) in (0..arguments).zip(&method.parameters) {
            let Some(typed) = &one.type_name else { continue };
            let argument = self.code.param(at);
            if let Some(takes) = self.takes(argument, typed) {
                self.code.jump_if_not(takes, other);
            }
        }
    }

    /// Declares the parameters, of which so many arguments are in the first registers.
    fn bind_parameters(&mut self, method: &Method, arguments: u16) {
        let (required, ..) = counts(method);
        let mut given_defaults = usize::from(arguments).saturating_sub(required);
        let mut next = 0;
        let mut argument = |own: &mut Self| {
            next += 1;
            if next <= arguments { own.code.param(next - 1) } else { own.code.null() }
        };
        for one in &method.parameters {
            if one.is_variable {
                let mut rest = Vec::new();
                while rest.len() + method.parameters.len() <= usize::from(arguments) {
                    rest.push(argument(self));
                }
                let list = self.code.list(&rest);
                self.declare(&one.name, None, list);
                continue;
            }
            let value = match &one.default {
                Some(default) if given_defaults == 0 => {
                    let value = self.expr(default);
                    let own = self.code.temp();
                    self.code.set(own, value);
                    own
                }
                Some(_) => {
                    given_defaults -= 1;
                    argument(self)
                }
                None => argument(self),
            };
            let value = match &one.type_name {
                Some(typed) => self.cast_parameter(value, typed),
                None => value,
            };
            self.declare(&one.name, one.type_name.clone(), value);
        }
    }

    fn method(&mut self, method: &Method, arguments: u16) {
        self.result = method.result.clone();
        self.bind_parameters(method, arguments);
        if let Some(block) = &method.body {
            self.whole(&block.statements);
        }
    }
}

fn shared_names(method: &Method) -> Rc<std::collections::BTreeSet<String>> {
    let names = method.body.as_ref().map(|body| Names::of(&body.statements)).unwrap_or_default();
    Rc::new(names.assigned.intersection(&names.closed).cloned().collect())
}

/// Compiles a method called with so many arguments, or the choice between several.
pub(super) fn entry(
    lowering: &mut Lowering,
    platform: &mut dyn Platform,
    id: FuncId,
    unit: UnitId,
    name: &str,
    arguments: u16,
) {
    let app = lowering.app(unit);
    let all = app.methods(name).iter().enumerate();
    let fitting: Vec<(usize, Arc<Method>)> = all
        .filter(|(_, one)| takes_count(one, arguments))
        .map(|(at, one)| (at, one.clone()))
        .collect();
    let shared = match &fitting[..] {
        [(_, method)] => shared_names(method),
        _ => Rc::default(),
    };
    let code = Code::new(lowering, name, arguments, 0);
    let mut body = Body::new(code, platform, unit, shared);
    if let [(_, method)] = &fitting[..] {
        body.code.at(method.span);
        let other = body.code.label();
        if is_typed(method) {
            body.check_types(method, arguments, other);
        }
        body.method(method, arguments);
        body.code.bind(other);
    } else {
        for (at, method) in &fitting {
            let other = body.code.label();
            if is_typed(method) {
                body.check_types(method, arguments, other);
            }
            let wanted = Wanted::Method(unit, name.to_owned(), *at, arguments);
            let func = body.code.lowering().want(wanted);
            let dst = body.code.temp();
            body.code.emit(Op::Call { dst, func, args: Reg(0) });
            body.code.ret(dst);
            body.code.bind(other);
        }
    }
    body.code.throw_missing_method(name);
    body.code.define(id);
}

/// Compiles one method of a name, called with so many arguments.
pub(super) fn one(
    lowering: &mut Lowering,
    platform: &mut dyn Platform,
    id: FuncId,
    (unit, name, index): (UnitId, &str, usize),
    arguments: u16,
) {
    let app = lowering.app(unit);
    let method = app.methods(name).get(index).cloned();
    let shared = method.as_deref().map(shared_names).unwrap_or_default();
    let code = Code::new(lowering, name, arguments, 0);
    let mut body = Body::new(code, platform, unit, shared);
    if let Some(method) = method {
        body.code.at(method.span);
        body.method(&method, arguments);
    }
    body.code.define(id);
}

/// Compiles the choice of a method by its name.
pub(super) fn named(lowering: &mut Lowering, id: FuncId, unit: UnitId, arguments: u16) {
    let app = lowering.app(unit);
    let mut code = Code::new(lowering, "method", arguments + 1, 0);
    code.set_unit(unit);
    for name in app.method_names() {
        let Some(func) = code.lowering().method(unit, name, arguments) else { continue };
        let mark = code.mark();
        let text = code.text(name);
        let is = code.value(|dst| Op::Eq { dst, a: Reg(0), b: text });
        let other = code.label();
        code.jump_if_not(is, other);
        let dst = code.temp();
        code.emit(Op::Call { dst, func, args: Reg(1) });
        code.ret(dst);
        code.bind(other);
        code.release(mark);
    }
    code.throw_missing_method("a computed name");
    code.define(id);
}

/// Compiles the statements of a script outside of its methods.
pub(super) fn script(
    lowering: &mut Lowering,
    platform: &mut dyn Platform,
    id: FuncId,
    unit: UnitId,
) {
    let app = lowering.app(unit);
    let names = Names::of(&app.script().statements);
    let shared = names.assigned.intersection(&names.closed).cloned().collect();
    let code = Code::new(lowering, "script", 0, 0);
    let mut body = Body::new(code, platform, unit, Rc::new(shared));
    body.whole(&app.script().statements);
    body.code.define(id);
}
