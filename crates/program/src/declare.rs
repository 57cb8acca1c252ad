//! Declarations: what a program consists of besides code.

use crate::ids::{CondId, EventId, FuncId, HandlerId, LockId, NameId, Reg, TaskId, ThreadId};
use crate::literal::Literal;
use anyorder_system::Level;

/// A global variable: a shared location.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Global {
    /// Its name.
    pub name: String,
    /// Its initial value. A value that needs code to compute belongs in `init`.
    pub initial: Literal,
    /// Its level in observations.
    pub level: Level,
}

/// A variant of an enum.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// The number of its payload values.
    pub payload: u16,
}

/// An enum.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Enum {
    /// Its name.
    pub name: String,
    /// Its variants.
    pub variants: Vec<Variant>,
}

/// A record type: values without identity.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// Its name.
    pub name: String,
    /// Its fields in order of declaration, by name.
    pub fields: Vec<NameId>,
}

/// A class: objects with identity.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// Its fields in order of declaration, by name.
    pub fields: Vec<NameId>,
    /// Its methods by name, for calls on receivers of unknown type. The object is the first
    /// parameter.
    pub methods: Vec<(NameId, FuncId)>,
}

/// A lock, or an array of locks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lock {
    /// Its name.
    pub name: String,
    /// The length of the array, if it is one.
    pub array: Option<u16>,
}

/// A condition, or an array of conditions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cond {
    /// Its name.
    pub name: String,
    /// The length of the array, if it is one.
    pub array: Option<u16>,
}

/// The discipline of a mailbox.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MailboxKind {
    /// The oldest message first.
    Fifo,
    /// Any message.
    Bag,
    /// The message with the least due time first; of equal times, the oldest.
    Delayed,
}

/// A handler, or an array of handlers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Handler {
    /// Its name.
    pub name: String,
    /// Its mailbox.
    pub mailbox: MailboxKind,
    /// The length of the array, if it is one.
    pub array: Option<u16>,
    /// Whether it is weakly fair: if it stays enabled, it eventually runs.
    pub fair: bool,
}

/// A task: code that can be posted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Task {
    /// Its name.
    pub name: String,
    /// Its body, whose parameters are the task's.
    pub body: FuncId,
    /// The handler of posts that name none: its declaration, and the instance.
    pub handler: Option<(HandlerId, u16)>,
}

/// The members of a family: integers from `first`, `count` of them, or the values of an index type.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Family {
    /// The index of the first member.
    pub first: i64,
    /// The number of members.
    pub count: u16,
    /// The index type whose values number the members; `first` is then 0.
    pub index: Option<u16>,
}

/// An external event, or a family of events.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// Its name. One that stands for one member of a family alone, because the members differ in
    /// more than the index, is called `NAME[INDEX]`.
    pub name: String,
    /// The members, if it is a family; guard and body then have the index as their only parameter.
    pub family: Option<Family>,
    /// The handler it runs on: its declaration, and the instance. An event without one has a
    /// handler of its own; so has each member of a family.
    pub handler: Option<(HandlerId, u16)>,
    /// A function that returns whether the event is enabled. It must not write, choose or block.
    pub guard: Option<FuncId>,
    /// What it does.
    pub body: FuncId,
    /// Whether it (each member) happens at most once.
    pub once: bool,
    /// Events that must have ended before it can happen (of a family: all members).
    pub after: Vec<EventId>,
    /// Events that must have started before it can (of a family: all members): its predecessors in
    /// `driver` lists.
    pub started: Vec<EventId>,
    /// Whether it starts disabled, until an `enable`.
    pub disabled: bool,
    /// Whether it is weakly fair: if it stays enabled, it eventually runs.
    pub fair: bool,
}

impl Event {
    /// Returns the name that the source gives it, and which member of a family it is if it stands
    /// for that one alone.
    #[must_use]
    pub fn declared(&self) -> (&str, Option<i64>) {
        let member = || {
            let (name, index) = self.name.strip_suffix(']')?.split_once('[')?;
            Some((name, index.parse().ok()?))
        };
        match member().filter(|_| self.family.is_none()) {
            Some((name, index)) => (name, Some(index)),
            None => (&self.name, None),
        }
    }
}

