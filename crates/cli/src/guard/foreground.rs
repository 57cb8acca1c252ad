//! The program that `anyorder run` runs: while it runs, signals are for it, and the time limit,
//! which is for the analysis, does not count.

use anyorder_drive::native_run::launch::{Program, Signal};
use anyorder_process::{Asked, last_signal};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The running program, and when the first signal was passed on to it.
static RUNNING: Mutex<Option<(Program, Option<Instant>)>> = Mutex::new(None);

/// Whether a program runs, without the lock.
static IS_RUNNING: AtomicBool = AtomicBool::new(false);

/// The time for which programs have run.
static SPENT_US: AtomicU64 = AtomicU64::new(0);

/// Runs a program in the foreground: from now on, until it has ended.
pub(crate) fn run<T>(program: &Program, wait: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    *RUNNING.lock().unwrap_or_else(PoisonError::into_inner) = Some((program.clone(), None));
    IS_RUNNING.store(true, Ordering::SeqCst);
    let ended = wait();
    let spent = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
    SPENT_US.fetch_add(spent, Ordering::SeqCst);
    IS_RUNNING.store(false, Ordering::SeqCst);
    *RUNNING.lock().unwrap_or_else(PoisonError::into_inner) = None;
    ended
}

/// Returns whether a program runs in the foreground.
pub(super) fn is_running() -> bool {
    IS_RUNNING.load(Ordering::SeqCst)
}

/// Returns the time for which programs have run.
pub(crate) fn spent() -> Duration {
    Duration::from_micros(SPENT_US.load(Ordering::SeqCst))
}

/// Passes the last signal on to the program, if one runs: the first one as it is, a later one as
/// the end of the program. Returns whether one runs. Signals within `together` count as one.
pub(super) fn pass_on(together: Duration) -> bool {
    let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    let Some((program, first)) = running.as_mut() else { return false };
    match first {
        Some(first) if first.elapsed() > together => program.signal(Signal::Kill),
        Some(_) => {}
        None => {
            *first = Some(Instant::now());
            match last_signal() {
                // The terminal has sent it to the program as well.
                Some((_, true)) => {}
                Some((Asked::Interrupt, false)) => program.signal(Signal::Interrupt),
                Some((Asked::HangUp, false)) => program.signal(Signal::HangUp),
                Some((Asked::Terminate, false)) | None => program.signal(Signal::Terminate),
            }
        }
    }
    true
}
