//! The parts of an input that were not understood, as warnings in the result and as remarks on the
//! findings that rest on them.

use anyorder_common::numbers::plural;
use anyorder_finding::{Finding, Severity, Warning, WarningKind, mark_ignored_input, option};
use anyorder_formats::{Ignored, IgnoredOperation, ThreadDoubt, Threads};
use anyorder_predict::DeadlockRequest;
use anyorder_trace::{
    Block, EventId, EventKind, HandlerId, InvocationId, Problem, Problems, Severity as Level,
    Tables, Trace, Unknown,
};
use std::collections::BTreeMap;

/// The maximum number of distinct warnings of one input in a result; others are counted.
pub(crate) const TEXTS_MAX: usize = 20;

/// The filter of findings that claim nothing.
const UNCONFIRMED: &str = "unconfirmed";

/// The maximum number of places listed for one warning.
pub(crate) const PLACES_MAX: usize = 5;

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
    /// What of its threads does not fit together.
    doubts: Vec<ThreadDoubt>,
    /// Threads that may be forked under another name, with the reason. Orders are missing then.
    misnamed: BTreeMap<HandlerId, String>,
}

impl NotUnderstood {
    /// Finds the unknown operations of a trace, and, if it was read to its end, what of its threads
    /// does not fit together.
    pub(crate) fn of(trace: &Trace, is_whole: bool) -> NotUnderstood {
        let doubts = if is_whole { Threads::of(trace) } else { Vec::new() };
        let mut misnamed = BTreeMap::new();
        for doubt in &doubts {
            if let ThreadDoubt::NeverRuns { thread, instead: Some(other), .. } = doubt {
                let [forked, runs] = [thread, other].map(|thread| trace.handler_name(*thread));
                let what =
                    format!("thread `{runs}` is not the thread that is forked as `{forked}`");
                misnamed.insert(*other, what);
            }
        }
        let operations = Ignored::of(trace);
        NotUnderstood { operations, doubts, misnamed, ..NotUnderstood::default() }
    }

    /// Returns the warnings about what of the threads does not fit together.
    fn of_threads(&self, input: &str, trace: &Trace) -> Vec<Warning> {
        let label = |event: u64| match u32::try_from(event) {
            Ok(event) if (event as usize) < trace.len() => trace.unique_label(EventId(event)),
            _ => format!("@{event}"),
        };
        warnings_of_threads(input, trace.tables(), &self.doubts, label)
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

    /// Marks findings, each with the last event of its witness, or of its sites, and with its
    /// pairs.
    pub(crate) fn mark_all<'f>(
        &self,
        trace: &Trace,
        findings: impl Iterator<Item = (&'f mut Finding, EventId, &'f [(EventId, EventId)])>,
    ) {
        for (finding, last, pairs) in findings {
            self.mark(finding, last);
            self.mark_misnamed(trace, finding, pairs);
        }
    }

    /// Marks a finding whose pairs all have an event of a thread that may have been forked under
    /// another name. Such a finding claims nothing: the fork may order the two.
    fn mark_misnamed(&self, trace: &Trace, finding: &mut Finding, pairs: &[(EventId, EventId)]) {
        if self.misnamed.is_empty() || pairs.is_empty() {
            return;
        }
        let reason = |(a, b): &(EventId, EventId)| {
            [a, b].into_iter().find_map(|event| self.misnamed.get(&trace.handler_of(*event)))
        };
        let reasons: Option<Vec<&String>> = pairs.iter().map(reason).collect();
        if let Some(what) = reasons.and_then(|reasons| reasons.first().copied()) {
            demote(finding, what);
        }
    }

    /// Marks a deadlock of which a thread may have been forked under another name: the fork or a
    /// join may forbid it.
    pub(crate) fn mark_deadlock(
        &self,
        trace: &Trace,
        finding: &mut Finding,
        requests: &[DeadlockRequest],
    ) {
        let threads = requests.iter().map(|request| trace.handler_of(request.event));
        if let Some(what) = threads.filter_map(|thread| self.misnamed.get(&thread)).next() {
            demote(finding, what);
        }
    }

    /// Returns the assumption as a clause.
    fn words(&self) -> String {
        let operations = self.operations.operations().iter().filter(|one| !one.without_effect);
        let operations = operations.map(|one| one.word.as_str());
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
        warnings_of_operations(input, &self.operations)
    }
}

/// Makes of a finding one that claims nothing.
fn demote(finding: &mut Finding, what: &str) {
    mark_ignored_input(finding, what);
    finding.severity = Severity::Note;
    finding.confirmed = None;
    finding.filters = vec![UNCONFIRMED.to_owned()];
}

