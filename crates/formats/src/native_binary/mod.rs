//! The native binary format: a trace as compressed, checksummed columns in blocks.
//!
//! `docs/formats/native-binary.md` is its specification. [`BinaryWriter`] and [`BinaryReader`]
//! stream; [`BinaryFile`] reads any block of a file by its number.
//!
//! Guarantees of the readers, for any input: no panic; no memory beyond the declared and limited
//! size of one block, the tables (limited, see [`BinaryReader::tables_limit`]) and the current
//! block; every task, operand, site, stack and label in a returned block is an index of its table.
//! The readers do *not* check whether a `refers` number is the number of an event, since it may lie
//! ahead. The check of well-formedness does that.

pub use file::{BinaryBlock, BinaryFile};
pub use layout::{MAGIC, RAW_BYTES_MAX, VERSION};
pub use reader::BinaryReader;
pub use writer::BinaryWriter;

/// The name of the format in errors and on command lines.
pub const FORMAT: &str = "native binary";

mod bytes;
mod check;
mod dictionary;
mod events;
mod events_write;
mod file;
mod frame;
mod index;
mod lanes;
mod layout;
mod reader;
mod rows;
mod sparse;
mod table_read;
mod table_write;
mod writer;
