//! Methods of scripts.

use super::Code;
use super::lowering::Lowering;
use super::platform::Platform;
use super::unit::UnitId;
use crate::ast::Method;
use anyorder_program::FuncId;

/// Returns whether a method takes so many arguments.
pub(super) fn takes_count(method: &Method, arguments: u16) -> bool {
    let parameters = &method.parameters;
    let variable = parameters.last().is_some_and(|last| last.is_variable);
    let optional = parameters.iter().filter(|one| one.default.is_some()).count();
    let required = parameters.len() - optional - usize::from(variable);
    // A method with one parameter may be called without an argument: it is null.
    let alone = parameters.len() == 1 && arguments == 0;
    let arguments = usize::from(arguments);
    (arguments >= required || alone) && (arguments <= parameters.len() || variable)
}

pub(super) fn entry(
    lowering: &mut Lowering,
    platform: &mut dyn Platform,
    id: FuncId,
    _unit: UnitId,
    name: &str,
    arguments: u16,
) {
    let mut code = Code::new(lowering, name, arguments, 0);
    code.gap(platform, "methods");
    code.define(id);
}

pub(super) fn body(
    lowering: &mut Lowering,
    platform: &mut dyn Platform,
    id: FuncId,
    _unit: UnitId,
    name: &str,
    _index: usize,
) {
    let mut code = Code::new(lowering, name, 0, 0);
    code.gap(platform, "methods");
    code.define(id);
}

pub(super) fn named(lowering: &mut Lowering, id: FuncId, _unit: UnitId, arguments: u16) {
    Code::new(lowering, "named", arguments + 1, 0).define(id);
}

pub(super) fn script(
    lowering: &mut Lowering,
    platform: &mut dyn Platform,
    id: FuncId,
    _unit: UnitId,
) {
    let mut code = Code::new(lowering, "script", 0, 0);
    code.gap(platform, "scripts");
    code.define(id);
}
