//! The code that the interpreter runs: the program's code, with some instructions replaced by
//! faster ones.

use super::live::Liveness;
use crate::program::{ConstId, Function, Op, Program};
use crate::value::Value;

/// A function ready to run. Positions are those of the program's code.
#[derive(Debug)]
pub(crate) struct Code {
    pub(crate) ops: Vec<Op>,
    pub(crate) params: u16,
    pub(crate) registers: u16,
    /// Whether no register is read before it is set, except parameters and captures. Then no
    /// register need be null at the start.
    pub(crate) clean: bool,
}

impl Code {
    pub(crate) fn new(
        program: &Program,
        function: &Function,
        live: &Liveness,
        constants: &mut Vec<Value>,
    ) -> Code {
        let ops = function.code.iter().map(|op| faster(program, op, constants)).collect();
        let inputs = usize::from(function.params + function.captures);
        let mut rest = inputs..usize::from(function.registers);
        let clean = !rest.any(|reg| live.is_live(0, reg));
        Code { ops, params: function.params, registers: function.registers, clean }
    }
}

/// Returns a faster instruction that does the same.
fn faster(program: &Program, op: &Op, constants: &mut Vec<Value>) -> Op {
    let Op::Enum { dst, ty, variant, .. } = *op else { return *op };
    if program.enums[ty.index()].variants[usize::from(variant)].payload > 0 {
        return *op;
    }
    let value = Value::Variant { ty: ty.0, variant };
    let known = constants.iter().position(|constant| *constant == value);
    let index = known.unwrap_or_else(|| {
        constants.push(value);
        constants.len() - 1
    });
    u32::try_from(index).map_or(*op, |index| Op::Const { dst, constant: ConstId(index) })
}
