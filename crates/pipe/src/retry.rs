//! Repeats requests that an unreliable system lost.

use anyorder_system::{
    Accesses, Awaited, Capabilities, Choice, EnabledTask, Observation, ProgramIdentity, RunError,
    Step, TaskName, TaskRole, TaskSystem,
};
use anyorder_trace::Tables;

/// A system that repeats a run when it is lost, so that its user sees no lost replies.
///
/// When the inner system returns [`Unstable`](RunError::Unstable), [`Crashed`](RunError::Crashed)
/// or [`TimedOut`](RunError::TimedOut), it is reset, the choices since the last reset are replayed,
/// and the request is repeated. A replay that differs from the run is reported as unstable. It
/// stores one run: its choices, and a step for each. It saves no states, even if the inner system
/// does.
#[derive(Debug)]
pub struct Retrying<S> {
    system: S,
    attempts_max: u32,
    retries: u64,
    run: Vec<(Choice, Step)>,
}

impl<S: TaskSystem> Retrying<S> {
    /// Wraps a system at its start. A request is tried `attempts_max` times, and at least once.
    pub fn new(system: S, attempts_max: u32) -> Retrying<S> {
        Retrying { system, attempts_max, retries: 0, run: Vec::new() }
    }

    /// Returns the number of repetitions.
    #[must_use]
    pub fn retries(&self) -> u64 {
        self.retries
    }

    /// Returns the inner system.
    #[must_use]
    pub fn inner(&self) -> &S {
        &self.system
    }

    /// Does `work`, and repeats it after a loss.
    fn attempt<T>(
        &mut self,
        mut work: impl FnMut(&mut S) -> Result<T, RunError>,
    ) -> Result<T, RunError> {
        let mut result = work(&mut self.system);
        for _ in 1..self.attempts_max {
            match &result {
                Err(error) if is_loss(error) => {}
                _ => return result,
            }
            self.retries += 1;
            result = match self.replay() {
                Ok(()) => work(&mut self.system),
                // A different replay is not a loss: trying again would hide it.
                Err(Replay::Other(error)) => return Err(error),
                Err(Replay::Lost(error)) => Err(error),
            };
        }
        result
    }

    /// Resets the system and replays the choices of the run.
    fn replay(&mut self) -> Result<(), Replay> {
        self.system.reset().map_err(Replay::of)?;
        for (choice, step) in &self.run {
            let repeated = self.system.execute(choice).map_err(|error| match error {
                RunError::Diverged(divergence) => {
                    Replay::Other(RunError::Unstable(divergence.to_string()))
                }
                other => Replay::of(other),
            })?;
            if !is_same(step, &repeated) {
                let text = format!("`{}` did something else when it was repeated", choice.task);
                return Err(Replay::Other(RunError::Unstable(text)));
            }
        }
        Ok(())
    }
}

enum Replay {
    Lost(RunError),
    Other(RunError),
}

impl Replay {
    fn of(error: RunError) -> Replay {
        if is_loss(&error) { Replay::Lost(error) } else { Replay::Other(error) }
    }
}

fn is_loss(error: &RunError) -> bool {
    matches!(error, RunError::Unstable(_) | RunError::Crashed(_) | RunError::TimedOut(_))
}

/// Whether two steps are the same. Ids may be compared, as tables only grow.
fn is_same(a: &Step, b: &Step) -> bool {
    let as_set = |accesses: &Accesses| {
        let mut accesses = accesses.as_slice().to_vec();
        accesses.sort_by_key(|a| (a.location, a.kind, a.site, a.read, a.written));
        accesses
    };
    match (&a.accesses, &b.accesses) {
        (Accesses::Set(_), Accesses::Set(_)) => {
            let rest = |step: &Step| Step { accesses: Accesses::Unknown, ..step.clone() };
            as_set(&a.accesses) == as_set(&b.accesses) && rest(a) == rest(b)
        }
        _ => a == b,
    }
}

impl<S: TaskSystem> TaskSystem for Retrying<S> {
    fn capabilities(&self) -> Capabilities {
        Capabilities { snapshot: false, ..self.system.capabilities() }
    }

    fn program(&self) -> &ProgramIdentity {
        self.system.program()
    }

    fn tables(&self) -> &Tables {
        self.system.tables()
    }

    fn role(&self, task: &TaskName) -> TaskRole {
        self.system.role(task)
    }

    fn value_text(&self, value: u64) -> Option<&str> {
        self.system.value_text(value)
    }

    fn reset(&mut self) -> Result<(), RunError> {
        self.run.clear();
        // With an empty run, a repetition resets twice. This is harmless and avoids a special case.
        self.attempt(TaskSystem::reset)
    }

    fn enabled(&mut self) -> Result<Vec<EnabledTask>, RunError> {
        self.attempt(TaskSystem::enabled)
    }

    fn execute(&mut self, choice: &Choice) -> Result<Step, RunError> {
        let step = self.attempt(|system| system.execute(choice))?;
        self.run.push((choice.clone(), step.clone()));
        Ok(step)
    }

    fn awaited(&mut self) -> Result<Vec<Awaited>, RunError> {
        self.attempt(TaskSystem::awaited)
    }

    fn observe(&mut self) -> Result<Observation, RunError> {
        self.attempt(TaskSystem::observe)
    }
}
