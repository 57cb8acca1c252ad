//! The streaming writer.

use super::bytes::Damage;
use super::events_write::{EventEncoder, check_shape};
use super::frame::Packer;
use super::index::{self, BLOCKS_MAX, Listed};
use super::layout::{BlockKind, FILE_HEAD_BYTES, file_head, trailer};
use super::table_write::TableEncoder;
use anyorder_trace::{Block, Columns, Tables, TraceSink};
use std::fmt;
use std::io::{self, Write};

/// Writes the native binary format, block by block as events come.
///
/// It joins blocks smaller than [`Block::EVENTS`]. A file truncated at any byte keeps all complete
/// blocks before. Memory: the tables' handlers, one block and 16 bytes per written block.
///
/// # Errors
///
/// Its methods fail when the output does. They fail with [`io::ErrorKind::InvalidInput`] for
/// everything that the readers would refuse: ids that are not in the tables, tables that shrank,
/// blocks out of sequence, names of more than 16 MiB, and stacks or argument lists of more than
/// 2^20 items.
pub struct BinaryWriter<W: Write> {
    blocks: Blocks<W>,
    tables: TableEncoder,
    events: EventEncoder,
    /// Events of blocks too small to be written.
    pending: Columns,
    contents: Vec<u8>,
    finished: bool,
}

/// The blocks written so far.
struct Blocks<W: Write> {
    out: W,
    packer: Packer,
    /// The number of the next event to be written.
    first: u64,
    index: Vec<Listed>,
    offset: u64,
}

impl<W: Write> Blocks<W> {
    fn write(&mut self, kind: BlockKind, events_count: u32, contents: &[u8]) -> io::Result<()> {
        if self.index.len() == BLOCKS_MAX {
            return Err(refuse("more blocks than one file can have"));
        }
        let at = (self.first, events_count);
        let bytes = self.packer.write(&mut self.out, kind, at, contents)?;
        self.index.push(Listed { kind, offset: self.offset, events_count });
        self.offset += bytes;
        self.first += u64::from(events_count);
        Ok(())
    }

    /// Writes the index and the trailer.
    fn close(&mut self) -> io::Result<()> {
        let contents = index::write(&self.index, self.first);
        let offset = self.offset;
        let at = (self.first, 0);
        self.offset += self.packer.write(&mut self.out, BlockKind::Index, at, &contents)?;
        self.out.write_all(&trailer(offset))?;
        self.out.flush()
    }
}

impl<W: Write> fmt::Debug for BinaryWriter<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BinaryWriter")
            .field("events", &self.blocks.first)
            .field("bytes", &self.blocks.offset)
            .finish()
    }
}

impl<W: Write> BinaryWriter<W> {
    /// Starts a file by writing its head. The output should be buffered, or handle whole blocks
    /// well.
    ///
    /// # Errors
    ///
    /// Fails when the output cannot be written.
    pub fn new(mut out: W) -> io::Result<BinaryWriter<W>> {
        out.write_all(&file_head())?;
        Ok(BinaryWriter {
            blocks: Blocks {
                out,
                packer: Packer::new()?,
                first: 0,
                index: Vec::new(),
                offset: FILE_HEAD_BYTES as u64,
            },
            tables: TableEncoder::new(),
            events: EventEncoder::default(),
            pending: Columns::default(),
            contents: Vec::new(),
            finished: false,
        })
    }

    /// Returns the output. Without [`finish`](TraceSink::finish) the file is read as truncated.
    pub fn into_inner(self) -> W {
        self.blocks.out
    }

    fn write_tables(&mut self, tables: &Tables) -> io::Result<()> {
        let blocks = &mut self.blocks;
        let first = blocks.first;
        self.tables.encode(tables, first, |contents| blocks.write(BlockKind::Tables, 0, contents))
    }

    /// Writes events, at most [`Block::EVENTS`].
    fn write_events(&mut self, tables: &Tables, columns: &Columns) -> io::Result<()> {
        if columns.is_empty() {
            return Ok(());
        }
        self.write_tables(tables)?;
        self.contents.clear();
        self.events.encode(tables, self.blocks.first, columns, &mut self.contents)?;
        self.blocks.write(BlockKind::Events, columns.len() as u32, &self.contents)
    }

    fn flush_pending(&mut self, tables: &Tables) -> io::Result<()> {
        let mut pending = std::mem::take(&mut self.pending);
        self.write_events(tables, &pending)?;
        pending.clear();
        self.pending = pending;
        Ok(())
    }
}

impl<W: Write> TraceSink for BinaryWriter<W> {
    fn block(&mut self, tables: &Tables, block: &Block) -> io::Result<()> {
        if self.finished {
            return Err(refuse("the trace was finished before"));
        }
        let next = self.blocks.first + self.pending.len() as u64;
        if block.first != next {
            return Err(refuse(&format!("block of event {}, expected event {next}", block.first)));
        }
        check_shape(&block.columns)?;
        let columns = &block.columns;
        let mixed = self.pending.numbers.is_empty() != columns.numbers.is_empty();
        if !self.pending.is_empty() && (mixed || self.pending.len() + columns.len() > Block::EVENTS)
        {
            self.flush_pending(tables)?;
        }
        match columns.len() {
            Block::EVENTS => self.write_events(tables, columns),
            len if len < Block::EVENTS => {
                self.pending.append(columns);
                Ok(())
            }
            len => Err(refuse(&format!(
                "block of {len} events, expected {} at the most",
                Block::EVENTS
            ))),
        }
    }

    fn finish(&mut self, tables: &Tables) -> io::Result<()> {
        if self.finished {
            return Err(refuse("the trace was finished before"));
        }
        self.flush_pending(tables)?;
        self.write_tables(tables)?;
        self.blocks.close()?;
        self.finished = true;
        Ok(())
    }
}

impl From<Damage> for io::Error {
    fn from(Damage(what): Damage) -> io::Error {
        refuse(&what)
    }
}

fn refuse(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("not a trace that can be written: {what}"))
}
