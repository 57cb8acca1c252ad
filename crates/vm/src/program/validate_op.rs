//! Checks one instruction.

use super::function::Function;
use super::ids::{ClassId, FuncId, Reg};
use super::op::Op;
use super::validate::check_index;
use super::whole::Program;

type Check = Result<(), String>;

/// Checks the registers of an instruction and the indices that it uses.
pub(super) fn check(program: &Program, function: &Function, op: &Op) -> Check {
    refers(program, op)?;
    let registers = usize::from(function.registers);
    let mut wrong = None;
    op.reads(program, &mut |first: Reg, count: u16| {
        // An instruction that reads nothing may name any register.
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
        Some(target) => check_index("instruction", target as usize, function.code.len()),
        None => Ok(()),
    }
}

fn field(program: &Program, class: ClassId, field: u16) -> Check {
    check_index("class", class.index(), program.classes.len())?;
    check_index("field", usize::from(field), program.classes[class.index()].fields.len())
}

/// Checks a function that an instruction calls by its number.
fn callee(program: &Program, func: FuncId) -> Check {
    check_index("function", func.index(), program.functions.len())?;
    if program.functions[func.index()].captures > 0 {
        return Err("a function with captures is called by value only".to_owned());
    }
    Ok(())
}

fn refers(program: &Program, op: &Op) -> Check {
    match *op {
        Op::Const { constant: message, .. } | Op::Assert { message, .. } => {
            check_index("constant", message.index(), program.constants.len())
        }
        Op::Call { func, .. } | Op::Fork { func, .. } => callee(program, func),
        Op::Closure { func, .. } => check_index("function", func.index(), program.functions.len()),
        Op::CallMember { name, count, .. } => {
            if count == 0 {
                return Err("a method call without a receiver".to_owned());
            }
            check_index("name", name.index(), program.names.len())
        }
        Op::GetMember { name, .. } | Op::SetMember { name, .. } | Op::IsFieldCall { name, .. } => {
            check_index("name", name.index(), program.names.len())
        }
        Op::Map { count, .. } if count > u16::MAX / 2 => Err("too many entries".to_owned()),
        Op::Enum { ty, variant, .. } | Op::IsVariant { ty, variant, .. } => {
            check_index("enum", ty.index(), program.enums.len())?;
            check_index("variant", usize::from(variant), program.enums[ty.index()].variants.len())
        }
        Op::Record { ty, .. } => check_index("record", ty.index(), program.records.len()),
        Op::RecordGet { ty, field, .. } | Op::RecordSet { ty, field, .. } => {
            check_index("record", ty.index(), program.records.len())?;
            check_index("field", usize::from(field), program.records[ty.index()].fields.len())
        }
        Op::Array { index, .. } => {
            check_index("index type", usize::from(index), program.symmetries.len())
        }
        Op::Check { ty, .. } => check_index("type", ty.index(), program.types.len()),
        Op::GetGlobal { global, .. }
        | Op::SetGlobal { global, .. }
        | Op::GetGlobalAt { global, .. }
        | Op::SetGlobalAt { global, .. } => {
            check_index("global", global.index(), program.globals.len())
        }
        Op::New { class, .. } => check_index("class", class.index(), program.classes.len()),
        Op::GetField { class, field: f, .. }
        | Op::SetField { class, field: f, .. }
        | Op::GetFieldAt { class, field: f, .. }
        | Op::SetFieldAt { class, field: f, .. } => field(program, class, f),
        Op::Post { post, .. } => check_index("post", post.index(), program.posts.len()),
        Op::Enable { event, .. } | Op::Disable { event, .. } | Op::Enabled { event, .. } => {
            check_index("event", event.index(), program.events.len())
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
        Op::Choose { choice, .. } => check_index("choice", choice.index(), program.choices.len()),
        _ => Ok(()),
    }
}

/// Checks that an instruction without an index does not refer to an empty array.
fn indexed(array: Option<u16>, index: Reg) -> Check {
    if index.some().is_none() && array == Some(0) {
        return Err("no member of an empty array".to_owned());
    }
    Ok(())
}

fn lock_of(program: &Program, lock: usize, index: Reg) -> Check {
    check_index("lock", lock, program.locks.len())?;
    indexed(program.locks[lock].array, index)
}

fn cond_of(program: &Program, cond: usize, index: Reg) -> Check {
    check_index("condition", cond, program.conds.len())?;
    indexed(program.conds[cond].array, index)
}
