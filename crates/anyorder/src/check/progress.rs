//! Progress of a check that takes long.

use super::environment;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// The longest silence, if no longer one is asked for.
const SILENCE_MAX: Duration = Duration::from_secs(60);

/// Calls `f`, and prints from time to time that it is not done, if that is asked for.
pub(super) fn watched<R>(test: Option<&str>, runs: &Arc<AtomicU64>, f: impl FnOnce() -> R) -> R {
    let Some(silence) = environment::silence() else { return f() };
    let (done, is_done) = channel::<()>();
    let (runs, test) = (Arc::clone(runs), test.unwrap_or("a check").to_owned());
    let watch = thread::Builder::new().spawn(move || {
        let begun = Instant::now();
        let mut wait = silence;
        while is_done.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
            let (runs, seconds) = (runs.load(Ordering::Relaxed), begun.elapsed().as_secs());
            let plural = if runs == 1 { "" } else { "s" };
            environment::tell(&format!(
                "anyorder: {test}: not done after {seconds} s; the program ran {runs} time{plural}"
            ));
            wait = (wait * 2).min(SILENCE_MAX.max(silence));
        }
    });
    let result = f();
    drop(done);
    // Where no thread could be made, there was no progress to print.
    let _ = watch.map(thread::JoinHandle::join);
    result
}
