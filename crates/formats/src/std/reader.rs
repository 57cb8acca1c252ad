//! The reader: turns lines into blocks of events.

use super::line::{self, Common, Memory, Parts, Target};
use super::memory::AddressMap;
use super::recent::RecentThreads;
use super::sites::Sites;
use crate::fault::{Fault, LineError, utf8};
use crate::text_input::TextInput;
use anyorder_trace::{
    Block, EventKind, Handler, HandlerId, LabelScheme, Location, LocationId, Mode, NameId,
    NameIndex, Names, Op, Place, Problem, Problems, ReadError, Severity, TableFull, Tables,
    TaskDef, TaskId, TextIndex, TraceSource, Unknown,
};
use std::io::Read;

/// The name of the format in errors and in [`Meta::origin`](anyorder_trace::Meta::origin).
pub(super) const FORMAT: &str = "std";

/// The warning about an operation that is not in the table of the format.
const UNKNOWN_OPERATION: &str = "unknown operation, kept as an event that orders nothing";

/// Reads a trace in STD, as a stream. The input needs no buffer of its own.
///
/// Each thread is a handler without mailbox, with one initial task of the same number. Events are
/// labelled by line. The reader skips and lists wrong lines; one of them makes the reading fail at
/// the end. Memory depends on the distinct threads, names, sites and address ranges, not on the
/// number of lines.
#[derive(Debug)]
pub struct StdReader<R> {
    input: TextInput<R>,
    parser: Parser,
}

impl<R: Read> StdReader<R> {
    /// Starts to read.
    pub fn new(input: R) -> StdReader<R> {
        let mut parser = Parser::default();
        parser.tables.meta.labels = LabelScheme::Line;
        parser.tables.meta.origin = FORMAT.to_owned();
        StdReader { input: TextInput::new(input), parser }
    }

    /// Adds a table of source positions: lines of `label<TAB>function<TAB>file:line`, with `?` for
    /// an unknown part.
    ///
    /// # Errors
    ///
    /// Fails when a line has another form, or describes a site twice; all such lines are listed.
    pub fn with_sites(mut self, sites: &str) -> Result<StdReader<R>, ReadError> {
        self.parser.sites = Sites::with_table(sites)?;
        Ok(self)
    }
}

/// Returns the warning about a line, whose event is the last of the block.
#[cold]
fn warning(message: &'static str, number: u64, line: &[u8], block: &Block) -> Problem {
    let event = (block.first + block.columns.len() as u64).saturating_sub(1);
    let place = Place { event: Some(event), ..Place::line_column(number, 1) };
    let unknown = (message == UNKNOWN_OPERATION).then_some(Unknown::Kept);
    Problem::warning(place, message).with_text(line).treated_as(unknown)
}

impl<R: Read> TraceSource for StdReader<R> {
    fn tables(&self) -> &Tables {
        &self.parser.tables
    }

    fn next_block(&mut self, block: &mut Block) -> Result<bool, ReadError> {
        let parser = &mut self.parser;
        self.input.next_block(FORMAT, block, |line, number, block, problems| {
            let line = line.text()?;
            parser.line(line, u32::try_from(number).unwrap_or(u32::MAX), block)?;
            if let Some(message) = parser.warning.take() {
                let make = || warning(message, number, line, block);
                problems.push_with(Severity::Warning, make);
            }
            Ok(true)
        })
    }

    fn problems(&self) -> &Problems {
        &self.input.problems
    }

    fn take_tables(&mut self) -> Tables {
        std::mem::take(&mut self.parser.tables)
    }
}

/// The state that reading a line needs.
#[derive(Debug, Default)]
struct Parser {
    tables: Tables,
    names: NameIndex,
    threads: TextIndex,
    variables: TextIndex,
    locks: TextIndex,
    conditions: TextIndex,
    memory: AddressMap,
    sites: Sites,
    recent: RecentThreads,
    /// The warning about the current line.
    warning: Option<&'static str>,
}

