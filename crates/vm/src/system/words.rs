//! Actions and states in words.

use super::name::{Detail, Name};
use super::parts::{parts, thread_words};
use crate::machine::Machine;
use crate::program::Family;
use crate::state::{Message, Origin, State, StepId, Thread, ThreadBody};
use crate::transitions::Action;
use crate::value::{Value, show::short};
use anyorder_system::FailureSite;
use std::fmt;

/// `name`, or `name[index]` in a family.
fn member_name(name: &str, family: Option<Family>, index: i64) -> Name {
    Name::new(name, family.map_or(Detail::None, |_| Detail::Member(index)))
}

/// `name`, or `name[index]` in an array.
fn array_name(name: &str, array: Option<u16>, index: u32) -> Name {
    Name::new(name, array.map_or(Detail::None, |_| Detail::Member(index.into())))
}

fn unknown() -> Name {
    Name::new("?", Detail::None)
}

/// The name of an event member.
pub(crate) fn event_name(machine: &Machine, member: u32) -> Name {
    let Some((event, index)) = machine.layout.members.get(member as usize) else {
        return unknown();
    };
    let event = &machine.program.events[usize::from(*event)];
    match event.declared() {
        (name, Some(alone)) => Name::new(name, Detail::Member(alone)),
        (name, None) => member_name(name, event.family, *index),
    }
}

/// The name of a declared thread.
pub(crate) fn thread_name(machine: &Machine, member: u32) -> Name {
    let Some((thread, index)) = machine.layout.thread_members.get(member as usize) else {
        return unknown();
    };
    let thread = &machine.program.threads[usize::from(*thread)];
    member_name(&thread.name, thread.family, *index)
}

/// The name of a slot or mailbox: a handler instance, the event that has it, or `any`.
pub(crate) fn slot_name(machine: &Machine, slot: u32) -> Name {
    let layout = &machine.layout;
    match layout.handler_of.get(slot as usize) {
        Some(handler) => {
            let first = layout.handler_first[usize::from(*handler)];
            let handler = &machine.program.handlers[usize::from(*handler)];
            array_name(&handler.name, handler.array, slot - first)
        }
        None => match layout.member_slot.iter().position(|s| *s == slot) {
            Some(member) => event_name(machine, member as u32),
            None => Name::new("any", Detail::None),
        },
    }
}

/// The name of a mailbox.
pub(crate) fn queue_name(machine: &Machine, queue: usize) -> Name {
    match queue == machine.layout.pool() {
        true => Name::new("any", Detail::None),
        false => slot_name(machine, queue as u32),
    }
}

/// The name of a lock.
pub(crate) fn lock_name(machine: &Machine, lock: u32) -> Name {
    let declared = machine.program.locks.iter().zip(&machine.layout.lock_first);
    let found = declared.rev().find(|(_, first)| **first <= lock);
    found.map_or_else(unknown, |(l, first)| array_name(&l.name, l.array, lock - first))
}

/// The name of a condition.
pub(crate) fn cond_name(machine: &Machine, cond: u32) -> Name {
    let declared = machine.program.conds.iter().zip(&machine.layout.cond_first);
    let found = declared.rev().find(|(_, first)| **first <= cond);
    found.map_or_else(unknown, |(c, first)| array_name(&c.name, c.array, cond - first))
}

/// A message as `task(arguments)`.
pub(crate) fn message_name(machine: &Machine, message: &Message) -> Name {
    let task = &machine.program.tasks[usize::from(message.task)];
    let params = machine.program.functions[task.body.index()].params;
    let args = match (params, &message.args) {
        (0, _) => String::new(),
        (1, one) => short(&machine.program, one),
        (_, Value::List(list)) => {
            let args: Vec<String> =
                list.items().iter().map(|arg| short(&machine.program, arg)).collect();
            args.join(", ")
        }
        _ => String::new(),
    };
    Name::new(&task.name, Detail::Arguments(args))
}

/// The name of what a thread runs.
pub(crate) fn body_name(machine: &Machine, thread: &Thread) -> Name {
    match thread.body {
        ThreadBody::Event(member) => event_name(machine, member),
        ThreadBody::Task(task) => {
            Name::new(&machine.program.tasks[usize::from(task)].name, Detail::None)
        }
        ThreadBody::Func(func) => {
            Name::new(&machine.program.functions[usize::from(func)].name, Detail::None)
        }
        ThreadBody::Thread => Name::new("thread", Detail::None),
    }
}

