//! Arbitrary traces and texts for the tests of this crate.
#![allow(dead_code, reason = "each test uses its part")]
#![allow(clippy::print_stderr, reason = "what is skipped is told")]

use anyorder_trace::{
    Coherence, Columns, Event, EventKind, Handler, HandlerId, Input, InputFamily, Invocation,
    LabelScheme, Location, LocationId, Mailbox, Meta, Mode, NameId, Op, OperandKind, Position,
    Site, SiteId, StackId, Tables, TaskDef, TaskId, TaskKind, Trace, TraceOrder,
};
use proptest::prelude::*;
use std::path::PathBuf;

/// Returns the name of what an event of a thread is about.
pub(crate) fn target(trace: &Trace, event: Event) -> String {
    let tables = trace.tables();
    let index = event.operand as usize;
    let name = match event.kind() {
        kind if kind.is_access() => return trace.location_text(event.location().expect("one")),
        EventKind::Fork | EventKind::Join => {
            return trace.handler_name(HandlerId(event.operand)).into();
        }
        EventKind::Acquire | EventKind::Release | EventKind::Request => tables.locks[index],
        EventKind::Wait | EventKind::Wake | EventKind::Signal | EventKind::Broadcast => {
            tables.conditions[index]
        }
        _ => NameId(event.operand),
    };
    tables.name(name).to_owned()
}

/// A list of numbers from which a generator takes its choices. After its end all choices are 0, so
/// a shorter list gives a simpler result, and proptest can shrink it.
#[derive(Debug)]
pub(crate) struct Choices {
    numbers: Vec<u64>,
    at: usize,
}

impl Choices {
    pub(crate) fn new(numbers: Vec<u64>) -> Choices {
        Choices { numbers, at: 0 }
    }

    pub(crate) fn number(&mut self) -> u64 {
        let number = self.numbers.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        number
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        if limit == 0 { 0 } else { (self.number() % limit as u64) as usize }
    }

    pub(crate) fn chance(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 1
    }

    pub(crate) fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// A number that is small, large, or at an edge.
    pub(crate) fn number_of_any_size(&mut self) -> u64 {
        match self.below(6) {
            0 => 0,
            1 => u64::MAX,
            2 => u64::from(u32::MAX) + self.below(2) as u64,
            3 => self.number(),
            _ => self.below(100) as u64,
        }
    }

    pub(crate) fn number_32_of_any_size(&mut self) -> u32 {
        self.number_of_any_size() as u32
    }
}

/// Lists of choices.
pub(crate) fn choices(length: usize) -> impl Strategy<Value = Vec<u64>> {
    proptest::collection::vec(any::<u64>(), 0..length)
}

/// Traces with arbitrary contents that the types allow, and ids that are in their tables.
pub(crate) fn traces() -> impl Strategy<Value = Trace> {
    choices(1500).prop_map(|numbers| trace(&mut Choices::new(numbers)))
}

/// Strings that break careless code.
pub(crate) const HOSTILE: [&str; 30] = [
    "x",
    "main",
    "a b",
    "T1",
    "",
    "\"",
    "\\",
    "\\n",
    "\n",
    "\r",
    "\r\n",
    "\t",
    "\0",
    "\u{1b}[31m",
    "\u{7f}",
    "\u{85}",
    "\u{2028}",
    "\u{202e}evil",
    "\u{feff}",
    "|",
    "a|b",
    "#",
    "#x",
    "n1",
    "0x10+8",
    "0x10",
    ")",
    "(",
    "<script>",
    "日本語🦀",
];

fn text(choices: &mut Choices) -> String {
    match choices.below(8) {
        0..=3 => choices.of(&HOSTILE).to_owned(),
        4 => format!("v{}", choices.below(50)),
        5 => (0..choices.below(6)).map(|_| choices.of(&HOSTILE)).collect(),
        6 => choices.of(&HOSTILE).repeat(choices.below(400)),
        _ => {
            let scalar = |n: u64| char::from_u32((n % 0x11_0000) as u32).unwrap_or('\u{fffd}');
            (0..choices.below(8)).map(|_| scalar(choices.number())).collect()
        }
    }
}

/// Makes a trace.
pub(crate) fn trace(choices: &mut Choices) -> Trace {
    let tables = tables(choices);
    let columns = columns(choices, &tables);
    Trace::new(tables, columns)
}

