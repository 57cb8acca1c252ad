//! Witnesses checked again against the trace that they reorder, for `anyorder replay`.

use super::calls::SpecifiedCalls;
use super::load::{Loaded, load, types_of};
use super::search::{form, lanes};
use super::stored::{StoredWitness, witnesses_of};
use super::told::{Shape, run_of, unique_label};
use crate::args::{Global, LimitArgs};
use crate::failure::Failure;
use crate::ignored::NotUnderstood;
use crate::input::Begun;
use crate::output::{to_stdout, width};
use crate::watch::Watch;
use anyorder_certify::{ClaimedWitness, ReorderingChecker, ReorderingError, ReorderingReason};
use anyorder_common::text::escape;
use anyorder_common::text::shown;
use anyorder_finding::exit;
use anyorder_predict::{Internals, Witness, without_internals};
use anyorder_report::terminal;
use anyorder_trace::{EventId, Trace};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

/// What is to be checked again.
pub(crate) struct Again<'a> {
    pub(crate) trace: (&'a Path, Begun),
    /// The text with the witnesses, and where it stands.
    pub(crate) witness: (&'a Path, &'a str),
    /// Of a result, only the finding whose id begins so.
    pub(crate) finding: Option<&'a str>,
    pub(crate) spec: Option<&'a Path>,
    pub(crate) objects: &'a [String],
}

/// Checks witnesses, prints each as a table, and returns status 1 when all hold, else 3.
pub(crate) fn again(what: Again<'_>, global: &Global) -> Result<ExitCode, Failure> {
    let Again { trace: (path, begun), witness: (witness_path, text), finding, spec, objects } =
        what;
    let stored = witnesses_of(witness_path, text, finding)?;
    let watch = Watch::start(global, &LimitArgs::default())?;
    let types = types_of(spec, objects)?;
    let input = load(path, begun, &|_| u64::MAX, global, &watch)?;
    let Loaded::Held(whole) = input.loaded else {
        return Err(Failure::new(format!("{}: too many events to be held", shown(path))));
    };
    watch.done();
    if let Some(reason) = watch.stopped() {
        return Err(Failure::new(format!("{}: {reason}", shown(path))));
    }
    let without = without_internals(&whole, &types, Internals::Auto);
    let trace = without.as_ref().unwrap_or(&whole);
    let calls = SpecifiedCalls::new(trace, &types);
    let not_understood = input.not_understood.with_unspecified(trace, &calls.unspecified(trace));
    let wanted: HashSet<&str> = stored
        .iter()
        .flat_map(|one| one.order.iter().chain([&one.first, &one.second]))
        .map(String::as_str)
        .collect();
    let events: HashMap<String, EventId> = (0..trace.len() as u32)
        .map(|event| (unique_label(trace, EventId(event)), EventId(event)))
        .filter(|(label, _)| wanted.contains(label.as_str()))
        .collect();
    let mut out = String::new();
    let mut all = true;
    for one in &stored {
        let mut checker = ReorderingChecker::new(trace, &calls, lanes(one.reorders));
        all &= tell(&mut out, trace, &mut checker, one, &events, &not_understood);
    }
    to_stdout(|stdout| stdout.write_all(out.as_bytes()))?;
    Ok(ExitCode::from(if all { exit::FINDINGS } else { exit::LIMIT }))
}

/// Checks one witness and writes what came of it; returns whether it holds.
fn tell(
    out: &mut String,
    trace: &Trace,
    checker: &mut ReorderingChecker<'_>,
    one: &StoredWitness,
    events: &HashMap<String, EventId>,
    not_understood: &NotUnderstood,
) -> bool {
    // Writing to a string does not fail.
    if let Some((id, title)) = &one.finding {
        let _ = writeln!(out, "{} {}", escape(id), escape(title));
    }
    fn find<'l>(
        events: &HashMap<String, EventId>,
        label: &'l String,
    ) -> Result<EventId, &'l String> {
        events.get(label).copied().ok_or(label)
    }
    let order: Result<Vec<EventId>, &String> =
        one.order.iter().map(|label| find(events, label)).collect();
    let parts =
        order.and_then(|order| Ok((order, find(events, &one.first)?, find(events, &one.second)?)));
    let (order, first, second) = match parts {
        Ok(parts) => parts,
        Err(label) => {
            let _ = writeln!(out, "replay: the trace has no event {}", escape(label));
            return false;
        }
    };
    let claimed =
        ClaimedWitness { form: form(one.form), first, second, prefix: one.prefix, order: &order };
    let checked = checker.check(claimed);
    if let Err(error) = checked {
        // An order that is none is not shown: the step that cannot come there says more.
        let why = escape(&wrong(trace, &error)).into_owned();
        let _ = writeln!(out, "replay: the witness does not hold: {why}");
        return false;
    }
    let last = order.iter().chain([&first, &second]).copied().max().unwrap_or(second);
    let last = last.max(EventId(one.prefix.saturating_sub(1)));
    let witness = Witness {
        form: one.form,
        order,
        prefix: one.prefix,
        shortest: false,
        waits: false,
        apart: false,
    };
    let known = |event: &EventId| witness.order.contains(event);
    if known(&first) && known(&second) {
        let run = run_of(trace, (first, second, &witness), Shape::default());
        out.push_str(&terminal::table(&run, width()));
    }
    let form = one.form.word();
    let what = format!("it is an order of the recorded events, of form `{form}`");
    let _ = writeln!(out, "replay: the witness holds: {what}");
    if let Some(what) = not_understood.needed(last) {
        let _ = writeln!(out, "replay: this holds only if {}", escape(&what));
    }
    true
}

/// Says what is wrong with a witness, with the trace's own names of events.
fn wrong(trace: &Trace, error: &ReorderingError) -> String {
    let label = |event: EventId| match event.index() < trace.len() {
        true => unique_label(trace, event),
        false => "?".to_owned(),
    };
    let write = |event: Option<EventId>| {
        event.map_or_else(|| "no write".to_owned(), |event| format!("event {}", label(event)))
    };
    let reason = match &error.reason {
        ReorderingReason::TooEarly { first, rule } => {
            format!("event {} must come first ({rule})", label(*first))
        }
        ReorderingReason::Held { since } => {
            format!("the lock is held since event {}", label(*since))
        }
        ReorderingReason::Observes { now, then } => {
            format!("observes {}, in the trace {}", write(*now), write(*then))
        }
        ReorderingReason::WokenEarly { signal, wait } => {
            let (signal, wait) = (label(*signal), label(*wait));
            format!("wakes from event {signal}, which comes before the wait {wait}")
        }
        other => other.to_string(),
    };
    format!("step {}, event {}: {reason}", error.place + 1, label(error.event))
}
