//! Arbitrary traces: every table, every column, hostile names; all ids are in their tables.

use anyorder_trace::{
    Block, Coherence, Columns, ConditionId, EventKind, Handler, HandlerId, Input, InputFamily,
    Invocation, LabelScheme, Location, LocationId, Mailbox, Mode, NameId, Op, OperandKind,
    Position, Site, SiteId, StackId, Tables, TaskDef, TaskId, TaskKind, TraceOrder,
};
use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;

/// Arbitrary numbers from which a step is made.
pub(crate) type Raw = [u64; 5];

/// A part of a trace: new entries of all tables, changes of handlers, then events.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    names: Vec<String>,
    entries: [Vec<Raw>; 10],
    handlers_changed: Vec<Raw>,
    lists: Vec<Vec<u64>>,
    events: Vec<RawEvent>,
}

#[derive(Clone, Debug)]
pub(crate) struct RawEvent {
    kind: u8,
    raw: Raw,
    value: Option<u64>,
    time: Option<u64>,
    stack: Option<u64>,
    refers: Option<u64>,
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => 0..20u64,
        1 => any::<u64>(),
        1 => (0..64u32).prop_map(|bit| 1 << bit),
        1 => Just(u64::MAX),
    ]
}

fn raw() -> impl Strategy<Value = Raw> {
    [number(), number(), number(), number(), number()]
}

fn event() -> impl Strategy<Value = RawEvent> {
    let sparse = || weighted(0.3, number());
    (0..31u8, raw(), sparse(), sparse(), sparse(), sparse()).prop_map(
        |(kind, raw, value, time, stack, refers)| RawEvent {
            kind,
            raw,
            value,
            time,
            stack,
            refers,
        },
    )
}

/// A step with up to `events` events.
pub(crate) fn step(events: usize) -> impl Strategy<Value = Step> {
    let name = prop_oneof![
        "\\PC{0,8}",
        Just("<script>alert(1)</script>\u{1b}[2J\0\r\n".to_owned()),
        Just("\u{202e}|)(\"'\\".to_owned()),
        any::<String>(),
    ];
    let table = || vec(raw(), 0..4);
    let tables = [(); 10].map(|()| table());
    let lists = vec(vec(number(), 0..4), 0..4);
    (vec(name, 0..4), tables, table(), lists, vec(event(), 0..events)).prop_map(
        |(names, entries, handlers_changed, lists, events)| Step {
            names,
            entries,
            handlers_changed,
            lists,
            events,
        },
    )
}

fn below(raw: u64, count: usize) -> u32 {
    (raw % count.max(1) as u64) as u32
}

