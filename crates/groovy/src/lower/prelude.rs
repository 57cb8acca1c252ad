//! The run-time library: functions written in Groovy, over primitives of the machine.

use super::Code;
use super::lowering::Lowering;
use super::platform::Platform;
use super::unit::{Unit, UnitId};
use anyorder_program::FuncId;
use std::sync::Arc;

/// The unit of the library.
pub(super) const UNIT: UnitId = UnitId(u16::MAX);

pub(super) fn unit() -> Arc<Unit> {
    Arc::new(Unit::new("", "", crate::ast::Script::default()))
}

pub(super) fn function(
    lowering: &mut Lowering,
    platform: &mut dyn Platform,
    id: FuncId,
    name: &'static str,
) {
    let mut code = Code::new(lowering, name, 1, 0);
    code.gap(platform, name);
    code.define(id);
}
