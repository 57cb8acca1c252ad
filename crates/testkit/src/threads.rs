//! Traces of threads written as text, one event a line or after a semicolon: `T1 acq m; T1 w x`.

use anyorder_trace::{
    EventKind, HandlerId, Invocation, Mailbox, Mode, TaskId, Trace, TraceBuilder,
};
use std::collections::BTreeMap;

/// Returns the trace of a script. The operations: r, w, rmw, free, acq, rel, racq, rrel (as
/// reader), fork, join, signal, broadcast, wait, wake, destroy, barrier, and invocations such as
/// `set:s.add(1)=1`, `file:f.close()`, whose return is `ret set:s.add(1)=1`.
///
/// # Panics
///
/// Panics if the text is wrong.
#[must_use]
pub fn threads(text: &str) -> Trace {
    let mut b = TraceBuilder::new();
    let mut threads: BTreeMap<String, (HandlerId, TaskId)> = BTreeMap::new();
    for line in text.split([';', '\n']).map(str::trim).filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut thread = |b: &mut TraceBuilder, name: &str| {
            *threads.entry(name.to_owned()).or_insert_with(|| {
                let handler = b.handler(name, Mailbox::None).expect("room");
                (handler, b.initial(handler))
            })
        };
        let (_, task) = thread(&mut b, words[0]);
        let target = words.get(2).copied().unwrap_or("");
        match words[1] {
            "r" => drop(b.read(task, target).expect("room")),
            "w" => drop(b.write(task, target).expect("room")),
            "rmw" | "free" => {
                let location = b.variable(target).expect("room");
                let kind = if words[1] == "rmw" { EventKind::Rmw } else { EventKind::Free };
                b.push(task, kind.into(), location.0);
            }
            "acq" => drop(b.acquire(task, target, Mode::EXCLUSIVE).expect("room")),
            "rel" => drop(b.release(task, target, Mode::EXCLUSIVE).expect("room")),
            "racq" => drop(b.acquire(task, target, Mode::SHARED).expect("room")),
            "rrel" => drop(b.release(task, target, Mode::SHARED).expect("room")),
            "fork" | "join" => {
                let (handler, _) = thread(&mut b, target);
                let kind = if words[1] == "fork" { EventKind::Fork } else { EventKind::Join };
                b.on_handler(task, kind, handler);
            }
            "destroy" => {
                let name = b.interner.name(target).expect("room");
                let lock = b.interner.lock(name).expect("room");
                b.push(task, EventKind::Destroy.into(), lock.0);
            }
            "signal" | "broadcast" | "wait" | "wake" | "barrier" => {
                let kind = EventKind::from_word(words[1]).expect("a kind");
                b.on_condition(task, kind, target).expect("room");
            }
            "ret" => invoke(&mut b, task, EventKind::Return, target),
            call => invoke(&mut b, task, EventKind::Invoke, call),
        }
    }
    b.finish()
}

fn invoke(b: &mut TraceBuilder, task: TaskId, kind: EventKind, call: &str) {
    let (object, rest) = call.split_once('.').expect("object.method(value)=result");
    let (method, rest) = rest.split_once('(').expect("a parenthesis");
    let (arguments, result) = rest.split_once(')').expect("a parenthesis");
    let number = |text: &str| text.parse().expect("a number");
    let invocation = Invocation {
        object: b.interner.name(object).expect("room"),
        method: b.interner.name(method).expect("room"),
        arguments: arguments.split(',').filter(|text| !text.is_empty()).map(number).collect(),
        result: result.strip_prefix('=').map(number),
    };
    let id = b.interner.push_invocation(invocation).expect("room");
    b.push(task, kind.into(), id.0);
}
