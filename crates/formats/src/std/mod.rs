//! STD, the text format that tools for race prediction share: `T1|acq(L1)|12`.
//!
//! One event a line: thread, operation with its target, source position. In addition to the
//! operations that every tool knows, the reader accepts atomic accesses, allocation and condition
//! variables. `docs/formats/std.md` has the grammar and the event for each operation.
//!
//! ```
//! use anyorder_formats::std::{StdReader, StdWriter};
//! use anyorder_trace::{EventKind, Trace};
//!
//! let text = "main|fork(T1)|3\nT1|w(x)|7\nmain|r(x)|4\n";
//! let trace = Trace::read(&mut StdReader::new(text.as_bytes()))?;
//! assert_eq!(trace.events().map(|e| e.kind()).last(), Some(EventKind::Read));
//!
//! let mut out = Vec::new();
//! trace.write(&mut StdWriter::new(&mut out))?;
//! assert_eq!(String::from_utf8(out)?, text);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub(crate) use assembler::Assembler;
pub(crate) use line::Target;
pub use reader::StdReader;
pub use sites::site_table;
pub use writer::{Losses, StdWriter};

mod assembler;
mod line;
mod reader;
mod recent;
mod representable;
mod sites;
mod waiting;
mod writer;
