//! The parts of an input that were not understood, as warnings in the result and as remarks on the
//! findings that rest on them.

use anyorder_common::numbers::plural;
use anyorder_finding::{Finding, Warning, WarningKind, mark_ignored_input};
use anyorder_trace::{
    EventId, EventKind, Ignored, IgnoredOperation, InvocationId, LabelScheme, Problem, Problems,
    Severity, Trace, Unknown,
};
use std::collections::{BTreeMap, HashMap};

/// The maximum number of distinct warnings of one input in a result; others are counted.
const TEXTS_MAX: usize = 20;

/// The maximum number of places listed for one warning.
const PLACES_MAX: usize = 5;

/// The maximum number of names in a remark.
const NAMES_MAX: usize = 3;

/// The parts of a trace that were not understood.
#[derive(Clone, Default, Debug)]
pub(crate) struct NotUnderstood {
    operations: Ignored,
    /// Objects without a specification, with the number of their calls.
    unspecified: BTreeMap<String, u64>,
    /// The first call of one of them.
    first_call: Option<EventId>,
}

impl NotUnderstood {
    /// Finds the unknown operations of a trace.
    pub(crate) fn of(trace: &Trace) -> NotUnderstood {
        NotUnderstood { operations: Ignored::of(trace), ..NotUnderstood::default() }
    }

    /// Adds the objects without a specification.
    pub(crate) fn with_unspecified(
        mut self,
        trace: &Trace,
        objects: &BTreeMap<String, u64>,
    ) -> NotUnderstood {
        let tables = trace.tables();
        let is_call = |event: &anyorder_trace::Event| {
            event.kind() == EventKind::Invoke
                && tables
                    .invocations
                    .get(InvocationId(event.operand).index())
                    .is_some_and(|call| objects.contains_key(tables.name(call.object)))
        };
        if !objects.is_empty() {
            self.first_call = trace.events().find(is_call).map(|event| event.id);
        }
        self.unspecified = objects.clone();
        self
    }

    /// Marks a finding that rests on something that was not understood. `last` is the last event of
    /// its witness, or of its sites.
    ///
    /// If `last` comes before the first event that was not understood, the finding holds: it holds
    /// in the prefix of the trace that ends there, in which everything is understood. Otherwise it
    /// may not hold. A call that waits could forbid the order, and a call that writes could change
    /// a read value.
    fn mark(&self, finding: &mut Finding, last: EventId) {
        if let Some(what) = self.assumption(last) {
            mark_ignored_input(finding, &what);
        }
    }

    /// Returns the assumption behind a result that uses the events up to `last`, as a clause after
    /// `only if`; `None` if all these events are understood.
    pub(crate) fn assumption(&self, last: EventId) -> Option<String> {
        let call = self.first_call.is_some_and(|first| first < last);
        (self.operations.any_before(last) || call).then(|| self.words())
    }

    /// Marks findings, each with the last event of its witness. A finding without one is marked by
    /// the last event of its sites.
    pub(crate) fn mark_all<'f>(
        &self,
        trace: &Trace,
        findings: impl Iterator<Item = (&'f mut Finding, Option<EventId>)>,
    ) {
        if self.operations.is_empty() && self.first_call.is_none() {
            return;
        }
        let mut by_sites: Vec<&mut Finding> = Vec::new();
        for (finding, last) in findings {
            match last {
                Some(last) => self.mark(finding, last),
                None => by_sites.push(finding),
            }
        }
        let mut places: HashMap<String, Option<EventId>> = HashMap::new();
        let labels = by_sites.iter().flat_map(|finding| &finding.sites);
        places.extend(labels.filter_map(|site| site.event.clone()).map(|label| (label, None)));
        let apart = trace.tables().meta.labels == LabelScheme::AccessOrOperation;
        for event in trace.events().filter(|event| !apart || event.kind().is_access()) {
            if let Some(place) = places.get_mut(&trace.label(event.id)) {
                place.get_or_insert(event.id);
            }
        }
        for finding in by_sites {
            let last = finding
                .sites
                .iter()
                .filter_map(|site| places.get(site.event.as_ref()?).copied()?);
            // A finding without events may rest on any event.
            let last = last.max().unwrap_or(EventId(trace.len() as u32));
            self.mark(finding, last);
        }
    }

