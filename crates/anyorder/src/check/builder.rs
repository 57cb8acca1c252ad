//! Checks with settings.

use super::engine::Engine;
use super::explore::{Limits, explore, replay};
use super::replay::{Replayed, Schedule};
use super::summary::Summary;
use super::weak::{Memory, explore_both};
use super::{checkpoint, environment, html, progress};
use crate::runtime::{Program, Setting};
use anyorder_threads::Incomplete;
use std::panic::Location;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Runs a closure in all of its executions.
///
/// # Panics
///
/// If an execution fails, not all could be run, or something is in [doubt](Summary::doubts).
///
/// ```
/// use anyorder::{sync::Mutex, thread};
/// anyorder::check(|| {
///     let count = Mutex::new(0);
///     thread::scope(|scope| {
///         scope.spawn(|| *count.lock().unwrap() += 1);
///         scope.spawn(|| *count.lock().unwrap() += 1);
///     });
///     assert_eq!(count.into_inner().unwrap(), 2);
/// });
/// ```
#[track_caller]
pub fn check(f: impl Fn() + Send + Sync + 'static) {
    Builder::new().check(f);
}

/// A check with settings.
///
/// ```
/// use anyorder::Builder;
/// let summary = Builder::new().executions_max(10).explore(|| {
///     let _ = anyorder::choose(100);
/// });
/// assert!(summary.incomplete.is_some() && summary.executions == 10);
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[must_use = "nothing is checked until `check` is called"]
pub struct Builder {
    limits: Limits,
    setting: Setting,
    leaks_allowed: bool,
    replay: Option<String>,
    report: Option<PathBuf>,
    checkpoint: Option<PathBuf>,
    memory: Memory,
    /// Whether nobody asked for the limit on time.
    is_time_usual: bool,
}

/// What is run in each execution.
type Body = Arc<dyn Fn() + Send + Sync>;

impl Builder {
    /// Makes a builder of checks without a limit on executions.
    ///
    /// # Panics
    ///
    /// If the variable `ANYORDER_MEMORY` is set and names no memory, `ANYORDER_ENGINE` is and names
    /// no engine, or `ANYORDER_PREEMPTIONS`, `ANYORDER_TURNS`, `ANYORDER_CORES` or
    /// `ANYORDER_TIME_MAX` is and is no number.
    pub fn new() -> Builder {
        let usual = Limits::default();
        let turns_max = environment::turns().unwrap_or(usual.turns_max);
        let cores = environment::cores().unwrap_or(usual.cores);
        let preemptions_max = environment::preemptions();
        let (engine, time_max) = (environment::engine(), environment::time_max());
        let limits = Limits { engine, preemptions_max, turns_max, cores, time_max, ..usual };
        Builder { memory: environment::memory(), limits, ..Builder::default() }
    }

    /// Sets how many executions are run at most.
    pub fn executions_max(mut self, executions: u64) -> Builder {
        self.limits.executions_max = Some(executions);
        self
    }

    /// Sets how many operations an execution has at most.
    pub fn steps_max(mut self, steps: usize) -> Builder {
        self.limits.steps_max = steps;
        self
    }

    /// Sets how long it may take. What was found by then is reported; without a failure the check
    /// is incomplete. Otherwise the variable `ANYORDER_TIME_MAX` does the same, in seconds.
    pub fn time_max(mut self, time: Duration) -> Builder {
        self.limits.time_max = Some(time);
        self.is_time_usual = false;
        self
    }

    /// Sets how long it may take if neither [`time_max`](Self::time_max) nor the variable
    /// `ANYORDER_TIME_MAX` says so. For runners of tests that nobody wrote for exhaustive checks:
    /// where this limit cuts one, `cargo anyorder` does not end with status 0.
    pub fn time_usual(mut self, time: Duration) -> Builder {
        if self.limits.time_max.is_none() {
            self.limits.time_max = Some(time);
            self.is_time_usual = true;
        }
        self
    }

