//! From trees to a program of the machine.
//!
//! Each variable is a global, each handler with its event a function, each app a component. The
//! outside's changes are `unfair` events without a component. A command of an app sets the global
//! at its own line, and the handlers of the event run at once, in any order of the apps. By option
//! events go through a queue instead.

mod emit;
mod events;
mod footprint;
mod queue;
mod uses;

use crate::app::App;
use crate::config::Configuration;
use crate::rules::Rule;
use crate::slice;
use crate::unfold::{Limits, Memo, Note, World};
use anyorder_program::{Program, ProgramError};
use std::collections::{BTreeMap, BTreeSet};

pub use uses::AttributeUse;

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
    /// A command's event waits in the queue of the hub until the handler has ended. Else its
    /// handlers run inside the command.
    pub is_queued: bool,
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

/// The apps of a home, unfolded: programs are made of it.
pub struct Unfolded<'a> {
    world: World<'a>,
}

impl<'a> Unfolded<'a> {
    /// Unfolds the apps of a home. Of the options, the limits and `is_immediate` count. `memo` has
    /// what other homes of the same apps have evaluated. `stop` is asked again and again; once it
    /// is true, the home has what was found before, and a note says so.
    #[must_use]
    pub fn new(
        apps: &'a [App],
        home: &'a Configuration,
        options: &Options,
        memo: Option<&'a Memo>,
        stop: &dyn Fn() -> bool,
    ) -> Unfolded<'a> {
        let Options { limits, is_immediate, .. } = options;
        Unfolded { world: World::unfold(apps, home, *limits, *is_immediate, memo, stop) }
    }

    /// Returns the names of the attributes that two apps may set to different values, as in the
    /// program. `None` if apps may also answer each other's events in a cycle.
    #[must_use]
    pub fn contested(&self) -> Option<BTreeSet<String>> {
        let (vars, is_cyclic) = slice::questions(&self.world);
        (!is_cyclic).then(|| vars.into_iter().map(|var| self.world.name(var)).collect())
    }

    /// Returns what the apps do with attributes of devices and of the location, by their numbers.
    #[must_use]
    pub fn uses(&self) -> BTreeMap<(usize, String), AttributeUse> {
        uses::uses(&self.world)
    }

    /// Makes a program.
    ///
    /// # Errors
    ///
    /// Fails if the program exceeds a table of the machine.
    pub fn program(&self, name: &str, options: &Options) -> Result<HomeProgram, ProgramError> {
        let mut world = self.world.clone();
        let (handlers, executions) = (world.trees.len(), world.paths());
        world.watch(&options.rules.iter().flat_map(Rule::attributes).collect());
        if !options.is_whole {
            slice::slice(&mut world, &options.rules);
        }
        let program = emit::program(name, &world, options)?;
        let notes = world.notes.into_iter().collect();
        Ok(HomeProgram { program, notes, handlers, executions })
    }
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
    Unfolded::new(apps, home, options, None, &|| false).program(name, options)
}
