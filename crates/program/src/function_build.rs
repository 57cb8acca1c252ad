//! Builds a function instruction by instruction.

use crate::function::Function;
use crate::ids::{NameId, Reg, SiteId};
use crate::op::Op;

/// A jump target. Its position may not be known yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Label(u32);

/// Builds a [`Function`]. [`jump`](Self::jump), [`jump_if`](Self::jump_if) and
/// [`jump_if_not`](Self::jump_if_not) emit jumps to labels. [`bind`](Self::bind) gives a label its
/// position, before or after its jumps. The validator refuses a jump to a label without a position.
#[derive(Clone, Debug)]
pub struct FunctionBuilder {
    function: Function,
    labels: Vec<Option<u32>>,
    jumps: Vec<(usize, Label)>,
    site: SiteId,
    overflow: bool,
}

impl FunctionBuilder {
    /// Starts a function.
    #[must_use]
    pub fn new(name: &str, params: u16, captures: u16) -> FunctionBuilder {
        let registers = params.saturating_add(captures);
        let name = name.to_owned();
        let function = Function { name, params, captures, registers, ..Function::default() };
        let site = SiteId(0);
        FunctionBuilder { function, labels: Vec::new(), jumps: Vec::new(), site, overflow: false }
    }

    /// Returns the register of a parameter (or of a capture, counted after the parameters).
    #[must_use]
    pub fn param(&self, index: u16) -> Reg {
        Reg(index)
    }

    /// Takes a new register.
    pub fn reg(&mut self) -> Reg {
        self.regs(1)
    }

    /// Takes consecutive new registers and returns the first. The validator refuses too many.
    pub fn regs(&mut self, count: u16) -> Reg {
        let first = self.function.registers;
        match first.checked_add(count) {
            Some(end) => self.function.registers = end,
            None => self.overflow = true,
        }
        Reg(first)
    }

    /// Returns the number of registers taken so far.
    #[must_use]
    pub fn registers(&self) -> u16 {
        self.function.registers
    }

    /// Names a register that is a variable, for reports.
    pub fn local(&mut self, reg: Reg, name: NameId) {
        self.function.locals.push((reg, name));
    }

    /// Sets the source position of the instructions that follow.
    pub fn at(&mut self, site: SiteId) {
        self.site = site;
    }

    /// Appends an instruction and returns its position.
    pub fn emit(&mut self, op: Op) -> usize {
        self.function.code.push(op);
        self.function.sites.push(self.site);
        self.function.code.len() - 1
    }

    /// Takes a new register, appends the instruction that writes it, and returns it.
    pub fn value(&mut self, op: impl FnOnce(Reg) -> Op) -> Reg {
        let dst = self.reg();
        self.emit(op(dst));
        dst
    }

    /// Makes a label without a position.
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(u32::try_from(self.labels.len() - 1).unwrap_or(u32::MAX))
    }

    /// Binds a label to the next instruction.
    pub fn bind(&mut self, label: Label) {
        let here = u32::try_from(self.function.code.len()).unwrap_or(u32::MAX);
        if let Some(slot) = self.labels.get_mut(label.0 as usize) {
            *slot = Some(here);
        }
    }

    /// Appends a jump.
    pub fn jump(&mut self, label: Label) {
        self.emit_jump(Op::Jump { target: u32::MAX }, label);
    }

    /// Appends a jump that is taken when a register is true.
    pub fn jump_if(&mut self, cond: Reg, label: Label) {
        self.emit_jump(Op::JumpIf { cond, target: u32::MAX }, label);
    }

    /// Appends a jump that is taken when a register is false.
    pub fn jump_if_not(&mut self, cond: Reg, label: Label) {
        self.emit_jump(Op::JumpIfNot { cond, target: u32::MAX }, label);
    }

    fn emit_jump(&mut self, op: Op, label: Label) {
        let at = self.emit(op);
        self.jumps.push((at, label));
    }

    /// Returns the function with its jumps resolved. Appends a `ReturnNull` if control can reach
    /// the end of the code.
    #[must_use]
    pub fn finish(mut self) -> Function {
        let ends = self.function.code.last().is_some_and(|op| !op.falls_through());
        let here = u32::try_from(self.function.code.len()).unwrap_or(u32::MAX);
        if !ends || self.labels.contains(&Some(here)) {
            self.emit(Op::ReturnNull);
        }
        for (at, label) in &self.jumps {
            let place = self.labels.get(label.0 as usize).copied().flatten().unwrap_or(u32::MAX);
            if let Op::Jump { target } | Op::JumpIf { target, .. } | Op::JumpIfNot { target, .. } =
                &mut self.function.code[*at]
            {
                *target = place;
            }
        }
        if self.overflow {
            // The validator refuses this many.
            self.function.registers = u16::MAX;
        }
        self.function
    }
}
