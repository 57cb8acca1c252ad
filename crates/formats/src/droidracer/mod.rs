//! Logs of Android runs, as DroidRacer's instrumented runtime wrote them.
//!
//! [`DroidRacerReader`] reads the operations of a log as a trace. [`reported`] reads the results
//! that DroidRacer appended to the same file. `docs/formats/droidracer.md` describes the format and
//! the event for each operation.
//!
//! ```
//! use anyorder_formats::droidracer::DroidRacerReader;
//! use anyorder_trace::{EventKind, Trace};
//!
//! let log = "\
//! 1 THREADINIT tid:1
//! 2 POST src:1 msg:7 dest:-1 delay:0
//! 3 CALL tid:1 msg:7
//! rwId:1 WRITE tid:1 obj:0x41 class:Lcom/foo/Bar; field:8
//! 4 RET tid:1 msg:7
//! ";
//! let trace = Trace::read(&mut DroidRacerReader::new(log.as_bytes()))?;
//! assert_eq!(trace.len(), 5);
//! let write = trace.find("rwId:1").unwrap();
//! assert_eq!(trace.event(write).kind(), EventKind::Write);
//! assert_eq!(trace.task_name(trace.event(write).task), "msg 7");
//! # Ok::<(), anyorder_trace::ReadError>(())
//! ```

pub use reader::DroidRacerReader;
pub use reported::{Reported, ReportedGroup, ReportedRace, reported};

pub(crate) use line::looks_like_operation;

mod fields;
mod inputs;
mod line;
mod operations;
mod reader;
mod reported;
mod threads;
