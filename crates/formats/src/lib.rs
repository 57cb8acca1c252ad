//! The formats a trace can be kept in, each with a streaming reader and, where it can be written, a
//! streaming writer; and what a reader did not understand.
//!
//! | module | contents |
//! | --- | --- |
//! | [`detect`] | recognises the format of an input by its content |
//! | [`open`] | opens a reader or a writer of any format |
//! | [`std`] | the race-prediction community's text format, `T1\|acq(L1)\|12` |
//! | [`native_text`] | the lossless text format of this project, one event a line |
//! | [`native_binary`] | the lossless binary format of this project |
//! | [`edtrace`] | partial traces of event-driven programs, for consistency checking |
//! | [`rapid_binary`] | RAPID's binary traces |
//! | [`logs`] | logs of SpeedyGo, TsanLogging and RoadRunner, and RAPID's tables |
//! | [`droidracer`] | logs of the Android runtime |
//! | [`foreign`] | files that users mistake for traces |
//!
//! [`Ignored`] lists the operations that a reader did not know, [`Threads`] what the names of
//! threads leave open. Events and tables are those of `anyorder-trace`, which needs none of this.
//!
//! ```
//! use anyorder_formats::std::StdReader;
//! use anyorder_trace::Trace;
//!
//! let trace = Trace::read(&mut StdReader::new("T1|w(x)|a.c:1\nT2|r(x)|a.c:2\n".as_bytes()))?;
//! assert_eq!(trace.len(), 2);
//! # Ok::<(), anyorder_trace::ReadError>(())
//! ```

#![forbid(unsafe_code)]

pub use ignored::{Ignored, IgnoredOperation};
pub use threads::{ThreadDoubt, Threads};

mod decimal;
pub mod detect;
pub mod droidracer;
pub mod edtrace;
mod fault;
pub mod foreign;
mod ignored;
mod lines;
pub mod logs;
pub mod native_binary;
pub mod native_text;
pub mod open;
pub mod rapid_binary;
pub mod std;
mod text_input;
mod threads;
