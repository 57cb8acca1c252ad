//! The writer: turns blocks of events into lines.

use super::line;
use super::representable::{Role, Texts, Unrepresentable, is_label, is_unknown_operation};
use super::sites::UNKNOWN;
use super::waiting::Waiting;
use crate::decimal::{push_decimal, push_hexadecimal};
use anyorder_trace::{
    AddressMap, Block, EventKind, HandlerId, Location, Mode, NameId, Op, OperandKind, SiteId,
    Tables, TaskId, TaskKind, TraceSink,
};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

/// The losses of a lossy [`StdWriter`] where STD cannot represent a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Losses {
    /// The number of events left out.
    pub skipped: u64,
    /// The number of approximated events: atomics with a weaker ordering written as atomics, lock
    /// attempts as acquires, events of posted tasks as events of their thread.
    pub approximated: u64,
    /// The number of threads, locks, conditions, locations and sites with a changed name.
    pub renamed: u64,
}

/// Writes a trace in STD.
///
/// The writer fails with [`io::ErrorKind::InvalidInput`] for everything that STD cannot represent:
/// posted tasks and everything that concerns them, shared locks, weaker atomics, two threads of one
/// name. A [`lossy`](Self::lossy) writer omits or approximates it, and counts. Some facts are
/// always lost: facts about a source position that its label or name does not contain
/// ([`site_table`](super::site_table) keeps them), values, times, stacks, and the generation
/// numbers of memory (the reader derives them from the allocations).
#[derive(Debug)]
pub struct StdWriter<W> {
    output: W,
    text: Vec<u8>,
    /// The current line; dropped if STD cannot represent it.
    line: Vec<u8>,
    lossy: bool,
    losses: Losses,
    /// Whether the current event is only approximated.
    is_approximated: bool,
    /// By role.
    texts: [Texts; 4],
    sites: Vec<Option<Box<str>>>,
    /// For each handler, the initial task that names its STD thread.
    initial: Vec<TaskId>,
    /// The size that the reader derives for memory allocated at an address.
    allocated: BTreeMap<u64, u32>,
    /// What a reader of the text knows of the memory.
    memory: AddressMap,
    /// The locations of `memory`.
    ranges: Vec<Location>,
    waiting: Waiting,
    /// The addresses without a size that a reader takes for names of variables.
    names: BTreeSet<u64>,
}

impl<W: Write> StdWriter<W> {
    /// Makes a writer that fails at the first event that STD cannot represent. It has its own
    /// buffer.
    pub fn new(output: W) -> StdWriter<W> {
        StdWriter {
            output,
            text: Vec::new(),
            line: Vec::new(),
            lossy: false,
            losses: Losses::default(),
            is_approximated: false,
            texts: Role::ALL.map(Texts::new),
            sites: Vec::new(),
            initial: Vec::new(),
            allocated: BTreeMap::new(),
            memory: AddressMap::default(),
            ranges: Vec::new(),
            waiting: Waiting::default(),
            names: BTreeSet::new(),
        }
    }

    /// Sets whether to omit or approximate, and count, what STD cannot represent.
    #[must_use]
    pub fn lossy(mut self, lossy: bool) -> StdWriter<W> {
        self.lossy = lossy;
        self
    }

    /// Returns the losses so far. Only a lossy writer has any.
    pub fn losses(&self) -> Losses {
        self.losses
    }

    fn event(&mut self, tables: &Tables, block: &Block, row: usize) -> Result<(), Unrepresentable> {
        let columns = &block.columns;
        let (op, operand) = (columns.ops[row], columns.operands[row]);
        self.is_approximated = false;
        self.line.clear();
        let handler = self.thread_of(tables, columns.tasks[row])?;
        let site = self.site(tables, columns.sites[row])?;
        if let Some(thread) = self.texts[Role::Thread as usize].get(handler.0) {
            self.line.extend_from_slice(thread.as_bytes());
        }
        if self.waiting.is_due((op, operand), TaskId(handler.0)) {
            let what = "an event behind a wait without an end, on a condition named as its lock";
            return Err(Unrepresentable(what.to_owned()));
        }
        self.line.push(b'|');
        if op.kind() == EventKind::Other {
            let text = tables.name(NameId(operand));
            if !is_unknown_operation(text) {
                return Err(Unrepresentable(format!("an operation `{}`", text.escape_debug())));
            }
            self.line.extend_from_slice(text.as_bytes());
        } else {
            let word = self.word(op)?;
            self.line.extend_from_slice(word.as_bytes());
            self.target(tables, op.kind(), operand)?;
        }
        self.line.push(b'|');
        self.follow((op, operand), TaskId(handler.0));
        self.text.extend_from_slice(&self.line);
        let site = self.sites[site].as_deref().unwrap_or(UNKNOWN);
        self.text.extend_from_slice(site.as_bytes());
        self.text.push(b'\n');
        Ok(())
    }

