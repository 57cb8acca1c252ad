//! Logs of other recorders and tools for race prediction: lines with a thread, an operation, its
//! target and often a place in the source.
//!
//! Each format is a dialect: it splits a line, and says which event it is. What the lines share is
//! in [`LogReader`]: tables, labels, warnings, blocks.

pub use rapid_csv::RapidCsv;
pub use reader::LogReader;
pub use roadrunner::RoadRunner;
pub use speedygo::SpeedyGo;
pub use tsan::TsanLog;

pub(crate) use rapid_csv::looks_like_rapid_csv;
pub(crate) use roadrunner::looks_like_roadrunner;
pub(crate) use speedygo::looks_like_speedygo;
pub(crate) use tsan::looks_like_tsan_log;

mod rapid_csv;
mod reader;
mod roadrunner;
mod speedygo;
mod speedygo_go;
mod tsan;