/// Makes tables, each of which has at least one entry.
pub(crate) fn tables(choices: &mut Choices) -> Tables {
    let mut tables = Tables {
        meta: Meta {
            labels: choices.of(&[
                LabelScheme::Position,
                LabelScheme::Line,
                LabelScheme::Name,
                LabelScheme::AccessOrOperation,
            ]),
            order: choices.of(&[TraceOrder::Observed, TraceOrder::Partial]),
            origin: text(choices),
        },
        ..Tables::default()
    };
    for _ in 0..choices.below(12) {
        tables.names.push(&text(choices)).expect("small");
    }
    grow(choices, &mut tables);
    tables
}

/// Adds entries to all tables.
pub(crate) fn grow(choices: &mut Choices, tables: &mut Tables) {
    for _ in 0..choices.below(4) {
        tables.names.push(&text(choices)).expect("small");
    }
    for _ in 0..1 + choices.below(3) {
        let handler = handler(choices, tables);
        tables.handlers.push(handler);
    }
    for _ in 0..1 + choices.below(4) {
        let handler = match choices.below(tables.handlers.len() + 1) {
            0 => HandlerId::NONE,
            n => HandlerId(n as u32 - 1),
        };
        tables.tasks.push(TaskDef {
            name: name(choices, tables),
            kind: choices.of(&[TaskKind::Initial, TaskKind::Posted, TaskKind::Burst]),
            handler,
            delay: choices.number_of_any_size(),
            position: choices.of(&[Position::Back, Position::Front]),
        });
    }
    for _ in 0..1 + choices.below(4) {
        let location = location(choices, tables);
        tables.locations.push(location);
    }
    for _ in 0..1 + choices.below(2) {
        tables.locks.push(name(choices, tables));
        tables.conditions.push(name(choices, tables));
        tables.inputs.push(Input {
            family: InputFamily::from_number(choices.below(7) as u8).expect("there are seven"),
            name: name(choices, tables),
            state: name(choices, tables),
            component: name(choices, tables),
            instance: choices.number_of_any_size(),
            argument: choices.number_of_any_size(),
        });
        tables.sites.push(Site {
            label: name(choices, tables),
            function: name(choices, tables),
            file: name(choices, tables),
            line: choices.number_32_of_any_size(),
            column: choices.number_32_of_any_size(),
        });
        let sites = tables.sites.len();
        let stack = (0..choices.below(5)).map(|_| SiteId(choices.below(sites) as u32)).collect();
        tables.stacks.push(stack);
        tables.invocations.push(Invocation {
            object: name(choices, tables),
            method: name(choices, tables),
            arguments: (0..choices.below(4)).map(|_| choices.number_of_any_size()).collect(),
            result: choices.chance(2).then(|| choices.number_of_any_size()),
        });
    }
    for _ in 0..choices.below(2) {
        tables.coherence.push(Coherence {
            location: LocationId(choices.below(tables.locations.len()) as u32),
            writes: (0..choices.below(5)).map(|_| choices.number_of_any_size()).collect(),
        });
    }
}

pub(crate) fn handler(choices: &mut Choices, tables: &Tables) -> Handler {
    Handler {
        name: name(choices, tables),
        mailbox: choices.of(&[Mailbox::None, Mailbox::Fifo, Mailbox::Bag, Mailbox::Delayed]),
        untracked: choices.chance(4),
    }
}

fn location(choices: &mut Choices, tables: &Tables) -> Location {
    match choices.below(4) {
        0 => Location::Named(name(choices, tables)),
        1 => Location::Field {
            object: choices.number_of_any_size(),
            class: name(choices, tables),
            field: name(choices, tables),
        },
        2 => Location::Static { class: name(choices, tables), field: name(choices, tables) },
        _ => Location::Range {
            address: choices.number_of_any_size(),
            size: choices.number_32_of_any_size(),
            generation: choices.number_32_of_any_size(),
        },
    }
}

fn name(choices: &mut Choices, tables: &Tables) -> NameId {
    NameId(choices.below(tables.names.len()) as u32)
}

