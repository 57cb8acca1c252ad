//! The only place that knows which engine explores a program.

use super::summary::{Doubt, Failure, FailureKind, Line, Summary, Waiting};
use crate::runtime::Program;
use anyorder_threads::{
    Act, Blocked, Cancel, Event, Execution, Fault, Found, LearnOptions, Learnt, Race, RaceSide,
    StopReason, explore_by_learning,
};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

/// How far a program is explored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The most executions; none if `None`.
    pub executions_max: Option<u64>,
    /// The most operations of one execution. A longer one is cut, and the check is incomplete.
    pub steps_max: usize,
    /// The most time; none if `None`.
    pub time_max: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { executions_max: None, steps_max: 100_000, time_max: None }
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
    let watch = limits.time_max.map(|time| Watch::new(time, options.cancel.clone()));
    let learnt = explore_by_learning(program, &options);
    drop(watch);
    let failures = learnt.faults.iter().filter_map(|found| failure(program, found)).collect();
    let doubts = [
        (program.has_loose_names(), Doubt::LooseNames),
        (program.has_outside_data(), Doubt::OutsideData),
    ];
    let doubts = doubts.into_iter().filter(|doubt| doubt.0).map(|doubt| doubt.1).collect();
    let Learnt { executions, states, incomplete, .. } = learnt;
    Summary { executions, states, incomplete, doubts, failures }
}

/// Stops an exploration after some time.
struct Watch {
    over: Option<Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Watch {
    fn new(time: Duration, cancel: Cancel) -> Watch {
        let (over, ends) = mpsc::channel();
        let thread = thread::spawn(move || {
            if ends.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
                cancel.stop(StopReason::TimeLimit);
            }
        });
        Watch { over: Some(over), thread: Some(thread) }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        drop(self.over.take());
        let ended = self.thread.take().map(thread::JoinHandle::join);
        debug_assert!(ended.is_none_or(|ended| ended.is_ok()));
    }
}

/// Returns a fault with its execution. `None` if it is no failure of its own: what waits after a
/// panic, or an execution that was too long, which the summary tells as incomplete.
fn failure(program: &mut Program, found: &Found) -> Option<Failure> {
    let mut execution = Execution::new(program);
    execution.restart();
    // If it is not the same in each run, what is there of the execution tells how far it came.
    let is_whole = found.steps.iter().all(|step| execution.step(*step).is_some());
    let is_confirmed = is_whole && shows(&mut execution, &found.fault);
    let events = execution.events().to_vec();
    drop(execution);
    let has_failed = events.iter().any(|event| matches!(event.op.act, Act::Fail(_)));
    let kind = match &found.fault {
        Fault::Failure(number) => FailureKind::Panic(program.panic(*number)?),
        Fault::StepLimit => return None,
        // After a panic others may wait for what will not come.
        Fault::Deadlock(_) | Fault::Livelock(_) if has_failed => return None,
        Fault::Deadlock(blocked) => FailureKind::Deadlock(waiting(program, blocked)),
        Fault::Livelock(blocked) => FailureKind::Livelock(waiting(program, blocked)),
        Fault::Race(Race { first, second, .. }) => {
            let position = |side: &RaceSide| program.position(side.site);
            FailureKind::Race(position(first), position(second))
        }
    };
    let lines = events.iter().map(|event| line(program, event)).collect();
    Some(Failure { kind, lines, is_confirmed })
}

/// Whether an execution has just shown a fault.
fn shows(execution: &mut Execution<'_, Program>, fault: &Fault) -> bool {
    let mut ready = Vec::new();
    execution.ready(&mut ready);
    let last = execution.events().last();
    match fault {
        Fault::Failure(number) => last.is_some_and(|event| event.op.act == Act::Fail(*number)),
        Fault::Deadlock(blocked) | Fault::Livelock(blocked) => {
            let threads = execution.pending().map(|pending| pending.0);
            ready.is_empty() && threads.eq(blocked.iter().map(|blocked| blocked.thread))
        }
        Fault::Race(race) => last.is_some_and(|event| {
            let is_access = matches!(event.op.act, Act::Access { .. });
            is_access && event.op.object == race.object
        }),
        Fault::StepLimit => true,
    }
}

fn waiting(program: &Program, blocked: &[Blocked]) -> Vec<Waiting> {
    let of = |blocked: &Blocked| Waiting {
        thread: blocked.thread,
        act: blocked.op.act.clone(),
        object: blocked.op.object,
        position: program.position(blocked.site),
    };
    blocked.iter().map(of).collect()
}

fn line(program: &Program, event: &Event) -> Line {
    let position = match event.op.act {
        Act::Fail(number) => program.panic(number).and_then(|panic| panic.position),
        // The standard library drops what goes out of scope: that tells nobody where.
        _ => program.position(event.site).filter(|place| !place.file.starts_with("/rustc/")),
    };
    Line {
        thread: event.step.thread,
        act: event.op.act.clone(),
        object: event.op.object,
        result: event.result,
        position,
    }
}
