//! The writer. It gathers blocks, and writes the text at the end.

use super::line::{COHERENCE, HEADER, INITIAL_MESSAGE, INITIAL_VALUE};
use anyorder_trace::{
    Block, Columns, EventKind, HandlerId, LabelScheme, LocationId, NameId, Tables, TaskId,
    TaskKind, TraceOrder, TraceSink,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::io::{self, Write};

/// Writes `edtrace`.
///
/// The format has reads, writes, posts and gets. The writer omits events that only mark the start
/// or end of something, and posts of tasks that never ran. It fails for other kinds. In an observed
/// trace, each read without a known write reads from the last write before it, and writes are
/// ordered as recorded. Bursts of an untracked handler become its initial message.
#[derive(Debug)]
pub struct EdtraceWriter<W> {
    output: W,
    columns: Columns,
}

impl<W: Write> EdtraceWriter<W> {
    /// Makes a writer; it writes the text when the trace is complete.
    pub fn new(output: W) -> EdtraceWriter<W> {
        EdtraceWriter { output, columns: Columns::default() }
    }

    /// Returns the output.
    pub fn into_inner(self) -> W {
        self.output
    }
}

impl<W: Write> TraceSink for EdtraceWriter<W> {
    fn block(&mut self, _tables: &Tables, block: &Block) -> io::Result<()> {
        if self.columns.len() + block.columns.len() >= u32::MAX as usize {
            return Err(refuse("it has more events than fit into memory".into()));
        }
        self.columns.append(&block.columns);
        Ok(())
    }

    fn finish(&mut self, tables: &Tables) -> io::Result<()> {
        let text = Text::new(tables, &self.columns);
        writeln!(self.output, "{HEADER}")?;
        text.events(&mut self.output)?;
        text.coherence(&mut self.output)?;
        self.output.flush()
    }
}

fn refuse(reason: String) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("the trace cannot be written as edtrace: {reason}"),
    )
}

/// The names to write. Each is valid in the format, and equal names mean the same thing.
struct Text<'a> {
    tables: &'a Tables,
    columns: &'a Columns,
    events: Vec<String>,
    handlers: Vec<String>,
    messages: Vec<String>,
    variables: Vec<String>,
    /// By task: the handler of its get.
    runs_on: Vec<HandlerId>,
}

