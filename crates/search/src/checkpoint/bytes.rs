//! Numbers and texts in a stream, with the hash of all bytes so far.

use crate::error::SearchError;
use anyorder_system::{Hash128, StateHash};
use std::hash::Hasher;
use std::io::{self, Read, Write};

/// Memory is allocated in pieces of this size, whatever a file says.
const PIECE: u64 = 1 << 16;

/// Writes and hashes.
pub(super) struct Out<W> {
    inner: W,
    hash: StateHash,
}

impl<W: Write> Out<W> {
    pub(super) fn new(inner: W) -> Out<W> {
        Out { inner, hash: StateHash::new() }
    }

    pub(super) fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hash.write(bytes);
        self.inner.write_all(bytes)
    }

    pub(super) fn u8(&mut self, number: u8) -> io::Result<()> {
        self.raw(&[number])
    }

    pub(super) fn u16(&mut self, number: u16) -> io::Result<()> {
        self.raw(&number.to_le_bytes())
    }

    pub(super) fn u32(&mut self, number: u32) -> io::Result<()> {
        self.raw(&number.to_le_bytes())
    }

    pub(super) fn u64(&mut self, number: u64) -> io::Result<()> {
        self.raw(&number.to_le_bytes())
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.u64(bytes.len() as u64)?;
        self.raw(bytes)
    }

    /// Writes the hash and returns the stream.
    pub(super) fn finish(mut self) -> io::Result<W> {
        self.inner.write_all(&self.hash.finish128().0.to_le_bytes())?;
        Ok(self.inner)
    }
}

/// Reads; the end of the file is damage.
pub(super) struct In<R> {
    inner: R,
}

fn damaged(error: io::Error) -> SearchError {
    if error.kind() == io::ErrorKind::UnexpectedEof {
        SearchError::NotACheckpoint("it ends early")
    } else {
        SearchError::Io(error)
    }
}

impl<R: Read> In<R> {
    pub(super) fn new(inner: R) -> In<R> {
        In { inner }
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], SearchError> {
        let mut bytes = [0; N];
        self.inner.read_exact(&mut bytes).map_err(damaged)?;
        Ok(bytes)
    }

    pub(super) fn u8(&mut self) -> Result<u8, SearchError> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    pub(super) fn u16(&mut self) -> Result<u16, SearchError> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    pub(super) fn u32(&mut self) -> Result<u32, SearchError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(super) fn u64(&mut self) -> Result<u64, SearchError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    pub(super) fn bytes(&mut self) -> Result<Vec<u8>, SearchError> {
        let mut missing = self.u64()?;
        let mut bytes = Vec::new();
        while missing > 0 {
            let piece = missing.min(PIECE);
            let before = bytes.len() as u64;
            (&mut self.inner).take(piece).read_to_end(&mut bytes).map_err(damaged)?;
            if bytes.len() as u64 - before < piece {
                return Err(SearchError::NotACheckpoint("it ends early"));
            }
            missing -= piece;
        }
        Ok(bytes)
    }

    pub(super) fn text(&mut self) -> Result<String, SearchError> {
        let bytes = self.bytes()?;
        String::from_utf8(bytes).map_err(|_| SearchError::NotACheckpoint("a text is not UTF-8"))
    }
}

/// Reads a whole stream and returns whether its last 16 bytes are the hash of the rest.
pub(super) fn is_whole(mut stream: impl Read) -> io::Result<bool> {
    let mut hash = StateHash::new();
    let mut held: Vec<u8> = Vec::new();
    let mut piece = vec![0; PIECE as usize];
    loop {
        let count = match stream.read(&mut piece) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if count == 0 {
            break;
        }
        held.extend_from_slice(&piece[..count]);
        let known = held.len().saturating_sub(16);
        hash.write(&held[..known]);
        held.drain(..known);
    }
    let expected: Result<[u8; 16], _> = held.as_slice().try_into();
    Ok(expected.is_ok_and(|bytes| Hash128(u128::from_le_bytes(bytes)) == hash.finish128()))
}
