//! Watches a long job: Ctrl-C, the time limit, the memory limit, and a progress bar with an ETA.

use crate::args::{Global, LimitArgs};
use crate::failure::{Failure, note};
use crate::input::awaits_terminal;
use crate::reading::stop_with;
use anyorder_common::files::read_system;
use anyorder_common::text::escape;
use anyorder_system::{Cancel, Control, Limits, Progress, StopReason};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::path::Path;
use std::sync::Mutex;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// Shorter jobs show no progress.
const SILENT_TIME: Duration = Duration::from_secs(1);

/// Shorter jobs do not print their notes, which also appear in the result.
const NOTES_TIME: Duration = Duration::from_secs(5);

/// How often the memory of the process is measured.
const MEMORY_POLL: Duration = Duration::from_millis(50);

/// Everything that can stop a job, and its progress bar.
pub(crate) struct Watch {
    cancel: Cancel,
    limits: Limits,
    bar: Bar,
    /// Dropping it ends the watching thread.
    _alive: mpsc::Sender<()>,
}

impl Watch {
    /// Starts to watch.
    pub(crate) fn start(global: &Global, limits: &LimitArgs) -> Result<Watch, Failure> {
        let cancel = Cancel::new();
        stop_with(&cancel);
        let on_interrupt = cancel.clone();
        let mut interrupted = false;
        ctrlc::set_handler(move || {
            if interrupted || awaits_terminal() {
                // The second Ctrl-C ends the process at once. So does the first one during terminal
                // input, because there is no result to save.
                std::process::exit(130);
            }
            interrupted = true;
            on_interrupt.stop(StopReason::Interrupted);
        })
        .map_err(|error| Failure::new(format!("cannot watch for Ctrl-C: {error}")))?;
        let (alive, gone) = mpsc::channel();
        let on_limit = cancel.clone();
        let watched = Watched {
            deadline: limits.time_limit.and_then(|time| Instant::now().checked_add(time)),
            memory: limits.memory_limit,
        };
        // Check once here, so that an exceeded limit stops even the shortest job.
        match watched.passed() {
            Some(reason) => cancel.stop(reason),
            None if watched.deadline.is_none() && watched.memory.is_none() => {}
            None => drop(thread::spawn(move || watched.guard(&on_limit, &gone))),
        }
        let limits = Limits { memory_bytes: limits.memory_limit, ..Limits::NONE };
        Ok(Watch { cancel, limits, bar: Bar::new(global), _alive: alive })
    }

    /// Returns the control to pass to engines.
    pub(crate) fn control(&self) -> Control<'_> {
        Control { cancel: self.cancel.clone(), progress: &self.bar, limits: self.limits }
    }

    /// Returns the reason for which the job was stopped, if any.
    pub(crate) fn stopped(&self) -> Option<StopReason> {
        self.cancel.reason()
    }

    /// Sets the text that the bar shows after a number without a total.
    pub(crate) fn detail(&self, text: String) {
        if let Ok(mut detail) = self.bar.detail.lock() {
            *detail = text;
        }
    }

    /// Returns the duration of the last finished phase with this name, in milliseconds.
    pub(crate) fn phase_ms(&self, name: &str) -> u64 {
        let Ok(past) = self.bar.past.lock() else { return 0 };
        let last = past.iter().rev().find(|phase| phase.0 == name);
        last.map_or(0, |phase| u64::try_from(phase.1.as_millis()).unwrap_or(u64::MAX))
    }

    /// Removes the bar from the terminal.
    pub(crate) fn done(&self) {
        self.bar.clear();
    }
}

/// The limits on the time and memory of a job.
struct Watched {
    deadline: Option<Instant>,
    memory: Option<u64>,
}

impl Watched {
    /// Returns the limit that is exceeded now.
    fn passed(&self) -> Option<StopReason> {
        if self.deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            return Some(StopReason::TimeLimit);
        }
        let grown = |limit| resident_bytes().is_some_and(|now| now > limit);
        self.memory.is_some_and(grown).then_some(StopReason::MemoryLimit)
    }

    /// Stops the job when a limit is exceeded. Returns when the job has ended.
    fn guard(&self, cancel: &Cancel, gone: &mpsc::Receiver<()>) {
        loop {
            if let Some(reason) = self.passed() {
                return cancel.stop(reason);
            }
            let poll = if self.memory.is_some() { MEMORY_POLL } else { Duration::from_secs(3600) };
            let left = self.deadline.map(|at| at.saturating_duration_since(Instant::now()));
            match gone.recv_timeout(left.map_or(poll, |left| left.min(poll))) {
                Err(RecvTimeoutError::Timeout) => {}
                _ => return,
            }
        }
    }
}

/// Returns the resident memory of this process, if the system reports it.
fn resident_bytes() -> Option<u64> {
    Some(status_kb("VmRSS:")? * 1024)
}