impl<'a> Text<'a> {
    fn new(tables: &'a Tables, columns: &'a Columns) -> Text<'a> {
        let by_name = tables.meta.labels == LabelScheme::Name;
        let mut names = Fitter::without(&[COHERENCE, INITIAL_VALUE]);
        let label = |row: usize| match columns.numbers.get(row) {
            Some(name) if by_name => tables.name(NameId(*name)).to_owned(),
            _ => format!("e{}", row + 1),
        };
        let events = (0..columns.len()).map(|row| names.fit(&label(row))).collect();
        let mut names = Fitter::default();
        let handlers = tables.handlers.iter();
        let handlers = handlers.map(|handler| names.fit(tables.name(handler.name))).collect();
        let mut names = Fitter::without(&[INITIAL_MESSAGE]);
        let messages = tables.tasks.iter();
        let messages = messages
            .map(|task| match task.kind {
                TaskKind::Posted => names.fit(tables.name(task.name)),
                TaskKind::Initial | TaskKind::Burst => INITIAL_MESSAGE.to_owned(),
            })
            .collect();
        let mut names = Fitter::default();
        let variables = (0..tables.locations.len()).map(LocationId::from_index);
        let variables = variables.map(|id| names.fit(&tables.location_text(id))).collect();
        let mut runs_on: Vec<HandlerId> = tables
            .tasks
            .iter()
            .map(|task| match task.kind {
                TaskKind::Posted => HandlerId::NONE,
                TaskKind::Initial | TaskKind::Burst => task.handler,
            })
            .collect();
        for row in 0..columns.len() {
            if columns.ops[row].kind() == EventKind::Get
                && let Some(handler) = runs_on.get_mut(columns.tasks[row].index())
            {
                *handler = HandlerId(columns.operands[row]);
            }
        }
        Text { tables, columns, events, handlers, messages, variables, runs_on }
    }

    fn events(&self, out: &mut impl Write) -> io::Result<()> {
        let mut last_write: FxHashMap<u32, u64> = FxHashMap::default();
        for row in 0..self.columns.len() {
            let kind = self.columns.ops[row].kind();
            let operand = self.columns.operands[row];
            let detail = match kind {
                EventKind::End
                | EventKind::Begin
                | EventKind::Exit
                | EventKind::Attach
                | EventKind::Loop => continue,
                EventKind::Read => {
                    let from = self.read_from(row, last_write.get(&operand).copied())?;
                    format!("r {} {from}", self.variable(operand)?)
                }
                EventKind::Write => {
                    last_write.insert(operand, row as u64);
                    format!("w {}", self.variable(operand)?)
                }
                EventKind::Post => match self.runs_on.get(operand as usize) {
                    Some(handler) if handler.is_none() => continue,
                    Some(_) => format!("post {}", self.messages[operand as usize]),
                    None => return Err(refuse(format!("event {} posts no task", row + 1))),
                },
                EventKind::Get => "get".to_owned(),
                kind => {
                    return Err(refuse(format!("it has no `{}` (event {})", kind.word(), row + 1)));
                }
            };
            let TaskId(task) = self.columns.tasks[row];
            let handler = self.runs_on.get(task as usize).and_then(|handler| handler.some());
            let handler = handler.and_then(|handler| self.handlers.get(handler.index()));
            let Some(handler) = handler else {
                return Err(refuse(format!("the task of event {} has no handler", row + 1)));
            };
            let (event, message) = (&self.events[row], &self.messages[task as usize]);
            writeln!(out, "{event} {handler} {message} {detail}")?;
        }
        Ok(())
    }

    fn variable(&self, operand: u32) -> io::Result<&str> {
        let name = self.variables.get(operand as usize);
        name.map(String::as_str).ok_or_else(|| refuse("an access has no location".into()))
    }

    fn read_from(&self, row: usize, last_write: Option<u64>) -> io::Result<&str> {
        let observed = self.tables.meta.order == TraceOrder::Observed;
        let from = match self.columns.refers.get(row as u32) {
            Some(from) => from,
            None if observed => last_write.unwrap_or(Columns::INITIAL),
            None => {
                return Err(refuse(format!("nobody knows what event {} reads from", row + 1)));
            }
        };
        if from == Columns::INITIAL {
            return Ok(INITIAL_VALUE);
        }
        let name = usize::try_from(from).ok().and_then(|from| self.events.get(from));
        name.map(String::as_str)
            .ok_or_else(|| refuse(format!("event {} reads from no event", row + 1)))
    }

    fn coherence(&self, out: &mut impl Write) -> io::Result<()> {
        for order in &self.tables.coherence {
            self.order(out, order.location, &order.writes)?;
        }
        if self.tables.meta.order != TraceOrder::Observed {
            return Ok(());
        }
        let given: FxHashSet<u32> =
            self.tables.coherence.iter().map(|order| order.location.0).collect();
        let mut writes: Vec<Vec<u64>> = vec![Vec::new(); self.variables.len()];
        for row in 0..self.columns.len() {
            if self.columns.ops[row].kind() == EventKind::Write
                && let Some(list) = writes.get_mut(self.columns.operands[row] as usize)
            {
                list.push(row as u64);
            }
        }
        for (index, list) in writes.iter().enumerate() {
            let location = LocationId::from_index(index);
            if list.len() >= 2 && !given.contains(&location.0) {
                self.order(out, location, list)?;
            }
        }
        Ok(())
    }

    fn order(&self, out: &mut impl Write, location: LocationId, writes: &[u64]) -> io::Result<()> {
        write!(out, "{COHERENCE} {}", self.variable(location.0)?)?;
        for write in writes {
            let name = usize::try_from(*write).ok().and_then(|write| self.events.get(write));
            let name = name.ok_or_else(|| refuse("a coherence order names no event".into()))?;
            write!(out, " {name}")?;
        }
        writeln!(out)
    }
}

/// Makes names valid in the format, and distinct.
#[derive(Default)]
struct Fitter {
    /// Every used name, with the next number to try for it.
    taken: FxHashMap<String, u32>,
}

impl Fitter {
    /// Starts with names that are already used.
    fn without(taken: &[&str]) -> Fitter {
        Fitter { taken: taken.iter().map(|name| ((*name).to_owned(), 2)).collect() }
    }

    fn fit(&mut self, name: &str) -> String {
        let bad = |c: char| " \t\r\n#".contains(c);
        let mut name: String = name.chars().map(|c| if bad(c) { '_' } else { c }).collect();
        if name.is_empty() {
            name.push('_');
        }
        let Some(next) = self.taken.get(&name) else {
            self.taken.insert(name.clone(), 2);
            return name;
        };
        let mut number = *next;
        let fitting = loop {
            let fitting = format!("{name}~{number}");
            number += 1;
            if !self.taken.contains_key(&fitting) {
                break fitting;
            }
        };
        self.taken.insert(name, number);
        self.taken.insert(fitting.clone(), 2);
        fitting
    }
}
