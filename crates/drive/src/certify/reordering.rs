//! Reorderings, as `predict` writes them: `docs/formats/reordering.md`.

use super::fields::Fields;
use super::trace::{described, events};
use crate::failure::{Failure, Hint};
use crate::not_understood::NotUnderstood;
use crate::predict::{
    Specifications, SpecifiedCalls, check_actions, lanes, step_fields, wrong_witness,
};
use crate::rules::is_android;
use crate::trace_input::TraceInput;
use crate::verdict::{CertificateFault, CertificateVerdict};
use anyorder_certify::{Names, ReorderingChecker, ReorderingReason};
use anyorder_predict::{Form, Internals, Reorders, without_internals};
use anyorder_system::{Cancel, Control};
use anyorder_trace::{EventId, Trace};
use serde_json::Value;
use std::borrow::Cow;

/// What the checks of all reorderings of a trace share.
#[derive(Debug)]
pub(super) struct Reorderings<'t> {
    input: &'t TraceInput,
    /// The trace, with the inside of invocations hidden.
    trace: Cow<'t, Trace>,
    calls: SpecifiedCalls,
    not_understood: NotUnderstood,
}

impl<'t> Reorderings<'t> {
    pub(super) fn new(
        input: &'t TraceInput,
        specifications: Option<&Specifications>,
    ) -> Result<Reorderings<'t>, Failure> {
        let types = Specifications::types_of(specifications)?;
        let without = without_internals(&input.trace, &types, Internals::Auto);
        let trace = without.map_or(Cow::Borrowed(&input.trace), Cow::Owned);
        // All calls are needed for a true verdict; this takes one pass.
        let calls = SpecifiedCalls::new(&trace, &types, &Cancel::new());
        let unspecified = calls.unspecified(&trace);
        let not_understood = input.not_understood.clone().with_unspecified(&trace, &unspecified);
        Ok(Reorderings { input, trace, calls, not_understood })
    }

    /// Returns the checkers of this trace.
    pub(super) fn checkers(&self) -> Checkers<'_> {
        Checkers { of: self, names: Names::new(&self.trace), by_lanes: Vec::new() }
    }
}

/// Checks reorderings of one trace.
pub(super) struct Checkers<'r> {
    of: &'r Reorderings<'r>,
    names: Names<'r>,
    by_lanes: Vec<(Reorders, ReorderingChecker<'r>)>,
}

/// A reordering that was read, with its names found.
struct Claimed {
    form: Form,
    reorders: Reorders,
    /// The two actions; for a deadlock, all requests.
    actions: Vec<EventId>,
    prefix: u32,
    order: Vec<EventId>,
}

