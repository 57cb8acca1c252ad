//! Turns a draft into a trace, as if read from a file in the `edtrace` format.
//!
//! Names, handlers, tasks and locations get their ids in the order in which the lines of the file
//! mention them, exactly as the reader of the format assigns them. So writing and reading back
//! gives an equal trace.

use crate::draft::{Action, Draft, NONE, Name};
use crate::error::GenerateError;
use crate::request::Generated;
use anyorder_common::random::{Random, Rng};
use anyorder_trace::{
    Coherence, Columns, EventId, EventKind, Handler, HandlerId, LabelScheme, Location, LocationId,
    Mailbox, NameId, SiteId, Tables, TaskDef, TaskId, TaskKind, Trace, TraceOrder,
};

/// The largest number of events of one trace: about 100 bytes of memory each during generation.
pub const EVENTS_MAX: u64 = 50_000_000;

/// The order of the events in the file, and the meaning of the order of the draft.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Layout {
    /// Whether messages are in random order, each contiguous; else the events are in the order of
    /// the draft.
    pub(crate) shuffle: bool,
    /// The seed of that order.
    pub(crate) seed: u64,
    /// Whether the draft was recorded from a run, event by event.
    pub(crate) recorded: bool,
}

/// Makes the trace of a draft that was not recorded, with its events in the order of the draft.
pub(crate) fn finish_in_order(draft: &Draft) -> Result<Trace, GenerateError> {
    finish(draft, Layout { shuffle: false, seed: 0, recorded: false }).map(|made| made.trace)
}

/// Makes the trace, in time linear in its length.
pub(crate) fn finish(draft: &Draft, layout: Layout) -> Result<Generated, GenerateError> {
    let rows = file_order(draft, layout);
    let mut row_of = vec![NONE; draft.events.len()];
    for (row, event) in rows.iter().enumerate() {
        row_of[*event as usize] = row as u32;
    }
    let run = layout.recorded.then(|| row_of.iter().map(|row| EventId(*row)).collect());
    let mut lines = Lines::new(draft, &row_of);
    for (row, event) in rows.iter().enumerate() {
        lines.event(row as u32, *event)?;
    }
    lines.coherence();
    Ok(Generated { trace: Trace::new(lines.tables, lines.columns), run })
}

/// Returns the draft's events in the order of the file.
fn file_order(draft: &Draft, layout: Layout) -> Vec<u32> {
    if !layout.shuffle {
        return (0..draft.events.len() as u32).collect();
    }
    let mut place_of: Vec<u32> = (0..draft.messages.len() as u32).collect();
    Rng::for_purpose(layout.seed, *b"file").shuffle(&mut place_of);
    let places = draft.events.iter().map(|event| place_of[event.message as usize]);
    by_key(places, draft.messages.len()).0
}

/// Sorts the numbers of items by their keys below `count`; items of one key stay in order. Returns
/// them, and for each key where its items begin, with one more start at the end.
pub(crate) fn by_key(
    keys: impl ExactSizeIterator<Item = u32> + Clone,
    count: usize,
) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0u32; count + 1];
    for key in keys.clone() {
        starts[key as usize + 1] += 1;
    }
    for key in 1..starts.len() {
        starts[key] += starts[key - 1];
    }
    let mut next = starts.clone();
    let mut sorted = vec![0u32; keys.len()];
    for (number, key) in (0..).zip(keys) {
        let place = &mut next[key as usize];
        sorted[*place as usize] = number;
        *place += 1;
    }
    (sorted, starts)
}

/// The tables and columns so far, and which names were mentioned.
struct Lines<'a> {
    draft: &'a Draft,
    row_of: &'a [u32],
    tables: Tables,
    columns: Columns,
    /// By row: its name.
    event_names: Vec<NameId>,
    initial_name: NameId,
    handler_ids: Vec<HandlerId>,
    /// By message, initial ones included.
    task_ids: Vec<TaskId>,
    location_ids: Vec<LocationId>,
    messages_named: u32,
    /// By location: the rows of its writes.
    writes: Vec<Vec<u64>>,
    text: String,
}

