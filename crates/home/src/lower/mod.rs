//! From trees to a program of the machine.
//!
//! Each variable is a global, each handler with its event a function, each app a component. The
//! outside's changes are `unfair` events without a component. A command of an app sets the global
//! at its own line, and the handlers of the event run at once, in any order of the apps.

mod emit;
mod events;

use crate::app::App;
use crate::config::Configuration;
use crate::rules::Rule;
use crate::unfold::{Limits, Note, World};
use anyorder_program::{Program, ProgramError};

/// In which order apps hear of one event.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Order {
    /// In any: the platform promises none.
    #[default]
    Any,
    /// The last app first, as the tool of the paper has it.
    LastFirst,
}

/// How apps become a program.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Bounds of the trees.
    pub limits: Limits,
    /// Timers run at once.
    pub is_immediate: bool,
    /// The order of the apps.
    pub order: Order,
    /// What must never be.
    pub rules: Vec<Rule>,
}

/// A program, and how it came to be.
#[derive(Debug)]
pub struct HomeProgram {
    /// The program.
    pub program: Program,
    /// What is missing in it, in order.
    pub notes: Vec<Note>,
    /// The number of handlers with an event.
    pub handlers: usize,
    /// The number of their executions.
    pub executions: usize,
}

/// Makes the program of the apps of a home.
///
/// # Errors
///
/// Fails if the program exceeds a table of the machine.
pub fn program(
    name: &str,
    apps: &[App],
    home: &Configuration,
    options: &Options,
) -> Result<HomeProgram, ProgramError> {
    let world = World::unfold(apps, home, options.limits, options.is_immediate);
    let program = emit::program(name, &world, options)?;
    let (handlers, executions) = (world.trees.len(), world.paths());
    let notes = world.notes.into_iter().collect();
    Ok(HomeProgram { program, notes, handlers, executions })
}
