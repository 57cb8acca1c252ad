//! Reading any block of a file by its number.

use super::frame::{Failure, Frames};
use super::index::{self, Listed};
use super::layout::{
    BLOCK_HEAD_BYTES, BlockHead, BlockKind, FILE_HEAD_BYTES, TRAILER_BYTES, trailer_offset,
};
use super::reader::Decoders;
use anyorder_trace::{Block, Place, ReadError, Tables};
use std::fmt;
use std::io::{Read, Seek, SeekFrom};

/// Where a block of events lies in its file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BinaryBlock {
    /// The byte at which it begins.
    pub offset: u64,
    /// The number of its first event, from 0.
    pub first: u64,
    /// The number of its events.
    pub events_count: u32,
    /// Its number among all blocks of the file, as errors give it.
    pub block: u64,
}

/// A file with an index, open for reading any of its blocks of events.
///
/// The tables are complete: handlers are in their final state.
pub struct BinaryFile<R: Read + Seek> {
    frames: Frames<R>,
    decoders: Decoders,
    blocks: Vec<BinaryBlock>,
}

impl<R: Read + Seek> fmt::Debug for BinaryFile<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BinaryFile").field("blocks", &self.blocks).finish()
    }
}

impl<R: Read + Seek> BinaryFile<R> {
    /// Opens a complete file: reads its index and its tables, but no events.
    ///
    /// # Errors
    ///
    /// Fails when the input cannot be read, has no index (the writer did not finish; see
    /// [`recover`](Self::recover)) or breaks its format.
    pub fn open(inner: R) -> Result<BinaryFile<R>, ReadError> {
        let mut frames = Frames::new(inner)?;
        let listed = Self::open_in(&mut frames)?;
        Ok(Self::load(frames, &listed)?)
    }

    /// Opens a file without an index, or with a damaged one. It goes from block to block without
    /// reading their contents. It omits everything after the first damaged head, and a truncated
    /// last block.
    ///
    /// # Errors
    ///
    /// Fails when the input cannot be read, its head is damaged, or one of its blocks of tables is.
    pub fn recover(inner: R) -> Result<BinaryFile<R>, ReadError> {
        let mut frames = Frames::new(inner)?;
        let listed = Self::walk(&mut frames)?;
        Ok(Self::load(frames, &listed)?)
    }

    /// Returns the tables of the whole trace.
    #[must_use]
    pub fn tables(&self) -> &Tables {
        &self.decoders.loaded.tables
    }

    /// Returns the blocks of events, in trace order.
    #[must_use]
    pub fn blocks(&self) -> &[BinaryBlock] {
        &self.blocks
    }

    /// Returns the position in [`blocks`](Self::blocks) of the block with an event, in time
    /// logarithmic in their number.
    #[must_use]
    pub fn block_of(&self, event: u64) -> Option<usize> {
        let behind = self.blocks.partition_point(|block| block.first <= event);
        let position = behind.checked_sub(1)?;
        let block = self.blocks[position];
        (event < block.first + u64::from(block.events_count)).then_some(position)
    }

    /// Replaces the contents of `block` by the events of the block at `position` in
    /// [`blocks`](Self::blocks). Returns false when there is none.
    ///
    /// # Errors
    ///
    /// Fails when the input cannot be read or the block is damaged.
    pub fn read_block(&mut self, position: usize, block: &mut Block) -> Result<bool, ReadError> {
        block.columns.clear();
        let Some(wanted) = self.blocks.get(position).copied() else { return Ok(false) };
        let result = self.frames.seek_block(wanted.block, wanted.offset).and_then(|head| {
            let expected = (BlockKind::Events, wanted.first, wanted.events_count);
            if (head.kind, head.first, head.events_count) != expected {
                return Err(self.frames.damage("block is not the one that the index says"));
            }
            self.decoders.events(&mut self.frames, &head, block)
        });
        if result.is_err() {
            block.columns.clear();
        }
        Ok(result.map(|()| true)?)
    }

    /// Checks the head and returns the index.
    fn open_in(frames: &mut Frames<R>) -> Result<Vec<Listed>, Failure> {
        frames.file_head()?;
        let end = frames.inner.seek(SeekFrom::End(0))?;
        let place = Place { offset: Some(end), ..Place::default() };
        let cut = || {
            let what = "file ends without an index, expected one: the file is cut off or damaged at its end";
            Failure::Damage(place, what.to_owned())
        };
        let least = (FILE_HEAD_BYTES + BLOCK_HEAD_BYTES + TRAILER_BYTES) as u64;
        if end < least {
            return Err(cut());
        }
        frames.inner.seek(SeekFrom::Start(end - TRAILER_BYTES as u64))?;
        let mut bytes = [0; TRAILER_BYTES];
        frames.inner.read_exact(&mut bytes)?;
        let offset =
            trailer_offset(&bytes).filter(|offset| *offset <= end - least + FILE_HEAD_BYTES as u64);
        let Some(offset) = offset else { return Err(cut()) };
        let head = frames.seek_block(0, offset)?;
        if head.kind != BlockKind::Index {
            return Err(frames.damage("trailer points at another block than the index"));
        }
        frames.contents(&head)?;
        index::read(frames.unpacked(), offset).map_err(|damage| frames.broken(damage))
    }

    /// Lists complete blocks by their heads.
    fn walk(frames: &mut Frames<R>) -> Result<Vec<Listed>, Failure> {
        frames.file_head()?;
        let end = frames.inner.seek(SeekFrom::End(0))?;
        let mut offset = FILE_HEAD_BYTES as u64;
        let mut listed = Vec::new();
        loop {
            let head = match frames.seek_block(listed.len() as u64, offset) {
                Ok(head) if head.kind != BlockKind::Index => head,
                Ok(_) | Err(Failure::Damage(..)) => return Ok(listed),
                Err(failure) => return Err(failure),
            };
            let next = offset + BLOCK_HEAD_BYTES as u64 + u64::from(head.packed_bytes);
            if next > end {
                return Ok(listed);
            }
            listed.push(Listed { kind: head.kind, offset, events_count: head.events_count });
            offset = next;
        }
    }

    /// Reads the tables and keeps the places of the events.
    fn load(mut frames: Frames<R>, listed: &[Listed]) -> Result<BinaryFile<R>, Failure> {
        let mut decoders = Decoders::new();
        let mut blocks = Vec::new();
        let mut first = 0;
        for (block, Listed { kind, offset, events_count }) in (0..).zip(listed.iter().copied()) {
            match kind {
                BlockKind::Events => {
                    blocks.push(BinaryBlock { offset, first, events_count, block });
                    first += u64::from(events_count);
                }
                BlockKind::Tables | BlockKind::Index => {
                    let head = frames.seek_block(block, offset)?;
                    if (head.kind, head.first) != (BlockKind::Tables, first) {
                        return Err(frames.damage("block is not the one that the index says"));
                    }
                    decoders.tables(&mut frames, &head, first)?;
                }
            }
        }
        Ok(BinaryFile { frames, decoders, blocks })
    }
}

impl<R: Read + Seek> Frames<R> {
    /// Goes to a block and reads its head.
    fn seek_block(&mut self, block: u64, offset: u64) -> Result<BlockHead, Failure> {
        self.offset = self.inner.seek(SeekFrom::Start(offset))?;
        self.block = block;
        self.head()
    }
}
