//! Why two events of a trace are ordered, or why nothing orders them.

mod certified;

use crate::failure::{Failure, KnownEvents, Needs, NoEvent, Unusable};
use crate::predict::{Specifications, order_of_calls, step_text};
use crate::rules::fitting_rules;
use crate::trace_input::TraceInput;
use crate::words;
use anyorder_certify::{ClaimedOrder, write_order};
use anyorder_finding::ExplanationStep;
use anyorder_hb::{RuleSet, why_with_calls};
use anyorder_system::Control;
use anyorder_trace::{EventId, LabelScheme, Trace};
use certified::{certificate, certified};
use std::io;

/// The order of two events, explained.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explanation {
    /// The event that comes first in the trace.
    pub first: EventId,
    /// The other event.
    pub second: EventId,
    /// The rules that order events.
    pub rules: RuleSet,
    /// Whether the first happens before the second.
    pub ordered: bool,
    /// The explanation; empty if it is too long.
    pub steps: Vec<ExplanationStep>,
    /// The result of the independent check of the proof; `None` if there is no proof.
    pub checked: Option<Result<(), String>>,
    /// The proof; `None` if there is none.
    certificate: Option<ClaimedOrder>,
    /// The assumption behind the answer, as a clause after `only if`; `None` if everything is
    /// understood.
    pub needed: Option<String>,
}

/// Explains the order of two events, given by their labels. Returns `None` if the job was stopped.
/// If `rules` is `None`, the contents of the trace decide; without `specifications`, those of the
/// built-in types hold.
///
/// ```
/// use anyorder_drive::{TraceInput, why};
/// use anyorder_system::Control;
/// use anyorder_formats::std::StdReader;
/// use anyorder_trace::{Problems, Trace};
///
/// let text = "T0|w(x)|1\nT0|fork(T1)|2\nT1|w(x)|3\n";
/// let control = Control::default();
/// let trace = Trace::read(&mut StdReader::new(text.as_bytes())).unwrap();
/// let input = TraceInput::new("run.std", trace, &Problems::default(), &control).unwrap();
/// let answer = why(&input, ["1", "3"], None, None, &control).unwrap().unwrap();
/// assert!(answer.ordered && answer.checked == Some(Ok(())));
/// ```
///
/// # Errors
///
/// Fails when the trace is partial, or has no such event.
pub fn why(
    input: &TraceInput,
    labels: [&str; 2],
    rules: Option<RuleSet>,
    specifications: Option<&Specifications>,
    control: &Control<'_>,
) -> Result<Option<Explanation>, Failure> {
    let TraceInput { name, trace, not_understood, .. } = input;
    if input.is_partial() {
        return Err(Failure::input(name, Unusable::NotObserved(Needs::Races)));
    }
    let (a, b) = (event(trace, name, labels[0])?, event(trace, name, labels[1])?);
    let rules = rules.unwrap_or_else(|| fitting_rules(trace));
    if control.check().is_err() {
        return Ok(None);
    }
    control.progress.phase("explaining");
    let calls = order_of_calls(trace, specifications, &control.cancel)?;
    let Some(calls) = calls else { return Ok(None) };
    let with_calls = (trace, calls.as_slice());
    let Ok(why) = why_with_calls(with_calls, rules, a, b, &control.cancel) else { return Ok(None) };
    let certificate = certificate(rules, &why);
    let checked = certificate.as_ref().map(|claimed| certified(trace, claimed));
    // A proven order holds whatever the unknown operations do.
    let needed = not_understood.assumption(why.second).filter(|_| !why.ordered && a != b);
    let steps = words::order(trace, &why);
    let (first, second, ordered) = (why.first, why.second, why.ordered);
    Ok(Some(Explanation { first, second, rules, ordered, steps, checked, certificate, needed }))
}

impl Explanation {
    /// Returns whether there is a proof that [`write_certificate`](Self::write_certificate) writes.
    #[must_use]
    pub const fn has_certificate(&self) -> bool {
        self.certificate.is_some()
    }

    /// Writes the proof about `trace` in the format of certificates; nothing if there is no proof.
    ///
    /// # Errors
    ///
    /// Fails when `out` does.
    pub fn write_certificate(&self, trace: &Trace, out: &mut dyn io::Write) -> io::Result<()> {
        self.certificate.as_ref().map_or(Ok(()), |claimed| write_order(claimed, trace, out))
    }
}

/// The maximum number of events that a message about an ambiguous name lists.
const NAMED_MAX: usize = 5;

/// Finds an event by its name.
fn event(trace: &Trace, name: &str, label: &str) -> Result<EventId, NoEvent> {
    let (input, label) = (name.to_owned(), label.to_owned());
    let label_of = |row: usize| trace.label(EventId::from_index(row));
    match trace.all_named(&label)[..] {
        [event] => Ok(event),
        [] => {
            let known = match (trace.tables().meta.labels, trace.len()) {
                (LabelScheme::AccessOrOperation, _) => KnownEvents::AccessOrOperation,
                (_, 0) => KnownEvents::None,
                (_, n) => KnownEvents::Range(label_of(0), label_of(n - 1)),
            };
            Err(NoEvent::Unknown { input, label, known })
        }
        ref several => {
            let first = several.iter().take(NAMED_MAX);
            let first = first.map(|one| (trace.unique_label(*one), step_text(trace, *one)));
            let (count, first) = (several.len() as u64, first.collect());
            Err(NoEvent::Ambiguous { input, label, count, first })
        }
    }
}
