//! Which registers an instruction reads and writes, and what else it refers to.

use super::declare::PostTarget;
use super::ids::Reg;
use super::op::Op;
use super::whole::Program;

impl Op {
    /// Returns the register that the instruction overwrites.
    #[must_use]
    pub fn writes(&self) -> Option<Reg> {
        match *self {
            Op::Const { dst, .. }
            | Op::Int { dst, .. }
            | Op::Bool { dst, .. }
            | Op::Null { dst }
            | Op::Move { dst, .. }
            | Op::Add { dst, .. }
            | Op::Sub { dst, .. }
            | Op::Mul { dst, .. }
            | Op::Div { dst, .. }
            | Op::Rem { dst, .. }
            | Op::AddInt { dst, .. }
            | Op::Neg { dst, .. }
            | Op::Not { dst, .. }
            | Op::Eq { dst, .. }
            | Op::Ne { dst, .. }
            | Op::Lt { dst, .. }
            | Op::Le { dst, .. }
            | Op::In { dst, .. }
            | Op::EqInt { dst, .. }
            | Op::Call { dst, .. }
            | Op::CallValue { dst, .. }
            | Op::CallMember { dst, .. }
            | Op::Closure { dst, .. }
            | Op::List { dst, .. }
            | Op::Set { dst, .. }
            | Op::Map { dst, .. }
            | Op::Range { dst, .. }
            | Op::Enum { dst, .. }
            | Op::IsVariant { dst, .. }
            | Op::IsObject { dst, .. }
            | Op::IsFieldCall { dst, .. }
            | Op::Payload { dst, .. }
            | Op::Record { dst, .. }
            | Op::RecordGet { dst, .. }
            | Op::Index { dst, .. }
            | Op::Method { dst, .. }
            | Op::Array { dst, .. }
            | Op::GetGlobal { dst, .. }
            | Op::GetGlobalAt { dst, .. }
            | Op::New { dst, .. }
            | Op::GetField { dst, .. }
            | Op::GetFieldAt { dst, .. }
            | Op::GetMember { dst, .. }
            | Op::Choose { dst, .. }
            | Op::ChooseFrom { dst, .. }
            | Op::ChooseInt { dst, .. }
            | Op::Enabled { dst, .. } => Some(dst),
            Op::Post { dst, .. } | Op::Fork { dst, .. } => dst.some(),
            _ => None,
        }
    }

