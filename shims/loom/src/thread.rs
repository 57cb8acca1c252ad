//! Threads.

pub use anyorder::thread::{
    AccessError, Builder, JoinHandle, LocalKey, Thread, ThreadId, current, panicking, park,
    yield_now,
};

#[cfg(feature = "spawn-local")]
pub use anyorder::thread::spawn_local as spawn;

#[cfg(not(feature = "spawn-local"))]
pub use anyorder::thread::spawn;
