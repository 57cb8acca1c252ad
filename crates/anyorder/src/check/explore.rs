//! The only place that knows which engine explores a program.

use super::summary::{Failure, FailureKind, Line, Summary};
use crate::runtime::Program;
use anyorder_threads::{Act, Ending, Event, SPINS_MAX, every_execution};
use std::ops::ControlFlow;

/// How far a program is explored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The most executions; none if `None`.
    pub executions_max: Option<u64>,
    /// The most operations of one execution. A longer one is cut, and the check is incomplete.
    pub steps_max: usize,
    /// Whether the first failure ends it.
    pub stops_at_failure: bool,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { executions_max: None, steps_max: 10_000, stops_at_failure: true }
    }
}

/// Runs the executions of a program. Each kind of failure is told once, as it was found first.
///
/// ```
/// use anyorder::{Limits, Program, explore};
/// let mut program = Program::new(|| assert_eq!(anyorder::choose(2), 0));
/// let summary = explore(&mut program, Limits::default());
/// assert_eq!(summary.executions, 2);
/// assert_eq!(summary.failures.len(), 1);
/// ```
pub fn explore(program: &mut Program, limits: Limits) -> Summary {
    let mut summary = Summary::default();
    let mut was_cut = false;
    let plain =
        every_execution(program, (limits.steps_max, SPINS_MAX), |program, events, ending| {
            summary.executions += 1;
            was_cut |= ending == Ending::StepLimit;
            for kind in kinds(program, events, ending) {
                if !summary.failures.iter().any(|failure| failure.kind == kind) {
                    let lines = events.iter().map(|event| line(program, event)).collect();
                    summary.failures.push(Failure { kind, lines });
                }
            }
            let is_over = limits.executions_max.is_some_and(|max| summary.executions >= max);
            if is_over || limits.stops_at_failure && !summary.failures.is_empty() {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
    summary.complete = plain.complete && !was_cut;
    summary
}

/// Returns what went wrong in an execution.
fn kinds(program: &Program, events: &[Event], ending: Ending) -> Vec<FailureKind> {
    let panic = |event: &Event| match event.op.act {
        Act::Fail(number) => program.panic(number).map(FailureKind::Panic),
        _ => None,
    };
    let mut kinds: Vec<FailureKind> = events.iter().filter_map(panic).collect();
    match ending {
        // After a panic others may wait for what will not come.
        Ending::Deadlock if kinds.is_empty() => kinds.push(FailureKind::Deadlock),
        Ending::Livelock if kinds.is_empty() => kinds.push(FailureKind::Livelock),
        _ => {}
    }
    kinds
}

fn line(program: &Program, event: &Event) -> Line {
    Line {
        thread: event.step.thread,
        act: event.op.act.clone(),
        object: event.op.object,
        result: event.result,
        position: program.position(event.site),
    }
}
