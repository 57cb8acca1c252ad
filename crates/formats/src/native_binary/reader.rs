//! The streaming reader.

use super::check::{FileNames, Loaded};
use super::events::EventDecoder;
use super::frame::{Failure, Frames};
use super::index;
use super::layout::{BlockHead, BlockKind};
use super::table_read::TableDecoder;
use anyorder_trace::{Block, Place, Problem, Problems, ReadError, Tables, TraceSource};
use std::fmt;
use std::io::Read;

/// The bytes that tables may take unless [`BinaryReader::tables_limit`] says otherwise: 1 GiB.
pub(super) const TABLE_BYTES_MAX: usize = 1 << 30;

/// The bytes that the tables of any file may take, and how many more for each byte of the file up
/// to there: a small file must not unpack to large tables. Tables of real traces take under twenty
/// times their packed bytes.
const TABLE_BYTES_FREE: u64 = 64 << 20;
const TABLE_BYTES_PER_BYTE: u64 = 256;

/// Reads the native binary format, without seeking.
///
/// Memory: the tables, one block packed and unpacked, and about 1.5 MiB.
pub struct BinaryReader<R: Read> {
    inner: Option<R>,
    frames: Option<Frames<R>>,
    decoders: Decoders,
    /// The number of the next event.
    next: u64,
    event_blocks: u64,
    salvage: bool,
    done: bool,
    problems: Problems,
}

impl<R: Read> fmt::Debug for BinaryReader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BinaryReader").field("next", &self.next).field("done", &self.done).finish()
    }
}

/// Turns contents into tables and events.
#[derive(Debug)]
pub(super) struct Decoders {
    pub(super) loaded: Loaded,
    pub(super) table_decoder: TableDecoder,
    event_decoder: EventDecoder,
    /// The bytes that tables may take, however large the file is.
    tables_bytes_max: usize,
}

impl Decoders {
    pub(super) fn new() -> Decoders {
        Decoders {
            loaded: Loaded { tables: Tables::default(), names: FileNames::identity(1) },
            table_decoder: TableDecoder::new(TABLE_BYTES_MAX),
            event_decoder: EventDecoder::new(),
            tables_bytes_max: TABLE_BYTES_MAX,
        }
    }

    /// Reads the current block of tables of `frames`; `events` came before it.
    pub(super) fn tables<R: Read>(
        &mut self,
        frames: &mut Frames<R>,
        head: &BlockHead,
        events: u64,
    ) -> Result<(), Failure> {
        frames.contents(head)?;
        let in_proportion =
            frames.offset.saturating_mul(TABLE_BYTES_PER_BYTE).saturating_add(TABLE_BYTES_FREE);
        let in_proportion = usize::try_from(in_proportion).unwrap_or(usize::MAX);
        self.table_decoder.memory.bytes_max = self.tables_bytes_max.min(in_proportion);
        self.table_decoder
            .decode(frames.unpacked(), events, &mut self.loaded)
            .map_err(|damage| frames.broken(damage))
    }

    /// Reads the current block of events of `frames`.
    pub(super) fn events<R: Read>(
        &mut self,
        frames: &mut Frames<R>,
        head: &BlockHead,
        block: &mut Block,
    ) -> Result<(), Failure> {
        frames.contents(head)?;
        block.first = head.first;
        let count = head.events_count as usize;
        self.event_decoder
            .decode(frames.unpacked(), count, &mut self.loaded, block)
            .map_err(|damage| frames.broken(damage))
    }
}

impl<R: Read> BinaryReader<R> {
    /// Starts at the first byte of a file; the first call of `next_block` reads it. A buffered
    /// input has no advantage, because blocks are read as a whole.
    #[must_use]
    pub fn new(inner: R) -> BinaryReader<R> {
        BinaryReader {
            inner: Some(inner),
            frames: None,
            decoders: Decoders::new(),
            next: 0,
            event_blocks: 0,
            salvage: false,
            done: false,
            problems: Problems::default(),
        }
    }

    /// Sets whether a damaged or truncated file gives the complete blocks before the damage, with a
    /// warning that names the place, the damage and what was kept, instead of an error. A damaged
    /// head of the file remains an error.
    #[must_use]
    pub fn salvage(mut self, salvage: bool) -> BinaryReader<R> {
        self.salvage = salvage;
        self
    }

    /// Sets the bytes that the tables may take, 1 GiB by default: a file can unpack to large
    /// tables. At most 64 MiB and 256 bytes for each byte of the file are allowed anyway.
    #[must_use]
    pub fn tables_limit(mut self, bytes: usize) -> BinaryReader<R> {
        self.decoders.tables_bytes_max = bytes;
        self
    }

    fn advance(&mut self, block: &mut Block) -> Result<bool, Failure> {
        if let Some(inner) = self.inner.take() {
            let frames = self.frames.insert(Frames::new(inner)?);
            if let Err(failure) = frames.file_head() {
                self.salvage = false;
                return Err(failure);
            }
        }
        let Some(frames) = &mut self.frames else { return Ok(false) };
        loop {
            let head = frames.head()?;
            if head.first != self.next {
                return Err(frames.damage(format!(
                    "block of event {}, expected event {}",
                    head.first, self.next
                )));
            }
            match head.kind {
                BlockKind::Tables => self.decoders.tables(frames, &head, self.next)?,
                BlockKind::Events => {
                    self.decoders.events(frames, &head, block)?;
                    frames.block += 1;
                    self.next += u64::from(head.events_count);
                    self.event_blocks += 1;
                    return Ok(true);
                }
                BlockKind::Index => {
                    frames.contents(&head)?;
                    index::check_totals(frames.unpacked(), frames.block, self.next)
                        .map_err(|damage| frames.broken(damage))?;
                    frames.trailer()?;
                    return Ok(false);
                }
            }
            frames.block += 1;
        }
    }

    /// Warns that the rest of a damaged file is lost.
    fn keep_whole_blocks(&mut self, place: Place, what: &str) {
        let (events, blocks) = (self.next, self.event_blocks);
        let plural = |count: u64| if count == 1 { "" } else { "s" };
        let kept = format!(
            "kept {events} event{} in the {blocks} whole block{} before, the rest is lost",
            plural(events),
            plural(blocks)
        );
        self.problems.push(Problem::warning(place, format!("{what}; {kept}")));
    }
}

impl<R: Read> TraceSource for BinaryReader<R> {
    fn tables(&self) -> &Tables {
        &self.decoders.loaded.tables
    }

    fn next_block(&mut self, block: &mut Block) -> Result<bool, ReadError> {
        block.first = self.next;
        if self.done {
            block.columns.clear();
            return Ok(false);
        }
        let result = self.advance(block);
        if matches!(result, Ok(true)) {
            return Ok(true);
        }
        // Columns may be partly filled; nobody may use them as events.
        block.columns.clear();
        block.first = self.next;
        self.done = true;
        match result {
            Err(Failure::Damage(place, what)) if self.salvage => {
                self.keep_whole_blocks(place, &what);
                Ok(false)
            }
            result => Ok(result?),
        }
    }

    fn problems(&self) -> &Problems {
        &self.problems
    }

    fn take_tables(&mut self) -> Tables {
        std::mem::take(&mut self.decoders.loaded.tables)
    }
}
