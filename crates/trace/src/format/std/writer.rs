//! The writer: blocks of events to lines.

use super::line;
use super::sayable::{Role, Texts, Unsayable, is_label, is_unknown_operation, location_name};
use super::sites::UNKNOWN;
use crate::columns::Block;
use crate::event::{EventKind, Mode, Op, OperandKind};
use crate::format::decimal::{push_decimal, push_hexadecimal};
use crate::ids::{HandlerId, NameId, SiteId, TaskId};
use crate::stream::TraceSink;
use crate::tables::{Location, Tables, TaskKind};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// What a lossy [`StdWriter`] did to a trace that STD cannot say.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Losses {
    /// The number of events left out.
    pub skipped: u64,
    /// The number of events written as the nearest thing STD has: atomics with a weaker ordering as
    /// atomics, attempts at locks as acquires, events of posted tasks as events of their thread.
    pub approximated: u64,
    /// The number of threads, locks, conditions, locations and sites that got another name.
    pub renamed: u64,
}

/// Writes a trace in STD.
///
/// What STD has no words for makes it fail with [`io::ErrorKind::InvalidInput`]: posted tasks and
/// all that has to do with them, shared locks, weaker atomics, two threads of one name. A
/// [`lossy`](Self::lossy) writer leaves it out, or says the nearest thing, and counts. Always lost
/// are what a label or name of a source position does not tell ([`site_table`](super::site_table)
/// keeps it), values, times, stacks, and the numbers of generations of memory (the reader finds
/// them from the allocations).
#[derive(Debug)]
pub struct StdWriter<W> {
    output: W,
    text: Vec<u8>,
    /// The line that is being put together; dropped if it cannot be said.
    line: Vec<u8>,
    lossy: bool,
    losses: Losses,
    /// Whether the event that is being written is only approximated.
    near: bool,
    threads: Texts,
    locks: Texts,
    conditions: Texts,
    memory: Texts,
    sites: Vec<Option<Box<str>>>,
    /// The initial task that says for each handler what STD calls the thread.
    initial: Vec<TaskId>,
    /// The size that the reader will know for memory allocated at an address.
    allocated: BTreeMap<u64, u32>,
}

impl<W: Write> StdWriter<W> {
    /// Makes a writer that fails at the first event that STD cannot say. It buffers by itself.
    pub fn new(output: W) -> StdWriter<W> {
        StdWriter {
            output,
            text: Vec::new(),
            line: Vec::new(),
            lossy: false,
            losses: Losses::default(),
            near: false,
            threads: Texts::new(Role::Thread),
            locks: Texts::new(Role::Lock),
            conditions: Texts::new(Role::Condition),
            memory: Texts::new(Role::Memory),
            sites: Vec::new(),
            initial: Vec::new(),
            allocated: BTreeMap::new(),
        }
    }

    /// Says whether to leave out and approximate, and count, what STD cannot say.
    #[must_use]
    pub fn lossy(mut self, lossy: bool) -> StdWriter<W> {
        self.lossy = lossy;
        self
    }

    /// Returns what has been lost so far; always nothing unless the writer is lossy.
    pub fn losses(&self) -> Losses {
        self.losses
    }

    fn event(&mut self, tables: &Tables, block: &Block, row: usize) -> Result<(), Unsayable> {
        let columns = &block.columns;
        let (op, operand) = (columns.ops[row], columns.operands[row]);
        self.near = false;
        self.line.clear();
        let handler = self.thread_of(tables, columns.tasks[row])?;
        let site = self.site(tables, columns.sites[row])?;
        if let Some(thread) = self.threads.get(handler.0) {
            self.line.extend_from_slice(thread.as_bytes());
        }
        self.line.push(b'|');
        if op.kind() == EventKind::Other {
            let text = tables.name(NameId(operand));
            if !is_unknown_operation(text) {
                return Err(Unsayable(format!("an operation `{}`", text.escape_debug())));
            }
            self.line.extend_from_slice(text.as_bytes());
        } else {
            let word = self.word(op)?;
            self.line.extend_from_slice(word.as_bytes());
            self.target(tables, op.kind(), operand)?;
        }
        self.line.push(b'|');
        self.text.extend_from_slice(&self.line);
        let site = self.sites[site].as_deref().unwrap_or(UNKNOWN);
        self.text.extend_from_slice(site.as_bytes());
        self.text.push(b'\n');
        Ok(())
    }