    /// Sets how many preemptions an execution has at most. A preemption is a switch away from a
    /// thread that could go on: one that waits, with a time-out or without, that spins and gives
    /// way or that has ended is not preempted. All executions within the bound are explored, and a
    /// check that passes says so. Otherwise the variable `ANYORDER_PREEMPTIONS` does the same.
    /// Executions under weak memory have no such bound.
    ///
    /// Without a bound everything is explored, and a check that a limit cuts says up to how many
    /// preemptions all was.
    ///
    /// ```
    /// use anyorder::sync::atomic::{AtomicU32, Ordering::SeqCst};
    /// use anyorder::{Builder, thread};
    /// use std::sync::Arc;
    ///
    /// // An update is lost if a thread is preempted between its load and its store.
    /// let test = || {
    ///     let count = Arc::new(AtomicU32::new(0));
    ///     let theirs = Arc::clone(&count);
    ///     let other = thread::spawn(move || theirs.store(theirs.load(SeqCst) + 1, SeqCst));
    ///     count.store(count.load(SeqCst) + 1, SeqCst);
    ///     other.join().unwrap();
    ///     assert_eq!(count.load(SeqCst), 2);
    /// };
    /// let summary = Builder::new().preemptions_max(0).explore(test);
    /// assert!(summary.is_ok() && summary.preemptions == Some(0));
    /// assert!(!Builder::new().preemptions_max(1).explore(test).is_ok());
    /// ```
    pub fn preemptions_max(mut self, preemptions: u32) -> Builder {
        self.limits.preemptions_max = Some(preemptions);
        self
    }

    /// Sets after how many turns in vain a loop may give up that is explored turn by turn: 32 if
    /// not said otherwise. A loop that spins and gives way, and gives up only after more turns,
    /// makes the check incomplete, and the check names it. Otherwise the variable `ANYORDER_TURNS`
    /// does the same.
    ///
    /// ```
    /// use anyorder::sync::atomic::{AtomicU32, Ordering::SeqCst};
    /// use anyorder::{Builder, thread};
    /// use std::sync::Arc;
    ///
    /// let test = || {
    ///     let flag = Arc::new(AtomicU32::new(0));
    ///     let theirs = Arc::clone(&flag);
    ///     thread::spawn(move || theirs.store(1, SeqCst));
    ///     for _ in 0..50 {
    ///         if flag.load(SeqCst) == 1 {
    ///             break;
    ///         }
    ///         thread::yield_now();
    ///     }
    /// };
    /// let summary = Builder::new().explore(test);
    /// assert_eq!(summary.long_loops.len(), 1);
    /// assert!(Builder::new().turns_max(50).explore(test).is_ok());
    /// ```
    pub fn turns_max(mut self, turns: u32) -> Builder {
        self.limits.turns_max = turns;
        self
    }

    /// Does not combine the number of turns in vain before a thread leaves a loop that gives up
    /// with all that comes later. One execution is run for each number, and what the thread does
    /// in it after the loop is compared with what it does after fewer turns; only if that differs,
    /// everything is explored from there. That misses what needs both a certain number of turns and
    /// something later that did not happen in that execution, so it is for tests whose loops take
    /// too many executions otherwise. Not within a bound of preemptions.
    ///
    /// ```
    /// use anyorder::sync::atomic::{AtomicU32, Ordering::SeqCst};
    /// use anyorder::{Builder, thread};
    /// use std::sync::Arc;
    ///
    /// let test = || {
    ///     let count = Arc::new(AtomicU32::new(0));
    ///     let theirs = Arc::clone(&count);
    ///     thread::spawn(move || (1..=2).for_each(|item| theirs.store(item, SeqCst)));
    ///     for item in 1..=2 {
    ///         for _ in 0..10 {
    ///             if count.load(SeqCst) >= item {
    ///                 break;
    ///             }
    ///             thread::yield_now();
    ///         }
    ///     }
    /// };
    /// let all = Builder::new().explore(test).executions;
    /// assert!(Builder::new().turns_merged().explore(test).executions < all);
    /// ```
    pub fn turns_merged(mut self) -> Builder {
        self.limits.turns_merged = true;
        self
    }

    /// Makes the panic of a spawned thread a result of its join, as in the standard library, and no
    /// failure.
    pub fn panics_are_results(mut self) -> Builder {
        self.setting.panics_are_results = true;
        self
    }

    /// Makes values of [`Arc`](crate::sync::Arc) that have owners at the end no failure.
    pub fn leaks_allowed(mut self) -> Builder {
        self.leaks_allowed = true;
        self
    }

    /// Sets how writes of one thread become visible to others. Otherwise the variable
    /// `ANYORDER_MEMORY` does: `sequential`, or `rc11`.
    ///
    /// ```
    /// use anyorder::sync::atomic::{AtomicBool, Ordering::Relaxed};
    /// use anyorder::{Builder, Memory, thread};
    /// use std::sync::Arc;
    ///
    /// // Each thread may miss what the other one wrote.
    /// let test = || {
    ///     let (a, b) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    ///     let (their_a, their_b) = (Arc::clone(&a), Arc::clone(&b));
    ///     let other = thread::spawn(move || {
    ///         their_a.store(true, Relaxed);
    ///         their_b.load(Relaxed)
    ///     });
    ///     b.store(true, Relaxed);
    ///     let own = a.load(Relaxed);
    ///     assert!(own | other.join().unwrap());
    /// };
    /// assert!(Builder::new().explore(test).is_ok());
    /// let summary = Builder::new().memory(Memory::Rc11).explore(test);
    /// assert_eq!(summary.failures_weak.len(), 1);
    /// ```
    pub fn memory(mut self, memory: Memory) -> Builder {
        self.memory = memory;
        self
    }

