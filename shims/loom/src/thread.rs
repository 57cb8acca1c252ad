//! Threads.

pub use anyorder::thread::{
    AccessError, Builder, JoinHandle, LocalKey, Thread, ThreadId, current, panicking, park,
    yield_now,
};

// As in loom, threads need not be `Send`.
pub use anyorder::thread::spawn_local as spawn;
