//! Properties and methods of values whose kind is known only when the code runs.

use super::Code;
use super::lowering::{Lowering, Wanted};
use super::platform::Platform;
use anyorder_program::FuncId;

pub(super) fn function(
    lowering: &mut Lowering,
    platform: &mut dyn Platform,
    id: FuncId,
    wanted: &Wanted,
) {
    let mut code = Code::new(lowering, "member", 0, 0);
    code.gap(platform, &format!("{wanted:?}"));
    code.define(id);
}