/// Returns a warning for each unknown operation.
fn warnings_of_operations(input: &str, ignored: &Ignored) -> Vec<Warning> {
    let warning = |one: &IgnoredOperation| {
        if one.without_effect {
            let text = format!("operation `{}` orders nothing and accesses nothing", one.word);
            return Warning::new(WarningKind::Odd, input, text, one.count);
        }
        let what = "is unknown: assumed to order nothing and to access nothing";
        let instead = one.instead.map(|word| format!("; did you mean `{word}`?"));
        let text = format!("operation `{}` {what}{}", one.word, instead.unwrap_or_default());
        Warning {
            places: one.events.iter().map(|event| format!("event {event}")).collect(),
            ..Warning::new(WarningKind::Ignored, input, text, one.count)
        }
    };
    ignored.operations().iter().map(warning).collect()
}

impl NotUnderstood {
    /// Returns a warning for each object without a specification. Beyond the maximum, one warning
    /// counts the rest.
    pub(crate) fn of_unspecified(&self, input: &str) -> Vec<Warning> {
        let warning = |what: String, count| {
            let [spec, object] = [option::SPEC.typed(), option::OBJECT.typed()];
            let why = format!("they have no specification ({spec}, {object})");
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
    trace: &Trace,
    reader: &Problems,
    form: &Problems,
    not_understood: &NotUnderstood,
) -> Vec<Warning> {
    let mut warnings = not_understood.of_operations(input);
    let kept = kept_by(reader, &warnings);
    warnings.extend(of_problems(input, reader, kept));
    warnings.extend(of_problems(input, form, 0));
    warnings.extend(not_understood.of_threads(input, trace));
    warnings
}

/// Returns the warnings about what of the threads of a trace does not fit together. `label` names
/// an event.
fn warnings_of_threads(
    input: &str,
    tables: &Tables,
    doubts: &[ThreadDoubt],
    label: impl Fn(u64) -> String,
) -> Vec<Warning> {
    let warning = |doubt: &ThreadDoubt| {
        let kind = if doubt.hides() { WarningKind::Ignored } else { WarningKind::Odd };
        let places = doubt.event().map(|event| format!("event {}", label(event)));
        let text = doubt.text(tables);
        Warning { places: places.into_iter().collect(), ..Warning::new(kind, input, text, 1) }
    };
    let mut warnings: Vec<Warning> = doubts.iter().take(TEXTS_MAX).map(warning).collect();
    let more = doubts.len().saturating_sub(TEXTS_MAX) as u64;
    if more > 0 {
        let hides = doubts.iter().skip(TEXTS_MAX).any(ThreadDoubt::hides);
        let kind = if hides { WarningKind::Ignored } else { WarningKind::Odd };
        warnings.push(Warning::new(kind, input, "more of the threads does not fit together", more));
    }
    warnings
}

/// Returns how many warnings of a reader are about the unknown operations that have warnings of
/// their own. Readers of other formats have none.
fn kept_by(reader: &Problems, operations: &[Warning]) -> u64 {
    let is_kept = |problem: &Problem| problem.unknown == Some(Unknown::Kept);
    match reader.list.iter().any(is_kept) {
        true => operations.iter().map(|warning| warning.count).sum(),
        false => 0,
    }
}

/// What is not understood of a trace that is not held in memory.
#[derive(Clone, Default, Debug)]
pub struct StreamDoubts {
    operations: Ignored,
    threads: Threads,
}

impl StreamDoubts {
    /// Takes the next block.
    pub fn block(&mut self, tables: &Tables, block: &Block) {
        self.operations.block(tables, block);
        self.threads.block(tables, block);
    }

    /// Returns the warnings about the trace: those of its reader, and, if it was read to its end,
    /// those about its threads.
    #[must_use]
    pub fn warnings(
        &self,
        input: &str,
        tables: &Tables,
        reader: &Problems,
        is_whole: bool,
    ) -> Vec<Warning> {
        let mut warnings = warnings_of_operations(input, &self.operations);
        let kept = kept_by(reader, &warnings);
        warnings.extend(of_problems(input, reader, kept));
        if is_whole {
            let doubts = self.threads.finish(tables);
            let label = |event| format!("@{event}");
            warnings.extend(warnings_of_threads(input, tables, &doubts, label));
        }
        warnings
    }
}

/// Returns the warnings of a reader. Merges warnings with equal texts. `kept` of them are about
/// unknown operations, which are counted by name.
fn of_problems(input: &str, problems: &Problems, kept: u64) -> Vec<Warning> {
    let listed = problems.list.iter().filter(|problem| problem.severity == Level::Warning);
    let mut warnings: Vec<Warning> = Vec::new();
    let mut counted = kept;
    for problem in listed {
        if problem.unknown == Some(Unknown::Kept) {
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