    /// Lets what a reader makes of waits follow the line of an event. A reader has one task for
    /// each thread, here with the number of the handler: the trace may have none that is initial.
    fn follow(&mut self, (op, operand): (Op, u32), task: TaskId) {
        let role = match op.kind().operand() {
            OperandKind::Condition => Some(Role::Condition),
            OperandKind::Lock => Some(Role::Lock),
            _ => None,
        };
        if self.waiting.is_idle() && role != Some(Role::Condition) {
            return;
        }
        let target = role.and_then(|role| self.texts[role as usize].get(operand));
        let row = ((op, operand), task, SiteId::UNKNOWN, 0);
        self.waiting.push(row, target.unwrap_or_default().as_bytes(), &mut Block::default());
    }

    /// Returns the thread to which a task's events are written, and names it.
    fn thread_of(&mut self, tables: &Tables, task: TaskId) -> Result<HandlerId, Unrepresentable> {
        let Some(def) = tables.tasks.get(task.index()) else {
            return Err(Unrepresentable(format!("an event of no task ({task:?})")));
        };
        let handler = def.handler;
        let Some(about) = tables.handlers.get(handler.index()) else {
            return Err(Unrepresentable("a task without handler".to_owned()));
        };
        if self.initial.len() < tables.handlers.len() {
            self.initial.resize(tables.handlers.len(), TaskId::NONE);
        }
        let initial = &mut self.initial[handler.index()];
        if def.kind == TaskKind::Initial && initial.is_none() {
            *initial = task;
        }
        if *initial != task || about.untracked {
            let name = tables.name(def.name).escape_debug();
            self.approximate(|| format!("an event of `{name}`, which is no plain thread"))?;
        }
        self.name(tables, Role::Thread, handler.0)?;
        Ok(handler)
    }

    /// Records that the event is approximated, or fails.
    fn approximate(&mut self, what: impl FnOnce() -> String) -> Result<(), Unrepresentable> {
        if !self.lossy {
            return Err(Unrepresentable(what()));
        }
        self.is_approximated = true;
        Ok(())
    }

    /// Gives an entry its name, or a made-up one.
    fn name(&mut self, tables: &Tables, role: Role, entry: u32) -> Result<(), Unrepresentable> {
        let texts = &mut self.texts[role as usize];
        if texts.get(entry).is_some() {
            return Ok(());
        }
        let Some(text) = role.name(tables, entry) else {
            let what = role.word();
            return Err(Unrepresentable(format!("a {what} that is in no table ({entry})")));
        };
        match texts.give(entry, &text) {
            Err(_) if self.lossy => {
                texts.name_by_number(entry);
                self.losses.renamed += 1;
                Ok(())
            }
            result => result,
        }
    }

