//! The writer: turns tables and blocks of events into lines.

use super::words::{MAGIC, VERSION, letter, mode_word};
use super::write_tables::{Written, invalid};
use crate::decimal::push_decimal;
use anyorder_trace::{
    Block, Columns, LabelScheme, Meta, NameId, OperandKind, Site, SparseRows, StackId, Tables,
    TraceSink,
};
use std::io::{self, Write};
use std::iter::Peekable;

/// Writes a trace in the native text format. It has its own buffer.
///
/// A definition comes directly before the first event that needs it. The writer fails with
/// [`io::ErrorKind::InvalidInput`] if an id is in no table, if only some events have numbers, or if
/// `meta` changes after the first block.
#[derive(Debug)]
pub struct NativeTextWriter<W> {
    output: W,
    text: Vec<u8>,
    line: Vec<u8>,
    written: Written,
    /// The data about the trace as written; `None` before the first block.
    meta: Option<Meta>,
    labelled: Option<bool>,
}

const FLUSH_BYTES: usize = 1 << 16;

/// The next rows of each sparse column of a block.
struct Positions<'b> {
    values: Peekable<SparseRows<'b, u64>>,
    times: Peekable<SparseRows<'b, u64>>,
    stacks: Peekable<SparseRows<'b, StackId>>,
    refers: Peekable<SparseRows<'b, u64>>,
}

/// Returns the value of a row. Calls must be in row order.
#[inline]
fn at<T: Copy>(rows: &mut Peekable<SparseRows<'_, T>>, row: u32) -> Option<T> {
    rows.next_if(|(next, _)| *next == row).map(|(_, value)| value)
}

impl<W: Write> NativeTextWriter<W> {
    /// Makes a writer.
    pub fn new(output: W) -> NativeTextWriter<W> {
        NativeTextWriter {
            output,
            text: Vec::new(),
            line: Vec::new(),
            written: Written::new(),
            meta: None,
            labelled: None,
        }
    }

    /// Writes the first lines once, and checks that they still hold.
    fn begin(&mut self, tables: &Tables) -> io::Result<()> {
        if tables.sites.first() != Some(&Site::default()) {
            return Err(invalid("the first site is not the unknown one"));
        }
        match &self.meta {
            Some(meta) if *meta == tables.meta => Ok(()),
            Some(_) => Err(invalid("`meta` has changed behind the first block")),
            None => {
                self.text.extend_from_slice(format!("{MAGIC} {VERSION}\n").as_bytes());
                self.written.meta(tables, &mut self.text);
                self.meta = Some(tables.meta.clone());
                Ok(())
            }
        }
    }

    fn event(
        &mut self,
        tables: &Tables,
        columns: &Columns,
        row: usize,
        positions: &mut Positions,
    ) -> io::Result<()> {
        let (op, task, site) = (columns.ops[row], columns.tasks[row], columns.sites[row]);
        let (operand, number) = (columns.operands[row], columns.numbers.get(row).copied());
        let row = row as u32;
        let stack = at(&mut positions.stacks, row);
        let table = op.kind().operand();
        let named = match number {
            Some(number) if tables.meta.labels == LabelScheme::Name => NameId(number).some(),
            _ => None,
        };
        let NativeTextWriter { text, line, written, .. } = self;
        // Write all definitions first: they must not interrupt the line.
        written.define(tables, b't', task.0, text)?;
        if !matches!(table, OperandKind::Nothing | OperandKind::Number | OperandKind::Name) {
            written.define(tables, letter(table), operand, text)?;
        }
        if site.0 != 0 {
            written.define(tables, b's', site.0, text)?;
        }
        if let Some(stack) = stack {
            written.define(tables, b'k', stack.0, text)?;
        }
        match (table, named) {
            (OperandKind::Name, Some(name)) => {
                written.ready(tables, &[NameId(operand), name], text)?;
            }
            (OperandKind::Name, None) => written.ready(tables, &[NameId(operand)], text)?,
            (_, Some(name)) => written.ready(tables, &[name], text)?,
            (_, None) => {}
        }
        line.clear();
        push_id(line, "t", task.0);
        line.push(b' ');
        line.extend_from_slice(op.kind().word().as_bytes());
        if let Some(mode) = mode_word(op.kind(), op.mode()) {
            line.push(b'.');
            line.extend_from_slice(mode.as_bytes());
        }
        push_operand(written, tables, (table, operand), line);
        if site.0 != 0 {
            push_id(line, " @s", site.0);
        }
        push_part(line, " value=", at(&mut positions.values, row));
        push_part(line, " time=", at(&mut positions.times, row));
        if let Some(stack) = stack {
            push_id(line, " stack=k", stack.0);
        }
        match at(&mut positions.refers, row) {
            Some(Columns::INITIAL) => line.extend_from_slice(b" refers=initial"),
            refers => push_part(line, " refers=", refers),
        }
        push_number(written, tables, (number, named), line);
        line.push(b'\n');
        text.extend_from_slice(line);
        Ok(())
    }

