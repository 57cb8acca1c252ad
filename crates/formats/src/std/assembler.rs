//! Turns the names in lines of text into tables: threads, memory, locks, sites.

use super::line::{self, Memory, Target};
use super::sites::Sites;
use crate::fault::{Fault, LineError, utf8};
use anyorder_trace::{
    AddressMap, Block, Handler, HandlerId, LabelScheme, Location, LocationId, NameId, NameIndex,
    Names, Op, SiteId, TableFull, Tables, TaskDef, TaskId, TextIndex,
};

/// The tables of a trace of threads, while it is read. All formats whose lines name a thread, an
/// operation and its target share it.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    pub(super) tables: Tables,
    pub(super) names: NameIndex,
    threads: TextIndex,
    pub(super) variables: TextIndex,
    pub(super) locks: TextIndex,
    conditions: TextIndex,
    pub(super) memory: AddressMap,
    pub(super) sites: Sites,
    /// The warning about the current line.
    pub(super) warning: Option<&'static str>,
}

impl Assembler {
    /// Starts a trace read from a format, whose events are named by their line or position.
    pub(crate) fn new(origin: &str, labels: LabelScheme) -> Assembler {
        let mut assembler = Assembler::default();
        assembler.tables.meta.labels = labels;
        origin.clone_into(&mut assembler.tables.meta.origin);
        assembler
    }

    /// Returns the tables so far.
    pub(crate) fn tables(&self) -> &Tables {
        &self.tables
    }

    /// Moves the tables out.
    pub(crate) fn take_tables(&mut self) -> Tables {
        std::mem::take(&mut self.tables)
    }

