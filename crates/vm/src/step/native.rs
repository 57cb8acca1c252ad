//! Calls of functions of the front end.

use super::fault::{FailureKind, Stop};
use super::interpreter::Interpreter;
use crate::machine::literal;
use crate::program::{NativeId, Reg};

impl Interpreter<'_> {
    /// Calls a native function. Charges for all values in its arguments and its result.
    pub(super) fn native(&mut self, dst: Reg, native: NativeId, args: Reg) -> Result<(), Stop> {
        let native = &self.machine.program.natives[native.index()];
        let mut given = Vec::with_capacity(usize::from(native.params));
        let mut nodes = 0_usize;
        for at in 0..native.params {
            let value = self.get(args.plus(at));
            nodes += value.nodes() as usize + 1;
            match literal::of(value) {
                Some(one) => given.push(one),
                None => {
                    let what = format!("the native function `{}` does not take", native.name);
                    return Err(self.bad_type(&what, value));
                }
            }
        }
        self.charge(nodes)?;
        match (native.code)(&given) {
            Ok(result) => {
                let value = literal::value(&result);
                self.check_size(&value)?;
                self.charge(value.nodes() as usize)?;
                self.set(dst, value);
                Ok(())
            }
            Err(message) => Err(self.fault(FailureKind::Type, message)),
        }
    }
}
