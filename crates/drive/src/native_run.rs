//! Runs of native programs: makes the input of a check of what was recorded.
//!
//! [`launch`] starts a program. What it recorded becomes a [`TraceInput`] for
//! [`check_trace`](crate::check_trace()), like any other trace. What of the run was not seen or not
//! understood is among its warnings, so that a result on it is not complete.

mod describe;
mod misuse;

use crate::failure::{Failure, Unusable};
use crate::trace_input::TraceInput;
use anyorder_common::numbers::plural;
use anyorder_finding::{Warning, WarningKind};
pub use anyorder_native::launch;
use anyorder_native::launch::lacks_instrumented_std;
use anyorder_native::recording::Recording;
pub use anyorder_native::recording::{Header, Modules};
use anyorder_native::symbols::Symbols;
pub use anyorder_native::symbols::{SourceFile, Sources};
use anyorder_native::{Frame, Misuse, Names, Options, Stats, Traced, to_traces};
use anyorder_system::Control;
use anyorder_trace::Problems;
pub use describe::describe;
pub use misuse::add_misuses;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The most files without instrumentation that are named.
const UNSEEN_MAX: usize = 10;

/// A recording, before it is read.
#[derive(Debug)]
pub struct RecordedImage<R> {
    /// The name of the input in results.
    pub name: String,
    /// The events.
    pub events: R,
    /// The text of the mapped code.
    pub maps: Vec<u8>,
    /// The most bytes of events that are read.
    pub bytes_max: u64,
    /// The most events of all traces.
    pub events_max: u64,
    /// The most events of one trace.
    pub part_max: u64,
    /// Whether only the first part is wanted.
    pub keeps_one: bool,
    /// Paths below this folder are shown without it.
    pub folder: PathBuf,
}

/// A recorded process image or a part of it, ready to be checked.
#[derive(Debug)]
pub struct RecordedRun<'r> {
    /// The input of a check.
    pub input: TraceInput,
    /// The number of the part, from 0.
    pub part: usize,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// What became of the events up to the end of the part.
    pub stats: Stats,
    /// The repeated accesses that were not recorded.
    pub repeated: u64,
    /// The recording.
    pub recording: &'r Recording,
    /// By event of the trace: see [`Traced::origins`].
    pub origins: Vec<u32>,
    /// What the threads do that no program may, whatever the order.
    pub misuses: Vec<Misuse>,
    /// The source files that places are in.
    pub sources: Sources,
    /// Paths below this folder are shown without it.
    pub folder: PathBuf,
}

