//! Every execution, one after another, without reduction.

use crate::execution::{Ending, Event, Execution, Step};
use crate::program::ThreadProgram;
use std::ops::ControlFlow;

/// How far a plain search went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plain {
    /// The number of executions.
    pub executions: u64,
    /// Whether these are all there are.
    pub complete: bool,
}

/// Runs every execution of at most `steps_max` steps, in which threads spin in vain at most
/// `spins_max` times in a row, in the order of threads and alternatives, and
/// shows each one. Stops where `visit` breaks.
///
/// One execution for each sequence of steps: exponential in everything. Memory is linear in the
/// steps of one execution.
pub fn every_execution<P: ThreadProgram + ?Sized>(
    program: &mut P,
    (steps_max, spins_max): (usize, u32),
    mut visit: impl FnMut(&mut P, &[Event], Ending) -> ControlFlow<()>,
) -> Plain {
    let mut execution = Execution::new(program);
    execution.set_spins_max(spins_max);
    // Each choice made, and the number of choices there.
    let mut choices: Vec<(u32, u32)> = Vec::new();
    let mut ready: Vec<Step> = Vec::new();
    let mut executions = 0;
    loop {
        execution.restart();
        let mut at = 0;
        let ending = loop {
            execution.ready(&mut ready);
            if ready.is_empty() {
                break execution.ending();
            }
            if at == steps_max {
                break Ending::StepLimit;
            }
            if at == choices.len() {
                choices.push((0, ready.len() as u32));
            }
            execution.step(ready[choices[at].0 as usize]);
            at += 1;
        };
        executions += 1;
        let events = std::mem::take(execution.events_mut());
        execution.stop();
        let flow = visit(execution.program(), &events, ending);
        *execution.events_mut() = events;
        if flow.is_break() {
            return Plain { executions, complete: false };
        }
        while choices.last().is_some_and(|(choice, count)| choice + 1 == *count) {
            choices.pop();
        }
        match choices.last_mut() {
            Some((choice, _)) => *choice += 1,
            None => return Plain { executions, complete: true },
        }
    }
}