    /// Calls `each` with every range of registers (first, count) that the instruction reads or
    /// changes. A number outside of its table stands for no registers.
    pub(crate) fn reads(&self, program: &Program, each: &mut dyn FnMut(Reg, u16)) {
        let params = |f: Option<&super::function::Function>| f.map_or(0, |f| f.params);
        let optional = |each: &mut dyn FnMut(Reg, u16), reg: Reg| {
            if let Some(reg) = reg.some() {
                each(reg, 1);
            }
        };
        match *self {
            Op::Nop
            | Op::Const { .. }
            | Op::Int { .. }
            | Op::Bool { .. }
            | Op::Null { .. }
            | Op::Jump { .. }
            | Op::ReturnNull
            | Op::GetGlobal { .. }
            | Op::Yield
            | Op::AtomicBegin
            | Op::AtomicEnd
            | Op::Choose { .. } => {}
            Op::Move { src, .. }
            | Op::Array { src, .. }
            | Op::Return { src }
            | Op::IsVariant { src, .. }
            | Op::IsObject { src, .. }
            | Op::IsFieldCall { src, .. }
            | Op::Payload { src, .. }
            | Op::RecordGet { src, .. }
            | Op::Check { src, .. }
            | Op::SetGlobal { src, .. }
            | Op::GetMember { src, .. }
            | Op::Cancel { src }
            | Op::Join { src }
            | Op::ChooseFrom { src, .. }
            | Op::NoMatch { src } => each(src, 1),
            Op::Add { a, b, .. }
            | Op::Sub { a, b, .. }
            | Op::Mul { a, b, .. }
            | Op::Div { a, b, .. }
            | Op::Rem { a, b, .. }
            | Op::Eq { a, b, .. }
            | Op::Ne { a, b, .. }
            | Op::Lt { a, b, .. }
            | Op::Le { a, b, .. }
            | Op::In { a, b, .. }
            | Op::Range { a, b, .. }
            | Op::ChooseInt { a, b, .. } => {
                each(a, 1);
                each(b, 1);
            }
            Op::AddInt { a, .. } | Op::Neg { a, .. } | Op::Not { a, .. } | Op::EqInt { a, .. } => {
                each(a, 1)
            }
            Op::JumpIf { cond, .. }
            | Op::JumpIfNot { cond, .. }
            | Op::Assert { cond, .. }
            | Op::Assume { cond } => each(cond, 1),
            Op::Fail { message } => each(message, 1),
            Op::Call { func, args, .. } | Op::Fork { func, args, .. } => {
                each(args, params(program.functions.get(func.index())));
            }
            Op::CallValue { callee, args, count, .. } => {
                each(callee, 1);
                each(args, count);
            }
            Op::CallMember { args, count, .. }
            | Op::List { args, count, .. }
            | Op::Set { args, count, .. } => each(args, count),
            Op::Closure { func, captures, .. } => {
                let count = program.functions.get(func.index()).map_or(0, |f| f.captures);
                each(captures, count);
            }
            Op::Map { args, count, .. } => each(args, count.saturating_mul(2)),
            Op::Enum { ty, variant, args, .. } => {
                let variants = program.enums.get(ty.index()).map(|e| &e.variants);
                let variant = variants.and_then(|v| v.get(usize::from(variant)));
                each(args, variant.map_or(0, |v| v.payload));
            }
            Op::Record { ty, args, .. } => {
                let count = program.records.get(ty.index()).map_or(0, |r| r.fields.len());
                each(args, u16::try_from(count).unwrap_or(u16::MAX));
            }
            Op::New { class, args, .. } => {
                let count = program.classes.get(class.index()).map_or(0, |c| c.fields.len());
                each(args, u16::try_from(count).unwrap_or(u16::MAX));
            }
            Op::RecordSet { record, src, .. } => {
                each(record, 1);
                each(src, 1);
            }
            Op::Index { src, index, .. } => {
                each(src, 1);
                each(index, 1);
            }
            Op::SetIndex { container, index, src } => {
                each(container, 1);
                each(index, 1);
                each(src, 1);
            }
            Op::Method { method, recv, args, .. } => {
                each(recv, 1);
                each(args, method.arguments());
            }
            Op::GetGlobalAt { index, .. } => each(index, 1),
            Op::SetGlobalAt { index, src, .. } => {
                each(index, 1);
                each(src, 1);
            }
            Op::GetField { object, .. } => each(object, 1),
            Op::SetField { object, src, .. } | Op::SetMember { object, src, .. } => {
                each(object, 1);
                each(src, 1);
            }
            Op::GetFieldAt { object, index, .. } => {
                each(object, 1);
                each(index, 1);
            }
            Op::SetFieldAt { object, index, src, .. } => {
                each(object, 1);
                each(index, 1);
                each(src, 1);
            }
            Op::Post { post, args, .. } => {
                let Some(post) = program.posts.get(post.index()) else { return };
                let task = program.tasks.get(post.task.index());
                each(args, params(task.and_then(|t| program.functions.get(t.body.index()))));
                if let PostTarget::Handler(_, index) = post.target {
                    optional(each, index);
                }
                optional(each, post.delay);
            }
            Op::Enable { index, .. }
            | Op::Disable { index, .. }
            | Op::Enabled { index, .. }
            | Op::Acquire { index, .. }
            | Op::Release { index, .. }
            | Op::Notify { index, .. }
            | Op::NotifyAll { index, .. } => optional(each, index),
            Op::Wait { cond_index, lock_index, .. } => {
                optional(each, cond_index);
                optional(each, lock_index);
            }
        }
    }

    /// Returns where the instruction may jump to.
    pub(crate) fn target(&self) -> Option<u32> {
        match *self {
            Op::Jump { target } | Op::JumpIf { target, .. } | Op::JumpIfNot { target, .. } => {
                Some(target)
            }
            _ => None,
        }
    }

    /// Returns whether control can reach the next instruction.
    pub(crate) fn falls_through(&self) -> bool {
        !matches!(
            self,
            Op::Jump { .. }
                | Op::Return { .. }
                | Op::ReturnNull
                | Op::Fail { .. }
                | Op::NoMatch { .. }
        )
    }
}
