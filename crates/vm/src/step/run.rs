//! The interpreter's loop.

use super::fault::{FailureKind, Stop};
use super::interpreter::{End, Interpreter, Mode};
use crate::machine::FRAMES_MAX;
use crate::program::{Op, Reg};
use crate::state::Frame;
use crate::value::Value;

impl Interpreter<'_> {
    #[inline]
    pub(crate) fn get(&self, reg: Reg) -> &Value {
        &self.regs[self.low + reg.index()]
    }

    #[inline]
    pub(crate) fn set(&mut self, reg: Reg, value: Value) {
        value.put_in(&mut self.regs[self.low + reg.index()]);
    }

    /// Sets a register to a boolean. Most often the register holds one already.
    #[inline]
    pub(crate) fn set_bool(&mut self, reg: Reg, value: bool) {
        match &mut self.regs[self.low + reg.index()] {
            Value::Bool(old) => *old = value,
            slot => Value::Bool(value).put_in(slot),
        }
    }

    /// Returns registers in a row. If there are none, the first may be any, as for the validator.
    #[inline]
    pub(crate) fn slice(&self, first: Reg, count: u16) -> &[Value] {
        if count == 0 {
            return &[];
        }
        let start = self.low + first.index();
        &self.regs[start..start + usize::from(count)]
    }

    /// Runs until the outermost function returns or, stepwise, the next visible instruction after
    /// the first.
    pub(crate) fn run(&mut self) -> Result<End, Stop> {
        let machine = self.machine;
        let mut code = &machine.code[usize::from(self.func)].ops[..];
        loop {
            let op = code[self.pc];
            if self.mode == Mode::Stepwise && self.is_visible(&op) {
                if self.visible_done && self.atomic == 0 {
                    return Ok(End::Paused);
                }
                self.visible_done = true;
            }
            self.burn(1)?;
            match op {
                Op::Jump { target } => {
                    self.pc = target as usize;
                    continue;
                }
                Op::JumpIf { cond, target } => {
                    if self.truth(cond)? {
                        self.pc = target as usize;
                        continue;
                    }
                }
                Op::JumpIfNot { cond, target } => {
                    if !self.truth(cond)? {
                        self.pc = target as usize;
                        continue;
                    }
                }
                Op::Call { .. } | Op::CallValue { .. } | Op::CallMember { .. } => {
                    if self.call(&op)? {
                        code = &machine.code[usize::from(self.func)].ops[..];
                        continue;
                    }
                }
                Op::Return { .. } | Op::ReturnNull => {
                    let value = match op {
                        Op::Return { src } => {
                            std::mem::take(&mut self.regs[self.low + src.index()])
                        }
                        _ => Value::Null,
                    };
                    let Some(frame) = self.frames.pop() else {
                        self.result = value;
                        return Ok(End::Returned);
                    };
                    self.func = frame.func;
                    self.pc = frame.pc as usize;
                    let caller = &machine.code[usize::from(self.func)];
                    self.low -= usize::from(caller.registers);
                    self.set(Reg(frame.dst), value);
                    code = &caller.ops[..];
                    continue;
                }
                Op::Wait { .. } => {
                    let (cond, lock) = self.wait(&op)?;
                    return Ok(End::Waiting { cond, lock });
                }
                _ => self.simple(&op)?,
            }
            self.pc += 1;
        }
    }

    #[inline]
    pub(crate) fn truth(&self, reg: Reg) -> Result<bool, Stop> {
        match self.get(reg) {
            Value::Bool(value) => Ok(*value),
            value => Err(self.bad_type("a condition is", value)),
        }
    }

    /// Starts a call. Returns false for a built-in method, which has already run.
    fn call(&mut self, op: &Op) -> Result<bool, Stop> {
        let program = &self.machine.program;
        match *op {
            Op::Call { dst, func, args } => {
                let count = self.machine.code[func.index()].params;
                self.enter(func.0, args, count, dst, None)?;
            }
            Op::CallValue { dst, callee, args, count } => {
                let Value::Func(closure) = self.get(callee) else {
                    return Err(self.bad_type("cannot call", self.get(callee)));
                };
                let closure = closure.clone();
                let params = program.functions[usize::from(closure.ty)].params;
                if params != count {
                    let message = format!("{count} arguments for a function of {params}");
                    return Err(self.fault(FailureKind::Type, message));
                }
                self.enter(closure.ty, args, count, dst, Some(closure.items()))?;
            }
            Op::CallMember { dst, name, args, count } => {
                let Some(func) = self.find_method(name, args)? else {
                    self.call_builtin(dst, name, args, count)?;
                    return Ok(false);
                };
                let params = program.functions[usize::from(func)].params;
                if params != count {
                    let (given, wanted) = (count.saturating_sub(1), params.saturating_sub(1));
                    let message = format!("{given} arguments for a method of {wanted}");
                    return Err(self.fault(FailureKind::Type, message));
                }
                self.enter(func, args, count, dst, None)?;
            }
            _ => {}
        }
        Ok(true)
    }

    fn enter(
        &mut self,
        func: u16,
        args: Reg,
        count: u16,
        dst: Reg,
        captures: Option<&[Value]>,
    ) -> Result<(), Stop> {
        if self.frames.len() >= FRAMES_MAX {
            let message = format!("more than {FRAMES_MAX} calls deep");
            return Err(self.fault(FailureKind::Recursion, message));
        }
        let caller = usize::from(self.machine.code[usize::from(self.func)].registers);
        self.frames.push(Frame { func: self.func, pc: self.pc as u32 + 1, dst: dst.0 });
        let from = self.low + args.index();
        self.low += caller;
        self.make_room(func);
        let count = usize::from(count);
        for i in 0..count {
            self.regs[self.low + i] = self.regs[from + i].clone();
        }
        for (i, value) in captures.unwrap_or(&[]).iter().enumerate() {
            self.regs[self.low + count + i] = value.clone();
        }
        self.func = func;
        self.pc = 0;
        Ok(())
    }

    /// Returns whether an instruction is visible, given the values of its registers.
    fn is_visible(&self, op: &Op) -> bool {
        match *op {
            Op::GetMember { src: object, name, .. } | Op::SetMember { object, name, .. } => {
                match self.get(object) {
                    Value::Null => true,
                    // A missing field is no shared location.
                    Value::Obj(number) => self.field_of(*number, name).is_some(),
                    _ => false,
                }
            }
            _ => op.is_visible(),
        }
    }
}
