//! Operands: what an instruction reads, writes and refers to.

use crate::declare::PostTarget;
use crate::function::Function;
use crate::ids::{
    ChoiceId, ClassId, CondId, ConstId, EnumId, EventId, FuncId, GlobalId, LockId, NameId,
    NativeId, PostId, RecordId, Reg, TypeId,
};
use crate::op::Op;
use crate::validate::{Check, check_index};
use crate::whole::Program;

/// An operand of an instruction. An operand of several registers has the first of them. The index
/// of a lock, a condition or an event is a register, or `NONE`.
#[derive(Clone, Copy)]
pub(crate) enum Operand {
    /// A register that the instruction overwrites.
    Write(Reg),
    /// The same, or `NONE`.
    WriteIfAny(Reg),
    /// A register that the instruction reads or changes.
    Read(Reg),
    /// A number of registers.
    ReadAll(Reg, u16),
    /// A number of keys with their values.
    Pairs(Reg, u16),
    /// A receiver with its arguments.
    Receiver(Reg, u16),
    /// The arguments of a function without captures.
    Params(FuncId, Reg),
    Captures(FuncId, Reg),
    /// The arguments of a native function.
    NativeArgs(NativeId, Reg),
    PostArgs(PostId, Reg),
    Payload(EnumId, u16, Reg),
    RecordFields(RecordId, Reg),
    /// The fields of a new object.
    Fields(ClassId, Reg),
    Variant(EnumId, u16),
    RecordField(RecordId, u16),
    Field(ClassId, u16),
    Lock(LockId, Reg),
    Cond(CondId, Reg),
    Event(EventId, Reg),
    Constant(ConstId),
    Global(GlobalId),
    Name(NameId),
    Type(TypeId),
    Choice(ChoiceId),
    IndexType(u16),
    /// A position in the code.
    Target(u32),
}

impl Operand {
    /// Calls `each` with the registers that the instruction reads or changes: first, count. A
    /// number outside of its table stands for no registers.
    fn reads(self, program: &Program, each: &mut dyn FnMut(Reg, u16)) {
        let count = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
        let params = |func: FuncId| program.get(func).map_or(0, |f| f.params);
        let optional = |reg: Reg| u16::from(reg.some().is_some());
        match self {
            Operand::Read(reg) => each(reg, 1),
            Operand::ReadAll(args, count) | Operand::Receiver(args, count) => each(args, count),
            Operand::Pairs(args, count) => each(args, count.saturating_mul(2)),
            Operand::Params(func, args) => each(args, params(func)),
            Operand::Captures(func, args) => {
                each(args, program.get(func).map_or(0, |f| f.captures));
            }
            Operand::NativeArgs(native, args) => {
                each(args, program.get(native).map_or(0, |n| n.params));
            }
            Operand::PostArgs(post, args) => {
                let Ok(post) = program.get(post) else { return };
                each(args, program.get(post.task).map_or(0, |task| params(task.body)));
                if let PostTarget::Handler(_, index) = post.target {
                    each(index, optional(index));
                }
                each(post.delay, optional(post.delay));
            }
            Operand::Payload(ty, variant, args) => {
                each(args, program.variant(ty, variant).map_or(0, |v| v.payload));
            }
            Operand::RecordFields(ty, args) => {
                each(args, program.get(ty).map_or(0, |record| count(record.fields.len())));
            }
            Operand::Fields(class, args) => {
                each(args, program.get(class).map_or(0, |class| count(class.fields.len())));
            }
            Operand::Lock(_, index) | Operand::Cond(_, index) | Operand::Event(_, index) => {
                each(index, optional(index));
            }
            _ => {}
        }
    }