    /// Sets which executions are run: those from which everything is learnt that single threads can
    /// see, if not said otherwise. The other engines run one for each class of equivalent
    /// executions, as tools for other languages do, whose counts they have. They have no
    /// checkpoints and no bound of preemptions: with one, nothing is run, and the check fails and
    /// [says so](crate::Incomplete::Unbounded). Otherwise the variable `ANYORDER_ENGINE`
    /// does the same: `learning`, `optimal`, or `reads-from`.
    ///
    /// ```
    /// use anyorder::sync::atomic::{AtomicU32, Ordering::SeqCst};
    /// use anyorder::{Builder, Engine, thread};
    ///
    /// // Three stores, of which one is read, or none.
    /// let test = || {
    ///     let value = AtomicU32::new(0);
    ///     thread::scope(|scope| {
    ///         (0..3).for_each(|_| drop(scope.spawn(|| value.store(1, SeqCst))));
    ///         scope.spawn(|| value.load(SeqCst));
    ///     });
    /// };
    /// let run = |engine| Builder::new().engine(engine).explore(test).executions;
    /// assert_eq!([Engine::Optimal, Engine::ReadsFrom, Engine::Learning].map(run), [24, 4, 2]);
    /// ```
    pub fn engine(mut self, engine: Engine) -> Builder {
        self.limits.engine = engine;
        self
    }

    /// Sets on how many cores executions are explored at most under [weak memory](Memory::Rc11) and
    /// by [`Engine::Optimal`]: one if not said otherwise, since most harnesses run several tests at
    /// once. What is counted and found is the same for any number, unless the time is over before.
    /// All else takes one core. Otherwise the variable `ANYORDER_CORES` does the same.
    ///
    /// With `Engine::Optimal`, several executions of the test run at the same time, each on a
    /// thread of the system. What the test has outside of its executions, they share: statics of
    /// the standard library, and what its closure captures. That must be safe to share among
    /// threads. Data of this crate's types is: it is copied for each execution, or else one core
    /// goes on alone.
    ///
    /// ```
    /// use anyorder::sync::atomic::{AtomicU32, Ordering::Relaxed};
    /// use anyorder::{Builder, Memory, thread};
    /// use std::sync::Arc;
    ///
    /// let test = || {
    ///     let count = Arc::new(AtomicU32::new(0));
    ///     for _ in 0..6 {
    ///         let count = Arc::clone(&count);
    ///         thread::spawn(move || count.fetch_add(1, Relaxed));
    ///     }
    /// };
    /// let builder = Builder::new().memory(Memory::Rc11);
    /// let (one, two) = (builder.clone().explore(test), builder.cores(2).explore(test));
    /// assert_eq!((one.executions_weak, one.failures_weak.len()), (two.executions_weak, 0));
    /// ```
    pub fn cores(mut self, cores: usize) -> Builder {
        self.limits.cores = cores;
        self
    }

    /// Sets the size of the stacks of threads, in bytes.
    pub fn stack_size(mut self, size: usize) -> Builder {
        self.setting.stack_size = size;
        self
    }

    /// Runs only one execution: that of a [`Failure::replay`](super::Failure::replay). The variable
    /// `ANYORDER_REPLAY` does the same for [`check`](Self::check), without a change of the test.
    ///
    /// ```
    /// use anyorder::{Builder, Replayed};
    /// let test = || assert_eq!(anyorder::choose(2), 0);
    /// let replay = Builder::new().explore(test).failures[0].replay();
    /// let summary = Builder::new().replay(replay).explore(test);
    /// assert_eq!(summary.replayed, Some(Replayed::Same));
    /// ```
    pub fn replay(mut self, schedule: impl Into<String>) -> Builder {
        self.replay = Some(schedule.into());
        self
    }

    /// Writes a page about the failures of a [`check`](Self::check) into a folder. The variable
    /// `ANYORDER_REPORT` does the same.
    pub fn report(mut self, folder: impl Into<PathBuf>) -> Builder {
        self.report = Some(folder.into());
        self
    }