/// Reads a recording, and makes the input of a check of it, or of each of its parts. `take` gets
/// them in order, until it fails or the job is stopped.
///
/// # Errors
///
/// Fails when the bytes are no recording, when a trace cannot hold it, or with the error of `take`.
pub fn traced<R: Read, E: From<Failure>>(
    image: RecordedImage<R>,
    control: &Control<'_>,
    take: &mut dyn FnMut(RecordedRun<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let RecordedImage { name, events, maps, bytes_max, folder, .. } = image;
    let (events_max, part_max) = (image.events_max, image.part_max);
    let bad = |error| Failure::input(&name, Unusable::Recording(error));
    control.progress.phase("reading");
    let recording = Recording::read(events, &maps, bytes_max).map_err(bad)?;
    control.progress.phase("ordering");
    let symbols = RefCell::new(Symbols::new(&recording.modules, folder.clone()));
    let mut go_on = || control.check().is_ok();
    let options = Options { events_max, part_max, ..Options::default() };
    let (mut part, mut before, mut outcome) = (0, Stats::default(), Ok(()));
    let mut take_part = |traced: Traced| -> Result<(), E> {
        let warnings = warnings(&name, &recording, (&traced, &before));
        let Traced { trace, stats, origins, misuses, .. } = traced;
        before = stats.clone();
        let input = match part {
            0 => TraceInput::new(name.clone(), trace, &Problems::default(), control),
            _ => TraceInput::later_part(name.clone(), trace, control),
        };
        let mut input = input?;
        input.warnings.extend(warnings);
        let run = RecordedRun {
            input,
            part,
            command: recording.header.command.clone(),
            stats,
            repeated: recording.header.left_out,
            recording: &recording,
            origins,
            misuses,
            sources: symbols.borrow().sources().clone(),
            folder: folder.clone(),
        };
        part += 1;
        take(run)?;
        control.progress.phase("ordering");
        Ok(())
    };
    let full = to_traces(&recording, &mut Shared(&symbols), &options, &mut go_on, &mut |traced| {
        outcome = take_part(traced);
        outcome.is_ok() && !image.keeps_one && control.check().is_ok()
    });
    full.map_err(|full| Failure::input(&name, Unusable::Full(full)))?;
    outcome
}

/// Names that others ask for, too.
struct Shared<'s, 'm>(&'s RefCell<Symbols<'m>>);

impl Names for Shared<'_, '_> {
    fn frames(&mut self, address: u64) -> Vec<Frame> {
        self.0.borrow_mut().frames(address)
    }

    fn variable(&mut self, address: u64) -> Option<String> {
        self.0.borrow_mut().variable(address)
    }
}

/// Returns the files of code in Rust whose standard library was not instrumented.
fn without_std(recording: &Recording) -> BTreeSet<&str> {
    let code = recording.modules.pieces().iter().filter(|piece| piece.is_code);
    let paths: BTreeSet<&str> = code.map(|piece| piece.path.as_str()).collect();
    let lacks = |path: &&str| path.starts_with('/') && lacks_instrumented_std(Path::new(path));
    paths.into_iter().filter(lacks).collect()
}

/// Returns what of a part of a run was not seen or not understood. What concerns the whole run
/// stands in the first part; of what is counted, each part has what came since the one before.
fn warnings(
    input: &str,
    recording: &Recording,
    (traced, before): (&Traced, &Stats),
) -> Vec<Warning> {
    let mut all = Vec::new();
    let mut add = |kind, count: u64, text: String| {
        if count > 0 {
            all.push(Warning::new(kind, input, text, count));
        }
    };
    let since = |count: fn(&Stats) -> u64| count(&traced.stats).saturating_sub(count(before));
    // The first part has recorded events, or nothing has.
    let of_whole = u64::from(before.recorded == 0);
    let ignored = WarningKind::Ignored;
    let is_cut = of_whole * u64::from(recording.header.is_cut);
    add(
        ignored,
        is_cut,
        "the recording reached its limit of size: later events are missing".into(),
    );
    let what =
        "the program uses fibers, tags or Java's part of the runtime, which is not understood";
    add(ignored, of_whole * u64::from(recording.header.has_foreign), what.into());
    let damage = recording.damage;
    let lost = of_whole * (damage.chunks_missing + damage.chunks_unreadable + damage.gaps);
    add(ignored, lost, format!("{} of the recording cannot be read", plural(lost, "piece")));
    let unread = since(|stats| stats.unknown + stats.unreadable);
    add(ignored, unread, format!("{} of an unknown kind", plural(unread, "recorded event")));
    let what = "the times of the threads contradict their locks: the order is a guess there";
    add(ignored, since(|stats| stats.disorders), what.into());
    let what = "an event does not fit what came before it, and is left out";
    add(ignored, since(|stats| stats.odd), what.into());
    let what = "a place in the code could be in two files: one of them is named";
    add(WarningKind::Odd, since(|stats| stats.ambiguous), what.into());
    let what = "what a signal handler does counts as done by the thread that it interrupts";
    add(WarningKind::Odd, since(|stats| stats.signals), what.into());
    let lacking = if of_whole > 0 { without_std(recording) } else { BTreeSet::new() };
    for path in lacking {
        let what = "Rust's standard library in it was built without instrumentation: what its locks and channels order is not seen, and races may be false";
        add(ignored, 1, format!("{path}: {what} (docs/native.md#rust)"));
    }
    let unseen = if of_whole > 0 { &traced.unseen[..] } else { &[] };
    for path in unseen.iter().take(UNSEEN_MAX) {
        let what = "no access in it was seen: it was built without `-fsanitize=thread`";
        add(ignored, 1, format!("{path}: {what}"));
    }
    let more = unseen.len().saturating_sub(UNSEEN_MAX) as u64;
    add(ignored, more, format!("{} without a recorded access", plural(more, "further file")));
    all
}
