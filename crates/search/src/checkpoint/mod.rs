//! A search in a file, to resume it later.
//!
//! All numbers are little-endian; `text` is its length (64 bits) and UTF-8. The parts, one after
//! the other:
//!
//! | part | content |
//! | --- | --- |
//! | magic | `anyorder-search` and a zero byte |
//! | version | 32 bits, 2 |
//! | identity | text: the program, its version and options, as the front end gives it |
//! | options | text: the options that decide which states are found, and in which order |
//! | stats | states, transitions, executions, deepest, largest frontier (64 bits each) |
//! | level | 64 bits: 0, or one more than the depth of the level |
//! | links | for each state: parent (32 bits), place (32 bits) |
//! | parts | number (64 bits), a byte each |
//! | faults | number (64 bits); each: kind (8 bits), message or waiting places (text) or index (64 bits), length, state, place plus one (64 bits each) |
//! | store | fingerprints: two words (64 bits) for each state by number; exact: fingerprint words and encoding (number of bytes, bytes) for each; bitstate: number of words, words |
//! | frontier | number (64 bits); each: state, depth (32 bits each), encoding (number of bytes, bytes) |
//! | graph | a byte whether it is there; then initial states, and for each state: known (bit 0) and only optional transitions (bit 1; 8 bits), flags, number of transitions (32 bits), each: target (32 bits), class (16 bits) |
//! | check | 128 bits: the hash of everything before |
//!
//! No size in a file is trusted: memory is taken as bytes are read.

mod bytes;
mod read;
mod write;

use crate::options::{Order, SearchOptions, Storage};
use anyorder_common::files::{Source, never_stop};
use std::io::{self, Read as _};
use std::path::Path;

const MAGIC: &[u8; 16] = b"anyorder-search\0";
const VERSION: u32 = 2;

/// Returns whether a file begins like a checkpoint. Other files should not be overwritten. Reads 16
/// bytes.
///
/// # Errors
///
/// Fails if the file cannot be read.
pub fn is_checkpoint(path: &Path) -> io::Result<bool> {
    let mut head = Vec::new();
    let source = Source::open(path, never_stop)?;
    source.take(MAGIC.len() as u64).read_to_end(&mut head)?;
    Ok(head == MAGIC)
}

/// Returns the options that a checkpoint depends on, as text.
fn options_text(options: &SearchOptions) -> String {
    let order = match options.order {
        Order::Breadth => "breadth",
        Order::Depth => "depth",
    };
    let storage = match options.storage {
        Storage::Fingerprints => "fingerprints".to_owned(),
        Storage::Exact => "exact".to_owned(),
        Storage::Bitstate { bytes } => format!("bitstate:{bytes}"),
    };
    let SearchOptions { symmetry, deadlocks, responses, keep_graph, .. } = options;
    format!(
        "order={order} storage={storage} symmetry={symmetry} deadlocks={deadlocks} responses={responses} graph={keep_graph}"
    )
}