impl Parser {
    /// Reads a line, and appends its event.
    #[inline]
    fn line(&mut self, line: &[u8], number: u32, block: &mut Block) -> Result<(), LineError> {
        match self.common_line(line, number, block) {
            Some(result) => Ok(result?),
            None => self.any_line(line, number, block),
        }
    }

    /// Reads a line of a common form with known thread, site and name; `None` for others.
    #[inline]
    fn common_line(
        &mut self,
        line: &[u8],
        number: u32,
        block: &mut Block,
    ) -> Option<Result<(), TableFull>> {
        let (task, rest) = self.recent.find(line)?;
        let (body, site) = line::site_at_end(rest)?;
        let site = self.sites.by_number(site)?;
        let (common, target) = line::common_operation(body)?;
        let Tables { names, locations, .. } = &mut self.tables;
        let (kind, operand) = match common {
            Common::Access(kind) => match line::common_range(target) {
                Some((address, size)) => match self.memory.location(locations, address, size) {
                    Ok(location) => (kind, location.0),
                    Err(full) => return Some(Err(full)),
                },
                // What an address without a size means depends on what is known of the memory.
                None if target.starts_with(b"0x") => return None,
                None => (kind, self.variables.find(names, target)?),
            },
            Common::Lock(kind) => (kind, self.locks.find(names, target)?),
        };
        block.columns.push(Op::new(kind, Mode::PLAIN), task, operand, site);
        block.columns.numbers.push(number);
        Some(Ok(()))
    }

    fn any_line(&mut self, line: &[u8], number: u32, block: &mut Block) -> Result<(), LineError> {
        if line.first() == Some(&b'#') || line.iter().all(u8::is_ascii_whitespace) {
            return Ok(());
        }
        let parts = line::split(line)?;
        let task = self.task(&parts)?;
        let (op, operand) = self.action(&parts)?;
        let site = match self.sites.find(&self.tables.names, parts.site) {
            Some(site) => site,
            None => {
                let Parser { tables, names, sites, .. } = self;
                sites.add(tables, names, parts.site, parts.site_column)?
            }
        };
        block.columns.push(op, task, operand, site);
        block.columns.numbers.push(number);
        Ok(())
    }

    fn task(&mut self, parts: &Parts) -> Result<TaskId, LineError> {
        let task = TaskId(self.thread(parts.thread, 0)?.0);
        self.recent.add(parts.thread, task);
        Ok(task)
    }

    /// Returns the handler of a thread; its initial task has the same number.
    fn thread(&mut self, text: &[u8], column: usize) -> Result<HandlerId, LineError> {
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

    /// Returns the operation of a line, with its operand.
    fn action(&mut self, parts: &Parts) -> Result<(Op, u32), LineError> {
        let Some((op, target)) = line::operation(parts.word) else {
            self.warning = Some(UNKNOWN_OPERATION);
            let tables = &mut self.tables;
            let name =
                self.names.intern(&mut tables.names, utf8(parts.text, parts.text_column)?)?;
            return Ok((Op::new(EventKind::Other, Mode::PLAIN), name.0));
        };
        if target == Target::Nothing {
            return Ok((op, 0));
        }
        let column = parts.target_column();
        let text = match parts.target {
            Some(text) if !text.is_empty() => text,
            _ => return Err(Fault::new(column, expected(target)).into()),
        };
        let operand = match target {
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
        };
        Ok((op, operand))
    }

    fn location(
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

const fn expected(target: Target) -> &'static str {
    match target {
        Target::Access | Target::Alloc | Target::Free | Target::Nothing => {
            "expected memory in parentheses, such as `(x)` or `(0x7f10+8)`"
        }
        Target::Lock => "expected a lock in parentheses, such as `(L1)`",
        Target::Condition => "expected a condition variable in parentheses, such as `(c)`",
        Target::Thread => "expected a thread in parentheses, such as `(T2)`",
    }
}
