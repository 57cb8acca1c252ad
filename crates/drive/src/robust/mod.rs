//! Robustness against concurrency: does it add an outcome to running each event, with all its
//! tasks, one after the other?

mod checked;
mod finding;
mod model;
mod program;
mod trace;

pub(crate) use checked::certified;
pub use checked::robust_program;
pub use model::RobustModelOptions;
pub(crate) use model::decide;
pub use program::{Declared, RobustProgram};
pub use trace::{RobustTraceOptions, robust_trace, robust_verdict};
