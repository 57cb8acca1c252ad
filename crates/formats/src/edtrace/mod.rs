//! `edtrace`: partial traces of event-driven programs. They give program order, reads-from,
//! coherence and posted-by; the order of tasks is to be found.
//!
//! `docs/formats/edtrace.md` describes the format. A read may name a write further down, so both
//! the reader and the writer hold the whole trace.
//!
//! ```
//! use anyorder_formats::edtrace::EdtraceReader;
//! use anyorder_trace::{EventKind, Trace, TraceOrder};
//!
//! let text = "\
//! edtrace 1
//! p ui - post click
//! g ui click get
//! r ui click r counter w   # the write below
//! w io - w counter
//! ";
//! let trace = Trace::read(&mut EdtraceReader::new(text.as_bytes()))?;
//! assert_eq!(trace.tables().meta.order, TraceOrder::Partial);
//! let read = trace.find("r").unwrap();
//! assert_eq!(trace.columns().refers.get(read.0), Some(3));
//! # Ok::<(), anyorder_trace::ReadError>(())
//! ```

pub use reader::{EdtraceOptions, EdtraceReader};
pub use writer::EdtraceWriter;

mod coherence;
mod gather;
mod line;
mod reader;
mod writer;
