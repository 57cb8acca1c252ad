//! Threads.

pub use anyorder::thread::{
    AccessError, Builder, JoinHandle, LocalKey, Thread, ThreadId, current, panicking, park, spawn,
    yield_now,
};
