//! Why two events of a trace are ordered, or why nothing orders them.

mod certified;

use crate::failure::Failure;
use crate::predict::step_text;
use crate::rules::fitting_rules;
use crate::trace_input::{TraceInput, not_observed};
use crate::words;
use anyorder_certify::{ClaimedOrder, write_order};
use anyorder_common::numbers::plural;
use anyorder_common::text::{escape, shown};
use anyorder_finding::ExplanationStep;
use anyorder_hb::RuleSet;
use anyorder_system::Control;
use anyorder_trace::{EventId, LabelScheme, Trace};
use certified::{certificate, certified};
use std::io;
use std::path::Path;

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
/// If `rules` is `None`, the contents of the trace decide.
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
/// let answer = why(&input, ["1", "3"], None, &control).unwrap().unwrap();
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
    control: &Control<'_>,
) -> Result<Option<Explanation>, Failure> {
    let TraceInput { name, trace, not_understood, .. } = input;
    if input.is_partial() {
        let hint =
            "races need a recorded run; `anyorder consistency` and `info` read partial traces";
        return Err(not_observed(name).with_hint(hint));
    }
    let (a, b) = (event(trace, name, labels[0])?, event(trace, name, labels[1])?);
    let rules = rules.unwrap_or_else(|| fitting_rules(trace));
    if control.check().is_err() {
        return Ok(None);
    }
    control.progress.phase("explaining");
    let Ok(why) = anyorder_hb::why(trace, rules, a, b, &control.cancel) else { return Ok(None) };
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
fn event(trace: &Trace, name: &str, label: &str) -> Result<EventId, Failure> {
    let name = shown(Path::new(name));
    let wanted = label;
    let label = escape(wanted);
    match trace.all_named(wanted)[..] {
        [event] => return Ok(event),
        [] => {}
        ref several => {
            let count = plural(several.len() as u64, "event");
            let failure = Failure::new(format!("{name} has {count} with the name `{label}`"));
            let mut names: Vec<String> = several
                .iter()
                .take(NAMED_MAX)
                .map(|event| {
                    format!("`{}` ({})", trace.unique_label(*event), step_text(trace, *event))
                })
                .collect();
            if several.len() > NAMED_MAX {
                names.push(format!("{} more", several.len() - NAMED_MAX));
            }
            return Err(failure.with_hint(format!("say which one: {}", names.join(", "))));
        }
    }
    let failure = Failure::new(format!("{name} has no event `{label}`"));
    let label_of = |row: usize| trace.label(EventId::from_index(row));
    Err(failure.with_hint(match (trace.tables().meta.labels, trace.len()) {
        (LabelScheme::AccessOrOperation, _) => {
            "accesses and operations have separate numbers: `access:N` or `op:N`".to_owned()
        }
        (_, 0) => "the trace has no events".to_owned(),
        (_, n) => {
            let [first, last] = [label_of(0), label_of(n - 1)];
            format!("the events range from `{}` to `{}`", escape(&first), escape(&last))
        }
    }))
}
