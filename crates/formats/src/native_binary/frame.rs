//! Blocks as bytes: packs contents with their heads, and unpacks them.

use super::FORMAT;
use super::bytes::Damage;
use super::layout::{
    BLOCK_HEAD_BYTES, BlockHead, BlockKind, FILE_HEAD_BYTES, RAW_BYTES_MAX, TRAILER_BYTES,
    check_file_head, trailer_offset,
};
use anyorder_trace::{Place, Problem, ReadError};
use std::io::{self, Read, Write};
use zstd::zstd_safe::{CCtx, CParameter, DCtx, compress_bound, get_error_name};

/// The effort of the packer. On the memcached trace level 6 gains 7 % in size and costs half the
/// speed of writing.
const LEVEL: i32 = 3;

/// Packs contents into blocks.
pub(super) struct Packer {
    zstd: CCtx<'static>,
    packed: Vec<u8>,
}

impl Packer {
    /// Makes one.
    pub(super) fn new() -> io::Result<Packer> {
        // The constructors of `zstd::bulk` panic where the memory is refused.
        let mut zstd = CCtx::try_create().ok_or(io::ErrorKind::OutOfMemory)?;
        zstd.set_parameter(CParameter::CompressionLevel(LEVEL)).map_err(failed)?;
        Ok(Packer { zstd, packed: Vec::new() })
    }

    /// Writes a block; returns its length in bytes.
    pub(super) fn write(
        &mut self,
        out: &mut impl Write,
        kind: BlockKind,
        (first, events_count): (u64, u32),
        contents: &[u8],
    ) -> io::Result<u64> {
        let raw_bytes = u32::try_from(contents.len()).unwrap_or(u32::MAX);
        assert!(raw_bytes <= RAW_BYTES_MAX, "blocks are cut long before this limit");
        self.packed.clear();
        self.packed.reserve(compress_bound(contents.len()));
        self.zstd.compress2(&mut self.packed, contents).map_err(failed)?;
        let head = BlockHead {
            kind,
            packed_bytes: self.packed.len() as u32,
            raw_bytes,
            events_count,
            first,
            checksum: crc32fast::hash(&self.packed),
        };
        out.write_all(&head.to_bytes())?;
        out.write_all(&self.packed)?;
        Ok((BLOCK_HEAD_BYTES + self.packed.len()) as u64)
    }
}

fn failed(code: usize) -> io::Error {
    io::Error::other(get_error_name(code))
}

/// Why a block could not be read.
#[derive(Debug)]
pub(super) enum Failure {
    /// The file system or pipe failed.
    Io(io::Error),
    /// The file breaks its format.
    Damage(Place, String),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Io(error)
    }
}

impl From<Failure> for ReadError {
    fn from(failure: Failure) -> ReadError {
        match failure {
            Failure::Io(error) => ReadError::Io(error),
            Failure::Damage(place, what) => ReadError::one(FORMAT, Problem::error(place, what)),
        }
    }
}

/// Reads blocks one after another.
pub(super) struct Frames<R> {
    pub(super) inner: R,
    /// The number of bytes read.
    pub(super) offset: u64,
    /// The number of the block that comes next, from 0.
    pub(super) block: u64,
    /// Where the block being read begins.
    pub(super) block_offset: u64,
    zstd: DCtx<'static>,
    packed: Vec<u8>,
    contents: Vec<u8>,
}

impl<R: Read> Frames<R> {
    /// Starts at the first byte of a file.
    pub(super) fn new(inner: R) -> io::Result<Frames<R>> {
        Ok(Frames {
            inner,
            offset: 0,
            block: 0,
            block_offset: 0,
            zstd: DCtx::try_create().ok_or(io::ErrorKind::OutOfMemory)?,
            packed: Vec::new(),
            contents: Vec::new(),
        })
    }

    /// Makes a failure at the block being read.
    pub(super) fn damage(&self, what: impl Into<String>) -> Failure {
        Failure::Damage(Place::block_offset(self.block, self.block_offset), what.into())
    }

