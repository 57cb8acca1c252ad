//! The columns of tables with uniform rows. One description serves reading and writing.

use super::bytes::{Input, Read, damage, put_column, put_deltas32, put_deltas64};
use super::check::{FileNames, known};
use crate::ids::{HandlerId, NameId};
use crate::tables::{
    Handler, Input as InputEvent, InputFamily, Mailbox, Position, Site, Tables, TaskDef, TaskKind,
};

/// The entries of a table: rows with the same columns.
pub(super) trait Row: Clone + Default {
    /// Reads or writes the columns, in the order of the file.
    fn columns(columns: &mut impl Columns, rows: &mut [Self]) -> Read<()>;
}

/// How a column of bytes is read off a row, and put into one.
pub(super) type ByteColumn<R> = (fn(&R) -> u8, fn(&mut R, u8) -> Read<()>);

/// Reads or writes the columns of rows.
pub(super) trait Columns {
    fn names<R>(&mut self, rows: &mut [R], part: fn(&mut R) -> &mut NameId) -> Read<()>;

    fn bytes<R>(&mut self, what: &str, rows: &mut [R], part: ByteColumn<R>) -> Read<()>;

    fn deltas32<R>(&mut self, what: &str, rows: &mut [R], part: fn(&mut R) -> &mut u32)
    -> Read<()>;

    fn deltas64<R>(&mut self, what: &str, rows: &mut [R], part: fn(&mut R) -> &mut u64)
    -> Read<()>;

    fn numbers<R>(&mut self, what: &str, rows: &mut [R], part: fn(&mut R) -> &mut u64) -> Read<()>;

    /// Optional handlers; the file stores the id plus one, and 0 for none.
    fn handlers<R>(
        &mut self,
        what: &str,
        rows: &mut [R],
        part: fn(&mut R) -> &mut HandlerId,
    ) -> Read<()>;
}

impl Row for NameId {
    fn columns(columns: &mut impl Columns, rows: &mut [NameId]) -> Read<()> {
        columns.names(rows, |name| name)
    }
}

impl Row for Handler {
    fn columns(columns: &mut impl Columns, rows: &mut [Handler]) -> Read<()> {
        columns.names(rows, |handler| &mut handler.name)?;
        let byte = |handler: &Handler| handler.mailbox as u8 | (u8::from(handler.untracked) << 7);
        let from_byte = |handler: &mut Handler, byte| {
            handler.untracked = byte & 128 != 0;
            match Mailbox::from_number(byte & 127) {
                Some(mailbox) => handler.mailbox = mailbox,
                None => return damage(format!("unknown mailbox {}, expected 0 to 3", byte & 127)),
            }
            Ok(())
        };
        columns.bytes("mailboxes", rows, (byte, from_byte))
    }
}

impl Row for TaskDef {
    fn columns(columns: &mut impl Columns, rows: &mut [TaskDef]) -> Read<()> {
        columns.names(rows, |task| &mut task.name)?;
        let byte = |task: &TaskDef| task.kind as u8 | ((task.position as u8) << 7);
        let from_byte = |task: &mut TaskDef, byte| {
            task.position = if byte & 128 == 0 { Position::Back } else { Position::Front };
            task.kind = match byte & 127 {
                0 => TaskKind::Initial,
                1 => TaskKind::Posted,
                2 => TaskKind::Burst,
                other => {
                    return damage(format!("unknown kind of task {other}, expected 0, 1 or 2"));
                }
            };
            Ok(())
        };
        columns.bytes("kinds of tasks", rows, (byte, from_byte))?;
        columns.handlers("handlers of tasks", rows, |task| &mut task.handler)?;
        columns.numbers("delays", rows, |task| &mut task.delay)
    }
}

impl Row for InputEvent {
    fn columns(columns: &mut impl Columns, rows: &mut [InputEvent]) -> Read<()> {
        let from_byte = |input: &mut InputEvent, byte| match InputFamily::from_number(byte) {
            Some(family) => {
                input.family = family;
                Ok(())
            }
            None => damage(format!("unknown family of inputs {byte}, expected 0 to 6")),
        };
        columns.bytes("families of inputs", rows, (|input| input.family as u8, from_byte))?;
        columns.names(rows, |input| &mut input.name)?;
        columns.names(rows, |input| &mut input.state)?;
        columns.names(rows, |input| &mut input.component)?;
        columns.deltas64("instances", rows, |input| &mut input.instance)?;
        columns.deltas64("arguments", rows, |input| &mut input.argument)
    }
}

impl Row for Site {
    fn columns(columns: &mut impl Columns, rows: &mut [Site]) -> Read<()> {
        columns.names(rows, |site| &mut site.label)?;
        columns.names(rows, |site| &mut site.function)?;
        columns.names(rows, |site| &mut site.file)?;
        columns.deltas32("lines", rows, |site| &mut site.line)?;
        columns.deltas32("columns", rows, |site| &mut site.column)
    }
}