/// A thread, or a family of threads, that runs from the start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Thread {
    /// Its name.
    pub name: String,
    /// The members, if it is a family; the body then has the index as its only parameter.
    pub family: Option<Family>,
    /// What it does.
    pub body: FuncId,
    /// Whether it is weakly fair: if it stays enabled, it eventually runs.
    pub fair: bool,
}

/// Where a post goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PostTarget {
    /// To the task's own handler.
    Own,
    /// To a handler: its declaration, and the register that holds the instance's number
    /// ([`Reg::NONE`] for the first).
    Handler(HandlerId, Reg),
    /// To a fresh handler that runs only this task.
    Any,
}

/// A way to post a task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Post {
    /// The task.
    pub task: TaskId,
    /// Where to.
    pub target: PostTarget,
    /// The register that holds the delay ([`Reg::NONE`]: 0). Only `delayed` mailboxes use it.
    pub delay: Reg,
    /// Whether the message goes before all others.
    pub front: bool,
}

/// A choice between labelled alternatives.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Choice {
    /// The labels, one for each alternative, "" where there is none. At least one alternative.
    pub labels: Vec<String>,
}

/// A property of every state between steps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invariant {
    /// Its name.
    pub name: String,
    /// A function without parameters that returns whether the property holds. The rules of guards
    /// apply.
    pub holds: FuncId,
}

/// A part of the program whose updates of shared variables must not overwrite those of other parts.
///
/// Code belongs to the component of the innermost function on the call stack that has one. So a
/// function without a component works for its caller.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Component {
    /// Its name.
    pub name: String,
    /// The functions that belong to it: bodies of events, tasks and threads among them.
    pub functions: Vec<FuncId>,
}

/// The parts that may wait for ever. A state in which only these wait is no deadlock.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Daemons {
    /// Handlers: their messages, and what runs on them.
    pub handlers: Vec<HandlerId>,
    /// Tasks: their messages, and their bodies.
    pub tasks: Vec<TaskId>,
    /// Events: their bodies.
    pub events: Vec<EventId>,
    /// Declared threads.
    pub threads: Vec<ThreadId>,
    /// Functions: the threads that are forked with them.
    pub functions: Vec<FuncId>,
}

/// A condition under which two calls of methods of one object commute, as the model specifies.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Commuting {
    /// A method.
    pub left: FuncId,
    /// Another one, or the same.
    pub right: FuncId,
    /// Whether the condition looks at the result of each call, which is a boolean.
    pub results: [bool; 2],
    /// The condition: a function of the arguments of the left call, without the object, and its
    /// result if the condition looks at it, and of those of the right call. The rules of guards
    /// apply. `None`: they always commute.
    pub when: Option<FuncId>,
}

/// Whenever the trigger holds, the response holds then or later.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Response {
    /// Its name.
    pub name: String,
    /// A function without parameters. The rules of guards apply.
    pub trigger: FuncId,
    /// A function without parameters. The rules of guards apply.
    pub response: FuncId,
}

/// An index type with all that it numbers. Permuting its values everywhere in a state, and all that
/// is listed in the same way, gives a state that behaves the same. Each listed array or family has
/// `size` members.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Symmetry {
    /// Its name.
    pub name: String,
    /// The number of values.
    pub size: u16,
    /// Arrays of handlers.
    pub handlers: Vec<HandlerId>,
    /// Families of threads.
    pub threads: Vec<ThreadId>,
    /// Families of events.
    pub events: Vec<EventId>,
    /// Families whose members are events of their own: the first of `size` events without families,
    /// one after another.
    pub event_runs: Vec<EventId>,
    /// Arrays of locks.
    pub locks: Vec<LockId>,
    /// Arrays of conditions.
    pub conds: Vec<CondId>,
}