    /// Adds the place of the current block to damage of its contents.
    pub(super) fn broken(&self, Damage(what): Damage) -> Failure {
        self.damage(what)
    }

    /// Reads and checks the head of the file.
    pub(super) fn file_head(&mut self) -> Result<(), Failure> {
        let place = Place { offset: Some(0), ..Place::default() };
        let mut head = [0; FILE_HEAD_BYTES];
        let found = self.fill(&mut head)?;
        // For a short file, report the wrong magic first: it may well be another format.
        check_file_head(&head).map_err(|what| match found {
            0 => Failure::Damage(place, "empty input, expected a native binary trace".to_owned()),
            8..FILE_HEAD_BYTES if head[..8] == super::layout::MAGIC => Failure::Damage(
                place,
                format!("file head cut off after {found} bytes, expected {FILE_HEAD_BYTES}"),
            ),
            _ => Failure::Damage(place, what),
        })
    }

    /// Reads the head of the next block.
    pub(super) fn head(&mut self) -> Result<BlockHead, Failure> {
        self.block_offset = self.offset;
        let mut bytes = [0; BLOCK_HEAD_BYTES];
        match self.fill(&mut bytes)? {
            BLOCK_HEAD_BYTES => BlockHead::from_bytes(&bytes).map_err(|what| self.damage(what)),
            0 => Err(self.damage(
                "input ends, expected another block or the index that closes a complete file",
            )),
            found => Err(self.damage(format!(
                "block head cut off after {found} bytes, expected {BLOCK_HEAD_BYTES}"
            ))),
        }
    }

    /// Reads, checks and unpacks the contents after a head, and moves to the next block.
    pub(super) fn contents(&mut self, head: &BlockHead) -> Result<(), Failure> {
        self.packed.clear();
        let wanted = u64::from(head.packed_bytes);
        // Memory grows with the bytes present, not with the declared size.
        let found = self.inner.by_ref().take(wanted).read_to_end(&mut self.packed)? as u64;
        self.offset += found;
        if found < wanted {
            return Err(
                self.damage(format!("block cut off after {found} bytes, expected {wanted}"))
            );
        }
        let checksum = crc32fast::hash(&self.packed);
        if checksum != head.checksum {
            return Err(self.damage(format!(
                "damaged block: its checksum is {checksum:08x}, expected {:08x}",
                head.checksum
            )));
        }
        self.contents.clear();
        self.contents.reserve(head.raw_bytes as usize);
        let unpacked =
            self.zstd.decompress(&mut self.contents, &self.packed).map_err(get_error_name);
        let message = match unpacked {
            Ok(bytes) if bytes == head.raw_bytes as usize => return Ok(()),
            Ok(bytes) => format!("block unpacks to {bytes} bytes, expected {}", head.raw_bytes),
            Err(error) => format!("block does not unpack to {} bytes: {error}", head.raw_bytes),
        };
        Err(self.damage(message))
    }

    /// Returns the contents read last.
    pub(super) fn unpacked(&self) -> &[u8] {
        &self.contents
    }

    /// Reads the trailer and checks that the input ends after it.
    pub(super) fn trailer(&mut self) -> Result<(), Failure> {
        let index_offset = self.block_offset;
        let mut bytes = [0; TRAILER_BYTES];
        if self.fill(&mut bytes)? < TRAILER_BYTES {
            return Err(self.damage(format!("trailer cut off, expected {TRAILER_BYTES} bytes")));
        }
        if trailer_offset(&bytes) != Some(index_offset) {
            return Err(self.damage("damaged trailer, expected it to point at the index"));
        }
        if self.fill(&mut [0])? > 0 {
            return Err(self.damage("bytes behind the trailer, expected the end of the input"));
        }
        Ok(())
    }

    /// Reads as many bytes as there are, up to the length of `bytes`.
    fn fill(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < bytes.len() {
            match self.inner.read(&mut bytes[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.offset += filled as u64;
        Ok(filled)
    }
}
