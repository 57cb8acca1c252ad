//! Certificates about a trace.

use super::reordering::Reorderings;
use super::{Content, recognised, result, texts, without_mark};
use crate::failure::Hint;
use crate::predict::Specifications;
use crate::trace_input::TraceInput;
use crate::verdict::{CertificateFault, CertificateKind, CertificateVerdict, CertifiedFile};
use crate::{Failure, consistency};
use anyorder_certify::ReadProofError;
use anyorder_certify::consistency::{MailboxRule, split_own_code};
use anyorder_system::Control;
use anyorder_trace::{EventId, Trace};
use serde_json::Value;
use std::cell::OnceCell;

/// The options of [`TraceCertifier`].
#[derive(Clone, Debug, Default)]
pub struct CertifyOptions {
    /// The order that mailboxes guarantee, for certificates of consistency; `None` takes it from
    /// the trace.
    pub mailbox: Option<consistency::MailboxRule>,
    /// The specifications of the objects in the trace; `None` means the built-in types.
    pub specifications: Option<Specifications>,
}

/// Checks certificates about one trace. What the checks share is computed once, when the first
/// certificate needs it.
///
/// ```
/// use anyorder_drive::{CertificateVerdict, CertifyOptions, TraceCertifier, TraceInput};
/// use anyorder_system::Control;
/// use anyorder_formats::std::StdReader;
/// use anyorder_trace::{Problems, Trace};
///
/// let text = "T0|w(x)|1\nT0|fork(T1)|2\nT1|w(x)|3\n";
/// let control = Control::default();
/// let trace = Trace::read(&mut StdReader::new(text.as_bytes())).unwrap();
/// let input = TraceInput::new("run.std", trace, &Problems::default(), &control).unwrap();
/// let certifier = TraceCertifier::new(&input, CertifyOptions::default());
/// let proof = "order-proof 1\nrules threads\norder 1 3\npath 2\n 1 2 po\n 2 3 fork\n";
/// let checked = certifier.check(proof, &control).unwrap();
/// assert!(matches!(checked.certificates[0].verdict, CertificateVerdict::Holds { .. }));
/// ```
#[derive(Debug)]
pub struct TraceCertifier<'t> {
    pub(super) input: &'t TraceInput,
    pub(super) options: CertifyOptions,
    /// The trace with separate pieces of own code, if it has such pieces.
    split: OnceCell<Option<Trace>>,
    reorderings: OnceCell<Reorderings<'t>>,
}

impl<'t> TraceCertifier<'t> {
    /// Prepares to check certificates.
    #[must_use]
    pub fn new(input: &'t TraceInput, options: CertifyOptions) -> TraceCertifier<'t> {
        let (split, reorderings) = (OnceCell::new(), OnceCell::new());
        TraceCertifier { input, options, split, reorderings }
    }

    /// Checks the certificates of a file, given by its text.
    ///
    /// # Errors
    ///
    /// Fails when the specifications of the options cannot be used.
    pub fn check(&self, text: &str, control: &Control<'_>) -> Result<CertifiedFile, Failure> {
        let text = without_mark(text);
        let unreadable = |what: String| {
            CertifiedFile::one(None, CertificateVerdict::Unreadable(CertificateFault::new(what)))
        };
        let content = match recognised(text) {
            Ok(content) => content,
            Err(what) => return Ok(unreadable(what)),
        };
        Ok(match content {
            Content::Text("order-proof") => texts::order_proof(self, text, control),
            Content::Text("trace-schedule") => texts::trace_schedule(self, text, control),
            Content::Text(_) => texts::consistency_proof(self, text, control),
            Content::Run => texts::consistency_witness(self, text, control),
            Content::Json(value) => return self.check_json(&value, control),
        })
    }

    fn check_json(&self, value: &Value, control: &Control<'_>) -> Result<CertifiedFile, Failure> {
        let of_a_model = || {
            CertificateVerdict::Unreadable(
                CertificateFault::new(
                    "a schedule of a model or a program, and the input is a trace",
                )
                .with_hint(Hint::CertifySchedule),
            )
        };
        if value.get("findings").is_some() {
            let reorderings = self.reorderings()?;
            let mut checkers = reorderings.checkers();
            return Ok(result::check_all(value, &self.input.name, |format, inline| match format {
                "reordering" => {
                    (Some(CertificateKind::Reordering), checkers.check(inline, control))
                }
                "schedule" => (Some(CertificateKind::Schedule), of_a_model()),
                _ => (None, CertificateVerdict::unreadable("a certificate of an unknown format")),
            }));
        }
        if value.get("reordering").is_some() {
            let verdict = self.reorderings()?.checkers().check(value, control);
            return Ok(CertifiedFile::one(Some(CertificateKind::Reordering), verdict));
        }
        if value.get("schedule").is_some() {
            return Ok(CertifiedFile::one(Some(CertificateKind::Schedule), of_a_model()));
        }
        let what = "an object that is no reordering, no schedule and no result";
        Ok(CertifiedFile::one(None, CertificateVerdict::unreadable(what)))
    }

    pub(super) fn trace(&self) -> &'t Trace {
        &self.input.trace
    }

    /// The trace that certificates of consistency are about.
    pub(super) fn split(&self) -> &Trace {
        self.split.get_or_init(|| split_own_code(self.trace())).as_ref().unwrap_or(self.trace())
    }

    pub(super) fn mailbox(&self) -> MailboxRule {
        match self.options.mailbox {
            None => MailboxRule::recorded(self.trace()),
            Some(consistency::MailboxRule::Fifo) => MailboxRule::Fifo,
            Some(consistency::MailboxRule::Bag) => MailboxRule::Bag,
            Some(consistency::MailboxRule::Delayed) => MailboxRule::Delayed,
        }
    }

    fn reorderings(&self) -> Result<&Reorderings<'t>, Failure> {
        if let Some(known) = self.reorderings.get() {
            return Ok(known);
        }
        let new = Reorderings::new(self.input, self.options.specifications.as_ref())?;
        Ok(self.reorderings.get_or_init(|| new))
    }

    /// Refuses a certificate about the recorded order of a trace that has none.
    pub(super) fn require_observed(&self) -> Result<(), CertificateVerdict> {
        if self.input.is_partial() {
            let what = "the order of its events is not the order in which they happened";
            return Err(CertificateVerdict::fails("the input", what));
        }
        Ok(())
    }
}

/// The verdict on a text that cannot be read.
pub(super) fn not_read(error: ReadProofError) -> CertificateVerdict {
    match error {
        ReadProofError::Io(error) => CertificateVerdict::unreadable(error.to_string()),
        ReadProofError::Line { line, message } => {
            CertificateVerdict::Unreadable(CertificateFault::at(format!("line {line}"), message))
        }
        ReadProofError::Name { line, message } => {
            CertificateVerdict::fails(format!("line {line}"), message)
        }
    }
}

/// Describes an event for a claim: what it does, its name, task and handler.
pub(super) fn described(trace: &Trace, event: EventId) -> String {
    let what = crate::predict::step_text(trace, event);
    let task = trace.event(event).task;
    let (task, handler) = (trace.task_name(task), trace.handler_name(trace.handler_of(event)));
    format!("`{what}` (event {}, task `{task}` on `{handler}`)", trace.unique_label(event))
}

/// A number of events, in words.
pub(super) fn events(number: usize) -> String {
    anyorder_common::numbers::plural(number as u64, "event")
}
