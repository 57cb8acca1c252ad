//! Watches time, memory and signals, and ends the process when the job does not end itself.

use super::draft::Draft;
use super::foreground;
use super::writer::{self, Order};
use super::{Cause, GRACE, LAST};
use crate::args::LimitArgs;
use crate::failure::{Failure, Usage};
use crate::input::awaits_terminal;
use crate::phase::{self, Taken};
use anyorder_common::files::end_files;
use anyorder_finding::exit;
use anyorder_process::{self as process, Memory, Refusal};
use anyorder_system::{Cancel, StopReason};
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

/// The longest time between two looks. Memory that grows close to its limit is watched more often.
const LOOK: Duration = Duration::from_millis(10);

/// The most bytes that all threads of a process touch in a millisecond.
const BYTES_PER_MS: u64 = 10 << 20;

/// A process uses some memory before it does anything. A hard bound is at least this far above.
const ROOM: u64 = 24 << 20;

/// The status of a process that a second signal ends.
const INTERRUPTED: u8 = 130;

/// Signals that come within this time count as one.
const TOGETHER: Duration = Duration::from_millis(80);

/// How long the thread may take that writes the last message.
const LAST_WORDS: Duration = Duration::from_millis(50);

/// How long the writer may take to clean up, and to say that the output was cut.
const CLEAN_UP: Duration = Duration::from_millis(100);

/// A look that comes later than this was kept from the processor by other programs.
const LATE: Duration = Duration::from_millis(20);

/// How much more time the job gets because the processor was busy with other programs. The process
/// still ends within a second.
const LENT_MAX: Duration = Duration::from_millis(50);

/// When the job was asked to stop.
static ASKED: OnceLock<Instant> = OnceLock::new();

/// How long a job that was asked to stop may go on writing what it has.
const HURRY: Duration = Duration::from_millis(200);

/// Returns whether the job was asked to stop some time ago, so that it must leave out what it has
/// not written yet.
pub(crate) fn is_late() -> bool {
    ASKED.get().is_some_and(|asked| asked.elapsed() > HURRY)
}

/// The status of the result, once it is known.
static STATUS: AtomicU8 = AtomicU8::new(exit::LIMIT);

/// Returns the exit status of the result that is being written; that of a limit without one.
pub(super) fn status() -> u8 {
    STATUS.load(Ordering::Relaxed)
}

/// Whether the writer has written the result, and makes the report.
static RESULT_WRITTEN: AtomicBool = AtomicBool::new(false);

/// Tells that the writer has written the result.
pub(super) fn set_written() {
    RESULT_WRITTEN.store(true, Ordering::Relaxed);
}

/// Whether a second signal has come.
static AT_ONCE: AtomicBool = AtomicBool::new(false);

/// Sets the exit status of the result that is being written.
pub(crate) fn set_status(status: u8) {
    STATUS.store(status, Ordering::Relaxed);
}

/// Whether the job saves a checkpoint. The guard waits for it as long as for output. A search that
/// a time limit ends begins to save early enough.
#[derive(Debug, Default)]
pub(crate) struct Checkpoints {
    saving: AtomicBool,
}

impl Checkpoints {
    /// Tells whether the job saves a checkpoint now.
    pub(crate) fn set(&self, saving: bool) {
        self.saving.store(saving, Ordering::Relaxed);
    }

    /// Returns how much longer than usual the job may take now.
    fn patience(&self) -> Duration {
        if self.saving.load(Ordering::Relaxed) { LAST - GRACE } else { Duration::ZERO }
    }
}

/// What the guard watches.
pub(crate) struct Guard {
    pub(crate) cancel: Cancel,
    pub(crate) draft: Arc<Draft>,
    pub(crate) checkpoints: Arc<Checkpoints>,
    pub(crate) quiet: bool,
}

impl Guard {
    /// Starts to watch, and asks the job to stop at once if a limit is exceeded already.
    pub(crate) fn start(self, limits: &LimitArgs) -> Result<(), Failure> {
        let started = Instant::now();
        let memory = Memory::open();
        let now = memory.as_ref().and_then(Memory::resident_bytes).unwrap_or(0);
        let bounds = limits.memory_limit.map(|soft| Bounds::new(soft, now));
        process::begin(bounds.map(|bounds| bounds.hard));
        on_signals(self.cancel.clone())?;
        let failed = |error: std::io::Error| Usage::CannotWatch {
            what: "cannot watch the limits",
            why: error.to_string(),
        };
        let writer = writer::start(Arc::clone(&self.draft), self.quiet).map_err(failed)?;
        let deadline = limits.time_limit.and_then(|time| started.checked_add(time));
        let mut watch = Poll {
            guard: self,
            deadline,
            bounds,
            memory,
            asked: None,
            lent: Duration::ZERO,
            writer,
        };
        // Look once here, so that an exceeded limit stops even the shortest job.
        watch.ask();
        let watch = thread::Builder::new().name("guard".to_owned()).spawn(move || {
            process::exempt_this_thread();
            watch.run();
        });
        watch.map_err(failed)?;
        Ok(())
    }
}

