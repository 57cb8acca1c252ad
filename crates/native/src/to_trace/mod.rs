//! Makes a trace of a recording: one pass over the events of each thread, and two over all events
//! in merged order. The first of these finds out which memory several threads touch.
//!
//! | in the recording | in the trace |
//! | --- | --- |
//! | accesses, atomics | the same, of address ranges; those of memory of one thread are left out |
//! | allocations, and stacks of threads | `alloc` and `free` |
//! | locks | `acquire`, `release`, `refused`, `request`, `destroy` |
//! | a wait on a condition | `wait`, `release`, later `acquire`, `wake` |
//! | a barrier | an atomic update of each who arrives, an atomic read of each who leaves |
//! | a semaphore | invocations of an object `semaphore:ADDRESS` |
//! | an invocation that the program announces | `invoke` and `return` |
//! | a descriptor | a location that is allocated, read and freed |
//! | once, guards of statics, pipes, annotations | atomics of a location of their own |
//! | the life of a shared object that a call initialises | a location: write, reads, `free` |
//! | a use of a condition, barrier or semaphore on the heap | also a relaxed read of its memory |
//! | what no program may do | a [`Misuse`], and a relaxed read that orders nothing |
//! | a fence | makes the relaxed atomics of its thread acquire or release |
//!
//! Where the recording was cut, the trace ends when the first thread has no events any more: what
//! the others do later may rest on events that are missing, such as the release of a lock.
//!
//! A long recording becomes several traces, so that memory does not grow with the run: see
//! [`to_traces`].
//!
//! The trace is always well-formed. An event that does not fit is left out, and counted in
//! [`Stats::odd`].

pub(crate) mod actions;
mod fork_join;
mod history;
mod invocations;
mod lives;
mod pages;
mod ranges;
mod shared;
mod sharing;
mod stacks;
mod survey;
mod takes;

use crate::merge::{Merge, Slack};
use crate::recording::{Cursor, Recording};
pub use actions::misuse::{Misuse, Rule};
use anyorder_trace::{TableFull, Trace};
use std::collections::BTreeSet;

/// A position in the source, or as much as is known of it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Frame {
    /// The function; empty if it is unknown.
    pub function: String,
    /// The source file, or the library where no source is known; empty if neither is.
    pub file: String,
    /// The line, from 1; 0 if it is unknown.
    pub line: u32,
    /// The column, from 1; 0 if it is unknown.
    pub column: u32,
}

/// Names places in code.
pub trait Names {
    /// Returns the positions of a code address: several where functions are inlined there, the
    /// innermost first.
    fn frames(&mut self, address: u64) -> Vec<Frame>;

    /// Returns the name of the static variable at an address: `queue`, `queue+8` inside of it.
    fn variable(&mut self, address: u64) -> Option<String>;
}

/// Knows no names.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoNames;

impl Names for NoNames {
    fn frames(&mut self, _: u64) -> Vec<Frame> {
        Vec::new()
    }

    fn variable(&mut self, _: u64) -> Option<String> {
        None
    }
}

/// What became of the events of a recording.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Events in the recording, calls and returns included.
    pub recorded: u64,
    /// Accesses to memory that no other thread touches, which are not in the trace.
    pub private: u64,
    /// Allocations of memory that no other thread touches, which are not in the trace, nor are
    /// their frees.
    pub private_blocks: u64,
    /// Loads of an atomic that its thread had just loaded, which are not in the trace.
    pub polls: u64,
    /// Events of kinds that are not known.
    pub unknown: u64,
    /// Places in the recording after which a part could not be read.
    pub unreadable: u64,
    /// Events that came although they could not come yet.
    pub disorders: u64,
    /// Events that do not fit what came before, and are left out: a release of a lock that its
    /// thread does not hold, a join with a thread that goes on.
    pub odd: u64,
    /// Waits that ended without a signal.
    pub spurious: u64,
    /// Code addresses of which only the half is known that fits several modules.
    pub ambiguous: u64,
    /// Code addresses in no module.
    pub nowhere: u64,
    /// Signal handlers that ran. What they do is taken for what their thread does.
    pub signals: u64,
    /// Whether the last trace ends at [`Options::events_max`], with events left.
    pub is_full: bool,
    /// Whether it ends at [`Options::part_max`], as the part could not end before.
    pub is_cut: bool,
    /// Whether another part follows.
    pub is_part: bool,
}

