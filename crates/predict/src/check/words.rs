//! Events, objects and findings in words.

use super::category::{Category, method};
use super::facts::{Fact, Held};
use super::hints::common;
use anyorder_finding::{Site, Stack};
use anyorder_trace::{
    EventKind, HandlerId, InvocationId, Location, LocationId, LockId, Mailbox, NameId, OperandKind,
    Tables, TaskId,
};

/// The most positions of a stack that are reported.
const STACK_MAX: usize = 64;

/// Returns the object of an event, as reports show it.
pub(crate) fn object(tables: &Tables, fact: &Fact) -> String {
    let index = fact.operand as usize;
    let named = |names: &[NameId]| names.get(index).map(|name| tables.name(*name).to_owned());
    let text = match fact.op.kind().operand() {
        OperandKind::Location if index < tables.locations.len() => {
            Some(tables.location_text(LocationId(fact.operand)))
        }
        OperandKind::Lock => named(&tables.locks),
        OperandKind::Condition => named(&tables.conditions),
        OperandKind::Invocation => {
            let invocation = tables.invocations.get(InvocationId(fact.operand).index());
            invocation.map(|invocation| tables.name(invocation.object).to_owned())
        }
        OperandKind::Name => Some(tables.name(NameId(fact.operand)).to_owned()),
        _ => None,
    };
    text.unwrap_or_default()
}

/// Returns the object of an event, as a title shows it. A field appears without its object.
pub(crate) fn object_in_title(tables: &Tables, fact: &Fact) -> String {
    field(tables, fact).unwrap_or_else(|| object(tables, fact))
}

/// Returns the part of an object's name that is the same in every run, without addresses.
pub(crate) fn object_in_id(tables: &Tables, fact: &Fact) -> String {
    let text = object_in_title(tables, fact);
    if text.starts_with("0x") { String::new() } else { text }
}

/// Returns class and field of an accessed field.
fn field(tables: &Tables, fact: &Fact) -> Option<String> {
    if fact.op.kind().operand() != OperandKind::Location {
        return None;
    }
    match tables.locations.get(fact.operand as usize)? {
        Location::Field { class, field, .. } | Location::Static { class, field } => {
            Some(format!("{}.{}", tables.name(*class), tables.name(*field)))
        }
        _ => None,
    }
}

/// Returns one word for the action of an event: its kind, or its method.
pub(crate) fn verb(tables: &Tables, fact: &Fact) -> String {
    method(tables, fact).unwrap_or_else(|| fact.op.kind().word().to_owned())
}

/// Returns the name of a handler.
pub(crate) fn handler(tables: &Tables, handler: HandlerId) -> String {
    let known = handler.some().and_then(|handler| tables.handlers.get(handler.index()));
    known.map_or_else(|| "?".to_owned(), |known| tables.name(known.name).to_owned())
}

/// Returns the names of locks, each in backticks.
pub(crate) fn locks(tables: &Tables, held: &[Held]) -> String {
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
pub(crate) fn lock_name(tables: &Tables, lock: LockId) -> String {
    tables.locks.get(lock.index()).map_or("?", |name| tables.name(*name)).to_owned()
}

/// Returns a site of a finding.
pub(crate) fn site(tables: &Tables, fact: &Fact) -> Site {
    let position = tables.sites.get(fact.site.index()).copied().unwrap_or_default();
    let text = |name: NameId| (name != NameId::EMPTY).then(|| tables.name(name).to_owned());
    let number = |number: u32| (number != 0).then_some(number);
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
        file: text(position.file),
        line: number(position.line),
        column: number(position.column),
        function: text(position.function),
        label: text(position.label).or_else(|| text(position.function)),
        event: Some(fact.label.to_string()),
        task: Some(task(tables, fact.task)),
        handler: serves.then(|| name.clone()),
        thread: Some(name),
        location: Some(object(tables, fact)).filter(|text| !text.is_empty()),
        allocated: fact.allocated.map(|place| place.text(tables)),
        access: Some(access),
        locks: locks.collect(),
        stack: stack(tables, fact),
        ..Site::default()
    }
}

fn task(tables: &Tables, task: TaskId) -> String {
    tables.tasks.get(task.index()).map_or("?", |def| tables.name(def.name)).to_owned()
}

