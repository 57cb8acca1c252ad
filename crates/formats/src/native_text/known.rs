//! The definitions read so far.

use super::cursor::Cursor;
use super::words::{expected_id, length};
use crate::fault::{Fault, LineError};
use anyorder_trace::{NameId, NameIndex, TableFull, Tables};

/// The definition that a `more` line would continue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Open {
    #[default]
    Nothing,
    Origin,
    Name,
    Stack,
    Arguments,
    Coherence,
}

/// The tables so far, and the state for further lines.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) tables: Tables,
    index: NameIndex,
    pub(super) open: Open,
    /// The string of the last `name` line. It joins the table once no `more` can follow.
    pub(super) name: String,
    scratch: String,
    /// Whether events have labels; unknown before the first.
    pub(super) labelled: Option<bool>,
    pub(super) has_meta: bool,
}

impl Known {
    /// Ends a definition that a `more` line could have continued.
    #[inline]
    pub(super) fn close(&mut self) -> Result<(), TableFull> {
        if self.open == Open::Nothing {
            return Ok(());
        }
        if self.open == Open::Name {
            let names = &mut self.tables.names;
            if self.name.is_empty() || self.index.find(names, &self.name).is_some() {
                names.push(&self.name).ok_or(TableFull("bytes of names"))?;
            } else {
                self.index.intern(names, &self.name)?;
            }
            self.name.clear();
        }
        self.open = Open::Nothing;
        Ok(())
    }

    /// Takes a name: a string, or a known id.
    pub(super) fn name(&mut self, cursor: &mut Cursor) -> Result<NameId, LineError> {
        let id = if cursor.peek() == b'"' {
            self.scratch.clear();
            cursor.string(&mut self.scratch)?;
            self.index.intern(&mut self.tables.names, &self.scratch)?
        } else {
            NameId(reference(cursor, b'n', self.tables.names.len())?)
        };
        cursor.end_token()?;
        Ok(id)
    }

    /// Takes the id of an entry of a table.
    pub(super) fn reference(&self, cursor: &mut Cursor, letter: u8) -> Result<u32, Fault> {
        let length = length(&self.tables, letter);
        let id = reference(cursor, letter, length)?;
        cursor.end_token()?;
        Ok(id)
    }

    /// Takes the id of the next entry of a table.
    pub(super) fn next_id(&self, cursor: &mut Cursor, letter: u8) -> Result<(), Fault> {
        let column = cursor.column();
        let length = length(&self.tables, letter);
        let id = cursor.id(letter, expected_id(letter))?;
        let letter = char::from(letter);
        if (id as usize) < length {
            return Err(Fault::new(column, format!("`{letter}{id}` is defined already")));
        }
        if id as usize != length {
            return Err(Fault::new(
                column,
                format!("expected `{letter}{length}`: ids have no gaps"),
            ));
        }
        cursor.end_token()
    }
}

#[inline]
fn reference(cursor: &mut Cursor, letter: u8, length: usize) -> Result<u32, Fault> {
    let column = cursor.column();
    let id = cursor.id(letter, expected_id(letter))?;
    if id as usize >= length {
        let letter = char::from(letter);
        return Err(Fault::new(column, format!("`{letter}{id}` is not defined yet")));
    }
    Ok(id)
}