/// A trace, and what became of the events.
#[derive(Clone, Debug, Default)]
pub struct Traced {
    /// The trace.
    pub trace: Trace,
    /// What became of the events so far.
    pub stats: Stats,
    /// The signal that ended the process, where it was an error of the program.
    pub failure: Option<u64>,
    /// The files with code of which no access was recorded, without the libraries of the languages:
    /// they were built without instrumentation, or were not used. Empty for a forked child of one
    /// thread without an access.
    pub unseen: Vec<String>,
    /// By event of the trace: the number of the recorded event among those of its thread, from 0;
    /// `u32::MAX` for one that was not recorded.
    pub origins: Vec<u32>,
    /// What the threads do that no program may, whatever the order.
    pub misuses: Vec<Misuse>,
}

/// How to make traces.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How long an event waits for what should have come before it.
    pub slack: Slack,
    /// The most events of all traces together.
    pub events_max: u64,
    /// The most events of one trace.
    pub part_max: u64,
    /// Whether what only one thread touches is in the trace, too: for tests of what is left out.
    pub keeps_private: bool,
}

impl Options {
    /// The most events that a trace can have.
    pub const EVENTS_MAX: u64 = u32::MAX as u64 - 1;
}

impl Default for Options {
    fn default() -> Options {
        let (events_max, part_max) = (u64::MAX, Options::EVENTS_MAX);
        Options { slack: Slack::default(), events_max, part_max, keeps_private: false }
    }
}

/// Makes one trace of a whole recording, without parts: [`Options::part_max`] bounds it as well.
/// See [`to_traces`].
///
/// # Errors
///
/// Fails when a table of the trace is full.
pub fn to_trace(
    recording: &Recording,
    names: &mut dyn Names,
    options: &Options,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Traced, TableFull> {
    let events_max = options.events_max.min(options.part_max);
    let options = Options { events_max, part_max: events_max, ..*options };
    let mut made = None;
    to_traces(recording, names, &options, go_on, &mut |traced| {
        made = Some(traced);
        true
    })?;
    // There is always one.
    Ok(made.unwrap_or_default())
}

/// Makes traces of a recording, and hands them over in order. The next one is made when `take` has
/// returned true. Two traces share no events; where one ends, no lock is held. A part ends at the
/// first such place in its last quarter; if there is none, it is the last part.
///
/// `go_on` is asked every few thousand events; when it returns false, the trace ends there, and is
/// the last. Of a trace that ends early, each thread has all that it did before the last event.
///
/// Cost: three passes over the events. Memory: a trace; at most two bytes for each byte of the
/// memory that is accessed outside of own stacks, less where it is allocated again; a byte for each
/// allocation; for each row of neighbouring shared pieces of a block 24 bytes, and each of them has
/// events of the trace; and a set of tables as large as the program has places and stacks.
///
/// # Errors
///
/// Fails when a table of a trace is full.
pub fn to_traces(
    recording: &Recording,
    names: &mut dyn Names,
    options: &Options,
    go_on: &mut dyn FnMut() -> bool,
    take: &mut dyn FnMut(Traced) -> bool,
) -> Result<(), TableFull> {
    const ASKED_EVERY: u64 = 1 << 14;
    // What ending a trace adds for each event of the last step.
    const ROOM: u64 = 8;
    // The most events of a thread that are taken at once.
    const RUN: usize = 128;
    let survey = survey::Survey::of(recording, go_on);
    let (mut taken, mut before) = (0_u64, 0_u64);
    let lengths = survey.threads.iter().map(|thread| thread.events).collect();
    let mut sharing = sharing::Sharing::new(recording, lengths, &survey.benign);
    let mut merge = merged(recording, &survey, options);
    let until = survey.until.unwrap_or(u64::MAX);
    let mut asked = 0;
    while let Some(run) = merge.next_run(usize::MAX) {
        taken += run.events.len() as u64;
        if taken >= asked + ASKED_EVERY {
            asked = taken;
            if !go_on() {
                break;
            }
        }
        for event in run.events.iter().filter(|event| event.time <= until) {
            sharing.step(run.thread, event);
        }
    }
    let shared = sharing.finish(options.keeps_private);
    asked = taken;
    let mut merge = merged(recording, &survey, options);
    let mut maker = actions::Maker::new(recording, &survey, shared, names)?;
    let unseen =
        if only_execs(recording, &survey) { Vec::new() } else { unseen(recording, &survey) };
    let recorded = survey.threads.iter().map(|thread| thread.events).sum();
    let part_max = options.part_max.min(Options::EVENTS_MAX);
    // A take has two events, so that most parts have fewer.
    let takes_max = part_max / 4;
    let is_long = 2 * taken >= part_max && !survey.permits_taken.is_empty();
    let mut takes =
        is_long.then(|| takes::Takes::new(merged(recording, &survey, options), takes_max));
    if let Some(takes) = &mut takes {
        maker.will_take(takes.counts());
    }
    loop {
        let (mut is_full, mut is_cut, mut is_part) = (false, false, false);
        let mut is_empty = before > 0;
        // Far from the limits, many events are taken at once.
        let near = |length: u64| {
            let rest = part_max.min(options.events_max.saturating_sub(before));
            let is_far = length + 2 * RUN as u64 + ROOM < rest;
            if is_far { RUN } else { 1 }
        };
        while let Some(run) = merge.next_run(near(maker.len() as u64)) {
            taken += run.events.len() as u64;
            if taken >= asked + ASKED_EVERY {
                asked = taken;
                if !go_on() {
                    break;
                }
            }
            let mut is_over = false;
            for event in run.events {
                if event.time > until {
                    is_over = true;
                    takes.iter_mut().for_each(|takes| takes.pass(event));
                    continue;
                }
                maker.step(run.thread, event)?;
                is_empty = false;
                takes.iter_mut().for_each(|takes| takes.pass(event));
            }
            if is_over {
                continue;
            }
            let length = maker.len() as u64;
            is_full = length + ROOM >= options.events_max.saturating_sub(before);
            is_cut = length + ROOM >= part_max;
            is_part = length >= part_max - part_max / 4;
            if takes.is_some() {
                is_cut |= maker.takes() >= takes_max;
                is_part |= maker.takes() >= takes_max - takes_max / 4;
            }
            is_part = is_part && maker.may_end();
            if let Some(takes) = takes.as_mut().filter(|_| is_part) {
                maker.will_take(takes.counts());
            }
            // Another part needs room to begin.
            is_full |= is_part && before + length + maker.beginning() + ROOM >= options.events_max;
            if is_full || is_cut || is_part {
                break;
            }
        }
        if is_empty {
            return Ok(());
        }
        // The end of the recording is no place to divide it.
        let goes_on = merge.has_next();
        is_full &= goes_on;
        is_part &= goes_on && !is_full;
        is_cut &= goes_on && !is_full && !is_part;
        let mut traced = maker.end()?;
        before += traced.trace.len() as u64;
        traced.stats.recorded = recorded;
        traced.stats.unreadable = merge.sources().map(Cursor::unreadable).sum();
        traced.stats.disorders = merge.disorders();
        traced.stats.is_full = is_full;
        traced.stats.is_cut = is_cut;
        traced.stats.is_part = is_part;
        traced.unseen.clone_from(&unseen);
        if !take(traced) || !is_part {
            return Ok(());
        }
        maker.go_on()?;
    }
}

/// Starts to merge the threads of a recording.
fn merged<'a>(
    recording: &'a Recording,
    survey: &survey::Survey,
    options: &Options,
) -> Merge<Cursor<'a>> {
    let threads = recording.threads.iter().enumerate();
    let threads = threads.map(|(lane, thread)| (thread.number, recording.events(lane)));
    Merge::new(threads.collect(), survey.known.clone(), options.slack)
}