/// Returns the stack of an event, the innermost position first.
fn stack(tables: &Tables, fact: &Fact) -> Stack {
    let make = || {
        let stack = fact.stack.and_then(|stack| tables.stacks.get(stack.index()));
        let positions = stack.map_or(&[][..], Vec::as_slice).iter().take(STACK_MAX);
        positions.map(|site| tables.site_in_function(*site)).collect()
    };
    fact.stack_words.get_or_init(make).clone()
}

/// Returns the title of a finding: one phrase that says what can happen. If an address names the
/// object, the title adds the place of its allocation, which is the same in every run.
pub(crate) fn title(tables: &Tables, category: Category, first: &Fact, second: &Fact) -> String {
    let phrase = phrase(tables, category, first, second);
    for fact in [first, second] {
        let name = format!("`{}`", object_in_title(tables, fact));
        if let Some(place) = fact.allocated.filter(|_| phrase.contains(&name)) {
            let at = place.phrase(tables);
            return phrase.replacen(&name, &format!("{name} (allocated {at})"), 1);
        }
    }
    phrase
}

fn phrase(tables: &Tables, category: Category, first: &Fact, second: &Fact) -> String {
    let what = object_in_title(tables, second);
    let verbs = [verb(tables, first), verb(tables, second)];
    let end = |fact: &Fact| {
        matches!(fact.op.kind(), EventKind::Free | EventKind::Destroy)
            || method(tables, fact).is_some_and(|method| method == "close" || method == "cancel")
    };
    // The late action is the one that does not end the object's life. If both end it, it is the
    // first in the trace.
    let late = if end(first) && !end(second) { 1 } else { 0 };
    let user = handler(tables, [first, second][late].handler);
    match category {
        Category::UseAfterFree => {
            let verb = match verbs[late].as_str() {
                "read" => "read",
                "write" | "rmw" => "written",
                _ => "used",
            };
            let user_fact = [first, second][late];
            format!("`{}` can be {verb} by `{user}` after it is freed", object(tables, user_fact))
        }
        Category::DoubleFree => {
            format!("`{what}` can be freed the other way round: it is freed twice")
        }
        Category::DestroyedLock if end(first) && end(second) => {
            format!("lock `{what}` is destroyed twice, in either order")
        }
        Category::DestroyedLock => format!("`{user}` can use lock `{what}` after it is destroyed"),
        Category::OverwrittenLock => {
            let (writer, user) = match first.op.kind().is_access() {
                true => (first, second),
                false => (second, first),
            };
            let (lock, by) = (object(tables, user), handler(tables, user.handler));
            let over = handler(tables, writer.handler);
            format!("`{over}` can write over lock `{lock}` before or after `{by}` uses it")
        }
        Category::ClosedChannel | Category::ClosedFile if end(first) && end(second) => {
            format!("`{what}` is closed twice, in either order")
        }
        Category::ClosedChannel | Category::ClosedFile => {
            format!("`{user}` can call `{}` of `{what}` after it is closed", verbs[late])
        }
        Category::LostSignal => {
            format!("the {} of `{what}` can come before or after the wait for it", signal(verbs))
        }
        Category::LostWakeup => {
            format!("lost wake-up: `{}` on `{what}` may wait for ever", verbs[0])
        }
        Category::EarlyErr => {
            format!("`err` of `{what}` can be asked for before or after `cancel`")
        }
        Category::MultiThreaded | Category::SameHandler | Category::Calls => {
            let [a, b] = verbs;
            format!("{a} and {b} of `{what}` can happen in either order")
        }
        Category::Arrival => {
            let [a, b] = verbs;
            format!("{a} and {b} to `{what}` can arrive in either order")
        }
        Category::Guarded if common(first, second).next().is_none() => {
            let [a, b] = verbs;
            format!("{a} and {b} of `{what}`, never at the same time, can happen in either order")
        }
        Category::Guarded => {
            let [a, b] = verbs;
            format!("{a} and {b} of `{what}`, under one lock, can happen in either order")
        }
    }
}

fn signal(verbs: [String; 2]) -> String {
    verbs.into_iter().find(|verb| verb != "wait").unwrap_or_default()
}
