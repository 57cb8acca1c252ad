//! Threads hold no registers that are dead: so states that differ only in them are equal.

use super::thread::{Frame, Origin, Status, Thread, ThreadBody};
use crate::machine::Machine;
use crate::sabotage::Sabotage;
use crate::value::Value;
use std::sync::Arc;

impl Machine {
    /// Makes a thread that is about to call a function.
    pub(crate) fn new_thread(
        &self,
        (origin, body): (Origin, ThreadBody),
        func: u16,
        mut args: Vec<Value>,
        (handle, uid): (u32, u64),
    ) -> Arc<Thread> {
        args.resize(usize::from(self.code[usize::from(func)].registers), Value::Null);
        let (frames, mut regs) = (vec![Frame { func, pc: 0, dst: 0 }], args);
        self.clear_dead(&frames, &mut regs);
        let status = Status::Ready;
        let mut thread = Thread { origin, body, status, handle, frames, regs, uid, hash: 0 };
        thread.rehash();
        Arc::new(thread)
    }

    /// Sets the dead registers of a thread between steps to null.
    pub(crate) fn clear_dead(&self, frames: &[Frame], regs: &mut [Value]) {
        if self.sabotage == Sabotage::KeepDead {
            return;
        }
        let mut low = 0;
        for (i, frame) in frames.iter().enumerate() {
            let live = &self.live[usize::from(frame.func)];
            let registers = usize::from(self.program.functions[usize::from(frame.func)].registers);
            let outer = i + 1 < frames.len();
            for (reg, slot) in regs.iter_mut().skip(low).take(registers).enumerate() {
                // The call above will write its result here.
                let result = outer && reg == usize::from(frame.dst);
                let live = live.is_live(frame.pc as usize, reg) && !result;
                if !live || self.sabotage == Sabotage::DropLive {
                    *slot = Value::Null;
                }
            }
            low += registers;
        }
    }
}
