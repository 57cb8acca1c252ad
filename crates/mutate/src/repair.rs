//! Makes the checksums of a changed file right again, as no mutation guesses one.

use crate::kind::Kind;
use anyorder_system::StateHash;
use std::hash::Hasher as _;

/// The bytes of a head of a block.
const HEAD: usize = 32;

/// Repairs the checksums of a file of a kind that has them.
pub fn repair(kind: Kind, bytes: &mut Vec<u8>) {
    match kind {
        Kind::Binary => {
            let blocks = split(bytes);
            if !blocks.is_empty() {
                *bytes = join(&blocks);
            }
        }
        Kind::Checkpoint => checkpoint(bytes),
        _ => {}
    }
}

/// The last 16 bytes of a checkpoint are the hash of what stands before them.
fn checkpoint(bytes: &mut [u8]) {
    let Some(known) = bytes.len().checked_sub(16) else { return };
    let mut hash = StateHash::new();
    hash.write(&bytes[..known]);
    bytes[known..].copy_from_slice(&hash.finish128().0.to_le_bytes());
}

/// One block of a native binary file, as `docs/formats/native-binary.md` describes it.
#[derive(Clone, Debug)]
pub(crate) struct BinaryBlock {
    pub(crate) kind: u8,
    pub(crate) events: u32,
    pub(crate) first: u64,
    /// The size after unpacking that the head states.
    pub(crate) unpacked: u32,
    pub(crate) packed: Vec<u8>,
}

impl BinaryBlock {
    /// Unpacks the contents; `None` for damaged ones, and for more than 4 MiB.
    pub(crate) fn contents(&self) -> Option<Vec<u8>> {
        zstd::bulk::decompress(&self.packed, 4 << 20).ok()
    }

    /// Replaces the contents, and states their size.
    pub(crate) fn set_contents(&mut self, contents: &[u8]) {
        if let Ok(packed) = zstd::bulk::compress(contents, 1) {
            self.packed = packed;
            self.unpacked = contents.len() as u32;
        }
    }
}

/// Returns the blocks of a file up to the first head that leads out of it.
pub(crate) fn split(bytes: &[u8]) -> Vec<BinaryBlock> {
    let mut blocks = Vec::new();
    let mut at = 16;
    while let Some(head) = bytes.get(at..at + HEAD) {
        let number = |from: usize| {
            u32::from_le_bytes([head[from], head[from + 1], head[from + 2], head[from + 3]])
        };
        let Some(packed) = bytes.get(at + HEAD..).and_then(|rest| rest.get(..number(4) as usize))
        else {
            break;
        };
        blocks.push(BinaryBlock {
            kind: head[0],
            events: number(12),
            first: u64::from(number(16)) | u64::from(number(20)) << 32,
            unpacked: number(8),
            packed: packed.to_vec(),
        });
        at += HEAD + packed.len();
    }
    blocks
}

/// Returns a file of these blocks with right checksums and a right trailer.
pub(crate) fn join(blocks: &[BinaryBlock]) -> Vec<u8> {
    let mut out = b"\x89AOT\r\n\x1a\n\x01\0\0\0".to_vec();
    out.extend(crc32fast::hash(&out).to_le_bytes());
    let mut last = 0u64;
    for block in blocks {
        last = out.len() as u64;
        let start = out.len();
        out.extend([block.kind, 0, 0, 0]);
        out.extend((block.packed.len() as u32).to_le_bytes());
        out.extend(block.unpacked.to_le_bytes());
        out.extend(block.events.to_le_bytes());
        out.extend(block.first.to_le_bytes());
        out.extend(crc32fast::hash(&block.packed).to_le_bytes());
        out.extend(crc32fast::hash(&out[start..]).to_le_bytes());
        out.extend_from_slice(&block.packed);
    }
    out.extend(last.to_le_bytes());
    out.extend(crc32fast::hash(&last.to_le_bytes()).to_le_bytes());
    out.extend(b"AOTE");
    out
}