    /// Returns the assumption as a clause.
    fn words(&self) -> String {
        let operations = self.operations.operations().iter().map(|one| one.word.as_str());
        let calls = self.unspecified.keys().map(String::as_str);
        let names: Vec<&str> = operations.chain(calls).collect();
        let mut shown: Vec<String> =
            names.iter().take(NAMES_MAX).map(|name| format!("`{name}`")).collect();
        if names.len() > NAMES_MAX {
            shown.push(format!("{} more", names.len() - NAMES_MAX));
        }
        let last = shown.pop().unwrap_or_default();
        if shown.is_empty() {
            format!("{last}, which is not understood, orders nothing and accesses nothing")
        } else {
            let shown = shown.join(", ");
            format!(
                "{shown} and {last}, which are not understood, order nothing and access nothing"
            )
        }
    }

    /// Returns a warning for each unknown operation.
    fn of_operations(&self, input: &str) -> Vec<Warning> {
        let warning = |one: &IgnoredOperation| {
            let what = "is unknown: assumed to order nothing and to access nothing";
            let text = format!("operation `{}` {what}", one.word);
            Warning {
                places: one.events.iter().map(|event| format!("event {event}")).collect(),
                ..Warning::new(WarningKind::Ignored, input, text, one.count)
            }
        };
        self.operations.operations().iter().map(warning).collect()
    }

    /// Returns a warning for each object without a specification. Beyond the maximum, one warning
    /// counts the rest.
    pub(crate) fn of_unspecified(&self, input: &str) -> Vec<Warning> {
        let warning = |what: String, count| {
            let why = "they have no specification (`--spec`, `--object`)";
            let text = format!("calls of {what} are ignored: {why}");
            Warning::new(WarningKind::Ignored, input, text, count)
        };
        let named = self.unspecified.iter().take(TEXTS_MAX);
        let mut warnings: Vec<Warning> =
            named.map(|(name, count)| warning(format!("`{name}`"), *count)).collect();
        let more = self.unspecified.len().saturating_sub(TEXTS_MAX) as u64;
        if more > 0 {
            let calls = self.unspecified.values().skip(TEXTS_MAX);
            let calls = calls.fold(0, |sum: u64, count| sum.saturating_add(*count));
            warnings.push(warning(plural(more, "further object"), calls));
        }
        warnings
    }
}

/// Returns all warnings about a trace: those of its reader, and those of the well-formedness check.
pub(crate) fn warnings_of(
    input: &str,
    reader: &Problems,
    form: &Problems,
    not_understood: &NotUnderstood,
) -> Vec<Warning> {
    let mut warnings = not_understood.of_operations(input);
    let kept = warnings.iter().map(|warning| warning.count).sum();
    let is_kept = |problem: &Problem| problem.unknown == Some(Unknown::Kept);
    let kept = if reader.list.iter().any(is_kept) { kept } else { 0 };
    warnings.extend(of_problems(input, reader, Some(kept)));
    warnings.extend(of_problems(input, form, Some(0)));
    warnings
}

/// Returns the warnings about a trace that is not held in memory: those of its reader.
#[must_use]
pub fn warnings_of_stream(input: &str, reader: &Problems) -> Vec<Warning> {
    of_problems(input, reader, None)
}

/// Returns the warnings of a reader. Merges warnings with equal texts. `kept` of them are about
/// unknown operations, which are counted by name.
fn of_problems(input: &str, problems: &Problems, kept: Option<u64>) -> Vec<Warning> {
    let listed = problems.list.iter().filter(|problem| problem.severity == Severity::Warning);
    let mut warnings: Vec<Warning> = Vec::new();
    let mut counted = kept.unwrap_or(0);
    for problem in listed {
        if kept.is_some() && problem.unknown == Some(Unknown::Kept) {
            continue;
        }
        let known = warnings.iter().position(|warning| warning.text == problem.message);
        if known.is_none() && warnings.len() >= TEXTS_MAX {
            continue;
        }
        let known = known.unwrap_or_else(|| {
            let kind = match problem {
                Problem { unknown: Some(_), .. } => WarningKind::Ignored,
                Problem { place, .. } if place.block.is_some() => WarningKind::Damaged,
                _ => WarningKind::Odd,
            };
            warnings.push(Warning::new(kind, input, problem.message.clone(), 0));
            warnings.len() - 1
        });
        let warning = &mut warnings[known];
        warning.count += 1;
        counted += 1;
        if warning.places.len() < PLACES_MAX {
            warning.places.push(place(problem));
        }
    }
    let rest = problems.warnings_total.saturating_sub(counted);
    if rest > 0 {
        warnings.push(Warning::new(WarningKind::Odd, input, "further warnings, not listed", rest));
    }
    warnings
}

fn place(problem: &Problem) -> String {
    match (problem.place.line, problem.place.block, problem.place.event) {
        (Some(line), ..) => format!("line {line}"),
        (None, Some(block), _) => format!("block {block}"),
        (None, None, Some(event)) => format!("event {event}"),
        _ => problem.place.to_string(),
    }
}
