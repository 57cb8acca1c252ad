//! Checks one instruction.

use super::function::Function;
use super::ids::{ClassId, FuncId, Reg};
use super::op::Op;
use super::validate::known;
use super::whole::Program;

type Check = Result<(), String>;

/// Checks the registers of an instruction and the numbers it refers to by.
pub(super) fn check(program: &Program, function: &Function, op: &Op) -> Check {
    refers(program, op)?;
    let registers = usize::from(function.registers);
    let mut wrong = None;
    op.reads(program, &mut |first: Reg, count: u16| {
        // Where nothing is read, any register will do.
        if count > 0 && first.index() + usize::from(count) > registers {
            wrong.get_or_insert(first);
        }
    });
    if let Some(dst) = op.writes()
        && dst.index() >= registers
    {
        wrong.get_or_insert(dst);
    }
    if let Some(Reg(reg)) = wrong {
        return Err(format!("registers from {reg} on, of {registers}"));
    }
    match op.target() {
        Some(target) => known("instruction", target as usize, function.code.len()),
        None => Ok(()),
    }
}

fn field(program: &Program, class: ClassId, field: u16) -> Check {
    known("class", class.index(), program.classes.len())?;
    known("field", usize::from(field), program.classes[class.index()].fields.len())
}

/// A function that is called by its number.
fn callee(program: &Program, func: FuncId) -> Check {
    known("function", func.index(), program.functions.len())?;
    if program.functions[func.index()].captures > 0 {
        return Err("a function with captures is called by value only".to_owned());
    }
    Ok(())
}

fn refers(program: &Program, op: &Op) -> Check {
    match *op {
        Op::Const { constant: message, .. } | Op::Assert { message, .. } => {
            known("constant", message.index(), program.constants.len())
        }
        Op::Call { func, .. } | Op::Fork { func, .. } => callee(program, func),
        Op::Closure { func, .. } => known("function", func.index(), program.functions.len()),
        Op::CallMember { name, count, .. } => {
            if count == 0 {
                return Err("a method call without a receiver".to_owned());
            }
            known("name", name.index(), program.names.len())
        }
        Op::GetMember { name, .. } | Op::SetMember { name, .. } | Op::IsFieldCall { name, .. } => {
            known("name", name.index(), program.names.len())
        }
        Op::Map { count, .. } if count > u16::MAX / 2 => Err("too many entries".to_owned()),
        Op::Enum { ty, variant, .. } | Op::IsVariant { ty, variant, .. } => {
            known("enum", ty.index(), program.enums.len())?;
            known("variant", usize::from(variant), program.enums[ty.index()].variants.len())
        }
        Op::Record { ty, .. } => known("record", ty.index(), program.records.len()),
        Op::RecordGet { ty, field, .. } | Op::RecordSet { ty, field, .. } => {
            known("record", ty.index(), program.records.len())?;
            known("field", usize::from(field), program.records[ty.index()].fields.len())
        }
        Op::Array { index, .. } => {
            known("index type", usize::from(index), program.symmetries.len())
        }
        Op::Check { ty, .. } => known("type", ty.index(), program.types.len()),
        Op::GetGlobal { global, .. }
        | Op::SetGlobal { global, .. }
        | Op::GetGlobalAt { global, .. }
        | Op::SetGlobalAt { global, .. } => known("global", global.index(), program.globals.len()),
        Op::New { class, .. } => known("class", class.index(), program.classes.len()),
        Op::GetField { class, field: f, .. }
        | Op::SetField { class, field: f, .. }
        | Op::GetFieldAt { class, field: f, .. }
        | Op::SetFieldAt { class, field: f, .. } => field(program, class, f),
        Op::Post { post, .. } => known("post", post.index(), program.posts.len()),
        Op::Enable { event, .. } | Op::Disable { event, .. } | Op::Enabled { event, .. } => {
            known("event", event.index(), program.events.len())
        }
        Op::Acquire { lock, index } | Op::Release { lock, index } => {
            lock_of(program, lock.index(), index)
        }
        Op::Wait { cond, cond_index, lock, lock_index } => {
            cond_of(program, cond.index(), cond_index)?;
            lock_of(program, lock.index(), lock_index)
        }
        Op::Notify { cond, index } | Op::NotifyAll { cond, index } => {
            cond_of(program, cond.index(), index)
        }
        Op::Choose { choice, .. } => known("choice", choice.index(), program.choices.len()),
        _ => Ok(()),
    }
}

/// An array without members has no first one to fall back to.
fn indexed(array: Option<u16>, index: Reg) -> Check {
    if index.some().is_none() && array == Some(0) {
        return Err("no member of an empty array".to_owned());
    }
    Ok(())
}

fn lock_of(program: &Program, lock: usize, index: Reg) -> Check {
    known("lock", lock, program.locks.len())?;
    indexed(program.locks[lock].array, index)
}

fn cond_of(program: &Program, cond: usize, index: Reg) -> Check {
    known("condition", cond, program.conds.len())?;
    indexed(program.conds[cond].array, index)
}
