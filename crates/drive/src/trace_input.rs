//! The input of jobs on traces.

use crate::failure::{Failure, Needs, Unusable};
use crate::not_understood::{NotUnderstood, warnings_of};
use crate::result::JobResult;
use anyorder_finding::{Warning, option};
use anyorder_system::Control;
use anyorder_trace::{Problems, Tables, Trace, TraceOrder, wellformed};
use std::path::Path;

/// A trace with its name and its warnings.
#[derive(Clone, Debug)]
pub struct TraceInput {
    /// The name of the trace in messages and commands: a path, or `-`.
    pub name: String,
    /// The trace.
    pub trace: Trace,
    /// Whether the input was damaged, and the trace is only the part before the damage.
    pub damaged: bool,
    /// The warnings of the check that the trace is well-formed.
    pub form: Problems,
    /// The warnings of every result on this trace.
    pub warnings: Vec<Warning>,
    /// What of the trace was not understood.
    pub(crate) not_understood: NotUnderstood,
}

impl TraceInput {
    /// Makes the input of a job. `reader` has the warnings of the reader of the trace: its
    /// [`problems`](anyorder_trace::TraceSource::problems) after reading.
    ///
    /// If the job was stopped during reading, the trace is incomplete, and its form is not checked.
    ///
    /// # Errors
    ///
    /// Fails when the trace is not well-formed.
    pub fn new(
        name: impl Into<String>,
        trace: Trace,
        reader: &Problems,
        control: &Control<'_>,
    ) -> Result<TraceInput, Failure> {
        TraceInput::made(name.into(), trace, reader, control, true)
    }

    /// Makes the input of a job from a part of a run that others come before. What is doubtful of
    /// the threads of a trace, such as one that does nothing, says nothing of a part.
    ///
    /// # Errors
    ///
    /// As [`TraceInput::new`].
    pub fn later_part(
        name: impl Into<String>,
        trace: Trace,
        control: &Control<'_>,
    ) -> Result<TraceInput, Failure> {
        TraceInput::made(name.into(), trace, &Problems::default(), control, false)
    }

    fn made(
        name: String,
        trace: Trace,
        reader: &Problems,
        control: &Control<'_>,
        is_first: bool,
    ) -> Result<TraceInput, Failure> {
        let mut form = Problems::default();
        let is_whole = control.cancel.reason().is_none();
        if is_whole {
            form =
                if is_first { wellformed::check(&trace) } else { wellformed::check_rest(&trace) };
            if form.errors_total > 0 {
                return Err(Failure::problems(Path::new(&name), &form));
            }
        }
        let not_understood = NotUnderstood::of(&trace, is_whole && is_first);
        let warnings = warnings_of(&name, &trace, reader, &form, &not_understood);
        Ok(TraceInput { name, trace, damaged: false, form, warnings, not_understood })
    }

    /// Returns whether the trace is partial: its events are not in the order in which they
    /// happened.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        self.trace.tables().meta.order == TraceOrder::Partial
    }

    /// Adds the warnings and limits of every result on this trace.
    pub(crate) fn describe(&self, result: &mut JobResult) {
        result.warnings.extend(self.warnings.iter().cloned());
        if self.damaged {
            result.cut_by(option::SALVAGE);
        }
    }
}

/// Fails for a partial trace, which has no recorded order to predict from.
///
/// # Errors
///
/// Fails when the trace with these tables is partial.
pub fn observed(name: &str, tables: &Tables) -> Result<(), Failure> {
    match tables.meta.order {
        TraceOrder::Observed => Ok(()),
        TraceOrder::Partial => Err(Failure::input(name, Unusable::NotObserved(Needs::Recording))),
    }
}
