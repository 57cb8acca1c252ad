//! Stored witnesses, checked against the trace that they reorder.

use super::calls::SpecifiedCalls;
use super::search::{form, lanes};
use super::{Reordering, Specifications, StoredWitness};
use crate::failure::{Failure, Missing};
use crate::not_understood::NotUnderstood;
use crate::trace_input::{TraceInput, observed};
use crate::words::requests;
use anyorder_certify::{
    ClaimedDeadlock, ClaimedWitness, Names, ReorderingChecker, ReorderingError, ReorderingReason,
};
use anyorder_finding::run::Run;
use anyorder_predict::{Form, Internals, Together, Witness, without_internals};
use anyorder_system::{Cancel, Control};
use anyorder_trace::{EventId, Trace};

/// The outcome of one stored witness.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WitnessReplay {
    /// The id and title of its finding, if it names one.
    pub finding: Option<(String, String)>,
    /// The witness if it is valid, else the reason.
    pub checked: Result<CheckedWitness, String>,
}

/// A valid witness.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckedWitness {
    /// The form of the witness.
    pub form: Form,
    /// The run, if it has both events.
    pub run: Option<Run>,
    /// The assumption behind it, as a clause after `only if`; `None` if everything is understood.
    pub needed: Option<String>,
}

/// Checks stored witnesses against the trace that they reorder. `specifications` are those of the
/// prediction; `None` means the built-in types.
///
/// ```
/// use anyorder_drive::{JobControl, PredictOptions, StoredWitness, TraceInput};
/// use anyorder_drive::{predict, replay_witness};
/// use anyorder_formats::std::StdReader;
/// use anyorder_trace::{Problems, Trace};
///
/// let text = "T0|fork(T1)|1\nT0|w(x)|2\nT1|w(x)|3\n";
/// let control = JobControl::default();
/// let trace = Trace::read(&mut StdReader::new(text.as_bytes())).unwrap();
/// let input = TraceInput::new("run.std", trace, &Problems::default(), &control).unwrap();
/// let found = predict(&input, &PredictOptions::default(), &control).unwrap();
/// let (finding, witness) = (&found.result.findings[0].finding, found.witnesses[0].as_ref());
/// let mut stored = Vec::new();
/// witness.unwrap().write(&input.trace, finding, &mut stored).unwrap();
/// let stored = String::from_utf8(stored).unwrap();
/// let stored = StoredWitness::read("w.json", &stored, None).unwrap();
/// let replayed = replay_witness(&input, &stored, None, &control).unwrap();
/// assert!(replayed[0].checked.is_ok());
/// ```
///
/// # Errors
///
/// Fails when the trace is partial, when the specifications cannot be used, or when the job was
/// stopped.
pub fn replay_witness(
    input: &TraceInput,
    stored: &[StoredWitness],
    specifications: Option<&Specifications>,
    control: &Control<'_>,
) -> Result<Vec<WitnessReplay>, Failure> {
    observed(&input.name, input.trace.tables())?;
    let stopped = || match control.cancel.reason() {
        Some(reason) => Err(Failure::stopped(reason, Missing::Check)),
        None => Ok(()),
    };
    stopped()?;
    let types = Specifications::types_of(specifications)?;
    let without = without_internals(&input.trace, &types, Internals::Auto);
    let trace = without.as_ref().unwrap_or(&input.trace);
    let calls = SpecifiedCalls::new(trace, &types, &control.cancel);
    // Of a stopped job, not all calls are known.
    stopped()?;
    let unspecified = calls.unspecified(trace);
    let not_understood = input.not_understood.clone().with_unspecified(trace, &unspecified);
    let names = Names::new(trace);
    let replay = |one: &StoredWitness| {
        let mut checker = ReorderingChecker::new(trace, &calls, lanes(one.reorders));
        let checked = check(trace, &mut checker, one, &names, &not_understood);
        WitnessReplay { finding: one.finding.clone(), checked }
    };
    Ok(stored.iter().map(replay).collect())
}

/// Checks one witness.
fn check(
    trace: &Trace,
    checker: &mut ReorderingChecker<'_>,
    one: &StoredWitness,
    names: &Names<'_>,
    not_understood: &NotUnderstood,
) -> Result<CheckedWitness, String> {
    let find = |label: &String| {
        let missing = || format!("the trace has no event {label}");
        names.find_event(label).ok_or_else(missing)
    };
    let order: Vec<EventId> = one.order.iter().map(find).collect::<Result<_, String>>()?;
    let actions: Vec<EventId> = one.actions.iter().map(find).collect::<Result<_, String>>()?;
    let broken = |error| {
        let (place, reason) = wrong_witness(trace, &error);
        format!("the witness does not hold: {place}, {reason}")
    };
    check_actions(checker, (one.form, one.prefix), &actions, &order, &Cancel::new())
        .map_err(broken)?;
    let last = order.iter().chain(&actions).copied().max().unwrap_or(EventId(0));
    let last = last.max(EventId(one.prefix.saturating_sub(1)));
    let both = actions.iter().all(|event| order.contains(event));
    let (form, prefix) = (one.form, one.prefix);
    let witness = Witness {
        form,
        order,
        prefix,
        shortest: false,
        waits: false,
        together: Together::Undecided,
    };
    let run = match actions[..] {
        [first, second] if form != Form::Deadlock => {
            let shown = Reordering::new((first, second, witness), one.reorders);
            both.then(|| shown.run(trace))
        }
        _ => Some(Reordering::of_deadlock(&requests(trace, &actions), witness).run(trace)),
    };
    Ok(CheckedWitness { form, run, needed: not_understood.assumption(last) })
}

/// Checks a witness of two actions, or of a deadlock.
pub(crate) fn check_actions(
    checker: &mut ReorderingChecker<'_>,
    (of, prefix): (Form, u32),
    actions: &[EventId],
    order: &[EventId],
    cancel: &Cancel,
) -> Result<(), ReorderingError> {
    match *actions {
        [first, second] if of != Form::Deadlock => {
            let claimed = ClaimedWitness { form: form(of), first, second, prefix, order };
            checker.check_until(claimed, cancel)
        }
        _ => checker.check_deadlock(ClaimedDeadlock { requests: actions, prefix, order }, cancel),
    }
}

/// Describes the error of a witness, with the labels of events: the place, and the reason.
pub(crate) fn wrong_witness(trace: &Trace, error: &ReorderingError) -> (String, String) {
    let label = |event: EventId| match event.index() < trace.len() {
        true => trace.unique_label(event),
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
        ReorderingReason::Granted { next } => {
            format!("does not wait for the thread of event {}", label(*next))
        }
        ReorderingReason::WokenEarly { signal, wait } => {
            let (signal, wait) = (label(*signal), label(*wait));
            format!("wakes from event {signal}, which comes before the wait {wait}")
        }
        other => other.to_string(),
    };
    (format!("step {}", error.place + 1), format!("event {}: {reason}", label(error.event)))
}
