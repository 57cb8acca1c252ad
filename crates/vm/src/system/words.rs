//! Actions and states in words.

use crate::machine::{INIT_FLAG, Machine};
use crate::program::Family;
use crate::state::{Message, Origin, State, Status, Thread, ThreadBody};
use crate::transitions::{Action, StepId};
use crate::value::{Value, show::short};

/// `name`, or `name[index]` in a family.
fn member_name(name: &str, family: Option<Family>, index: i64) -> String {
    if family.is_some() { format!("{name}[{index}]") } else { name.to_owned() }
}

/// `name`, or `name[index]` in an array.
fn array_name(name: &str, array: Option<u16>, index: u32) -> String {
    if array.is_some() { format!("{name}[{index}]") } else { name.to_owned() }
}

/// The name of an event member.
pub(crate) fn event_name(machine: &Machine, member: u32) -> String {
    let Some((event, index)) = machine.layout.members.get(member as usize) else {
        return "?".to_owned();
    };
    let event = &machine.program.events[usize::from(*event)];
    member_name(&event.name, event.family, *index)
}

/// The name of a declared thread.
pub(crate) fn thread_name(machine: &Machine, member: u32) -> String {
    let Some((thread, index)) = machine.layout.thread_members.get(member as usize) else {
        return "?".to_owned();
    };
    let thread = &machine.program.threads[usize::from(*thread)];
    member_name(&thread.name, thread.family, *index)
}

/// The name of a slot or mailbox: a handler instance, the event that has it, or `any`.
pub(crate) fn slot_name(machine: &Machine, slot: u32) -> String {
    let layout = &machine.layout;
    match layout.handler_of.get(slot as usize) {
        Some(handler) => {
            let first = layout.handler_first[usize::from(*handler)];
            let handler = &machine.program.handlers[usize::from(*handler)];
            array_name(&handler.name, handler.array, slot - first)
        }
        None => match layout.member_slot.iter().position(|s| *s == slot) {
            Some(member) => event_name(machine, member as u32),
            None => "any".to_owned(),
        },
    }
}

/// The name of a mailbox.
pub(crate) fn queue_name(machine: &Machine, queue: usize) -> String {
    if queue == machine.layout.pool() { "any".to_owned() } else { slot_name(machine, queue as u32) }
}

/// The name of a lock.
pub(crate) fn lock_name(machine: &Machine, lock: u32) -> String {
    let declared = machine.program.locks.iter().zip(&machine.layout.lock_first);
    let found = declared.rev().find(|(_, first)| **first <= lock);
    found.map_or("?".to_owned(), |(l, first)| array_name(&l.name, l.array, lock - first))
}

/// The name of a condition.
pub(crate) fn cond_name(machine: &Machine, cond: u32) -> String {
    let declared = machine.program.conds.iter().zip(&machine.layout.cond_first);
    let found = declared.rev().find(|(_, first)| **first <= cond);
    found.map_or("?".to_owned(), |(c, first)| array_name(&c.name, c.array, cond - first))
}

/// A message as `task(arguments)`.
pub(crate) fn message_words(machine: &Machine, message: &Message) -> String {
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
    format!("{}({args})", task.name)
}

fn thread_words(machine: &Machine, thread: &Thread) -> String {
    match (thread.origin, thread.body) {
        (Origin::Declared(member), _) => thread_name(machine, member),
        (_, ThreadBody::Func(_)) => format!("{}#{}", body_name(machine, thread), thread.handle),
        _ => body_name(machine, thread),
    }
}

/// The name of what a thread runs.
pub(crate) fn body_name(machine: &Machine, thread: &Thread) -> String {
    match thread.body {
        ThreadBody::Event(member) => event_name(machine, member),
        ThreadBody::Task(task) => machine.program.tasks[usize::from(task)].name.clone(),
        ThreadBody::Func(func) => machine.program.functions[usize::from(func)].name.clone(),
        ThreadBody::Thread => "thread".to_owned(),
    }
}

/// Where a thread is: ` at file:line:column`, where that is known.
fn place(machine: &Machine, thread: &Thread) -> String {
    let Some(frame) = thread.frames.last() else { return String::new() };
    let function = &machine.program.functions[usize::from(frame.func)];
    let site = function.sites.get(frame.pc as usize);
    let site = site.and_then(|site| machine.program.sites.get(site.index()));
    match site.filter(|site| site.line > 0) {
        Some(site) => {
            let file = machine.program.files.get(usize::from(site.file));
            let file = file.map_or("", String::as_str);
            format!(" at {file}:{}:{}", site.line, site.column)
        }
        None => format!(" at {}+{}", function.name, frame.pc),
    }
}

