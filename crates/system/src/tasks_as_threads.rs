//! Runs a task system as a thread system: its schedule points are task boundaries.

use crate::capabilities::Capabilities;
use crate::control::Control;
use crate::run_error::RunError;
use crate::schedule::{Choice, Divergence, ProgramIdentity, Schedule};
use crate::task_name::TaskName;
use crate::task_system::{AccessKind, Step, TaskSystem};
use crate::thread_system::{Ending, ThreadRun, ThreadSystem};
use anyorder_trace::{
    EventKind, HandlerId, Interner, Mailbox, Position, TableFull, Tables, TaskDef, TaskId,
    TaskKind, TraceBuilder,
};
use std::collections::HashMap;

/// A task system whose default scheduler takes the first enabled task.
///
/// The trace has one handler for each handler name, with a bag as its mailbox, because only the
/// system's list of enabled tasks shows the true discipline. An initial handler `environment` posts
/// the roots.
#[derive(Debug)]
pub struct TasksAsThreads<S> {
    /// The task system.
    pub system: S,
}

impl<S: TaskSystem> ThreadSystem for TasksAsThreads<S> {
    fn capabilities(&self) -> Capabilities {
        self.system.capabilities()
    }

    fn program(&self) -> &ProgramIdentity {
        self.system.program()
    }

    fn run(&mut self, prefix: &[Choice], control: &Control<'_>) -> Result<ThreadRun, RunError> {
        self.system.reset()?;
        let mut recorder = Recorder::new().map_err(full)?;
        let mut schedule = Schedule::new(self.system.program().clone());
        let mut ending = Ending::Completed;
        loop {
            let enabled = self.system.enabled()?;
            let done = schedule.choices.len();
            let choice = match (prefix.get(done), enabled.first()) {
                (Some(choice), _) => choice.clone(),
                (None, Some(first)) => {
                    Choice { handler: first.handler.clone(), ..Choice::of(first.task.clone()) }
                }
                (None, None) => break,
            };
            if control.limits.steps.is_some_and(|limit| done as u64 >= limit) {
                ending = Ending::StepLimit;
                break;
            }
            control.check().map_err(|stopped| RunError::TimedOut(stopped.to_string()))?;
            let handler =
                enabled.iter().find(|e| e.task == choice.task).map(|e| e.handler.as_str());
            let handler = handler.unwrap_or(&choice.handler).to_owned();
            let step = self.system.execute(&choice).map_err(|error| at_choice(error, done))?;
            recorder.step(&step, &handler, self.system.tables()).map_err(full)?;
            schedule.choices.push(choice);
            if let Some(failure) = step.failures.first() {
                ending = Ending::Failed(failure.clone());
                break;
            }
        }
        let observation = self.system.observe()?;
        Ok(ThreadRun { trace: recorder.builder.finish(), schedule, observation, ending })
    }
}

/// Counts the choices, because a task system does not know how many were made before.
fn at_choice(error: RunError, choice: usize) -> RunError {
    match error {
        RunError::Diverged(divergence) => RunError::Diverged(Divergence { choice, ..divergence }),
        other => other,
    }
}

fn full(error: TableFull) -> RunError {
    RunError::Crashed(error.to_string())
}

/// Converts steps into a trace.
struct Recorder {
    builder: TraceBuilder,
    environment: TaskId,
    handlers: HashMap<String, HandlerId>,
    tasks: HashMap<TaskName, TaskId>,
}

impl Recorder {
    fn new() -> Result<Recorder, TableFull> {
        let mut builder = TraceBuilder::new();
        let environment = builder.handler("environment", Mailbox::None)?;
        let environment = builder.initial(environment);
        Ok(Recorder { builder, environment, handlers: HashMap::new(), tasks: HashMap::new() })
    }

    fn step(&mut self, step: &Step, handler: &str, tables: &Tables) -> Result<(), TableFull> {
        if !self.tasks.contains_key(&step.task) {
            // A root: nothing in the program posted it.
            let task = self.task(&step.task, handler, 0)?;
            self.builder.post(self.environment, task)?;
        }
        let task = self.tasks[&step.task];
        self.builder.get(task)?;
        for access in step.accesses.as_slice() {
            let kind = match access.kind {
                AccessKind::Read => EventKind::Read,
                AccessKind::Write => EventKind::Write,
                AccessKind::Rmw => EventKind::Rmw,
            };
            let copy = self.builder.variable(&tables.location_text(access.location))?;
            self.builder.push(task, kind.into(), copy.0);
        }
        for posted in &step.posted {
            let child = self.task(&posted.task, &posted.handler, posted.delay)?;
            self.builder.post(task, child)?;
        }
        for cancelled in &step.cancelled {
            if let Some(cancelled) = self.tasks.get(cancelled) {
                self.builder.push(task, EventKind::Cancel.into(), cancelled.0);
            }
        }
        for failure in &step.failures {
            let name = self.builder.interner.name(&failure.to_string())?;
            self.builder.push(task, EventKind::Failure.into(), name.0);
        }
        self.builder.end(task)?;
        Ok(())
    }

    fn task(&mut self, name: &TaskName, handler: &str, delay: u64) -> Result<TaskId, TableFull> {
        let handler = match self.handlers.get(handler) {
            Some(handler) => *handler,
            None => {
                let id = self.builder.handler(handler, Mailbox::Bag)?;
                self.handlers.insert(handler.to_owned(), id);
                id
            }
        };
        let interner: &mut Interner = &mut self.builder.interner;
        let text = interner.name(&name.to_string())?;
        let def = TaskDef {
            name: text,
            kind: TaskKind::Posted,
            handler,
            delay,
            position: Position::Back,
        };
        let id = interner.push_task(def)?;
        self.tasks.insert(name.clone(), id);
        Ok(id)
    }
}