/// The position of a thread in its text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StepPlace {
    /// A position in a file.
    Position(FailureSite),
    /// A function and an instruction of it, if the position is not known.
    Instruction(String, u32),
}

/// `file:line:column`, or `function+instruction`.
impl fmt::Display for StepPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StepPlace::Position(site) => site.fmt(f),
            StepPlace::Instruction(function, number) => write!(f, "{function}+{number}"),
        }
    }
}

/// Returns the position of a thread.
pub(super) fn place(machine: &Machine, thread: &Thread) -> Option<StepPlace> {
    let frame = thread.frames.last()?;
    let function = &machine.program.functions[usize::from(frame.func)];
    let site = function.sites.get(frame.pc as usize);
    let site = site.and_then(|site| machine.program.sites.get(site.index()));
    Some(match site.filter(|site| site.line > 0) {
        Some(site) => {
            let file = machine.program.files.get(usize::from(site.file)).cloned();
            let file = file.unwrap_or_default();
            StepPlace::Position(FailureSite { file, line: site.line, column: site.column })
        }
        None => StepPlace::Instruction(function.name.clone(), frame.pc),
    })
}

/// What a step runs.
pub(crate) struct Runs {
    /// The task with its arguments, the event or the thread.
    pub(crate) what: String,
    /// The mailbox that the task is taken from.
    pub(crate) mailbox: Option<String>,
    /// The position of the thread.
    pub(crate) place: Option<StepPlace>,
}

/// Returns what a step of a state runs.
pub(crate) fn runs(machine: &Machine, state: &State, step: StepId) -> Runs {
    let alone = |what| Runs { what, mailbox: None, place: None };
    match step {
        StepId::Init => alone("init".to_owned()),
        StepId::Event(member) => alone(event_name(machine, member).to_string()),
        StepId::Message { queue, task, .. } => {
            let what = match step.message(state) {
                Some(message) => message_name(machine, message).to_string(),
                None => machine.program.tasks[usize::from(task)].name.clone(),
            };
            Runs {
                what,
                mailbox: Some(queue_name(machine, queue as usize).to_string()),
                place: None,
            }
        }
        StepId::Thread { .. } => match step.thread(state) {
            Some(thread) => {
                let place = place(machine, thread);
                Runs { what: thread_words(machine, thread), mailbox: None, place }
            }
            None => alone("?".to_owned()),
        },
    }
}

/// Returns the handler, the event or the declared thread that takes a step; `None` for a dynamic
/// thread.
pub(crate) fn lane(machine: &Machine, step: StepId) -> Option<String> {
    let name = match step {
        StepId::Init => return Some("init".to_owned()),
        StepId::Event(member) => slot_name(machine, machine.layout.member_slot[member as usize]),
        StepId::Message { queue, .. } => queue_name(machine, queue as usize),
        StepId::Thread { origin: Origin::Declared(member), .. } => thread_name(machine, member),
        StepId::Thread { origin: Origin::Slot(slot), .. } => slot_name(machine, slot),
        StepId::Thread { origin: Origin::Dynamic, .. } => return None,
    };
    Some(name.to_string())
}

/// Returns the name of a field of a class.
pub(crate) fn field_name(machine: &Machine, class: u16, field: u16) -> &str {
    let fields = &machine.program.classes[usize::from(class)].fields;
    let name = fields.get(usize::from(field));
    name.and_then(|name| machine.program.names.get(name.index())).map_or("?", String::as_str)
}

/// An action in words.
pub(crate) fn describe(machine: &Machine, state: &State, action: &Action) -> String {
    let Runs { what: mut words, mailbox, place } = runs(machine, state, action.step);
    if let Some(mailbox) = mailbox {
        words.push_str(&format!(" on {mailbox}"));
    }
    if let Some(place) = place {
        words.push_str(&format!(" at {place}"));
    }
    if action.alternative > 0 {
        words.push_str(&format!(", alternative {}", action.alternative));
    }
    words
}

/// A state in words.
pub(crate) fn show(machine: &Machine, state: &State) -> Vec<(String, String)> {
    let parts = parts(machine, state, |object| object);
    parts.iter().map(|part| (part.label(), part.text(&machine.program))).collect()
}