/// Reads columns into existing rows.
pub(super) struct Reading<'r, 'i> {
    pub(super) input: &'r mut Input<'i>,
    pub(super) names: &'r FileNames,
    /// The number of handlers read before.
    pub(super) handlers: usize,
    pub(super) column: &'r mut Vec<u32>,
    pub(super) column64: &'r mut Vec<u64>,
}

impl Columns for Reading<'_, '_> {
    fn names<R>(&mut self, rows: &mut [R], part: fn(&mut R) -> &mut NameId) -> Read<()> {
        self.input.deltas32(rows.len(), "names", self.column)?;
        for (row, name) in rows.iter_mut().zip(&*self.column) {
            *part(row) = self.names.name(*name)?;
        }
        Ok(())
    }

    fn bytes<R>(
        &mut self,
        what: &str,
        rows: &mut [R],
        (_, from_byte): (fn(&R) -> u8, fn(&mut R, u8) -> Read<()>),
    ) -> Read<()> {
        let bytes = self.input.take(rows.len(), what)?;
        rows.iter_mut().zip(bytes).try_for_each(|(row, byte)| from_byte(row, *byte))
    }

    fn deltas32<R>(
        &mut self,
        what: &str,
        rows: &mut [R],
        part: fn(&mut R) -> &mut u32,
    ) -> Read<()> {
        self.input.deltas32(rows.len(), what, self.column)?;
        rows.iter_mut().zip(&*self.column).for_each(|(row, value)| *part(row) = *value);
        Ok(())
    }

    fn deltas64<R>(
        &mut self,
        what: &str,
        rows: &mut [R],
        part: fn(&mut R) -> &mut u64,
    ) -> Read<()> {
        self.input.deltas64(rows.len(), what, self.column64)?;
        rows.iter_mut().zip(&*self.column64).for_each(|(row, value)| *part(row) = *value);
        Ok(())
    }

    fn numbers<R>(&mut self, what: &str, rows: &mut [R], part: fn(&mut R) -> &mut u64) -> Read<()> {
        self.input.column64(rows.len(), what, self.column64)?;
        rows.iter_mut().zip(&*self.column64).for_each(|(row, value)| *part(row) = *value);
        Ok(())
    }

    fn handlers<R>(
        &mut self,
        what: &str,
        rows: &mut [R],
        part: fn(&mut R) -> &mut HandlerId,
    ) -> Read<()> {
        self.input.deltas32(rows.len(), what, self.column)?;
        for (row, number) in rows.iter_mut().zip(&*self.column) {
            let handler = HandlerId(number.wrapping_sub(1));
            if !handler.is_none() {
                known(handler.0, self.handlers, "handler")?;
            }
            *part(row) = handler;
        }
        Ok(())
    }
}

/// Appends the columns of rows.
pub(super) struct Writing<'w> {
    pub(super) out: &'w mut Vec<u8>,
    pub(super) tables: &'w Tables,
}

impl Columns for Writing<'_> {
    fn names<R>(&mut self, rows: &mut [R], part: fn(&mut R) -> &mut NameId) -> Read<()> {
        for row in rows.iter_mut() {
            known(part(row).0, self.tables.names.len(), "name")?;
        }
        put_deltas32(self.out, rows.iter_mut().map(|row| part(row).0));
        Ok(())
    }

    fn bytes<R>(
        &mut self,
        _: &str,
        rows: &mut [R],
        (byte, _): (fn(&R) -> u8, fn(&mut R, u8) -> Read<()>),
    ) -> Read<()> {
        self.out.extend(rows.iter().map(byte));
        Ok(())
    }

    fn deltas32<R>(&mut self, _: &str, rows: &mut [R], part: fn(&mut R) -> &mut u32) -> Read<()> {
        put_deltas32(self.out, rows.iter_mut().map(|row| *part(row)));
        Ok(())
    }

    fn deltas64<R>(&mut self, _: &str, rows: &mut [R], part: fn(&mut R) -> &mut u64) -> Read<()> {
        put_deltas64(self.out, rows.iter_mut().map(|row| *part(row)));
        Ok(())
    }

    fn numbers<R>(&mut self, _: &str, rows: &mut [R], part: fn(&mut R) -> &mut u64) -> Read<()> {
        let numbers: Vec<u64> = rows.iter_mut().map(|row| *part(row)).collect();
        put_column(self.out, &numbers);
        Ok(())
    }

    fn handlers<R>(
        &mut self,
        _: &str,
        rows: &mut [R],
        part: fn(&mut R) -> &mut HandlerId,
    ) -> Read<()> {
        for handler in rows.iter_mut().map(part).filter(|handler| !handler.is_none()) {
            known(handler.0, self.tables.handlers.len(), "handler")?;
        }
        put_deltas32(self.out, rows.iter_mut().map(|row| part(row).0.wrapping_add(1)));
        Ok(())
    }
}
