//! The parts of a state, by name: memory, locks, what has happened, mailboxes, threads.

use super::words::{
    body_name, cond_name, event_name, field_name, lock_name, message_name, place, queue_name,
    slot_name, thread_name,
};
use crate::machine::{INIT_FLAG, Machine, Owner};
use crate::program::Program;
use crate::state::{Origin, State, Status, Thread, ThreadBody};
use crate::value::{Value, show::short};

/// A named part of a state. Parts of one kind with one name, in two states of a path, are the same
/// part.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// The name of the variable, lock, event, mailbox or thread.
    pub(crate) name: String,
    /// Its kind and its content.
    pub(crate) content: Content,
}

/// The content of a part of a state.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// `init` has not run yet.
    Init,
    /// A global.
    Variable(Value),
    /// A field of an object: its name is `obj#1.field`.
    Field(Value),
    /// A lock that is held; by whom, in words.
    Lock(String),
    /// An event that has happened.
    Happened,
    /// An event that the program has enabled or disabled.
    Enabled(bool),
    /// A mailbox that is not empty.
    Mailbox(Vec<Pending>),
    /// A thread that has begun.
    Thread(Running),
}

/// A task in a mailbox.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Pending {
    /// The task with its arguments.
    pub(crate) what: String,
    /// After how much virtual time it is due; 0 for at once.
    pub(crate) due: u64,
}

/// The position of a thread.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    /// Whether a step of the program has forked it.
    pub(crate) forked: bool,
    /// The condition that it waits for.
    pub(crate) waits_for: Option<String>,
    /// Its position and its variables, in words.
    words: String,
}

impl Pending {
    /// Returns the task in words, with its delay.
    pub(crate) fn words(&self) -> String {
        if self.due > 0 { format!("{} after {}", self.what, self.due) } else { self.what.clone() }
    }
}

impl Part {
    /// Returns whether both are the same part, with equal or different content.
    pub(crate) fn is_identical(&self, other: &Part) -> bool {
        std::mem::discriminant(&self.content) == std::mem::discriminant(&other.content)
            && self.name == other.name
    }

    /// Returns its name with its kind.
    pub(crate) fn label(&self) -> String {
        let name = &self.name;
        match &self.content {
            Content::Init | Content::Variable(_) | Content::Field(_) => name.clone(),
            Content::Lock(_) => format!("lock {name}"),
            Content::Happened => format!("happened({name})"),
            Content::Enabled(_) => format!("enabled({name})"),
            Content::Mailbox(_) => format!("mailbox {name}"),
            Content::Thread(_) => format!("thread {name}"),
        }
    }

    /// Returns its content in words.
    pub(crate) fn text(&self, program: &Program) -> String {
        match &self.content {
            Content::Init => "not run yet".to_owned(),
            Content::Variable(value) | Content::Field(value) => short(program, value),
            Content::Lock(owner) => owner.clone(),
            Content::Happened => "true".to_owned(),
            Content::Enabled(enabled) => enabled.to_string(),
            Content::Mailbox(pending) => {
                pending.iter().map(Pending::words).collect::<Vec<_>>().join(", ")
            }
            Content::Thread(running) => running.words.clone(),
        }
    }
}

/// Returns all parts of a state in a fixed order. `number` gives each object the number for its
/// name.
pub(crate) fn parts(machine: &Machine, state: &State, number: impl Fn(u32) -> u32) -> Vec<Part> {
    let program = &machine.program;
    let mut parts = Vec::new();
    if state.flag(INIT_FLAG) {
        parts.push(Part { name: "init".to_owned(), content: Content::Init });
    }
    for (i, global) in program.globals.iter().enumerate() {
        let content = Content::Variable(state.global(i).clone());
        parts.push(Part { name: global.name.clone(), content });
    }
    for (object, at) in state.heap().iter().zip(1..) {
        for (field, value) in (0..).zip(&object.fields) {
            let name = format!("obj#{}.{}", number(at), field_name(machine, object.class, field));
            parts.push(Part { name, content: Content::Field(value.clone()) });
        }
    }
    parts.extend(control(machine, state));
    parts
}