/// Asks the job to stop at the first signal, and the process to end at the second.
fn on_signals(cancel: Cancel) -> Result<(), Failure> {
    let ignored = process::hangup_is_ignored();
    let mut interrupted: Option<Instant> = None;
    ctrlc::set_handler(move || {
        if foreground::pass_on(TOGETHER) {
            return;
        }
        // `timeout` sends its signal twice: to the process, and to its group.
        let again = interrupted.is_some_and(|first| first.elapsed() > TOGETHER);
        interrupted.get_or_insert_with(Instant::now);
        // The first signal during terminal input ends the process, too: there is no result to save.
        // Nor is the job asked to stop: it could end before the process is ended.
        let awaits_terminal = awaits_terminal();
        if again || awaits_terminal {
            AT_ONCE.store(true, Ordering::Relaxed);
        }
        if !awaits_terminal {
            cancel.stop(StopReason::Interrupted);
        }
    })
    .map_err(|error| Usage::CannotWatch {
        what: "cannot watch for Ctrl-C",
        why: error.to_string(),
    })?;
    if ignored {
        process::ignore_hangup();
    }
    process::note_signals();
    Ok(())
}

/// The bounds of the resident memory, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Bounds {
    /// The limit: the job is asked to stop.
    soft: u64,
    /// The guard takes over.
    hard: u64,
    /// The process ends at once.
    last: u64,
}

impl Bounds {
    /// Returns the bounds for a limit. `now` is in use before the job begins.
    fn new(soft: u64, now: u64) -> Bounds {
        let room = now.saturating_add(ROOM);
        let part = |percent: u64| (soft / 100).saturating_mul(percent);
        let hard = part(135).max(room);
        Bounds { soft, hard, last: part(145).max(room.saturating_add(ROOM / 2)) }
    }
}

/// The state of the guard.
struct Poll {
    guard: Guard,
    deadline: Option<Instant>,
    bounds: Option<Bounds>,
    memory: Option<Memory>,
    /// When the job was asked to stop.
    asked: Option<Instant>,
    /// How long the guard was kept from the processor since then. The job was, too.
    lent: Duration,
    writer: Sender<Order>,
}

impl Poll {
    fn run(mut self) {
        loop {
            let lent = sleep(self.pause());
            self.ask();
            if self.asked.is_some() {
                self.lent = (self.lent + lent).min(LENT_MAX);
            }
            if AT_ONCE.load(Ordering::Relaxed) {
                self.end(Order::End(INTERRUPTED));
            }
            if let Some(cause) = self.cause() {
                self.take_over(cause);
            }
        }
    }

    fn resident(&self) -> u64 {
        self.memory.as_ref().and_then(Memory::resident_bytes).unwrap_or(0)
    }

    /// Returns how long the memory cannot reach its limit.
    fn pause(&self) -> Duration {
        let Some(bounds) = self.bounds else { return LOOK };
        let now = self.resident();
        let next = if now < bounds.soft { bounds.soft } else { bounds.hard };
        let ms = (next.saturating_sub(now) / BYTES_PER_MS).max(1);
        Duration::from_millis(ms).min(LOOK)
    }

    /// Asks the job to stop when a limit is exceeded.
    fn ask(&mut self) {
        let cancel = &self.guard.cancel;
        if cancel.reason().is_none() {
            let deadline = self.deadline.filter(|_| !foreground::is_running());
            if deadline.is_some_and(|deadline| deadline + foreground::spent() <= Instant::now()) {
                cancel.stop(StopReason::TimeLimit);
            } else if self.bounds.is_some_and(|bounds| self.resident() > bounds.soft) {
                cancel.stop(StopReason::MemoryLimit);
            }
        }
        if self.asked.is_none()
            && let Some(reason) = cancel.reason()
        {
            let now = *ASKED.get_or_init(Instant::now);
            // A search may end early to save its checkpoint. It still has until the limit.
            let limit = self.deadline.map(|limit| limit + foreground::spent());
            let limit = limit.filter(|_| reason == StopReason::TimeLimit);
            self.asked = Some(limit.map_or(now, |limit| limit.max(now)));
        }
    }

