//! A whole program.

use crate::declare::{
    Choice, Class, Commuting, Component, Cond, Daemons, Enum, Event, Global, Handler, Invariant,
    Lock, Post, Record, Response, Symmetry, Task, Thread,
};
use crate::function::{Function, SourceSite};
use crate::ids::FuncId;
use crate::literal::Literal;
use crate::native::Native;
use crate::types::Type;

/// What counts as one transition.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Granularity {
    /// A task or event, from its begin to its end. Threads step at visible operations all the same.
    #[default]
    Task,
    /// A visible operation, in tasks and events too.
    Access,
}

/// How the program is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// What counts as one transition.
    pub granularity: Granularity,
    /// Most instructions that one step may execute.
    pub steps: u64,
    /// Most elements of one list, set, map or string, and most objects, messages and threads that
    /// one step may make.
    pub size: u32,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { granularity: Granularity::Task, steps: 100_000, size: 1 << 20 }
    }
}

/// A program: declarations and code. [`validate`](Program::validate) checks it; the machine accepts
/// only valid programs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Program {
    /// Its name.
    pub name: String,
    /// Source files, by name.
    pub files: Vec<String>,
    /// Source positions; the first is "nowhere".
    pub sites: Vec<SourceSite>,
    /// Names of fields, methods and variables.
    pub names: Vec<String>,
    /// Constants of the code.
    pub constants: Vec<Literal>,
    /// Types that the code checks for, and whether null passes the check, too.
    pub types: Vec<(Type, bool)>,
    /// Enums.
    pub enums: Vec<Enum>,
    /// Record types.
    pub records: Vec<Record>,
    /// Classes.
    pub classes: Vec<Class>,
    /// Globals.
    pub globals: Vec<Global>,
    /// Locks.
    pub locks: Vec<Lock>,
    /// Conditions.
    pub conds: Vec<Cond>,
    /// Handlers.
    pub handlers: Vec<Handler>,
    /// Tasks.
    pub tasks: Vec<Task>,
    /// Events.
    pub events: Vec<Event>,
    /// Threads.
    pub threads: Vec<Thread>,
    /// Ways to post.
    pub posts: Vec<Post>,
    /// Choices.
    pub choices: Vec<Choice>,
    /// Functions of the front end.
    pub natives: Vec<Native>,
    /// Functions.
    pub functions: Vec<Function>,
    /// The function that runs first. It has no parameters.
    pub init: Option<FuncId>,
    /// Invariants.
    pub invariants: Vec<Invariant>,
    /// Response properties.
    pub responses: Vec<Response>,
    /// Which calls commute.
    pub commuting: Vec<Commuting>,
    /// Components.
    pub components: Vec<Component>,
    /// Whether the program may end in a state in which nothing can happen and nothing waits: a
    /// function without parameters, under the rules of guards. Without it, such a state must hold
    /// no lock.
    pub final_: Option<FuncId>,
    /// The parts that may wait for ever.
    pub daemons: Daemons,
    /// Interchangeable components.
    pub symmetries: Vec<Symmetry>,
    /// How it is run.
    pub settings: Settings,
}
