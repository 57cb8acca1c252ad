//! Which thread writes the result: the job, or the guard in its place. The first one decides.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;
use std::time::Duration;

/// The job works; nobody writes.
const WORKING: u8 = 0;
/// The job writes its result.
const WRITING: u8 = 1;
/// The job has written its result, and tidies up.
const WRITTEN: u8 = 3;
/// The guard ends the process.
const OVER: u8 = 2;

static PHASE: AtomicU8 = AtomicU8::new(WORKING);

/// Takes the output for the job. It is called before the first byte of a result or of an error is
/// written. If the guard has taken over, the process is about to end, and this does not return.
pub(crate) fn claim() {
    if change(WORKING, WRITING) || change(WRITTEN, WRITING) || is_writing() {
        return;
    }
    loop {
        thread::sleep(Duration::from_secs(3600));
    }
}

/// A stream that takes the output for the job when its first byte is written.
pub(crate) struct Claiming<W>(pub(crate) W);

impl<W: Write> Write for Claiming<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        claim();
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Tells that the output is written as a whole. To free much memory may take long after that.
pub(crate) fn written() {
    change(WRITING, WRITTEN);
}

/// How far the job was when the guard took over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Taken {
    /// It had written nothing.
    Nothing,
    /// It had begun to write.
    Part,
    /// It had written everything.
    Whole,
}

/// Takes the output for the guard, unless the job is writing.
pub(crate) fn take_over() -> Taken {
    if change(WORKING, OVER) {
        Taken::Nothing
    } else if change(WRITTEN, OVER) {
        Taken::Whole
    } else {
        Taken::Part
    }
}

/// Returns whether the job has begun to write.
pub(crate) fn is_writing() -> bool {
    PHASE.load(Ordering::Acquire) == WRITING
}

/// Goes from one phase to the next. Returns false in any other phase.
fn change(from: u8, to: u8) -> bool {
    PHASE.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
}