    fn word(&mut self, op: Op) -> Result<&'static str, Unrepresentable> {
        if let Some(word) = line::word(op) {
            return Ok(word);
        }
        let (kind, mode) = (op.kind(), op.mode());
        let nearest = match kind {
            EventKind::Read | EventKind::Write | EventKind::Rmw if mode.is_atomic() => {
                Mode::SEQ_CST
            }
            EventKind::Acquire | EventKind::Release if mode == Mode::TRY_EXCLUSIVE => {
                Mode::EXCLUSIVE
            }
            _ => mode,
        };
        let what = || match mode.bits() {
            0 => format!("`{}`", kind.word()),
            bits => format!("`{}` with mode {bits}", kind.word()),
        };
        match line::word(Op::new(kind, nearest)) {
            Some(word) => {
                self.approximate(what)?;
                Ok(word)
            }
            None => Err(Unrepresentable(what())),
        }
    }

    /// Appends the target in parentheses, if any.
    fn target(
        &mut self,
        tables: &Tables,
        kind: EventKind,
        operand: u32,
    ) -> Result<(), Unrepresentable> {
        let role = match kind.operand() {
            OperandKind::Nothing => return Ok(()),
            OperandKind::Location => match tables.locations.get(operand as usize) {
                Some(Location::Range { address, size, .. }) => {
                    return self.range(kind, *address, *size);
                }
                _ => Role::Memory,
            },
            OperandKind::Handler => Role::Thread,
            OperandKind::Lock => Role::Lock,
            OperandKind::Condition => Role::Condition,
            _ => return Err(Unrepresentable(format!("`{}`", kind.word()))),
        };
        self.name(tables, role, operand)?;
        let text = self.texts[role as usize].get(operand).unwrap_or_default().as_bytes();
        if role == Role::Memory
            && let Ok(line::Memory::Address(address)) = line::memory(text, 0)
        {
            let is_name = match kind {
                EventKind::Free => self.is_name(address),
                EventKind::Alloc => false,
                _ => !self.memory.knows(address),
            };
            if !is_name {
                let text = String::from_utf8_lossy(text);
                let what = format!("`{}` of a location named `{text}`", kind.word());
                return Err(Unrepresentable(what));
            }
            self.names.insert(address);
        }
        self.line.push(b'(');
        self.line.extend_from_slice(text);
        self.line.push(b')');
        Ok(())
    }

    /// Returns whether a reader takes an address that is freed for the name of a variable.
    fn is_name(&self, address: u64) -> bool {
        !self.memory.knows(address) && (self.memory.is_empty() || self.names.contains(&address))
    }

    /// Appends an address range in parentheses.
    fn range(&mut self, kind: EventKind, address: u64, size: u32) -> Result<(), Unrepresentable> {
        if size == 0 && kind.is_access() && kind != EventKind::Free {
            return Err(Unrepresentable("an access to 0 bytes".to_owned()));
        }
        if kind == EventKind::Alloc {
            self.allocated.insert(address, size);
        }
        let known = self.allocated.get(&address).copied().unwrap_or(1);
        let is_short = kind == EventKind::Free && known == size && !self.is_name(address);
        if kind == EventKind::Alloc {
            self.memory.allocate(address, u64::from(size));
        }
        if self.memory.location(&mut self.ranges, address, size).is_err() {
            return Err(Unrepresentable("so many address ranges".to_owned()));
        }
        self.line.push(b'(');
        push_hexadecimal(address, &mut self.line);
        if !is_short {
            self.line.push(b'+');
            push_decimal(u64::from(size), &mut self.line);
        }
        self.line.push(b')');
        Ok(())
    }

    /// Gives a site its label. Returns its position in the list.
    fn site(&mut self, tables: &Tables, id: SiteId) -> Result<usize, Unrepresentable> {
        let Some(site) = tables.sites.get(id.index()) else {
            return Err(Unrepresentable(format!("a site that is in no table ({id:?})")));
        };
        if self.sites.len() <= id.index() {
            self.sites.resize(tables.sites.len(), None);
        }
        if self.sites[id.index()].is_some() {
            return Ok(id.index());
        }
        let label = match tables.name(site.label) {
            "" => tables.site_text(id),
            label => label.to_owned(),
        };
        let label = match is_label(&label) {
            true => label,
            false if self.lossy => {
                self.losses.renamed += 1;
                format!("site_{}", id.0)
            }
            false => {
                return Err(Unrepresentable(format!("a site named `{}`", label.escape_debug())));
            }
        };
        self.sites[id.index()] = Some(label.into_boxed_str());
        Ok(id.index())
    }
}

impl<W: Write> TraceSink for StdWriter<W> {
    fn block(&mut self, tables: &Tables, block: &Block) -> io::Result<()> {
        for row in 0..block.columns.len() {
            match self.event(tables, block, row) {
                Ok(()) => self.losses.approximated += u64::from(self.is_approximated),
                Err(_) if self.lossy => self.losses.skipped += 1,
                Err(Unrepresentable(what)) => {
                    let event = block.first + row as u64;
                    let message = format!("STD has no words for {what} (event {event}, from 0)");
                    return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
                }
            }
            if self.text.len() > 1 << 16 {
                self.output.write_all(&self.text)?;
                self.text.clear();
            }
        }
        self.output.write_all(&self.text)?;
        self.text.clear();
        Ok(())
    }

    fn finish(&mut self, _tables: &Tables) -> io::Result<()> {
        self.output.flush()
    }
}
