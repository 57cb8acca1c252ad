//! The initial state.

use super::action::StepId;
use super::executor::StepExecutor;
use crate::machine::{INIT_FLAG, Machine, literal};
use crate::state::{Frame, Origin, State, Status, Thread, ThreadBody};
use crate::value::Value;
use std::sync::Arc;

/// Returns the initial state. If `init` has exactly one outcome and does not fail, it has already
/// run. Otherwise it is the first step.
pub(crate) fn initial(machine: &Machine) -> State {
    let state = unstarted(machine);
    if machine.program.init.is_none() {
        return state;
    }
    let mut outcomes = Vec::new();
    StepExecutor::new(machine, &state).run(StepId::Init, |_, _, outcome| {
        if outcomes.len() < 2 {
            outcomes.push(outcome);
        }
    });
    match outcomes.pop() {
        Some(outcome) if outcomes.is_empty() && outcome.fault.is_none() => outcome.state,
        _ => state,
    }
}

/// Returns the state before `init`.
pub(crate) fn unstarted(machine: &Machine) -> State {
    let program = &machine.program;
    let mut state =
        State::new(program.globals.iter().map(|global| literal::value(&global.initial)).collect());
    let threads: Vec<Arc<Thread>> = (0..)
        .zip(&machine.layout.thread_members)
        .map(|(i, (thread, index))| {
            let declared = &program.threads[usize::from(*thread)];
            let function = &program.functions[declared.body.index()];
            let mut regs = vec![Value::Null; usize::from(function.registers)];
            if let Some(family) = declared.family {
                regs[0] = family.parameter(*index);
            }
            let frames = vec![Frame { func: declared.body.0, pc: 0, dst: 0 }];
            machine.clear_dead(&frames, &mut regs);
            let mut thread = Thread {
                origin: Origin::Declared(i),
                body: ThreadBody::Thread,
                status: Status::Ready,
                handle: 0,
                frames,
                regs,
                uid: 0,
                hash: 0,
            };
            thread.rehash();
            Arc::new(thread)
        })
        .collect();
    if !threads.is_empty() {
        state.change_threads(|list| *list = threads);
    }
    state.set_flag(INIT_FLAG, program.init.is_some());
    state
}