    /// Returns the thread that a task's events are written as, and gives it its name.
    fn thread_of(&mut self, tables: &Tables, task: TaskId) -> Result<HandlerId, Unsayable> {
        let Some(def) = tables.tasks.get(task.index()) else {
            return Err(Unsayable(format!("an event of no task ({task:?})")));
        };
        let handler = def.handler;
        let Some(about) = tables.handlers.get(handler.index()) else {
            return Err(Unsayable("a task without handler".to_owned()));
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
        self.name(Role::Thread, handler.0, || Some(tables.name(about.name).to_owned()))?;
        Ok(handler)
    }

    /// Notes that the event is approximated, or fails.
    fn approximate(&mut self, what: impl FnOnce() -> String) -> Result<(), Unsayable> {
        if !self.lossy {
            return Err(Unsayable(what()));
        }
        self.near = true;
        Ok(())
    }

    /// Gives an entry its name, or another one.
    fn name(
        &mut self,
        role: Role,
        entry: u32,
        text: impl FnOnce() -> Option<String>,
    ) -> Result<(), Unsayable> {
        let texts = match role {
            Role::Thread => &mut self.threads,
            Role::Lock => &mut self.locks,
            Role::Condition => &mut self.conditions,
            Role::Memory => &mut self.memory,
        };
        if texts.get(entry).is_some() {
            return Ok(());
        }
        let Some(text) = text() else {
            return Err(Unsayable(format!("a {} that is in no table ({entry})", role.word())));
        };
        match texts.give(entry, &text) {
            Err(_) if self.lossy => {
                texts.make_up(entry);
                self.losses.renamed += 1;
                Ok(())
            }
            result => result,
        }
    }

    fn word(&mut self, op: Op) -> Result<&'static str, Unsayable> {
        if let Some(word) = line::word(op) {
            return Ok(word);
        }
        let (kind, mode) = (op.kind(), op.mode());
        let near = match kind {
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
        match line::word(Op::new(kind, near)) {
            Some(word) => {
                self.approximate(what)?;
                Ok(word)
            }
            None => Err(Unsayable(what())),
        }
    }

    /// Appends the target in its parentheses, if there is one.
    fn target(&mut self, tables: &Tables, kind: EventKind, operand: u32) -> Result<(), Unsayable> {
        let index = operand as usize;
        let named = |name: Option<&NameId>| name.map(|name| tables.name(*name).to_owned());
        let role = match kind.operand() {
            OperandKind::Nothing => return Ok(()),
            OperandKind::Location => match tables.locations.get(index) {
                Some(Location::Range { address, size, .. }) => {
                    return self.range(kind, *address, *size);
                }
                location => {
                    let text = || location.map(|location| location_name(tables, *location));
                    self.name(Role::Memory, operand, text)?;
                    Role::Memory
                }
            },
            OperandKind::Handler => {
                let handler = tables.handlers.get(index);
                self.name(Role::Thread, operand, || named(handler.map(|handler| &handler.name)))?;
                Role::Thread
            }
            OperandKind::Lock => {
                self.name(Role::Lock, operand, || named(tables.locks.get(index)))?;
                Role::Lock
            }
            OperandKind::Condition => {
                self.name(Role::Condition, operand, || named(tables.conditions.get(index)))?;
                Role::Condition
            }
            _ => return Err(Unsayable(format!("`{}`", kind.word()))),
        };
        let texts = match role {
            Role::Thread => &self.threads,
            Role::Lock => &self.locks,
            Role::Condition => &self.conditions,
            Role::Memory => &self.memory,
        };
        let text = texts.get(operand).unwrap_or_default().as_bytes();
        // Only here an address without size is no name.
        if kind == EventKind::Free && !matches!(line::memory(text, 0), Ok(line::Memory::Named(_))) {
            let text = String::from_utf8_lossy(text);
            return Err(Unsayable(format!("`free` of a location named `{text}`")));
        }
        self.line.push(b'(');
        self.line.extend_from_slice(text);
        self.line.push(b')');
        Ok(())
    }

    /// Appends an address range in its parentheses.
    fn range(&mut self, kind: EventKind, address: u64, size: u32) -> Result<(), Unsayable> {
        if size == 0 && kind.is_access() && kind != EventKind::Free {
            return Err(Unsayable("an access to 0 bytes".to_owned()));
        }
        if kind == EventKind::Alloc {
            self.allocated.insert(address, size);
        }
        let known = self.allocated.get(&address).copied().unwrap_or(1);
        self.line.push(b'(');
        push_hexadecimal(address, &mut self.line);
        if kind != EventKind::Free || known != size {
            self.line.push(b'+');
            push_decimal(u64::from(size), &mut self.line);
        }
        self.line.push(b')');
        Ok(())
    }

    /// Gives a site its label; returns its position in the list.
    fn site(&mut self, tables: &Tables, id: SiteId) -> Result<usize, Unsayable> {
        let Some(site) = tables.sites.get(id.index()) else {
            return Err(Unsayable(format!("a site that is in no table ({id:?})")));
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
            false => return Err(Unsayable(format!("a site named `{}`", label.escape_debug()))),
        };
        self.sites[id.index()] = Some(label.into_boxed_str());
        Ok(id.index())
    }
}

impl<W: Write> TraceSink for StdWriter<W> {
    fn block(&mut self, tables: &Tables, block: &Block) -> io::Result<()> {
        for row in 0..block.columns.len() {
            match self.event(tables, block, row) {
                Ok(()) => self.losses.approximated += u64::from(self.near),
                Err(_) if self.lossy => self.losses.skipped += 1,
                Err(Unsayable(what)) => {
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