/// An action in words.
pub(crate) fn describe(machine: &Machine, state: &State, action: &Action) -> String {
    let mut words = match action.step {
        StepId::Init => "init".to_owned(),
        StepId::Event(member) => event_name(machine, member),
        StepId::Message { queue, position, task } => {
            let queue = queue as usize;
            let message = state.queue(queue).get(position as usize);
            let words = match message {
                Some(message) => message_words(machine, message),
                None => machine.program.tasks[usize::from(task)].name.clone(),
            };
            format!("{words} on {}", queue_name(machine, queue))
        }
        StepId::Thread { origin, rank } => {
            let mut same = state.threads().iter().filter(|thread| thread.origin == origin);
            let skip = if origin == Origin::Dynamic { rank as usize } else { 0 };
            match same.nth(skip) {
                Some(thread) => thread_words(machine, thread) + &place(machine, thread),
                None => "?".to_owned(),
            }
        }
    };
    if action.alternative > 0 {
        words.push_str(&format!(", alternative {}", action.alternative));
    }
    words
}

/// A state in words.
pub(crate) fn show(machine: &Machine, state: &State) -> Vec<(String, String)> {
    show_numbered(machine, state, |object| object)
}

/// As [`show`], with other numbers for the objects as they stand in the state.
pub(crate) fn show_numbered(
    machine: &Machine,
    state: &State,
    numbered: impl Fn(u32) -> u32,
) -> Vec<(String, String)> {
    let program = &machine.program;
    let mut parts = Vec::new();
    if state.flag(INIT_FLAG) {
        parts.push(("init".to_owned(), "not run yet".to_owned()));
    }
    for (i, global) in program.globals.iter().enumerate() {
        parts.push((global.name.clone(), short(program, state.global(i))));
    }
    for (number, object) in (1..).zip(state.heap()) {
        let number = numbered(number);
        let class = &program.classes[usize::from(object.class)];
        for (name, value) in class.fields.iter().zip(&object.fields) {
            let name = program.names.get(name.index()).map_or("?", String::as_str);
            parts.push((format!("obj#{number}.{name}"), short(program, value)));
        }
    }
    parts.append(&mut control(machine, state));
    parts
}

/// What a state has besides memory, in words.
pub(crate) fn control(machine: &Machine, state: &State) -> Vec<(String, String)> {
    let program = &machine.program;
    let mut parts = Vec::new();
    for (i, owner) in (0..).zip(state.locks()).filter(|(_, owner)| **owner != 0) {
        parts.push((format!("lock {}", lock_name(machine, i)), owner_words(machine, *owner)));
    }
    for member in 0..machine.layout.members.len() as u32 {
        if state.flag(machine.layout.started_flag(member)) {
            parts.push((format!("happened({})", event_name(machine, member)), "true".to_owned()));
        }
        if state.flag(machine.layout.toggled_flag(member)) {
            let (event, _) = machine.layout.members[member as usize];
            let enabled = program.events[usize::from(event)].disabled;
            let name = format!("enabled({})", event_name(machine, member));
            parts.push((name, enabled.to_string()));
        }
    }
    for (i, queue) in state.queues() {
        let words = queue.iter().map(|message| {
            let due =
                if message.due > 0 { format!(" after {}", message.due) } else { String::new() };
            message_words(machine, message) + &due
        });
        let words: Vec<String> = words.collect();
        parts.push((format!("mailbox {}", queue_name(machine, i)), words.join(", ")));
    }
    for thread in state.threads() {
        parts.push((format!("thread {}", thread_words(machine, thread)), locals(machine, thread)));
    }
    parts
}

fn owner_words(machine: &Machine, owner: u32) -> String {
    let threads = machine.layout.thread_members.len() as u32;
    match machine.layout.dynamic_of(owner) {
        Some(0) => "held by one that has ended".to_owned(),
        Some(handle) => format!("held by #{handle}"),
        None if owner <= threads => format!("held by {}", thread_name(machine, owner - 1)),
        None => format!("held by {}", slot_name(machine, owner - 1 - threads)),
    }
}

/// Where a thread is, and its variables.
fn locals(machine: &Machine, thread: &Thread) -> String {
    let mut words = match thread.status {
        Status::Ready => String::new(),
        Status::Waiting { cond, .. } => format!("waits for {}", cond_name(machine, cond)),
        Status::Woken { lock } => format!("notified, needs {}", lock_name(machine, lock)),
    };
    words.push_str(place(machine, thread).trim_start_matches(if words.is_empty() {
        " "
    } else {
        ""
    }));
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
