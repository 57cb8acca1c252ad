//! The events of predictions in words. Their trace may not be in memory: only the tables and facts
//! about some events are.

use crate::words::events::position;
use anyorder_finding::{Site, Stack};
use anyorder_predict::check::{Fact, Held, method, object};
use anyorder_trace::{HandlerId, LockId, Mailbox, Tables, TaskId};

/// The most positions of a stack that are reported.
const STACK_MAX: usize = 64;

/// Returns one word for the action of an event: its kind, or its method.
pub(super) fn verb(tables: &Tables, fact: &Fact) -> String {
    method(tables, fact).unwrap_or_else(|| fact.op.kind().word().to_owned())
}

/// Returns the name of a handler.
pub(super) fn handler(tables: &Tables, handler: HandlerId) -> String {
    let known = handler.some().and_then(|handler| tables.handlers.get(handler.index()));
    known.map_or_else(|| "?".to_owned(), |known| tables.name(known.name).to_owned())
}

/// Returns the names of locks, each in backticks.
pub(super) fn locks(tables: &Tables, held: &[Held]) -> String {
    let names: Vec<String> = held.iter().map(|held| lock(tables, *held)).collect();
    match names.as_slice() {
        [] => "no lock".to_owned(),
        names => names.join(", "),
    }
}

fn lock(tables: &Tables, held: Held) -> String {
    let name = tables.locks.get(held.lock.index()).map_or("?", |name| tables.name(*name));
    if held.shared { format!("`{name}` (as reader)") } else { format!("`{name}`") }
}

/// Returns the name of a lock.
pub(super) fn lock_name(tables: &Tables, lock: LockId) -> String {
    tables.locks.get(lock.index()).map_or("?", |name| tables.name(*name)).to_owned()
}

/// Returns a site of a finding.
pub(super) fn site(tables: &Tables, fact: &Fact, stack: Stack) -> Site {
    let handled = fact.handler.some().and_then(|handler| tables.handlers.get(handler.index()));
    let serves = handled.is_some_and(|handler| handler.mailbox != Mailbox::None);
    let name = handler(tables, fact.handler);
    let atomic = fact.op.kind().is_access() && fact.op.mode().is_atomic();
    let access = format!("{}{}", verb(tables, fact), if atomic { " atomic" } else { "" });
    let locks = fact.held.iter().map(|held| {
        let name = lock_name(tables, held.lock);
        if held.shared { format!("{name} (as reader)") } else { name }
    });
    Site {
        event: Some(fact.label()),
        task: Some(task(tables, fact.task)),
        handler: serves.then(|| name.clone()),
        thread: Some(name),
        location: Some(object(tables, fact)).filter(|text| !text.is_empty()),
        allocated: fact.allocated.map(|place| place.text(tables)),
        access: Some(access),
        locks: locks.collect(),
        stack,
        ..position(tables, fact.site)
    }
}

fn task(tables: &Tables, task: TaskId) -> String {
    tables.tasks.get(task.index()).map_or("?", |def| tables.name(def.name)).to_owned()
}

/// Returns the stack of an event, the innermost position first.
pub(super) fn stack(tables: &Tables, fact: &Fact) -> Stack {
    let stack = fact.stack.and_then(|stack| tables.stacks.get(stack.index()));
    let positions = stack.map_or(&[][..], Vec::as_slice).iter().take(STACK_MAX);
    positions.map(|site| tables.site_in_function(*site)).collect()
}