/// The libraries whose accesses nobody expects to see: what they do to a program's memory is
/// recorded where they are called, or belongs to them.
const OF_LANGUAGES: &[&str] = &[
    "ld-linux",
    "libatomic.",
    "libc++",
    "libc-",
    "libc.",
    "libclang_rt.",
    "libdl.",
    "libgcc_s.",
    "libm.",
    "libpthread.",
    "libresolv.",
    "librt.",
    "libstdc++.",
    "libtsan.",
];

/// Returns whether an image is a forked child of one thread without an access: mostly one that goes
/// on to `exec`. Its code is that of its parent, whose own recording tells what was not seen of it.
fn only_execs(recording: &Recording, survey: &survey::Survey) -> bool {
    let is_alone = recording.header.is_fork && recording.threads.len() <= 1;
    is_alone && survey.accesses_at.is_empty()
}

/// Returns the files with code of which accesses were recorded.
fn files_with_accesses<'r>(recording: &'r Recording, survey: &survey::Survey) -> BTreeSet<&'r str> {
    let modules = &recording.modules;
    let lows = survey.accesses_at.iter();
    let places = lows.flat_map(|low| modules.complete(low.wrapping_sub(1)));
    places.filter_map(|at| modules.find(at)).map(|piece| piece.path.as_str()).collect()
}

/// Returns the files with code of which no access was recorded.
fn unseen(recording: &Recording, survey: &survey::Survey) -> Vec<String> {
    let modules = &recording.modules;
    let seen = files_with_accesses(recording, survey);
    let mut unseen: Vec<String> = Vec::new();
    for piece in modules.pieces().iter().filter(|piece| piece.is_code) {
        let path = piece.path.as_str();
        let name = path.rsplit('/').next().unwrap_or_default();
        let is_ordinary = path.starts_with('/')
            && !OF_LANGUAGES.iter().any(|language| name.starts_with(language))
            && !seen.contains(path);
        if is_ordinary && !unseen.iter().any(|known| known == path) {
            unseen.push(path.to_owned());
        }
    }
    unseen
}
