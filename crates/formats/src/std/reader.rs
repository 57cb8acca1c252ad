//! The reader: turns lines into blocks of events.

use super::assembler::Assembler;
use super::line::{self, Common, Parts, Target};
use super::recent::RecentThreads;
use super::sites::Sites;
use super::waiting::Waiting;
use crate::fault::{Fault, LineError};
use crate::text_input::{LineOf, TextInput};
use anyorder_trace::{
    Block, EventKind, LabelScheme, Mode, Op, Place, Problem, Problems, ReadError, Severity,
    TableFull, Tables, TraceSource, Unknown,
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
        let parser = Parser {
            trace: Assembler::new(FORMAT, LabelScheme::Line),
            recent: RecentThreads::default(),
            waiting: Waiting::default(),
        };
        StdReader { input: TextInput::new(input), parser }
    }

    /// Adds a table of source positions: lines of `label<TAB>function<TAB>file:line`, with `?` for
    /// an unknown part.
    ///
    /// # Errors
    ///
    /// Fails when a line has another form, or describes a site twice; all such lines are listed.
    pub fn with_sites(mut self, sites: &str) -> Result<StdReader<R>, ReadError> {
        self.parser.trace.sites = Sites::with_table(sites)?;
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
        self.parser.trace.tables()
    }

    fn next_block(&mut self, block: &mut Block) -> Result<bool, ReadError> {
        let parser = &mut self.parser;
        self.input.next_block_of(FORMAT, block, parser, Parser::pending, |parser, line, read| {
            let LineOf { number, block, problems } = read;
            let line = line.text()?;
            parser.line(line, u32::try_from(number).unwrap_or(u32::MAX), block)?;
            if let Some(message) = parser.trace.take_warning() {
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
        self.parser.trace.take_tables()
    }
}

/// The state that reading a line needs.
#[derive(Debug)]
struct Parser {
    trace: Assembler,
    recent: RecentThreads,
    waiting: Waiting,
}

impl Parser {
    /// Appends an event that follows from the lines before, if there is one.
    #[inline]
    fn pending(&mut self, block: &mut Block) -> bool {
        self.waiting.pending(block)
    }

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
        let Assembler { tables, sites, memory, variables, locks, .. } = &mut self.trace;
        let site = sites.by_number(site)?;
        let (common, target) = line::common_operation(body)?;
        let Tables { names, locations, .. } = tables;
        let (kind, operand) = match common {
            Common::Access(kind) => match line::common_range(target) {
                Some((address, size)) => match memory.location(locations, address, size) {
                    Ok(location) => (kind, location.0),
                    Err(full) => return Some(Err(full)),
                },
                // What an address without a size means depends on what is known of the memory.
                None if target.starts_with(b"0x") => return None,
                None => (kind, variables.find(names, target)?),
            },
            Common::Lock(kind) => (kind, locks.find(names, target)?),
        };
        block.columns.push(Op::new(kind, Mode::PLAIN), task, operand, site);
        block.columns.numbers.push(number);
        Some(Ok(()))
    }

    fn any_line(&mut self, line: &[u8], number: u32, block: &mut Block) -> Result<(), LineError> {
        if line.first() == Some(&b'#') || line.iter().all(u8::is_ascii_whitespace) {
            return Ok(());
        }
        if line[0].is_ascii_whitespace()
            && (block.first > 0 || !block.columns.is_empty())
            && let Some(frame) = line::frame(line)
        {
            return self.frame(line, frame, block);
        }
        let parts = line::split(line)?;
        let task = self.trace.task(parts.thread, 0)?;
        self.recent.add(parts.thread, task);
        let (op, operand) = self.action(&parts)?;
        let site = self.trace.site(parts.site, parts.site_column)?;
        let target = parts.target.unwrap_or_default();
        let row = ((op, operand), task, site, number);
        if self.waiting.push(row, target, block) {
            // Its next line may mean more than it says.
            self.recent.remove(parts.thread);
        }
        Ok(())
    }

    /// Takes a line of the call stack of the last event: of one that has left in a block, the place
    /// is known already.
    #[cold]
    fn frame(&mut self, line: &[u8], frame: &[u8], block: &mut Block) -> Result<(), LineError> {
        if let Some(site) = block.columns.sites.last_mut() {
            let column = line.len() - line.trim_ascii_start().len();
            *site = self.trace.site(frame, column)?;
        }
        Ok(())
    }

    /// Returns the operation of a line, with its operand.
    fn action(&mut self, parts: &Parts) -> Result<(Op, u32), LineError> {
        let Some((op, target)) = line::operation(parts.word) else {
            if parts.word != b"branch" {
                self.trace.warning = Some(UNKNOWN_OPERATION);
            }
            let name = self.trace.other(parts.text, parts.text_column)?;
            return Ok((Op::new(EventKind::Other, Mode::PLAIN), name));
        };
        if target == Target::Nothing {
            return Ok((op, 0));
        }
        let column = parts.target_column();
        let text = match parts.target {
            Some(text) if !text.is_empty() => text,
            _ => return Err(Fault::new(column, expected(target)).into()),
        };
        if target == Target::Thread
            && let Some(whole) = self.whole_name(parts.thread, text)
        {
            return Ok((op, self.trace.operand(target, &whole, column)?));
        }
        Ok((op, self.trace.operand(target, text, column)?))
    }

    /// Returns the name of a thread that is forked or joined by its number, where threads have
    /// names such as `T7`: some recorders leave the letter out.
    fn whole_name(&self, thread: &[u8], text: &[u8]) -> Option<Vec<u8>> {
        let is_number = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
        let is_lettered = thread.strip_prefix(b"T").is_some_and(is_number);
        (is_lettered && is_number(text) && !self.trace.has_thread(text))
            .then(|| [b"T", text].concat())
    }
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