impl Checkers<'_> {
    pub(super) fn check(&mut self, value: &Value, control: &Control<'_>) -> CertificateVerdict {
        self.checked(value, control).unwrap_or_else(|verdict| verdict)
    }

    fn checked(
        &mut self,
        value: &Value,
        control: &Control<'_>,
    ) -> Result<CertificateVerdict, CertificateVerdict> {
        let claimed = self.read(value, control)?;
        let trace = &*self.of.trace;
        if self.of.input.is_partial() {
            let what = "the order of its events is not the order in which they happened";
            return Err(CertificateVerdict::fails("the input", what));
        }
        if claimed.reorders == Reorders::Tasks && is_android(trace.tables()) {
            let what = "expected `components`: the trace has callbacks of Android's components";
            return Err(CertificateVerdict::fails("`reorders`", what));
        }
        let of = self.of;
        let at = self.by_lanes.iter().position(|(known, _)| *known == claimed.reorders);
        let at = at.unwrap_or_else(|| {
            let new = ReorderingChecker::new(trace, &of.calls, lanes(claimed.reorders));
            self.by_lanes.push((claimed.reorders, new));
            self.by_lanes.len() - 1
        });
        let (checker, of) = (&mut self.by_lanes[at].1, (claimed.form, claimed.prefix));
        let checked = check_actions(checker, of, &claimed.actions, &claimed.order, &control.cancel);
        checked.map_err(|error| match error.reason {
            ReorderingReason::Stopped(reason) => CertificateVerdict::Stopped(reason),
            _ => {
                let (place, reason) = wrong_witness(trace, &error);
                CertificateVerdict::fails(place, reason)
            }
        })?;
        let last = claimed.order.iter().chain(&claimed.actions).max();
        let last = last.copied().unwrap_or(EventId(0));
        let last = last.max(EventId(claimed.prefix.saturating_sub(1)));
        let needed = self.of.not_understood.assumption(last);
        Ok(CertificateVerdict::Holds { claim: claim(trace, &claimed), needed })
    }

    /// Reads a reordering strictly. Every field is checked here, belongs to the claim, or
    /// (`finding`, `title`, `shortest`) is never reported.
    fn read(&self, value: &Value, control: &Control<'_>) -> Result<Claimed, CertificateVerdict> {
        let unreadable = |what: String| CertificateVerdict::unreadable(what);
        let mut fields = Fields::of(value, "the reordering").map_err(unreadable)?;
        if fields.number("reordering").map_err(unreadable)? != 1 {
            return Err(CertificateVerdict::unreadable("expected version 1 as `reordering`"));
        }
        fields.text_if("finding").map_err(unreadable)?;
        fields.text_if("title").map_err(unreadable)?;
        if fields.get("shortest").is_some_and(|value| !value.is_boolean()) {
            let what = "the reordering: expected true or false as `shortest`".to_owned();
            return Err(unreadable(what));
        }
        if fields.get("left_out").is_some() {
            let fault = CertificateFault::at("`left_out`", "only the last steps are there");
            return Err(CertificateVerdict::Unreadable(fault.with_hint(Hint::WholeWitness)));
        }
        let word = fields.text("form").map_err(unreadable)?;
        let form = Form::from_word(word);
        let form = form.ok_or_else(|| unreadable(format!("unknown form `{word}`")))?;
        let word = fields.text("reorders").map_err(unreadable)?;
        let reorders = Reorders::ALL.into_iter().find(|reorders| reorders.word() == word);
        let reorders =
            reorders.ok_or_else(|| unreadable(format!("unknown kind `{word}` in `reorders`")))?;
        let prefix = fields.number("prefix").map_err(unreadable)?;
        let count = fields.number("events").map_err(unreadable)?;
        let mut actions: Vec<(String, String)> = Vec::new();
        if form == Form::Deadlock {
            let requests = fields.list("requests").map_err(unreadable)?;
            for (number, request) in (1..).zip(requests) {
                let place = format!("request {number}");
                let request = request.as_str();
                let request = request.ok_or_else(|| unreadable(format!("{place}: expected text")));
                actions.push((place, request?.to_owned()));
            }
        } else {
            for key in ["first", "second"] {
                actions
                    .push((format!("`{key}`"), fields.text(key).map_err(unreadable)?.to_owned()));
            }
        }
        let steps = fields.list("steps").map_err(unreadable)?;
        fields.end().map_err(unreadable)?;
        let found = actions.iter().map(|(place, name)| self.find(name, || place.clone()));
        let actions: Vec<EventId> = found.collect::<Result<_, CertificateVerdict>>()?;
        if count != steps.len() as u64 {
            let what = format!("{count} in the file, and there are {} steps", steps.len());
            return Err(CertificateVerdict::fails("`events`", what));
        }
        let mut order = Vec::new();
        for (number, step) in (1..).zip(steps) {
            control.check()?;
            order.push(self.step(number, step)?);
        }
        // A prefix of more events than fit is longer than the trace, and refused as such.
        let prefix = u32::try_from(prefix).unwrap_or(u32::MAX);
        Ok(Claimed { form, reorders, actions, prefix, order })
    }

    /// Reads a step, and compares its description with the trace.
    fn step(&self, number: usize, step: &Value) -> Result<EventId, CertificateVerdict> {
        let place = format!("step {number}");
        let unreadable = |what: String| CertificateVerdict::unreadable(what);
        let mut fields = Fields::of(step, place.clone()).map_err(unreadable)?;
        let name = fields.text("event").map_err(unreadable)?;
        let given = [
            ("lane", fields.text_if("lane")),
            ("text", fields.text_if("text")),
            ("at", fields.text_if("at")),
        ];
        fields.end().map_err(unreadable)?;
        let event = self.find(name, || place.clone())?;
        let known = step_fields(&self.of.input.trace, event);
        let hidden = step_fields(&self.of.trace, event);
        for (number, (key, given)) in given.into_iter().enumerate() {
            let Some(given) = given.map_err(unreadable)? else { continue };
            let fits = |known: &[Option<String>; 3]| known[number].as_deref() == Some(given);
            if !fits(&known) && !fits(&hidden) {
                let expected = known[number].as_deref().unwrap_or("nothing");
                let what = format!("`{key}` is `{given}`, expected `{expected}`");
                return Err(CertificateVerdict::fails(place, what));
            }
        }
        Ok(event)
    }

    fn find(&self, name: &str, place: impl Fn() -> String) -> Result<EventId, CertificateVerdict> {
        let missing =
            || CertificateVerdict::fails(place(), format!("the trace has no event `{name}`"));
        self.names.find_event(name).ok_or_else(missing)
    }
}

/// States what a checked reordering shows.
fn claim(trace: &Trace, claimed: &Claimed) -> String {
    let all: Vec<String> = claimed.actions.iter().map(|event| described(trace, *event)).collect();
    let (first, second) = match &all[..] {
        [first, second, ..] => (first, second),
        _ => return String::new(),
    };
    let shows = match claimed.form {
        Form::Deadlock => {
            format!("each of these waits for the thread of the next: {}", all.join(", "))
        }
        Form::Reversed => {
            format!("{second} can come before {first}, and every event observes what it observed")
        }
        Form::Last => {
            format!("{second} can come before {first}, which may then observe something else")
        }
        Form::CoEnabled => format!("{second} and {first} can both come next"),
        Form::Overtakes => format!("the task of {second} can be taken while that of {first} waits"),
    };
    let after = match claimed.prefix {
        0 => String::new(),
        prefix => format!(" after the first {} of the trace", events(prefix as usize)),
    };
    let (order, kind) = (events(claimed.order.len()), claimed.reorders.word());
    format!("{shows}: form `{}`, by {order}{after}, reordering {kind}", claimed.form.word())
}
