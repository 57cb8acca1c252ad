//! The formats a trace can be kept in, each with a streaming reader and, where it can be written, a
//! streaming writer.
//!
//! | module | contents |
//! | --- | --- |
//! | [`std`] | the race-prediction community's text format, `T1\|acq(L1)\|12` |
//! | [`native_text`] | the lossless text format of this project, one event a line |
//! | [`native_binary`] | the lossless binary format of this project |
//! | [`edtrace`] | partial traces of event-driven programs, for consistency checking |
//! | [`droidracer`] | logs of the Android runtime |

mod decimal;
pub mod droidracer;
pub mod edtrace;
mod fault;
mod lines;
pub mod native_binary;
pub mod native_text;
pub mod std;
mod text_input;