/// Makes events over tables.
pub(crate) fn columns(choices: &mut Choices, tables: &Tables) -> Columns {
    let mut columns = Columns::default();
    let labelled = choices.chance(2) || tables.meta.labels != LabelScheme::Position;
    for row in 0..choices.below(60) as u32 {
        let kind = choices.of(&EventKind::ALL);
        let mode =
            if choices.chance(3) { Mode::from_bits(choices.below(8) as u8) } else { Mode::PLAIN };
        let limit = match kind.operand() {
            OperandKind::Nothing => 1,
            OperandKind::Location => tables.locations.len(),
            OperandKind::Task => tables.tasks.len(),
            OperandKind::Handler => tables.handlers.len(),
            OperandKind::Lock => tables.locks.len(),
            OperandKind::Condition => tables.conditions.len(),
            OperandKind::Invocation => tables.invocations.len(),
            OperandKind::Input => tables.inputs.len(),
            OperandKind::Name => tables.names.len(),
            OperandKind::Number => u32::MAX as usize + 1,
        };
        let task = TaskId(choices.below(tables.tasks.len()) as u32);
        let site = SiteId(choices.below(tables.sites.len()) as u32);
        columns.push(Op::new(kind, mode), task, choices.below(limit) as u32, site);
        if labelled {
            columns.numbers.push(match tables.meta.labels {
                LabelScheme::Name => choices.below(tables.names.len()) as u32,
                _ => choices.number_32_of_any_size(),
            });
        }
        if choices.chance(3) {
            columns.values.push(row, choices.number_of_any_size());
        }
        if choices.chance(3) {
            columns.times.push(row, choices.number_of_any_size());
        }
        if choices.chance(3) {
            columns.stacks.push(row, StackId(choices.below(tables.stacks.len()) as u32));
        }
        if choices.chance(3) {
            columns.refers.push(row, choices.number_of_any_size());
        }
    }
    columns
}

/// Fails unless every id in a trace is in its table.
pub(crate) fn assert_ids_are_in_tables(tables: &Tables, columns: &Columns) {
    for row in 0..columns.len() {
        let kind = columns.ops[row].kind();
        let operand = columns.operands[row] as usize;
        let limit = match kind.operand() {
            OperandKind::Nothing | OperandKind::Number => usize::MAX,
            OperandKind::Location => tables.locations.len(),
            OperandKind::Task => tables.tasks.len(),
            OperandKind::Handler => tables.handlers.len(),
            OperandKind::Lock => tables.locks.len(),
            OperandKind::Condition => tables.conditions.len(),
            OperandKind::Invocation => tables.invocations.len(),
            OperandKind::Input => tables.inputs.len(),
            OperandKind::Name => tables.names.len(),
        };
        assert!(operand < limit, "operand {operand} of {kind:?}");
        assert!(columns.tasks[row].index() < tables.tasks.len());
        assert!(columns.sites[row].index() < tables.sites.len());
    }
    assert!(columns.stacks.iter().all(|(_, stack)| stack.index() < tables.stacks.len()));
    assert!(columns.numbers.is_empty() || columns.numbers.len() == columns.len());
    let handlers = tables.handlers.len();
    assert!(tables.tasks.iter().all(|t| t.handler.is_none() || t.handler.index() < handlers));
    assert!(tables.stacks.iter().flatten().all(|site| site.index() < tables.sites.len()));
    assert!(tables.coherence.iter().all(|c| c.location.index() < tables.locations.len()));
}

/// Damages a text at a few places.
pub(crate) fn damage(choices: &mut Choices, text: &mut Vec<u8>) {
    for _ in 0..1 + choices.below(4) {
        if text.is_empty() {
            return;
        }
        let at = choices.below(text.len());
        match choices.below(5) {
            0 => {
                text.remove(at);
            }
            1 => text.truncate(at),
            2 => text[at] = choices.number() as u8,
            3 => text[at] = choices.of(b"0123456789|()\"\\# \n\r\t\xff=+-@tshx"),
            _ => {
                let end = text.len().min(at + choices.below(40));
                let piece = text[at..end].to_vec();
                let to = choices.below(text.len());
                text.splice(to..to, piece);
            }
        }
    }
}

/// Returns a file of the recorded runs.
pub(crate) fn recorded(path: &str) -> Vec<u8> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../data");
    std::fs::read(root.join(path)).expect("the file is there")
}
