//! A naive state in the words that the machine has for its states. Numbers of objects and handles
//! are left out; what has no order is compared as the characters it is made of.

use crate::naive::interp::program::Program;
use crate::naive::interp::state::{Message, State};
use crate::naive::interp::value::{Code, Value};
use anyorder_lang::ast::Mailbox;

/// No more characters of a value are compared.
const LONG: usize = 1_000;

/// A value as the machine writes it, but for numbers of objects and handles.
pub fn value(p: &Program, state: &State, v: &Value) -> String {
    let all = |items: &[Value]| {
        items.iter().map(|item| value(p, state, item)).collect::<Vec<_>>().join(", ")
    };
    match v {
        Value::Null => "null".into(),
        Value::Bool(b) => b.to_string(),
        Value::Int(n) => n.to_string(),
        Value::Str(s) => format!("{s:?}"),
        Value::Enum(ty, variant, payload) => {
            let decl = p.enums[*ty];
            let name = format!("{}.{}", decl.name.name, decl.variants[*variant].name.name);
            if payload.is_empty() { name } else { format!("{name}({})", all(payload)) }
        }
        Value::Record(ty, fields) => {
            let decl = p.records[*ty];
            let parts = decl.fields.iter().zip(fields);
            let parts: Vec<String> =
                parts.map(|(f, v)| format!("{}: {}", f.name.name, value(p, state, v))).collect();
            format!("{} {{ {} }}", decl.name.name, parts.join(", "))
        }
        Value::List(items) => format!("[{}]", all(items)),
        Value::Set(items) => format!("set[{}]", all(items)),
        Value::Map(entries) => {
            let entries = entries.iter();
            let parts: Vec<String> = entries
                .map(|(k, v)| format!("{}: {}", value(p, state, k), value(p, state, v)))
                .collect();
            format!("map[{}]", parts.join(", "))
        }
        Value::Func(Code::Named(name), _) => format!("fn {name}"),
        Value::Func(Code::Closure(_), _) => "fn fn".into(),
        Value::Handle(h) if state.alive.contains(h) => "task".into(),
        Value::Handle(_) => "task#ended".into(),
        Value::Obj(_) => "obj".into(),
    }
}

/// A message as `task(arguments)`.
pub fn message(p: &Program, state: &State, m: &Message) -> String {
    let args: Vec<String> = m.args.iter().map(|arg| value(p, state, arg)).collect();
    format!("{}({})", p.tasks[m.task].name.name, args.join(", "))
}

/// All globals and mailboxes, and which process holds which lock.
pub fn sign(p: &Program, state: &State) -> Vec<String> {
    let mut parts = vec![];
    if state.before_init {
        return vec!["before init".into()];
    }
    for (name, v) in &state.globals {
        let short: String = value(p, state, v).chars().take(LONG).collect();
        parts.push(format!("{name} = {short}"));
    }
    let mailbox = |name: &str, kind: Mailbox, front: &[Message], rest: &[Message]| {
        let mut all: Vec<String> = front.iter().map(|m| message(p, state, m)).collect();
        let mut rest: Vec<&Message> = rest.iter().collect();
        if kind == Mailbox::Delayed {
            rest.sort_by_key(|m| m.due);
        }
        for m in rest {
            let wait = m.due.saturating_sub(state.time);
            let due = kind == Mailbox::Delayed && wait > 0;
            let due = if due { format!(" after {wait}") } else { String::new() };
            all.push(message(p, state, m) + &due);
        }
        format!("mailbox {name} = {}", mixed(all.join(", ")))
    };
    for (key, m) in &state.mailboxes {
        let (name, size, kind) = &p.handlers[key.0];
        let name = if size.is_some() { format!("{name}[{}]", key.1) } else { name.clone() };
        if !m.front.is_empty() || !m.rest.is_empty() {
            parts.push(mailbox(&name, *kind, &m.front, &m.rest));
        }
    }
    if !state.pool.is_empty() {
        parts.push(mailbox("any", Mailbox::Bag, &[], &state.pool));
    }
    parts.sort();
    parts
}

/// The same of what the machine shows.
pub fn sign_of_machine(shown: &[(String, String)]) -> Vec<String> {
    if shown.first().is_some_and(|(name, _)| name == "init") {
        return vec!["before init".into()];
    }
    let mut parts: Vec<String> = shown
        .iter()
        .filter(|(name, _)| name.starts_with("mailbox ") || !name.contains([' ', '.', '(']))
        .map(|(name, value)| {
            let value = unnumbered(value);
            let cut = |value: String| value.chars().take(LONG).collect();
            let value = if name.starts_with("mailbox ") { mixed(value) } else { cut(value) };
            format!("{name} = {value}")
        })
        .collect();
    parts.sort();
    parts
}

/// Text with the numbers of objects and handles taken out.
pub fn unnumbered(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('#') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let digits = rest.chars().take_while(char::is_ascii_digit).count();
        if digits == 0 {
            out.push('#');
        }
        rest = &rest[digits..];
    }
    out + rest
}

/// The characters of a text in order: what is made of the same parts has the same.
fn mixed(text: String) -> String {
    // The machine cuts what is long.
    if text.len() > LONG {
        return "long".into();
    }
    let mut all: Vec<char> = text.chars().collect();
    all.sort_unstable();
    all.into_iter().collect()
}
