//! Every execution, one after another, without reduction.

use crate::execution::{Ending, Event, Execution, Step};
use crate::program::ThreadProgram;
use crate::spinning::LongLoop;
use std::ops::ControlFlow;

/// How far a plain search went.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plain {
    /// The number of executions.
    pub executions: u64,
    /// Whether these are all there are. Not if a thread waited for a lock in a loop that goes on
    /// for ever elsewhere, and was found to give up later.
    pub complete: bool,
    /// The loops that give up after more turns in vain than are explored turn by turn. If there are
    /// some, the search is not complete.
    pub long_loops: Vec<LongLoop>,
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
    let (executions, complete) = visit_all(&mut execution, steps_max, &mut visit);
    let long_loops = execution.loops().long.clone();
    let complete = complete && long_loops.is_empty() && !execution.loops().waited_in_vain;
    Plain { executions, complete, long_loops }
}

type Visit<'v, P> = &'v mut dyn FnMut(&mut P, &[Event], Ending) -> ControlFlow<()>;

/// Returns how many executions there were, and whether all were shown. Compiled once for a program,
/// and not for each that looks at its executions.
fn visit_all<P: ThreadProgram + ?Sized>(
    execution: &mut Execution<'_, P>,
    steps_max: usize,
    visit: Visit<'_, P>,
) -> (u64, bool) {
    // What is learnt of loops later does not change what is possible, unless a thread has waited in
    // vain.
    let mut choices = Choices::default();
    let mut ready: Vec<Step> = Vec::new();
    let mut executions = 0;
    loop {
        execution.restart();
        let mut at = 0;
        let ending = loop {
            if at == choices.path.len() {
                execution.ready(&mut ready);
                if execution.has_diverged() {
                    return (executions, false);
                }
                if ready.is_empty() {
                    break execution.ending();
                }
                if at == steps_max {
                    break Ending::StepLimit;
                }
                choices.push(&ready);
            }
            if execution.perform(choices.path[at].0).is_none() {
                return (executions, false);
            }
            at += 1;
        };
        executions += 1;
        let events = std::mem::take(execution.events_mut());
        execution.stop();
        let flow = visit(execution.program(), &events, ending);
        *execution.events_mut() = events;
        if flow.is_break() {
            return (executions, false);
        }
        if !choices.advance() {
            return (executions, true);
        }
    }
}

/// The steps of an execution, and the other ones that were possible before each.
#[derive(Default)]
struct Choices {
    /// The step, and the number of alternatives to it that were not taken yet.
    path: Vec<(Step, usize)>,
    /// These alternatives, of the last choice at the end, and of each the first one at the end.
    left: Vec<Step>,
}

impl Choices {
    /// Takes the first one of some steps.
    fn push(&mut self, steps: &[Step]) {
        self.path.push((steps[0], steps.len() - 1));
        self.left.extend(steps[1..].iter().rev());
    }

    /// Takes the next step where there is one last. Returns whether there is one.
    fn advance(&mut self) -> bool {
        while let Some((step, left)) = self.path.last_mut() {
            if *left > 0 {
                *left -= 1;
                self.left.pop().inspect(|next| *step = *next);
                return true;
            }
            self.path.pop();
        }
        false
    }
}
