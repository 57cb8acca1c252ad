//! The only place that knows which engine explores a program.

use super::summary::{Failure, FailureKind, Line, Summary};
use crate::runtime::Program;
use anyorder_threads::{
    Act, Event, Execution, Fault, Found, LearnOptions, Race, RaceSide, explore_by_learning,
};

/// How far a program is explored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The most executions; none if `None`.
    pub executions_max: Option<u64>,
    /// The most operations of one execution. A longer one is cut, and the check is incomplete.
    pub steps_max: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { executions_max: None, steps_max: 100_000 }
    }
}

/// Explores a program by learning: it is run until no thread can see anything new. Each failure is
/// told once, with an execution that shows it. Executions that only show one are not counted.
///
/// ```
/// use anyorder::{Limits, Program, explore};
/// let mut program = Program::new(|| assert_eq!(anyorder::choose(2), 0));
/// let summary = explore(&mut program, Limits::default());
/// assert_eq!((summary.executions, summary.failures.len()), (2, 1));
/// ```
pub fn explore(program: &mut Program, limits: Limits) -> Summary {
    let executions_max = limits.executions_max.unwrap_or(u64::MAX);
    let options =
        LearnOptions { steps_max: limits.steps_max, executions_max, ..LearnOptions::default() };
    let learnt = explore_by_learning(program, &options);
    let failures = learnt.faults.iter().filter_map(|found| failure(program, found)).collect();
    let incomplete = learnt.incomplete;
    Summary { executions: learnt.executions, incomplete, failures }
}

/// Returns a fault with its execution. `None` if it is no failure of its own.
fn failure(program: &mut Program, found: &Found) -> Option<Failure> {
    let mut execution = Execution::new(program);
    execution.restart();
    for step in &found.steps {
        execution.step(*step)?;
    }
    let events = execution.events().to_vec();
    drop(execution);
    let has_failed = events.iter().any(|event| matches!(event.op.act, Act::Fail(_)));
    let kind = match &found.fault {
        Fault::Failure(number) => FailureKind::Panic(program.panic(*number)?),
        // After a panic others may wait for what will not come.
        Fault::Deadlock(_) | Fault::Livelock(_) if has_failed => return None,
        Fault::Deadlock(_) => FailureKind::Deadlock,
        Fault::Livelock(_) => FailureKind::Livelock,
        Fault::Race(Race { first, second, .. }) => {
            let position = |side: &RaceSide| program.position(side.site);
            FailureKind::Race(position(first), position(second))
        }
        Fault::StepLimit => return None,
    };
    let lines = events.iter().map(|event| line(program, event)).collect();
    Some(Failure { kind, lines })
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