impl Step {
    /// Adds the entries to tables.
    pub(crate) fn grow(&self, tables: &mut Tables) {
        for name in &self.names {
            tables.names.push(name).expect("few names");
        }
        let names = tables.names.len();
        let name = |raw: u64| NameId(below(raw, names));
        let handler = |raw: &Raw| Handler {
            name: name(raw[0]),
            mailbox: Mailbox::from_number((raw[1] % 4) as u8).expect("four mailboxes"),
            untracked: raw[2] % 2 == 1,
        };
        let [
            handlers,
            tasks,
            locations,
            locks,
            conditions,
            inputs,
            sites,
            stacks,
            invocations,
            coherence,
        ] = &self.entries;
        for raw in &self.handlers_changed {
            let count = tables.handlers.len();
            if let Some(changed) = tables.handlers.get_mut(below(raw[3], count) as usize) {
                *changed = handler(raw);
            }
        }
        tables.handlers.extend(handlers.iter().map(handler));
        let handlers = tables.handlers.len();
        tables.tasks.extend(tasks.iter().map(|raw| TaskDef {
            name: name(raw[0]),
            kind: [TaskKind::Initial, TaskKind::Posted, TaskKind::Burst][(raw[1] % 3) as usize],
            handler: match below(raw[2], handlers + 1) {
                none if none as usize == handlers => HandlerId::NONE,
                some => HandlerId(some),
            },
            delay: raw[3],
            position: [Position::Back, Position::Front][(raw[4] % 2) as usize],
        }));
        tables.locations.extend(locations.iter().map(|raw| match raw[0] % 4 {
            0 => Location::Named(name(raw[1])),
            1 => Location::Field { object: raw[1], class: name(raw[2]), field: name(raw[3]) },
            2 => Location::Static { class: name(raw[1]), field: name(raw[2]) },
            _ => {
                Location::Range { address: raw[1], size: raw[2] as u32, generation: raw[3] as u32 }
            }
        }));
        tables.locks.extend(locks.iter().map(|raw| name(raw[0])));
        tables.conditions.extend(conditions.iter().map(|raw| name(raw[0])));
        tables.inputs.extend(inputs.iter().map(|raw| Input {
            family: InputFamily::from_number((raw[0] % 7) as u8).expect("seven families"),
            name: name(raw[0]),
            state: name(raw[1]),
            component: name(raw[2]),
            instance: raw[3],
            argument: raw[4],
        }));
        tables.sites.extend(sites.iter().map(|raw| Site {
            label: name(raw[0]),
            function: name(raw[1]),
            file: name(raw[2]),
            line: raw[3] as u32,
            column: raw[4] as u32,
        }));
        let sites = tables.sites.len();
        let list = |i: usize| self.lists.get(i).cloned().unwrap_or_default();
        tables.stacks.extend((0..stacks.len()).map(|i| {
            list(i).into_iter().map(|site| SiteId(below(site, sites))).collect::<Vec<_>>()
        }));
        tables.invocations.extend(invocations.iter().enumerate().map(|(i, raw)| Invocation {
            object: name(raw[0]),
            method: name(raw[1]),
            arguments: list(i),
            result: (raw[2] % 2 == 1).then_some(raw[3]),
        }));
        let locations = tables.locations.len();
        if locations > 0 {
            tables.coherence.extend(coherence.iter().enumerate().map(|(i, raw)| Coherence {
                location: LocationId(below(raw[0], locations)),
                writes: list(i),
            }));
        }
    }

    /// Appends the events to columns; there must be a task.
    pub(crate) fn append(&self, tables: &Tables, columns: &mut Columns) {
        if tables.tasks.is_empty() {
            return;
        }
        for event in &self.events {
            event.append(tables, columns);
        }
    }
}

impl RawEvent {
    fn append(&self, tables: &Tables, columns: &mut Columns) {
        let raw = &self.raw;
        let kind = EventKind::from_number(self.kind).expect("a known kind");
        let count = match kind.operand() {
            OperandKind::Nothing | OperandKind::Number => u32::MAX as usize,
            OperandKind::Location => tables.locations.len(),
            OperandKind::Task => tables.tasks.len(),
            OperandKind::Handler => tables.handlers.len(),
            OperandKind::Lock => tables.locks.len(),
            OperandKind::Condition => tables.conditions.len(),
            OperandKind::Invocation => tables.invocations.len(),
            OperandKind::Input => tables.inputs.len(),
            OperandKind::Name => tables.names.len(),
        };
        // What cannot have an operand becomes something that needs none.
        let kind = if count == 0 { EventKind::Choice } else { kind };
        let row = columns.len() as u32;
        columns.push(
            Op::new(kind, Mode::from_bits((raw[0] % 8) as u8)),
            TaskId(below(raw[1], tables.tasks.len())),
            below(raw[2], count),
            SiteId(below(raw[3], tables.sites.len())),
        );
        match tables.meta.labels {
            LabelScheme::Position => {}
            LabelScheme::Name => columns.numbers.push(below(raw[4], tables.names.len())),
            LabelScheme::Line | LabelScheme::AccessOrOperation => {
                columns.numbers.push(raw[4] as u32)
            }
        }
        if let Some(value) = self.value {
            columns.values.push(row, value);
        }
        if let Some(time) = self.time {
            columns.times.push(row, time);
        }
        if let Some(stack) = self.stack.filter(|_| !tables.stacks.is_empty()) {
            columns.stacks.push(row, StackId(below(stack, tables.stacks.len())));
        }
        if let Some(refers) = self.refers {
            columns.refers.push(row, refers);
        }
    }
}

/// Tables with meta data of any sort and nothing else.
pub(crate) fn meta() -> impl Strategy<Value = Tables> {
    let labels = [
        LabelScheme::Position,
        LabelScheme::Line,
        LabelScheme::Name,
        LabelScheme::AccessOrOperation,
    ];
    let order = [TraceOrder::Observed, TraceOrder::Partial];
    (0..4usize, 0..2usize, any::<String>()).prop_map(move |(label, partial, origin)| {
        let mut tables = Tables::default();
        tables.meta.labels = labels[label];
        tables.meta.order = order[partial];
        tables.meta.origin = origin;
        tables
    })
}

