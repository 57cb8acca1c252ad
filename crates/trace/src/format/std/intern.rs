//! Interns names given as bytes of a line.

use crate::format::fault::{Fault, LineError};
use crate::ids::NameId;
use crate::names::{NameIndex, Names};
use crate::tables::TableFull;

/// The index of the names of a trace.
#[derive(Debug, Default)]
pub(super) struct NameTable {
    index: NameIndex,
}

impl NameTable {
    /// Returns the id of the text at `column`.
    pub(super) fn intern(
        &mut self,
        names: &mut Names,
        text: &[u8],
        column: usize,
    ) -> Result<NameId, LineError> {
        match std::str::from_utf8(text) {
            Ok(text) => {
                let id = self.index.intern(names, text);
                Ok(id.ok_or(TableFull("bytes of names"))?)
            }
            Err(error) => {
                let column = column + error.valid_up_to();
                Err(Fault::new(column, "expected UTF-8").into())
            }
        }
    }
}
