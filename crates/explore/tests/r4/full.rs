//! All runs of a program, state by state: the expected result of an exploration without a bound.
//! Independent of reversals.

use anyorder_explore::r4::{Limit, Outcome, ReversalOptions, Sabotage, explore};
use anyorder_lang::lower::compile;
use anyorder_system::{
    Awaited, Capabilities, Choice, Control, Divergence, EnabledTask, Hash128, Limits, Observation,
    ProgramIdentity, RunError, Snapshots, Step, TaskName, TaskSystem,
};
use anyorder_trace::Tables;
use anyorder_vm::{Machine, MachineRun};
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

/// The machine, with a limit on how often each event happens.
#[derive(Debug)]
pub(crate) struct Repeating {
    run: MachineRun,
    machine: Arc<Machine>,
    most: u32,
}

impl Repeating {
    pub(crate) fn new(machine: Arc<Machine>, most: u32) -> Repeating {
        Repeating { run: MachineRun::new(machine.clone()), machine, most }
    }

    fn is_event(&self, task: &TaskName) -> bool {
        let kind = task.segment().kind.as_str();
        let known = self.machine.program().events.iter().any(|event| event.name == kind);
        known && task.creator().is_none()
    }

    fn is_spent(&self, task: &TaskName) -> bool {
        self.is_event(task) && task.segment().ordinal > self.most
    }
}

impl TaskSystem for Repeating {
    fn capabilities(&self) -> Capabilities {
        self.run.capabilities()
    }

    fn program(&self) -> &ProgramIdentity {
        self.run.program()
    }

    fn tables(&self) -> &Tables {
        self.run.tables()
    }

    fn reset(&mut self) -> Result<(), RunError> {
        self.run.reset()
    }

    fn enabled(&mut self) -> Result<Vec<EnabledTask>, RunError> {
        let mut enabled = self.run.enabled()?;
        enabled.retain(|task| !self.is_spent(&task.task));
        Ok(enabled)
    }

    fn execute(&mut self, choice: &Choice) -> Result<Step, RunError> {
        if self.is_spent(&choice.task) {
            let (wanted, enabled) = (choice.task.clone(), Vec::new());
            return Err(RunError::Diverged(Divergence { choice: 0, wanted, enabled }));
        }
        self.run.execute(choice)
    }

    fn awaited(&mut self) -> Result<Vec<Awaited>, RunError> {
        self.run.awaited()
    }

    fn observe(&mut self) -> Result<Observation, RunError> {
        self.run.observe()
    }

    fn snapshots(&mut self) -> Option<&mut dyn Snapshots> {
        self.run.snapshots()
    }
}

/// The ends of a program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Ends {
    pub(crate) finals: BTreeSet<Hash128>,
    pub(crate) failures: BTreeSet<String>,
}

/// Features of the visited states.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) states: usize,
    /// Tasks that had alternatives.
    pub(crate) choices: usize,
    /// Tasks that were pending and could not run.
    pub(crate) waiting: usize,
}

/// Visits all states; `None` if there are more than `most`, or a run is longer than `longest`.
pub(crate) fn ends(system: &mut Repeating, most: usize, longest: usize) -> Option<(Ends, Seen)> {
    let (mut ends, mut seen, mut known) = (Ends::default(), Seen::default(), HashSet::new());
    system.reset().expect("it resets");
    let start = system.snapshots().expect("it keeps states").save().expect("it saves");
    let mut open = vec![(start, BTreeSet::new(), 0)];
    while let Some((at, events, length)) = open.pop() {
        system.snapshots().expect("it keeps states").restore(at).expect("it is there");
        let fingerprint = system.snapshots().expect("it keeps states").fingerprint();
        if !known.insert((fingerprint, events.clone())) {
            continue;
        }
        seen.states += 1;
        if seen.states > most || length > longest {
            return None;
        }
        let enabled = system.enabled().expect("it lists");
        if enabled.is_empty() {
            ends.finals.insert(system.observe().expect("it shows").hash());
        }
        let names: BTreeSet<&TaskName> = enabled.iter().map(|enabled| &enabled.task).collect();
        let awaited = system.awaited().expect("it tells");
        seen.waiting += awaited.iter().filter(|one| !names.contains(&one.task)).count();
        for EnabledTask { task, alternatives, .. } in enabled {
            seen.choices += usize::from(alternatives > 1);
            for alternative in 0..alternatives {
                system.snapshots().expect("it keeps states").restore(at).expect("it is there");
                let choice = Choice { alternative, ..Choice::of(task.clone()) };
                let step = system.execute(&choice).expect("it was listed");
                ends.failures.extend(step.failures.iter().map(ToString::to_string));
                let next = system.snapshots().expect("it keeps states").save().expect("it saves");
                let mut events = events.clone();
                if system.is_event(&task) {
                    events.insert(task.clone());
                }
                open.push((next, events, length + 1));
            }
        }
        system.snapshots().expect("it keeps states").forget(at);
    }
    Some((ends, seen))
}

pub(crate) fn machine(text: &str) -> Arc<Machine> {
    let compiled = compile(text, "model.any").unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    Arc::new(Machine::new(compiled.program).unwrap_or_else(|error| panic!("{error:?}\n{text}")))
}

/// Explores a model without a bound, with a limit on the number of runs.
pub(crate) fn explored(
    machine: &Arc<Machine>,
    most: u32,
    executions: u64,
    sabotage: Sabotage,
) -> Outcome {
    let options = ReversalOptions {
        bound: None,
        confirm: false,
        alternatives_max: 1_000,
        sabotage,
        ..ReversalOptions::default()
    };
    let limits = Limits { executions: Some(executions), steps: Some(200), ..Limits::NONE };
    let control = Control { limits, ..Control::default() };
    let factory = || -> Result<Repeating, RunError> { Ok(Repeating::new(machine.clone(), most)) };
    explore(&factory, &options, &control).expect("it runs")
}

/// The ends of the executed runs.
pub(crate) fn ends_of(outcome: &Outcome) -> Ends {
    Ends {
        finals: outcome.runs.iter().map(|run| run.observation.hash()).collect(),
        failures: outcome
            .runs
            .iter()
            .flat_map(|run| run.failures.iter().map(ToString::to_string))
            .collect(),
    }
}

/// Whether an exploration ended by itself. If a program runs for ever, the limit on the length of
/// runs cuts it; such programs are not compared here.
pub(crate) fn ended(outcome: &Outcome) -> bool {
    outcome.limits.iter().all(|limit| !matches!(limit, Limit::Executions | Limit::Steps))
}
