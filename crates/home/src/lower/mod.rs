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
use crate::slice;
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
    /// What must never be. If there are rules, the program answers these, and update conflicts
    /// are not all in it.
    pub rules: Vec<Rule>,
    /// With all that apps do, also what has no influence on the answer.
    pub is_whole: bool,
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
    program_watched(name, apps, home, options, &|| false)
}

/// Makes the program of the apps of a home. `stop` is asked before each execution of a handler; if
/// it is true, the program has what was found before, and a note says so.
///
/// # Errors
///
/// Fails if the program exceeds a table of the machine.
pub fn program_watched(
    name: &str,
    apps: &[App],
    home: &Configuration,
    options: &Options,
    stop: &dyn Fn() -> bool,
) -> Result<HomeProgram, ProgramError> {
    let mut world = World::unfold(apps, home, options.limits, options.is_immediate, stop);
    let (handlers, executions) = (world.trees.len(), world.paths());
    world.watch(&options.rules.iter().flat_map(Rule::attributes).collect());
    if !options.is_whole {
        slice::slice(&mut world, &options.rules);
    }
    let program = emit::program(name, &world, options)?;
    let notes = world.notes.into_iter().collect();
    Ok(HomeProgram { program, notes, handlers, executions })
}
