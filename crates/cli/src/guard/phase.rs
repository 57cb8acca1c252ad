//! Which thread writes the result: the job, or the guard in its place. The first one decides.

use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;
use std::time::Duration;

/// The job works; nobody writes.
const WORKING: u8 = 0;
/// The job writes its result, or has written it.
const WRITING: u8 = 1;
/// The guard ends the process.
const OVER: u8 = 2;

static PHASE: AtomicU8 = AtomicU8::new(WORKING);

/// Takes the output for the job. It is called before the first byte of a result or of an error is
/// written. If the guard has taken over, the process is about to end, and this does not return.
pub(crate) fn claim() {
    if change(WORKING, WRITING) || PHASE.load(Ordering::Acquire) == WRITING {
        return;
    }
    loop {
        thread::sleep(Duration::from_secs(3600));
    }
}

/// Takes the output for the guard. Returns whether the job had not begun to write.
pub(super) fn take_over() -> bool {
    change(WORKING, OVER)
}

/// Returns whether the job has begun to write.
pub(super) fn is_writing() -> bool {
    PHASE.load(Ordering::Acquire) == WRITING
}

fn change(from: u8, to: u8) -> bool {
    PHASE.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
}
