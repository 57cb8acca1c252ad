//! Runs of native programs: makes the input of a check of what was recorded.
//!
//! [`launch`] starts a program. What it recorded becomes a [`TraceInput`] for
//! [`check_trace`](crate::check_trace()), like any other trace. What of the run was not seen or not
//! understood is among its warnings, so that a result on it is not complete.

mod describe;

use crate::failure::{Failure, Unusable};
use crate::trace_input::TraceInput;
use anyorder_common::numbers::plural;
use anyorder_finding::{Warning, WarningKind};
pub use anyorder_native::launch;
use anyorder_native::recording::Recording;
pub use anyorder_native::recording::{Header, Modules};
use anyorder_native::symbols::Symbols;
pub use anyorder_native::symbols::{SourceFile, Sources};
use anyorder_native::{Options, Stats, Traced, to_trace};
use anyorder_system::Control;
use anyorder_trace::Problems;
pub use describe::describe;
use std::io::Read;
use std::path::PathBuf;

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
    /// The most events of the trace.
    pub events_max: u64,
    /// Paths below this folder are shown without it.
    pub folder: PathBuf,
}

/// A recorded process image, ready to be checked.
#[derive(Debug)]
pub struct RecordedRun {
    /// The input of a check.
    pub input: TraceInput,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// What became of the events.
    pub stats: Stats,
    /// The repeated accesses that were not recorded.
    pub repeated: u64,
    /// The recording.
    pub recording: Recording,
    /// By event of the trace: see [`Traced::origins`].
    pub origins: Vec<u32>,
    /// The source files that places are in.
    pub sources: Sources,
    /// Paths below this folder are shown without it.
    pub folder: PathBuf,
}

/// Reads a recording, and makes the input of a check of it.
///
/// # Errors
///
/// Fails when the bytes are no recording, or a trace cannot hold it.
pub fn traced<R: Read>(
    image: RecordedImage<R>,
    control: &Control<'_>,
) -> Result<RecordedRun, Failure> {
    let RecordedImage { name, events, maps, bytes_max, events_max, folder } = image;
    let bad = |error| Failure::input(&name, Unusable::Recording(error));
    control.progress.phase("reading");
    let recording = Recording::read(events, &maps, bytes_max).map_err(bad)?;
    control.progress.phase("ordering");
    let mut names = Symbols::new(&recording.modules, folder.clone());
    let mut go_on = || control.check().is_ok();
    let fitting = Options::default();
    let options = Options { events_max: events_max.min(fitting.events_max), ..fitting };
    let traced = to_trace(&recording, &mut names, &options, &mut go_on);
    let traced = traced.map_err(|full| Failure::input(&name, Unusable::Full(full)))?;
    let warnings = warnings(&name, &recording, &traced);
    let Traced { trace, stats, origins, .. } = traced;
    let sources = names.into_sources();
    let mut input = TraceInput::new(name, trace, &Problems::default(), control)?;
    input.warnings.extend(warnings);
    let repeated = recording.header.left_out;
    let command = recording.header.command.clone();
    Ok(RecordedRun { input, command, stats, repeated, recording, origins, sources, folder })
}

/// Returns what of a run was not seen or not understood.
fn warnings(input: &str, recording: &Recording, traced: &Traced) -> Vec<Warning> {
    let mut all = Vec::new();
    let mut add = |kind, count: u64, text: String| {
        if count > 0 {
            all.push(Warning::new(kind, input, text, count));
        }
    };
    let Stats { unknown, unreadable, disorders, odd, ambiguous, signals, .. } = traced.stats;
    let ignored = WarningKind::Ignored;
    let is_cut = u64::from(recording.header.is_cut);
    add(
        ignored,
        is_cut,
        "the recording reached its limit of size: later events are missing".into(),
    );
    let what =
        "the program uses fibers, tags or Java's part of the runtime, which is not understood";
    add(ignored, u64::from(recording.header.has_foreign), what.into());
    let damage = recording.damage;
    let lost = damage.chunks_missing + damage.chunks_unreadable + damage.gaps;
    add(ignored, lost, format!("{} of the recording cannot be read", plural(lost, "piece")));
    let unread = unknown + unreadable;
    add(ignored, unread, format!("{} of an unknown kind", plural(unread, "recorded event")));
    let what = "the times of the threads contradict their locks: the order is a guess there";
    add(ignored, disorders, what.into());
    let what = "an event does not fit what came before it, and is left out";
    add(ignored, odd, what.into());
    let what = "a place in the code could be in two files: one of them is named";
    add(WarningKind::Odd, ambiguous, what.into());
    let what = "what a signal handler does counts as done by the thread that it interrupts";
    add(WarningKind::Odd, signals, what.into());
    for path in traced.unseen.iter().take(UNSEEN_MAX) {
        let what = "no access in it was seen: it was built without `-fsanitize=thread`";
        add(ignored, 1, format!("{path}: {what}"));
    }
    let more = traced.unseen.len().saturating_sub(UNSEEN_MAX) as u64;
    add(ignored, more, format!("{} without a recorded access", plural(more, "further file")));
    all
}
