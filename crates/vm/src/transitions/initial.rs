//! The initial state.

use super::executor::StepExecutor;
use crate::machine::{INIT_FLAG, Machine, literal};
use crate::state::{Origin, State, StepId, Thread, ThreadBody};
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
            let index = declared.family.map(|family| literal::parameter(family, *index));
            let origin = (Origin::Declared(i), ThreadBody::Thread);
            let args = index.into_iter().collect();
            machine.new_thread(origin, declared.body.0, args, (0, 0))
        })
        .collect();
    if !threads.is_empty() {
        state.change_threads(|list| *list = threads);
    }
    state.set_flag(INIT_FLAG, program.init.is_some());
    state
}
