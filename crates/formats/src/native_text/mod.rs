//! The native text format: a complete trace, one event a line, easy to read and to type.
//!
//! It is the text twin of the native binary format. Everything in
//! [`Tables`](anyorder_trace::Tables) and [`Columns`](anyorder_trace::Columns) survives a round
//! trip, including ids.
//! `docs/formats/native-text.md` has the grammar.
//!
//! ```
//! use anyorder_formats::native_text::{NativeTextReader, NativeTextWriter};
//! use anyorder_trace::{EventKind, Trace};
//!
//! let text = r#"anyorder-trace 1
//! handler h0 "main" fifo
//! task t0 "main" initial h0
//! task t1 "click" posted h0 delay=20
//! location x0 "counter"
//! t0 post t1
//! t1 get h0
//! t1 write x0 value=5
//! t1 end
//! "#;
//! let trace = Trace::read(&mut NativeTextReader::new(text.as_bytes()))?;
//! assert_eq!(trace.events().map(|e| e.kind()).last(), Some(EventKind::End));
//!
//! let mut out = Vec::new();
//! trace.write(&mut NativeTextWriter::new(&mut out))?;
//! assert_eq!(Trace::read(&mut NativeTextReader::new(&out[..]))?, trace);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use reader::NativeTextReader;
pub use writer::NativeTextWriter;

mod cursor;
mod define;
mod event;
mod known;
mod parts;
mod reader;
mod words;
mod write_tables;
mod writer;