/// Returns the peak memory of this process in units of 1,024 bytes, if the system reports it.
pub(crate) fn peak_memory_kb() -> Option<u64> {
    status_kb("VmHWM:")
}

fn status_kb(field: &str) -> Option<u64> {
    let status = read_system(Path::new("/proc/self/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}

/// A progress bar. It appears after one second, and only on a terminal.
struct Bar {
    start: Instant,
    wanted: bool,
    /// Notes to print once the job has taken a while; `None` if they are disabled.
    notes: Option<Mutex<Vec<String>>>,
    shown: Mutex<Option<ProgressBar>>,
    phase: Mutex<Phase>,
    /// The finished phases and their durations.
    past: Mutex<Vec<(&'static str, Duration)>>,
    detail: Mutex<String>,
}

/// The current phase and its start. Each phase counts in its own units.
#[derive(Clone, Copy)]
struct Phase {
    name: &'static str,
    start: Instant,
}

impl Bar {
    fn new(global: &Global) -> Bar {
        let wanted = !global.quiet && std::io::stderr().is_terminal();
        let start = Instant::now();
        let phase = Mutex::new(Phase { name: "working", start });
        let notes = (!global.quiet).then(Mutex::default);
        let (shown, past, detail) = Default::default();
        Bar { start, wanted, notes, shown, phase, past, detail }
    }

    fn clear(&self) {
        if let Ok(mut shown) = self.shown.lock()
            && let Some(bar) = shown.take()
        {
            bar.finish_and_clear();
        }
    }

    /// Prints the pending notes if the job has taken a while.
    fn show_notes(&self) {
        let patience = if self.wanted { SILENT_TIME } else { NOTES_TIME };
        let Some(Ok(mut notes)) = self.notes.as_ref().map(Mutex::lock) else { return };
        if notes.is_empty() || self.start.elapsed() < patience {
            return;
        }
        let show = || notes.iter().for_each(|text| note(&escape(text)));
        match self.shown.lock().ok().as_deref() {
            Some(Some(bar)) => bar.suspend(show),
            _ => show(),
        }
        notes.clear();
    }
}

impl Progress for Bar {
    fn note(&self, text: &str) {
        if let Some(Ok(mut notes)) = self.notes.as_ref().map(Mutex::lock) {
            notes.push(text.to_owned());
        }
        self.show_notes();
    }

    fn report(&self, done: u64, total: Option<u64>) {
        self.show_notes();
        if !self.wanted || self.start.elapsed() < SILENT_TIME {
            return;
        }
        let (Ok(mut shown), Ok(phase)) = (self.shown.lock(), self.phase.lock()) else { return };
        let bar = shown.get_or_insert_with(|| {
            ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr())
        });
        let template = match total {
            Some(_) => "{msg} [{wide_bar}] {percent} %{prefix}",
            None => "{msg} {human_pos}{prefix}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_message(phase.name);
        if let Some(total) = total {
            bar.set_length(total);
            bar.set_prefix(left(phase.start.elapsed(), done, total));
        }
        if total.is_none()
            && let Ok(detail) = self.detail.lock()
        {
            bar.set_prefix(detail.clone());
        }
        bar.set_position(done);
    }

    fn phase(&self, name: &'static str) {
        if let (Ok(mut phase), Ok(mut past)) = (self.phase.lock(), self.past.lock()) {
            past.push((phase.name, phase.start.elapsed()));
            *phase = Phase { name, start: Instant::now() };
        }
        if let Ok(mut detail) = self.detail.lock() {
            detail.clear();
        }
    }
}

/// Estimates the remaining time of a phase from its speed so far.
fn left(elapsed: Duration, done: u64, total: u64) -> String {
    if done == 0 || done > total {
        return String::new();
    }
    let seconds = elapsed.as_secs_f64() * (total - done) as f64 / done as f64;
    match seconds.ceil() as u64 {
        seconds @ 0..120 => format!(", {seconds} s left"),
        seconds => format!(", {} min left", seconds.div_ceil(60)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_is_estimated_from_the_speed_so_far() {
        let ten = Duration::from_secs(10);
        assert_eq!(left(ten, 1, 4), ", 30 s left");
        assert_eq!(left(ten, 1, 100), ", 17 min left");
        assert_eq!(left(ten, 4, 4), ", 0 s left");
        assert_eq!(left(ten, 0, 4), "");
    }

    #[test]
    fn limits_that_are_passed_say_so() {
        let none = Watched { deadline: None, memory: None };
        assert_eq!(none.passed(), None);
        let late = Watched { deadline: Some(Instant::now()), memory: None };
        assert_eq!(late.passed(), Some(StopReason::TimeLimit));
        let large = Watched { deadline: None, memory: Some(u64::MAX) };
        assert_eq!(large.passed(), None);
    }
}
