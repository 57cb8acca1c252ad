//! Functions that the machine calls: numbers and strings as the evaluator computes them.

use anyorder_program::NativeId;
use std::collections::HashMap;

/// The native functions of a program so far.
#[derive(Default)]
pub(super) struct Natives {
    known: HashMap<String, NativeId>,
}
