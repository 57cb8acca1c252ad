//! Watches a job: its limits, through the guard, its result so far, and a progress bar with an ETA.

use crate::args::{Global, LimitArgs};
use crate::failure::{Failure, Usage, note};
use crate::guard::foreground;
use crate::guard::{Checkpoints, Document, Draft, Guard};
use crate::reading::stop_with;
use anyorder_common::text::escape;
use anyorder_drive::{JobControl, JobResult};
use anyorder_system::{Cancel, Control, Limits, Progress, StopReason};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::{Arc, Mutex};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// Shorter jobs show no progress.
const SILENT_TIME: Duration = Duration::from_secs(1);

/// Shorter jobs do not print their notes, which also appear in the result.
const NOTES_TIME: Duration = Duration::from_secs(5);

/// Everything that can stop a job, its result so far, and its progress bar. There is one for a
/// process; it starts before any input is read.
pub(crate) struct Watch {
    cancel: Cancel,
    limits: Limits,
    /// The options that the user gave.
    pub(crate) asked: LimitArgs,
    pub(crate) started: Instant,
    draft: Arc<Draft>,
    /// Puts what a job has found so far into the draft.
    found: Box<dyn Fn(JobResult) + Sync>,
    checkpoints: Arc<Checkpoints>,
    bar: Bar,
}

impl Watch {
    /// Starts to watch.
    pub(crate) fn start(global: &Global) -> Result<Watch, Failure> {
        let (started, asked) = (Instant::now(), global.limits.clone());
        let cancel = Cancel::new();
        stop_with(&cancel);
        let draft = Arc::<Draft>::default();
        let checkpoints = Arc::<Checkpoints>::default();
        let guard = Guard {
            cancel: cancel.clone(),
            draft: Arc::clone(&draft),
            checkpoints: Arc::clone(&checkpoints),
            quiet: global.quiet,
        };
        guard.start(&asked)?;
        let limits = Limits { memory_bytes: asked.memory_limit, ..Limits::NONE };
        let kept = Arc::clone(&draft);
        let found = Box::new(move |so_far| kept.publish(so_far));
        let bar = Bar::new(global);
        Ok(Watch { cancel, limits, asked, started, draft, found, checkpoints, bar })
    }

    /// Returns the result so far.
    pub(crate) fn draft(&self) -> &Draft {
        &self.draft
    }

    /// Begins a result document, which the guard prints if the job does not end in time.
    pub(crate) fn begin(&self, document: Document) {
        self.draft.begin(document, &self.asked, self.started);
    }

    /// Tells whether a checkpoint is being saved.
    pub(crate) fn saving(&self, saving: bool) {
        self.checkpoints.set(saving);
    }

    /// Returns the control to pass to jobs and engines.
    pub(crate) fn control(&self) -> JobControl<'_> {
        let cancel = self.cancel.clone();
        let control = Control { cancel, progress: &self.bar, limits: self.limits };
        JobControl::new(control, &*self.found)
    }

    /// Returns a token that is stopped after this time, or earlier where the time limit leaves
    /// less: then a third of what it leaves is for ending.
    ///
    /// # Errors
    ///
    /// Fails when the system gives no thread to keep the time.
    pub(crate) fn budget(&self, time: Duration) -> Result<Cancel, Failure> {
        let budget = Cancel::new();
        let time = self.left().map_or(time, |left| time.min(left / 3 * 2));
        let timer = budget.clone();
        let wait = move || {
            std::thread::sleep(time);
            timer.stop(StopReason::TimeLimit);
        };
        if time.is_zero() {
            budget.stop(StopReason::TimeLimit);
            return Ok(budget);
        }
        let started = Builder::new().name("budget".to_owned()).spawn(wait);
        started.map_err(|error| Usage::CannotWatch {
            what: "no thread to keep `--budget`",
            why: error.to_string(),
        })?;
        Ok(budget)
    }

    /// Returns a token that is stopped with the job, and before the time limit: by a tenth of the
    /// time that is left, ten seconds at most. It is for a job that takes long to end.
    ///
    /// # Errors
    ///
    /// Fails when the system gives no thread to keep the time.
    pub(crate) fn early(&self) -> Result<Cancel, Failure> {
        const LOOK: Duration = Duration::from_millis(20);
        const END_MAX: Duration = Duration::from_secs(10);
        let Some(left) = self.left() else { return Ok(self.cancel.clone()) };
        let begun = Instant::now();
        let time = left.saturating_sub((left / 10).min(END_MAX));
        let (early, all) = (Cancel::new(), self.cancel.clone());
        let timer = early.clone();
        let wait = move || {
            while begun.elapsed() < time && all.reason().is_none() {
                std::thread::sleep(LOOK);
            }
            timer.stop(all.reason().unwrap_or(StopReason::TimeLimit));
        };
        let started = Builder::new().name("early end".to_owned()).spawn(wait);
        started.map_err(|error| Usage::CannotWatch {
            what: "no thread to keep `--time-limit`",
            why: error.to_string(),
        })?;
        Ok(early)
    }

    /// Returns the reason for which the job was stopped, if any.
    pub(crate) fn stopped(&self) -> Option<StopReason> {
        self.cancel.reason()
    }

    /// Asks the job to stop.
    pub(crate) fn stop(&self, reason: StopReason) {
        self.cancel.stop(reason);
    }

    /// Returns the time until the time limit, if there is one.
    pub(crate) fn left(&self) -> Option<Duration> {
        let limit = self.asked.time_limit?;
        let used = self.started.elapsed().saturating_sub(foreground::spent());
        Some(limit.saturating_sub(used))
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

/// Returns the peak memory of this process in units of 1,024 bytes, if the system reports it.
pub(crate) fn peak_memory_kb() -> Option<u64> {
    anyorder_process::peak_bytes().map(|bytes| bytes / 1024)
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
}
