//! What is explored: a model, or a program behind a pipe.

use super::checked::{Checked, Repeats};
use crate::failure::Failure;
use crate::model::{Model, quote};
use anyorder_explore::r4;
use anyorder_finding::Input;
use anyorder_pipe::{PipeFactory, PipeSystem};
use anyorder_system::{Control, RunError, TaskSystem};

/// What is explored.
#[derive(Clone, Copy)]
pub(crate) enum Target<'a> {
    /// A model, and its path.
    Model(&'a Model, &'a str),
    /// A program, and the command as it was typed.
    Program(&'a PipeFactory, &'a str),
}

impl<'a> Target<'a> {
    /// Varies a run of it.
    pub(crate) fn explore(
        self,
        options: &r4::Options,
        control: &Control<'_>,
        repeats: &Repeats,
    ) -> Result<r4::Outcome, r4::Error> {
        match self {
            Target::Model(model, _) => {
                let make = || -> Result<Checked, RunError> {
                    Ok(Checked::new(&model.machine, &model.program, Some(repeats.clone())))
                };
                r4::explore(&make, options, control)
            }
            Target::Program(factory, _) => r4::explore(factory, options, control),
        }
    }

    /// Returns how a result lists it.
    pub(crate) fn input(self) -> Input {
        let (path, format) = match self {
            Target::Model(_, path) => (path, "model"),
            Target::Program(_, command) => (command, "program"),
        };
        Input { path: path.to_owned(), format: format.to_owned() }
    }

    /// Returns the arguments that name it on a command line.
    pub(crate) fn arguments(self) -> String {
        match self {
            Target::Model(_, path) => quote(path),
            Target::Program(_, command) => format!("--program {}", quote(command)),
        }
    }

    /// Returns the model, where it is one.
    pub(crate) fn model(self) -> Option<&'a Model> {
        match self {
            Target::Model(model, _) => Some(model),
            Target::Program(..) => None,
        }
    }

    /// Returns what messages begin with.
    pub(crate) fn name(self) -> &'a str {
        match self {
            Target::Model(_, path) => path,
            Target::Program(_, command) => command,
        }
    }
}

/// What is done with a system of whichever kind.
pub(crate) trait WithSystem {
    /// What comes of it.
    type Result;

    /// Does it.
    fn run<S: TaskSystem>(self, system: S) -> Self::Result;
}

/// Starts a system, and does something with it.
pub(crate) fn with_system<W: WithSystem>(
    target: Target<'_>,
    work: W,
) -> Result<W::Result, Failure> {
    match target {
        Target::Model(model, _) => Ok(work.run(Checked::new(&model.machine, &model.program, None))),
        Target::Program(factory, command) => {
            let started = PipeSystem::spawn(factory.command.clone(), factory.options.clone());
            Ok(work.run(started.map_err(|error| cannot_start(command, &error))?))
        }
    }
}

/// Makes the failure of a program that cannot be started.
pub(crate) fn cannot_start(command: &str, error: &RunError) -> Failure {
    let error = anyorder_common::text::escape(&error.to_string()).into_owned();
    let failure = Failure::new(format!("{}: {error}", anyorder_common::text::escape(command)));
    failure.with_hint("a program must speak the pipe protocol: see docs/pipe-protocol.md")
}
