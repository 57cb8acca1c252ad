//! Shared by several tests: replaying runs, and reading written traces back.

#![allow(dead_code, reason = "each test file uses a part of it")]

pub(crate) mod oracle;

use anyorder_formats::detect::Format;
use anyorder_formats::open::{OpenOptions, create, open};
use anyorder_trace::{Columns, EventId, EventKind, TaskId, Trace, wellformed};
use std::collections::VecDeque;
use std::io::Cursor;

/// Writes a trace as edtrace and reads it back.
pub(crate) fn written_and_read(trace: &Trace) -> Trace {
    let text = edtrace(trace);
    let options = OpenOptions::default();
    let mut source = open(Format::Edtrace, Box::new(Cursor::new(text)), &options).unwrap();
    Trace::read(source.as_mut()).unwrap()
}

/// Writes a trace as edtrace.
pub(crate) fn edtrace(trace: &Trace) -> Vec<u8> {
    let mut text = Vec::new();
    {
        let mut sink = create(Format::Edtrace, Box::new(&mut text)).unwrap();
        trace.write(sink.as_mut()).unwrap();
    }
    text
}

/// Checks that the trace is well-formed and comes back equal when written and read.
pub(crate) fn check_sound(trace: &Trace) {
    let problems = wellformed::check(trace);
    assert_eq!(problems.errors_total, 0, "{:?}", problems.list.first());
    let back = written_and_read(trace);
    assert!(*trace == back, "reading back gives another trace");
}

/// Replays a run on handlers with FIFO mailboxes (or bags), and returns the mistake in it.
pub(crate) fn replay(trace: &Trace, run: &[EventId], fifo: bool) -> Result<(), String> {
    let tables = trace.tables();
    let mut done = vec![false; trace.len()];
    let mut next_of_task: Vec<VecDeque<EventId>> = vec![VecDeque::new(); trace.tasks_count()];
    for event in trace.events() {
        next_of_task[event.task.index()].push_back(event.id);
    }
    let mut current: Vec<Option<TaskId>> = vec![None; tables.handlers.len()];
    for task in trace.task_ids().filter(|task| !trace.ran_from_mailbox(*task)) {
        let handler = tables.tasks[task.index()].handler;
        if !next_of_task[task.index()].is_empty() {
            current[handler.index()] = Some(task);
        }
    }
    let mut mailboxes: Vec<VecDeque<TaskId>> = vec![VecDeque::new(); tables.handlers.len()];
    let mut last_write = vec![Columns::INITIAL; tables.locations.len()];
    let mut writes_done: Vec<Vec<u64>> = vec![Vec::new(); tables.locations.len()];
    for id in run {
        let event = trace.event(*id);
        let wrong = |what: &str| Err(format!("event {} {what}", trace.label(*id)));
        if std::mem::replace(&mut done[id.index()], true) {
            return wrong("happens twice");
        }
        let handler = trace.handler_of(*id);
        if event.kind() == EventKind::Get {
            let waiting = &mut mailboxes[handler.index()];
            let Some(place) = waiting.iter().position(|task| *task == event.task) else {
                return wrong("begins a message that is not in the mailbox");
            };
            if fifo && place != 0 {
                return wrong("overtakes a message");
            }
            waiting.remove(place);
            if current[handler.index()].is_some() {
                return wrong("begins while its handler is busy");
            }
            current[handler.index()] = Some(event.task);
        }
        if current[handler.index()] != Some(event.task) {
            return wrong("happens outside its message");
        }
        if next_of_task[event.task.index()].pop_front() != Some(*id) {
            return wrong("breaks program order");
        }
        if next_of_task[event.task.index()].is_empty() {
            current[handler.index()] = None;
        }
        match event.kind() {
            EventKind::Post => {
                let posted = TaskId(event.operand);
                mailboxes[trace.span(posted).handler.index()].push_back(posted);
            }
            EventKind::Read => {
                let from = trace.columns().refers.get(id.0);
                if from != Some(last_write[event.operand as usize]) {
                    return wrong("reads from another write than the last one");
                }
            }
            EventKind::Write => {
                last_write[event.operand as usize] = u64::from(id.0);
                writes_done[event.operand as usize].push(u64::from(id.0));
            }
            _ => {}
        }
    }
    if let Some(row) = done.iter().position(|done| !done) {
        return Err(format!("event {} never happens", trace.label(EventId(row as u32))));
    }
    for order in &tables.coherence {
        if writes_done[order.location.index()] != order.writes {
            let location = tables.location_text(order.location);
            return Err(format!("the writes of {location} happen in another order"));
        }
    }
    Ok(())
}
