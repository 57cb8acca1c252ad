//! Reads whole traces.

use crate::args::Global;
use crate::failure::{Failure, print_warnings};
use crate::ignored::{NotUnderstood, warnings_of};
use crate::input::{self, Begun, Watched};
use crate::watch::Watch;
use anyorder_common::text::shown;
use anyorder_finding::Warning;
use anyorder_trace::{Problems, Trace, TraceOrder, wellformed};
use std::path::Path;

/// A trace as it was read.
pub(crate) struct Read {
    pub(crate) trace: Trace,
    pub(crate) format: anyorder_trace::detect::Format,
    /// Whether the file is damaged, and this is what stood before the damage.
    pub(crate) damaged: bool,
    /// What of it was not understood.
    pub(crate) not_understood: NotUnderstood,
    /// What is to be said of it in the result.
    pub(crate) warnings: Vec<Warning>,
}

/// Reads a recorded run as [`read_any`] does, and refuses partial traces.
pub(crate) fn read(path: &Path, global: &Global, watch: &Watch) -> Result<Read, Failure> {
    let read = read_any(path, global, watch)?;
    if read.trace.tables().meta.order == TraceOrder::Partial {
        let message = "the order of its events is not the order in which they happened";
        let failure = Failure::new(format!("{}: {message}", shown(path)));
        let hint =
            "races need a recorded run; `anyorder consistency` and `info` read partial traces";
        return Err(failure.with_hint(hint));
    }
    Ok(read)
}

/// Reads a whole trace and checks that it is well-formed; says what is odd about it.
pub(crate) fn read_any(path: &Path, global: &Global, watch: &Watch) -> Result<Read, Failure> {
    read_begun(path, input::begin(path)?, global, watch)
}

/// As [`read_any`], of an input whose beginning was read.
pub(crate) fn read_begun(
    path: &Path,
    begun: Begun,
    global: &Global,
    watch: &Watch,
) -> Result<Read, Failure> {
    let control = watch.control();
    control.progress.phase("reading");
    let mut opened = input::open_begun(path, begun, global)?;
    let format = opened.format;
    let trace = Trace::read(&mut Watched { opened: &mut opened, control: &control })
        .map_err(|error| Failure::input(path, &error))?;
    // Only a damaged file gives a binary reader something to warn of, and only with `--salvage`.
    let binary = format == anyorder_trace::detect::Format::NativeBinary;
    let damaged = global.salvage && binary && !opened.source.problems().is_empty();
    if !global.quiet {
        print_warnings(path, opened.source.problems());
    }
    let mut form = Problems::default();
    // The front part of a trace lacks what stands behind it; that is no error of the input.
    if watch.stopped().is_none() {
        let problems = wellformed::check(&trace);
        if problems.errors_total > 0 {
            return Err(Failure::problems(path, &problems));
        }
        if !global.quiet {
            print_warnings(path, &problems);
        }
        form = problems;
    }
    let not_understood = NotUnderstood::of(&trace);
    let warnings = warnings_of(path, opened.source.problems(), &form, &not_understood);
    Ok(Read { trace, format, damaged, not_understood, warnings })
}