    /// Checks everything but registers and jumps.
    fn check(self, program: &Program) -> Check {
        // Without an index, an array must have a first member.
        let indexed = |array: Option<u16>, index: Reg| match (array, index.some()) {
            (Some(0), None) => Err("no member of an empty array".to_owned()),
            _ => Ok(()),
        };
        match self {
            Operand::Pairs(_, count) if count > u16::MAX / 2 => Err("too many entries".to_owned()),
            Operand::Receiver(_, 0) => Err("a method call without a receiver".to_owned()),
            Operand::Params(func, _) if program.get(func)?.captures > 0 => {
                Err("a function with captures is called by value only".to_owned())
            }
            Operand::Captures(func, _) => program.check(func),
            Operand::NativeArgs(native, _) => program.check(native),
            Operand::PostArgs(post, _) => program.check(post),
            Operand::Payload(ty, variant, _) | Operand::Variant(ty, variant) => {
                program.variant(ty, variant).map(drop)
            }
            Operand::RecordFields(ty, _) => program.check(ty),
            Operand::Fields(class, _) => program.check(class),
            Operand::RecordField(ty, field) => {
                check_index("field", usize::from(field), program.get(ty)?.fields.len())
            }
            Operand::Field(class, field) => {
                check_index("field", usize::from(field), program.get(class)?.fields.len())
            }
            Operand::Lock(lock, index) => indexed(program.get(lock)?.array, index),
            Operand::Cond(cond, index) => indexed(program.get(cond)?.array, index),
            Operand::Event(event, _) => program.check(event),
            Operand::Constant(constant) => program.check(constant),
            Operand::Global(global) => program.check(global),
            Operand::Name(name) => program.check(name),
            Operand::Type(ty) => program.check(ty),
            Operand::Choice(choice) => program.check(choice),
            Operand::IndexType(index) => {
                check_index("index type", usize::from(index), program.symmetries.len())
            }
            _ => Ok(()),
        }
    }
}

impl Op {
    /// Returns the register that the instruction overwrites.
    #[must_use]
    pub fn writes(&self) -> Option<Reg> {
        let mut written = None;
        self.operands(&mut |operand| match operand {
            Operand::Write(reg) => written = Some(reg),
            Operand::WriteIfAny(reg) => written = reg.some(),
            _ => {}
        });
        written
    }

    /// Calls `each` with every range of registers (first, count) that the instruction reads or
    /// changes. A number outside of its table stands for no registers.
    pub fn reads(&self, program: &Program, each: &mut dyn FnMut(Reg, u16)) {
        self.operands(&mut |operand| operand.reads(program, each));
    }

    /// Returns where the instruction may jump to.
    #[must_use]
    pub fn target(&self) -> Option<u32> {
        let mut found = None;
        self.operands(&mut |operand| {
            if let Operand::Target(target) = operand {
                found = Some(target);
            }
        });
        found
    }

    /// Returns whether control can reach the next instruction.
    #[must_use]
    pub fn falls_through(&self) -> bool {
        !matches!(
            self,
            Op::Jump { .. }
                | Op::Return { .. }
                | Op::ReturnNull
                | Op::Fail { .. }
                | Op::NoMatch { .. }
        )
    }

    /// Checks the operands of an instruction of a function.
    pub(crate) fn check(&self, program: &Program, function: &Function) -> Check {
        let mut checked = Ok(());
        self.operands(&mut |operand| {
            if checked.is_ok() {
                checked = operand.check(program);
            }
        });
        checked?;
        let registers = function.registers;
        let mut wrong = None;
        self.reads(program, &mut |first: Reg, count: u16| {
            // An instruction that reads nothing may name any register.
            if count > 0 && first.index() + usize::from(count) > usize::from(registers) {
                wrong.get_or_insert(first);
            }
        });
        let wrong = wrong.or(self.writes().filter(|dst| dst.0 >= registers));
        match (wrong, self.target()) {
            (Some(Reg(reg)), _) => Err(format!("registers from {reg} on, of {registers}")),
            (None, Some(target)) => {
                check_index("instruction", target as usize, function.code.len())
            }
            (None, None) => Ok(()),
        }
    }
}