    /// Returns why the guard has to take over now, if it has to.
    fn cause(&self) -> Option<Cause> {
        match process::refusal() {
            Some(Refusal::System(_)) => return Some(Cause::OutOfMemory),
            Some(Refusal::Bound(_)) => return Some(Cause::Stop(StopReason::MemoryLimit)),
            None => {}
        }
        if self.bounds.is_some_and(|bounds| self.resident() > bounds.hard) {
            return Some(Cause::Stop(StopReason::MemoryLimit));
        }
        let reason = self.guard.cancel.reason()?;
        let patience = self.guard.checkpoints.patience();
        let allowed = if phase::is_writing() { LAST } else { GRACE };
        (self.asked?.elapsed() > allowed + patience + self.lent).then_some(Cause::Stop(reason))
    }

    /// Ends the process in place of the job.
    fn take_over(&self, cause: Cause) -> ! {
        let by_time = matches!(cause, Cause::Stop(StopReason::TimeLimit | StopReason::Interrupted));
        if !by_time || self.bounds.is_some_and(|bounds| self.resident() > bounds.soft) {
            process::freeze();
        }
        self.end(match phase::take_over() {
            Taken::Nothing => Order::Document(cause),
            Taken::Part => Order::CutOutput(cause),
            Taken::Whole => Order::End(status()),
        })
    }

    /// Lets the writer end the process, and ends it without the writer when that takes too long.
    fn end(&self, order: Order) -> ! {
        let start = Instant::now();
        // The writer waits for this order, so the channel is open.
        let _ = self.writer.send(order);
        let allowed = if matches!(order, Order::Document(_)) { LAST - GRACE } else { CLEAN_UP };
        // Memory that was taken before the guard saw it does not keep the result from being
        // written.
        let last = self.bounds.map(|bounds| bounds.last.max(self.resident() + ROOM));
        let within = || last.is_none_or(|last| self.resident() <= last);
        let mut lent = Duration::ZERO;
        while start.elapsed() < allowed + lent && within() && !AT_ONCE.load(Ordering::Relaxed) {
            lent = (lent + sleep(Duration::from_millis(2))).min(LENT_MAX);
        }
        // The writer may have begun a file.
        writer::clean_up();
        if let Order::Document(cause) = order {
            let what = match RESULT_WRITTEN.load(Ordering::Relaxed) {
                true => "the report",
                false => "the result",
            };
            let words = format!("error: {cause}: {what} could not be written in time\n");
            let say = move || {
                let _ = std::io::stderr().write_all(words.as_bytes());
            };
            // The message may block, too.
            if let Ok(said) = thread::Builder::new().spawn(say) {
                let start = Instant::now();
                while !said.is_finished() && start.elapsed() < LAST_WORDS {
                    thread::sleep(Duration::from_millis(1));
                }
            }
        }
        let status = match order {
            Order::End(status) => status,
            _ if AT_ONCE.load(Ordering::Relaxed) => INTERRUPTED,
            // The status of a whole result may be that of success.
            _ => {
                if status() == exit::FINDINGS {
                    exit::FINDINGS
                } else {
                    exit::LIMIT
                }
            }
        };
        end_files();
        process::end_at_once(i32::from(status))
    }
}

/// Sleeps. Returns how long the processor was busy with other programs after that.
fn sleep(time: Duration) -> Duration {
    let start = Instant::now();
    thread::sleep(time);
    let late = start.elapsed().saturating_sub(time);
    if late > LATE { late } else { Duration::ZERO }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_keep_their_order() {
        for (soft, now) in [(0, 0), (1 << 20, 8 << 20), (200 << 20, 8 << 20), (u64::MAX, 1)] {
            let bounds = Bounds::new(soft, now);
            assert!(bounds.hard <= bounds.last, "{bounds:?}");
            assert!(bounds.hard >= now, "{bounds:?}");
        }
        let ordinary = Bounds::new(200_000_000, 8 << 20);
        assert_eq!((ordinary.hard, ordinary.last), (270_000_000, 290_000_000));
    }

    #[test]
    fn all_waits_together_end_within_a_second() {
        let document = LAST + writer::PATIENCE + LAST_WORDS;
        let output = LAST + CLEAN_UP + writer::PATIENCE;
        assert!(document.max(output) + 2 * LENT_MAX <= Duration::from_secs(1));
        let checkpoints = Checkpoints::default();
        assert_eq!(checkpoints.patience(), Duration::ZERO);
        checkpoints.set(true);
        assert_eq!(GRACE + checkpoints.patience(), LAST);
    }
}
