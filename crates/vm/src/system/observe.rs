//! What a state amounts to.

use super::words;
use crate::machine::Machine;
use crate::state::{State, encode};
use crate::value::show::short;
use anyorder_system::{Level, Observation, PartPath};

/// Returns the observation of a state: globals by their levels, objects, mailboxes, and the rest as bookkeeping.
pub(crate) fn observe(machine: &Machine, state: &State, failure: Option<&str>) -> Observation {
    let mut observation = Observation::new();
    let mut part = |names: &[&str], level: Level, content: &[u8], text: &str| {
        let path = PartPath::new(names.iter().copied());
        observation.set(path.clone(), level, content);
        observation.keep_text(&path, text);
    };
    let mut bytes = Vec::new();
    for (i, global) in machine.program.globals.iter().enumerate() {
        bytes.clear();
        encode::value(state.global(i), &mut bytes);
        let text = short(&machine.program, state.global(i));
        part(&["globals", &global.name], global.level, &bytes, &text);
    }
    for (i, object) in state.heap().iter().enumerate() {
        let class = &machine.program.classes[usize::from(object.class)];
        let name = format!("{}#{}", class.name, i + 1);
        for (field, value) in class.fields.iter().zip(&object.fields) {
            bytes.clear();
            encode::value(value, &mut bytes);
            let field = machine.program.names.get(field.index()).map_or("?", String::as_str);
            part(&["heap", &name, field], Level::Heap, &bytes, &short(&machine.program, value));
        }
    }
    // Everything else in the words that people see.
    for (name, words) in words::control(machine, state) {
        let level =
            if name.starts_with("mailbox ") { Level::PendingTimers } else { Level::Bookkeeping };
        part(&["control", &name], level, words.as_bytes(), &words);
    }
    if let Some(failure) = failure {
        part(&["failure"], Level::Failure, failure.as_bytes(), failure);
    }
    observation
}
