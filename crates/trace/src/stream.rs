//! The two ends of a stream of events: sources produce blocks, sinks consume them.

use crate::columns::Block;
use crate::error::{Problems, ReadError};
use crate::tables::Tables;
use std::io;

/// A reader of some format. Memory depends on the tables and the block size, not on the length.
pub trait TraceSource {
    /// Returns the tables so far. They contain every id of the blocks so far.
    fn tables(&self) -> &Tables;

    /// Replaces the contents of `block` by the next events; returns false at the end.
    ///
    /// # Errors
    ///
    /// Fails when the input cannot be read or breaks its format. Text formats read to the end even
    /// after an error, so that all problems are listed.
    fn next_block(&mut self, block: &mut Block) -> Result<bool, ReadError>;

    /// Returns the warnings so far.
    fn problems(&self) -> &Problems;

    /// Moves the tables out at the end of the stream, and leaves empty ones.
    fn take_tables(&mut self) -> Tables;
}

/// A writer of some format, or another consumer of a stream of events.
pub trait TraceSink {
    /// Consumes the next events. Between calls, `tables` only grows; only handlers may change.
    ///
    /// # Errors
    ///
    /// Fails when the output cannot be written.
    fn block(&mut self, tables: &Tables, block: &Block) -> io::Result<()>;

    /// Takes the table entries added after the last event, and completes the output.
    ///
    /// # Errors
    ///
    /// Fails when the output cannot be written.
    fn finish(&mut self, tables: &Tables) -> io::Result<()>;
}

/// What can fail when a source is copied into a sink.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The source failed.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The sink failed.
    #[error("cannot write: {0}")]
    Write(#[source] io::Error),
}

/// Copies all events of `source` into `sink`; returns their number. `progress` gets the number so
/// far.
///
/// # Errors
///
/// Fails when either end fails.
pub fn copy(
    source: &mut dyn TraceSource,
    sink: &mut dyn TraceSink,
    mut progress: impl FnMut(u64),
) -> Result<u64, CopyError> {
    let mut block = Block::default();
    let mut events = 0;
    while source.next_block(&mut block)? {
        events = block.first + block.columns.len() as u64;
        sink.block(source.tables(), &block).map_err(CopyError::Write)?;
        progress(events);
    }
    sink.finish(source.tables()).map_err(CopyError::Write)?;
    Ok(events)
}