    fn flush_text(&mut self) -> io::Result<()> {
        self.output.write_all(&self.text)?;
        self.text.clear();
        Ok(())
    }
}

#[inline]
fn push_number(
    written: &mut Written,
    tables: &Tables,
    number: (Option<u32>, Option<NameId>),
    line: &mut Vec<u8>,
) {
    match number {
        (None, _) => {}
        (_, Some(name)) => {
            line.extend_from_slice(b" #");
            written.name(tables, name, line);
        }
        (Some(_), None) if tables.meta.labels == LabelScheme::Name => {
            line.extend_from_slice(b" #-");
        }
        (Some(number), None) => push_id(line, " #", number),
    }
}

#[inline]
fn push_operand(
    written: &mut Written,
    tables: &Tables,
    (table, operand): (OperandKind, u32),
    line: &mut Vec<u8>,
) {
    match table {
        // No operand is expected here; a value that is present anyway is kept.
        OperandKind::Nothing if operand == 0 => {}
        OperandKind::Nothing => push_id(line, " operand=", operand),
        OperandKind::Number => push_id(line, " ", operand),
        OperandKind::Name => {
            line.push(b' ');
            written.name(tables, NameId(operand), line);
        }
        _ => {
            line.extend_from_slice(&[b' ', letter(table)]);
            push_decimal(u64::from(operand), line);
        }
    }
}

#[inline]
fn push_id(line: &mut Vec<u8>, before: &str, id: u32) {
    line.extend_from_slice(before.as_bytes());
    push_decimal(u64::from(id), line);
}

#[inline]
fn push_part(line: &mut Vec<u8>, before: &str, number: Option<u64>) {
    if let Some(number) = number {
        line.extend_from_slice(before.as_bytes());
        push_decimal(number, line);
    }
}

impl<W: Write> TraceSink for NativeTextWriter<W> {
    fn block(&mut self, tables: &Tables, block: &Block) -> io::Result<()> {
        let columns = &block.columns;
        self.begin(tables)?;
        self.written.changes(tables, &mut self.text)?;
        if columns.is_empty() {
            return self.flush_text();
        }
        let labelled = columns.numbers.len() == columns.len();
        if !labelled && !columns.numbers.is_empty() {
            return Err(invalid("only some events of a block have numbers"));
        }
        if *self.labelled.get_or_insert(labelled) != labelled {
            return Err(invalid("only some blocks have numbers"));
        }
        let mut positions = Positions {
            values: columns.values.rows().peekable(),
            times: columns.times.rows().peekable(),
            stacks: columns.stacks.rows().peekable(),
            refers: columns.refers.rows().peekable(),
        };
        for row in 0..columns.len() {
            self.event(tables, columns, row, &mut positions)?;
            if self.text.len() > FLUSH_BYTES {
                self.flush_text()?;
            }
        }
        self.flush_text()
    }

    fn finish(&mut self, tables: &Tables) -> io::Result<()> {
        self.begin(tables)?;
        self.written.changes(tables, &mut self.text)?;
        self.written.rest(tables, &mut self.text)?;
        self.flush_text()?;
        self.output.flush()
    }
}
