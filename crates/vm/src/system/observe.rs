//! Observations of states.

use super::parts::{Content, control};
use super::words::field_name;
use crate::machine::Machine;
use crate::state::State;
use crate::state::bytes::put_value;
use crate::value::show::short;
use anyorder_system::{Failure, Level, Observation, PartPath};

/// Returns the observation of a state: globals by their levels, objects, mailboxes, and the rest as
/// bookkeeping.
pub(crate) fn observe(machine: &Machine, state: &State, failure: Option<&Failure>) -> Observation {
    let mut observation = Observation::new();
    let mut part = |names: &[&str], level: Level, content: &[u8], text: &str| {
        let path = PartPath::new(names.iter().copied());
        observation.set(path.clone(), level, content);
        observation.keep_text(&path, text);
    };
    let mut bytes = Vec::new();
    for (i, global) in machine.program.globals.iter().enumerate() {
        bytes.clear();
        put_value(&mut bytes, state.global(i));
        let text = short(&machine.program, state.global(i));
        part(&["globals", &global.name], global.level, &bytes, &text);
    }
    for (i, object) in state.heap().iter().enumerate() {
        let class = &machine.program.classes[usize::from(object.class)];
        let name = format!("{}#{}", class.name, i + 1);
        for (field, value) in (0..).zip(&object.fields) {
            bytes.clear();
            put_value(&mut bytes, value);
            let field = field_name(machine, object.class, field);
            part(&["heap", &name, field], Level::Heap, &bytes, &short(&machine.program, value));
        }
    }
    // Everything else by its text in reports.
    for one in control(machine, state) {
        let level = match one.content {
            Content::Mailbox(_) => Level::PendingTimers,
            _ => Level::Bookkeeping,
        };
        let text = one.text(&machine.program);
        part(&["control", &one.label()], level, text.as_bytes(), &text);
    }
    if let Some(failure) = failure {
        let text = failure.to_string();
        part(&["failure"], Level::Failure, text.as_bytes(), &text);
    }
    observation
}