/// The blocks of columns, as a source gives them.
pub(crate) fn blocks(columns: &Columns) -> Vec<Block> {
    let trace = anyorder_trace::Trace::new(Tables::default(), columns.clone());
    let mut source = anyorder_trace::TraceBlocks::new(&trace);
    let mut out = Vec::new();
    let mut block = Block::default();
    while anyorder_trace::TraceSource::next_block(&mut source, &mut block).expect("it is in memory")
    {
        out.push(block.clone());
    }
    out
}

/// A small trace with an entry in every table and a value in every column.
pub(crate) fn sample() -> (Tables, Columns) {
    let mut tables = Tables::default();
    tables.meta.labels = LabelScheme::Line;
    tables.meta.order = TraceOrder::Partial;
    tables.meta.origin = "sample".to_owned();
    for name in ["ui", "click", "Foo", "x", "é\u{1b}[31m"] {
        tables.names.push(name).expect("few names");
    }
    let id = NameId;
    tables.handlers.push(Handler { name: id(1), mailbox: Mailbox::Fifo, untracked: false });
    tables.handlers.push(Handler { name: id(2), mailbox: Mailbox::Delayed, untracked: true });
    for (name, kind, handler) in [
        (id(1), TaskKind::Initial, HandlerId(0)),
        (id(2), TaskKind::Posted, HandlerId(0)),
        (id(3), TaskKind::Burst, HandlerId::NONE),
        (id(3), TaskKind::Posted, HandlerId(1)),
    ] {
        tables.tasks.push(TaskDef { name, kind, handler, delay: 5, position: Position::Front });
    }
    tables.locations.push(Location::Named(id(4)));
    tables.locations.push(Location::Field { object: 65, class: id(3), field: id(4) });
    tables.locations.push(Location::Static { class: id(3), field: id(5) });
    tables.locations.push(Location::Range { address: 0x5500_1234, size: 8, generation: 1 });
    tables.locks.push(id(4));
    tables.conditions.push(id(5));
    tables.inputs.push(Input {
        family: InputFamily::Ui,
        name: id(2),
        state: id(1),
        component: id(3),
        instance: 7,
        argument: 9,
    });
    tables.sites.push(Site { label: id(1), function: id(2), file: id(3), line: 4, column: 5 });
    tables.stacks.push(vec![SiteId(1), SiteId(0)]);
    tables.invocations.push(Invocation {
        object: id(3),
        method: id(4),
        arguments: vec![1, u64::MAX],
        result: Some(3),
    });
    tables.coherence.push(Coherence { location: LocationId(0), writes: vec![8, 2] });
    assert_eq!(ConditionId(0).index(), tables.conditions.len() - 1);
    let mut columns = Columns::default();
    // The kinds that there were when the golden file was written; `random_columns` has all of them.
    let newer = [EventKind::Refused, EventKind::Request];
    let kinds = EventKind::ALL.into_iter().filter(|kind| !newer.contains(kind));
    for (row, kind) in kinds.cycle().take(66).enumerate() {
        let mode = if kind.is_access() { Mode::RELEASE } else { Mode::PLAIN };
        columns.push(
            Op::new(kind, mode),
            TaskId([0, 1, 3][row / 7 % 3]),
            0,
            SiteId((row % 2) as u32),
        );
        columns.numbers.push(10 + row as u32);
    }
    columns.values.push(2, 77);
    columns.times.push(3, 1_000_000);
    columns.times.push(5, 1_000_500);
    columns.stacks.push(4, StackId(0));
    columns.refers.push(0, Columns::INITIAL);
    columns.refers.push(31, 1);
    (tables, columns)
}

/// Writes tables and columns into memory.
pub(crate) fn write(tables: &Tables, columns: &Columns) -> Vec<u8> {
    use anyorder_formats::native_binary::BinaryWriter;
    use anyorder_trace::TraceSink;
    let mut out = Vec::new();
    let mut writer = BinaryWriter::new(&mut out).expect("memory takes it");
    for block in blocks(columns) {
        writer.block(tables, &block).expect("all ids are in their tables");
    }
    writer.finish(tables).expect("memory takes it");
    out
}