impl<'a> Lines<'a> {
    fn new(draft: &'a Draft, row_of: &'a [u32]) -> Lines<'a> {
        let events = draft.events.len();
        let mut tables = Tables::default();
        tables.meta.labels = LabelScheme::Name;
        tables.meta.order = TraceOrder::Partial;
        tables.meta.origin = "edtrace".to_owned();
        let mut columns = Columns::default();
        columns.ops.reserve_exact(events);
        columns.tasks.reserve_exact(events);
        columns.operands.reserve_exact(events);
        columns.sites.reserve_exact(events);
        columns.numbers.reserve_exact(events);
        Lines {
            draft,
            row_of,
            tables,
            columns,
            event_names: vec![NameId::NONE; events],
            initial_name: NameId::NONE,
            handler_ids: vec![HandlerId::NONE; draft.handlers.len()],
            task_ids: vec![TaskId::NONE; draft.messages.len()],
            location_ids: vec![LocationId::NONE; draft.variables.len()],
            messages_named: 0,
            writes: Vec::new(),
            text: String::new(),
        }
    }

    /// Appends the line of an event, mentioning names in the order of the line's words.
    fn event(&mut self, row: u32, number: u32) -> Result<(), GenerateError> {
        let event = self.draft.events[number as usize];
        let label = self.event_name(row)?;
        let message = self.draft.messages[event.message as usize];
        let handler = self.handler(message.handler)?;
        let task = self.task(event.message)?;
        if !message.initial {
            self.tables.tasks[task.index()].handler = handler;
            self.tables.handlers[handler.index()].mailbox = Mailbox::Fifo;
        }
        let (kind, operand) = match event.action {
            Action::Read { variable, from } => {
                let location = self.location(variable)?;
                self.reads(row, from)?;
                (EventKind::Read, location.0)
            }
            Action::Write { variable } => {
                let location = self.location(variable)?;
                (EventKind::Write, location.0)
            }
            Action::Post { message } => (EventKind::Post, self.task(message)?.0),
            Action::Get => (EventKind::Get, handler.0),
        };
        self.columns.push(kind.into(), task, operand, SiteId::UNKNOWN);
        self.columns.numbers.push(label.0);
        Ok(())
    }

    fn reads(&mut self, row: u32, from: u32) -> Result<(), GenerateError> {
        let refers = if from == NONE {
            if self.initial_name.is_none() {
                self.initial_name = self.name("init")?;
            }
            Columns::INITIAL
        } else {
            let from = self.row_of[from as usize];
            self.event_name(from)?;
            u64::from(from)
        };
        self.columns.refers.push(row, refers);
        Ok(())
    }

    /// Orders the writes of every variable with two or more, as in the draft.
    fn coherence(&mut self) {
        for (number, event) in self.draft.events.iter().enumerate() {
            if let Action::Write { variable } = event.action {
                let location = self.location_ids[variable as usize];
                self.writes[location.index()].push(u64::from(self.row_of[number]));
            }
        }
        for (index, writes) in std::mem::take(&mut self.writes).into_iter().enumerate() {
            if writes.len() >= 2 {
                let location = LocationId::from_index(index);
                self.tables.coherence.push(Coherence { location, writes });
            }
        }
    }

    fn event_name(&mut self, row: u32) -> Result<NameId, GenerateError> {
        let known = self.event_names[row as usize];
        if !known.is_none() {
            return Ok(known);
        }
        let name = self.write_name(Name::AUTO, ("e", row + 1))?;
        self.event_names[row as usize] = name;
        Ok(name)
    }

    fn handler(&mut self, handler: u32) -> Result<HandlerId, GenerateError> {
        let known = self.handler_ids[handler as usize];
        if !known.is_none() {
            return Ok(known);
        }
        let id = HandlerId::from_index(self.tables.handlers.len());
        let name = self.write_name(self.draft.handlers[handler as usize], ("h", id.0 + 1))?;
        self.tables.handlers.push(Handler { name, ..Handler::default() });
        self.handler_ids[handler as usize] = id;
        let initial = self.draft.initial(handler);
        self.task_ids[initial as usize] = self.push_task(name, TaskKind::Initial, id);
        Ok(id)
    }

    fn task(&mut self, message: u32) -> Result<TaskId, GenerateError> {
        let known = self.task_ids[message as usize];
        if !known.is_none() {
            return Ok(known);
        }
        self.messages_named += 1;
        let called = self.draft.messages[message as usize].name;
        let name = self.write_name(called, ("m", self.messages_named))?;
        let task = self.push_task(name, TaskKind::Posted, HandlerId::NONE);
        self.task_ids[message as usize] = task;
        Ok(task)
    }

    fn push_task(&mut self, name: NameId, kind: TaskKind, handler: HandlerId) -> TaskId {
        let task = TaskId::from_index(self.tables.tasks.len());
        self.tables.tasks.push(TaskDef { name, kind, handler, ..TaskDef::default() });
        task
    }

    fn location(&mut self, variable: u32) -> Result<LocationId, GenerateError> {
        let known = self.location_ids[variable as usize];
        if !known.is_none() {
            return Ok(known);
        }
        let id = LocationId::from_index(self.tables.locations.len());
        let name = self.write_name(self.draft.variables[variable as usize], ("x", id.0 + 1))?;
        self.tables.locations.push(Location::Named(name));
        self.location_ids[variable as usize] = id;
        self.writes.push(Vec::new());
        Ok(id)
    }

    fn write_name(&mut self, name: Name, auto: (&str, u32)) -> Result<NameId, GenerateError> {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        name.write(auto, &mut text);
        let id = self.name(&text);
        self.text = text;
        id
    }

    fn name(&mut self, text: &str) -> Result<NameId, GenerateError> {
        self.tables.names.push(text).ok_or(GenerateError::NamesFull)
    }
}