    /// Returns the warning about the last event, once.
    pub(crate) fn take_warning(&mut self) -> Option<&'static str> {
        self.warning.take()
    }

    /// Appends an event with a number as its label.
    #[inline]
    pub(crate) fn push(
        block: &mut Block,
        (op, operand): (Op, u32),
        task: TaskId,
        site: SiteId,
        number: u64,
    ) {
        block.columns.push(op, task, operand, site);
        block.columns.numbers.push(u32::try_from(number).unwrap_or(u32::MAX));
    }

    /// Returns the initial task of a thread.
    pub(crate) fn task(&mut self, text: &[u8], column: usize) -> Result<TaskId, LineError> {
        Ok(TaskId(self.thread(text, column)?.0))
    }

    /// Returns the site with a label.
    pub(crate) fn site(&mut self, label: &[u8], column: usize) -> Result<SiteId, LineError> {
        if let Some(site) = self.sites.find(&self.tables.names, label) {
            return Ok(site);
        }
        let Assembler { tables, names, sites, .. } = self;
        sites.add(tables, names, label, column)
    }

    /// Returns the operand of an event of kind `other`.
    pub(crate) fn other(&mut self, text: &[u8], column: usize) -> Result<u32, LineError> {
        let name = self.names.intern(&mut self.tables.names, utf8(text, column)?)?;
        Ok(name.0)
    }

    /// Returns the entry of the thing that an operation is about.
    pub(crate) fn operand(
        &mut self,
        target: Target,
        text: &[u8],
        column: usize,
    ) -> Result<u32, LineError> {
        Ok(match target {
            Target::Nothing => 0,
            Target::Access | Target::Alloc | Target::Free => self.location(target, text, column)?.0,
            Target::Thread => self.thread(text, column)?.0,
            Target::Lock => {
                let Tables { names, locks, .. } = &mut self.tables;
                let known = (&mut self.locks, locks, "locks");
                named(known, &mut self.names, names, (text, column), |name| name)?
            }
            Target::Condition => {
                let Tables { names, conditions, .. } = &mut self.tables;
                let known = (&mut self.conditions, conditions, "conditions");
                named(known, &mut self.names, names, (text, column), |name| name)?
            }
        })
    }

    /// Returns whether a thread has this name.
    pub(crate) fn has_thread(&self, text: &[u8]) -> bool {
        self.threads.find(&self.tables.names, text).is_some()
    }

    /// Returns the handler of a thread; its initial task has the same number.
    pub(crate) fn thread(&mut self, text: &[u8], column: usize) -> Result<HandlerId, LineError> {
        let Tables { names, handlers, .. } = &mut self.tables;
        let known = (&mut self.threads, handlers, "handlers");
        let made = |name| Handler { name, ..Handler::default() };
        let handler = HandlerId(named(known, &mut self.names, names, (text, column), made)?);
        let Tables { handlers, tasks, .. } = &mut self.tables;
        if tasks.len() == handler.index() {
            let name = handlers[handler.index()].name;
            tasks.push(TaskDef { name, handler, ..TaskDef::default() });
        }
        Ok(handler)
    }

    /// Returns the location of an access, an allocation or a free.
    pub(crate) fn location(
        &mut self,
        target: Target,
        text: &[u8],
        column: usize,
    ) -> Result<LocationId, LineError> {
        let (address, size) = match (target, line::memory(text, column)?) {
            (_, Memory::Named(name)) => return self.variable(name, column),
            // Without a size, a name; the first byte where the trace says more of the memory.
            (Target::Access, Memory::Address(address)) if !self.memory.knows(address) => {
                return self.variable(text, column);
            }
            (Target::Access, Memory::Address(address)) => (address, 1),
            (Target::Alloc, Memory::Address(address)) => {
                self.memory.allocate(address, 1);
                (address, 1)
            }
            (Target::Alloc, Memory::Range(address, size)) => {
                if size > u64::from(u32::MAX) {
                    self.warning = Some("allocation kept as its first 4,294,967,295 bytes");
                }
                self.memory.allocate(address, size);
                (address, self.memory.allocated(address).unwrap_or(1))
            }
            (Target::Free, Memory::Range(address, size)) => (address, size_of_range(size, column)?),
            (_, Memory::Range(_, 0)) => {
                return Err(Fault::new(column, "expected a size of at least 1 byte").into());
            }
            (_, Memory::Range(address, size)) => (address, size_of_range(size, column)?),
            // Memory allocated before the trace began: the event frees what the trace names so, or
            // else its first byte.
            (_, Memory::Address(address)) if self.is_name(address, text) => {
                return self.variable(text, column);
            }
            (_, Memory::Address(address)) => (address, self.memory.allocated(address).unwrap_or(1)),
        };
        Ok(self.memory.location(&mut self.tables.locations, address, size)?)
    }

    /// Returns whether an address that is freed is the name of a variable: the trace has used it
    /// without a size, or gives no sizes at all.
    fn is_name(&self, address: u64, text: &[u8]) -> bool {
        let named = || self.variables.find(&self.tables.names, text).is_some();
        !self.memory.knows(address) && (self.memory.is_empty() || named())
    }

    fn variable(&mut self, text: &[u8], column: usize) -> Result<LocationId, LineError> {
        let Tables { names, locations, .. } = &mut self.tables;
        let known = (&mut self.variables, locations, "locations");
        let entry = named(known, &mut self.names, names, (text, column), Location::Named)?;
        Ok(LocationId(entry))
    }
}

/// Returns the entry of a name in a table; `make` makes it when it is new.
fn named<T>(
    (index, table, what): (&mut TextIndex, &mut Vec<T>, &'static str),
    interner: &mut NameIndex,
    names: &mut Names,
    (text, column): (&[u8], usize),
    make: impl FnOnce(NameId) -> T,
) -> Result<u32, LineError> {
    if let Some(entry) = index.find(names, text) {
        return Ok(entry);
    }
    if table.len() >= u32::MAX as usize {
        return Err(TableFull(what).into());
    }
    let name = interner.intern(names, utf8(text, column)?)?;
    let entry = table.len() as u32;
    table.push(make(name));
    index.insert(names, name, entry);
    Ok(entry)
}

fn size_of_range(size: u64, column: usize) -> Result<u32, LineError> {
    let size = u32::try_from(size);
    Ok(size.map_err(|_| Fault::new(column, "expected a size of at most 4,294,967,295 bytes"))?)
}