    /// If a limit cuts the check, writes what it has done into a file, and continues there the
    /// next time: in all, the executions are those of one check without a limit. A complete check
    /// removes the file; one of another test or version is refused. The variable
    /// `ANYORDER_CHECKPOINT` does the same for a [`check`](Self::check), as long as only one test
    /// runs. Not with a bound of preemptions, another
    /// [engine](Self::engine), or under weak memory.
    ///
    /// ```
    /// use anyorder::Builder;
    /// let file = std::env::temp_dir().join(format!("checkpoint-{}", std::process::id()));
    /// let test = || assert!(anyorder::choose(9) < 9);
    /// let first = Builder::new().executions_max(5).checkpoint(&file).explore(test);
    /// assert!(first.incomplete.is_some() && first.executions == 5);
    /// let second = Builder::new().executions_max(5).checkpoint(&file).explore(test);
    /// assert!(second.incomplete.is_none() && second.executions == 9);
    /// ```
    pub fn checkpoint(mut self, file: impl Into<PathBuf>) -> Builder {
        self.checkpoint = Some(file.into());
        self
    }

    /// Runs a closure in all of its executions, and returns what was found.
    pub fn explore(self, f: impl Fn() + Send + Sync + 'static) -> Summary {
        self.explore_body(Arc::new(f))
    }

    /// As [`explore`](Self::explore), compiled once and not for each closure.
    fn explore_body(self, body: Body) -> Summary {
        let Limits { engine, preemptions_max, .. } = self.limits;
        let test = environment::test_name();
        if engine != Engine::Learning && preemptions_max.is_some() {
            let incomplete = Some(Incomplete::Unbounded);
            return Summary { incomplete, test, ..Summary::default() };
        }
        let has_checkpoints = preemptions_max.is_none() && engine == Engine::Learning;
        let mut program = Program::with(self.setting, body);
        let runs = program.runs();
        let mut summary = progress::watched(test.as_deref(), &runs, || {
            match self.replay.as_deref().map(str::parse::<Schedule>) {
                None if self.memory == Memory::Rc11 => explore_both(&mut program, self.limits),
                None => match self.checkpoint.filter(|_| has_checkpoints) {
                    Some(file) => checkpoint::explore(&mut program, self.limits, &file),
                    None => explore(&mut program, self.limits),
                },
                Some(Ok(schedule)) => replay(&mut program, &schedule, self.limits),
                Some(Err(error)) => {
                    Summary { replayed: Some(Replayed::Invalid(error)), ..Summary::default() }
                }
            }
        });
        if self.leaks_allowed {
            summary.forgive_leaks();
        }
        summary.test = test;
        summary
    }

    /// Runs a closure in all of its executions. Returns how many there are. If there is a bound of
    /// preemptions, or not all orders of frees were tried, says what was covered on standard error.
    ///
    /// # Panics
    ///
    /// If an execution fails, not all could be run, or something is in [doubt](Summary::doubts).
    #[track_caller]
    pub fn check(self, f: impl Fn() + Send + Sync + 'static) -> u64 {
        self.check_body(Arc::new(f), Location::caller())
    }

    /// As [`check`](Self::check), compiled once and not for each closure.
    #[track_caller]
    fn check_body(self, body: Body, at: &'static Location<'static>) -> u64 {
        let summary = self.try_body(body, at);
        assert!(summary.is_ok(), "{summary}");
        let has_more = summary.preemptions.is_some() || summary.frees_incomplete.is_some();
        if summary.replayed.is_some() || has_more {
            environment::tell(&summary.to_string());
        }
        summary.executions
    }

    /// As [`check`](Self::check), with its variables and its report, but returns what was found
    /// instead of panicking or printing it.
    ///
    /// ```
    /// use anyorder::Builder;
    /// let summary = Builder::new().try_check(|| assert_eq!(anyorder::choose(2), 0));
    /// assert_eq!((summary.is_ok(), summary.executions), (false, 2));
    /// ```
    #[track_caller]
    pub fn try_check(self, f: impl Fn() + Send + Sync + 'static) -> Summary {
        self.try_body(Arc::new(f), Location::caller())
    }

    fn try_body(mut self, body: Body, at: &'static Location<'static>) -> Summary {
        self.replay = self.replay.or_else(|| environment::variable("ANYORDER_REPLAY"));
        let file = || environment::variable("ANYORDER_CHECKPOINT").map(PathBuf::from);
        self.checkpoint = self.checkpoint.or_else(file);
        let folder = self.report.take();
        let folder = folder.or_else(|| environment::variable("ANYORDER_REPORT").map(PathBuf::from));
        let is_time_usual = self.is_time_usual;
        let mut summary = self.explore_body(body);
        if summary.is_cut_by_limit() {
            let is_asked = !is_time_usual || summary.incomplete == Some(Incomplete::Executions);
            environment::note_incomplete(&summary.line_of_cut(at, is_asked));
        }
        let has_none = summary.failures.is_empty() && summary.failures_weak.is_empty();
        if let (Some(folder), false) = (folder, has_none) {
            summary.report = Some(html::write(&folder, &summary, at));
        }
        summary
    }
}
