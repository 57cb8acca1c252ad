//! Robustness against concurrency: does it add an outcome to running each event, with all its
//! tasks, one after the other?

mod finding;
mod model;
mod trace;

pub use model::{RobustModelOptions, robust_model};
pub use trace::{RobustTraceOptions, robust_trace, robust_verdict};