/// Returns all parts of a state but memory.
pub(crate) fn control(machine: &Machine, state: &State) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut add = |name: String, content: Content| parts.push(Part { name, content });
    for (i, owner) in (0..).zip(state.locks()).filter(|(_, owner)| **owner != 0) {
        add(lock_name(machine, i).to_string(), Content::Lock(owner_words(machine, state, *owner)));
    }
    for member in 0..machine.layout.members.len() as u32 {
        if state.flag(machine.layout.started_flag(member)) {
            add(event_name(machine, member).to_string(), Content::Happened);
        }
        if state.flag(machine.layout.toggled_flag(member)) {
            let enabled = machine.event_of(member).disabled;
            add(event_name(machine, member).to_string(), Content::Enabled(enabled));
        }
    }
    for (i, queue) in state.queues() {
        let pending = queue.iter().map(|message| Pending {
            what: message_name(machine, message).to_string(),
            due: message.due,
        });
        add(queue_name(machine, i).to_string(), Content::Mailbox(pending.collect()));
    }
    for thread in state.threads() {
        let running = Running {
            forked: is_forked(thread),
            waits_for: match thread.status {
                Status::Waiting { cond, .. } => Some(cond_name(machine, cond).to_string()),
                _ => None,
            },
            words: locals(machine, thread),
        };
        add(thread_words(machine, thread), Content::Thread(running));
    }
    parts
}

fn is_forked(thread: &Thread) -> bool {
    !matches!(thread.origin, Origin::Declared(_)) && matches!(thread.body, ThreadBody::Func(_))
}

/// Returns the name of a thread. Forked threads have numbers.
pub(super) fn thread_words(machine: &Machine, thread: &Thread) -> String {
    match thread.origin {
        Origin::Declared(member) => thread_name(machine, member).to_string(),
        _ if is_forked(thread) => format!("{}#{}", body_name(machine, thread), thread.handle),
        _ => body_name(machine, thread).to_string(),
    }
}

fn owner_words(machine: &Machine, state: &State, owner: u32) -> String {
    match machine.layout.owner(owner) {
        Owner::Nobody => "free".to_owned(),
        Owner::Dynamic(0) => "held by one that has ended".to_owned(),
        Owner::Dynamic(handle) => {
            let holder = state
                .threads()
                .iter()
                .find(|thread| thread.handle == handle && matches!(thread.origin, Origin::Dynamic));
            match holder {
                Some(thread) if is_forked(thread) => {
                    format!("held by {}", thread_words(machine, thread))
                }
                Some(thread) => format!("held by {}#{handle}", thread_words(machine, thread)),
                None => format!("held by a thread that has ended (#{handle})"),
            }
        }
        Owner::Thread(thread) => format!("held by {}", thread_name(machine, thread)),
        Owner::Slot(slot) => format!("held by {}", slot_name(machine, slot)),
    }
}

/// Returns the position and the variables of a thread in words.
fn locals(machine: &Machine, thread: &Thread) -> String {
    let mut words = match thread.status {
        Status::Ready => String::new(),
        Status::Waiting { cond, .. } => format!("waits for {}", cond_name(machine, cond)),
        Status::Woken { lock } => format!("notified, needs {}", lock_name(machine, lock)),
    };
    if let Some(place) = place(machine, thread) {
        words.push_str(if words.is_empty() { "at " } else { " at " });
        words.push_str(&place.to_string());
    }
    let Some(frame) = thread.frames.last() else { return words };
    let function = &machine.program.functions[usize::from(frame.func)];
    let low = thread.regs.len().saturating_sub(usize::from(function.registers));
    for (reg, name) in &function.locals {
        let value = thread.regs.get(low + reg.index()).filter(|v| !matches!(v, Value::Null));
        if let (Some(value), Some(name)) = (value, machine.program.names.get(name.index())) {
            words.push_str(&format!(", {name} = {}", short(&machine.program, value)));
        }
    }
    words
}
