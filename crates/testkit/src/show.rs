//! Small traces as text for people, to be printed when a test fails.

use anyorder_trace::{Event, OperandKind, Position, Trace};
use std::fmt::Write as _;

/// Returns a trace as text, one event a line: number, handler, task, kind and operand.
#[must_use]
pub fn show(trace: &Trace) -> String {
    let tables = trace.tables();
    let mut text = String::new();
    for handler in &tables.handlers {
        let word = handler.mailbox.word();
        let untracked = if handler.untracked { " untracked" } else { "" };
        let _ = writeln!(text, "handler {} {word}{untracked}", tables.name(handler.name));
    }
    for event in trace.events() {
        let handler = trace.handler_name(trace.handler_of(event.id));
        let task = trace.task_name(event.task);
        let mode = match event.mode().bits() {
            0 => String::new(),
            bits => format!(" mode {bits}"),
        };
        let refers = match trace.columns().refers.get(event.id.0) {
            Some(number) => format!(" refers to {number}"),
            None => String::new(),
        };
        let (word, operand) = (event.kind().word(), operand(trace, event));
        let _ = writeln!(
            text,
            "{:4} {handler:>4} {task:>8} {word} {operand}{mode}{refers}",
            event.id.0
        );
    }
    text
}

fn operand(trace: &Trace, event: Event) -> String {
    let tables = trace.tables();
    let index = event.operand as usize;
    match event.kind().operand() {
        OperandKind::Location => {
            event.location().map_or(String::new(), |l| tables.location_text(l))
        }
        OperandKind::Task => {
            let task = tables.tasks[index];
            let front = if task.position == Position::Front { " front" } else { "" };
            let to = trace.handler_name(task.handler);
            format!("{} to {to} delay {}{front}", tables.name(task.name), task.delay)
        }
        OperandKind::Handler => tables.name(tables.handlers[index].name).to_owned(),
        OperandKind::Lock => tables.name(tables.locks[index]).to_owned(),
        OperandKind::Condition => tables.name(tables.conditions[index]).to_owned(),
        OperandKind::Input => {
            let input = tables.inputs[index];
            let (family, argument) = (input.family.word(), input.argument);
            let text = [input.state, input.name, input.component].map(|part| tables.name(part));
            format!("{family} {} #{} argument {argument}", text.join(" "), input.instance)
        }
        OperandKind::Name => tables.names.get(anyorder_trace::NameId(event.operand)).to_owned(),
        OperandKind::Number | OperandKind::Invocation => event.operand.to_string(),
        OperandKind::Nothing => String::new(),
    }
}
