//! Witnesses in results and files: JSON objects of format `reordering`.

use super::run::{run_of, run_of_deadlock, step_text};
use crate::failure::{Failure, Unusable, WrongWitness};
use anyorder_certify::WrittenNames;
use anyorder_common::text::HarmlessJson;
use anyorder_finding::run::Run;
use anyorder_finding::{Finding, Outcome, Witness as Placed, WitnessPlace};
use anyorder_predict::{DeadlockRequest, Form, Reorders, Witness};
use anyorder_trace::{EventId, Trace};
use serde_json::{Value, json};
use std::io::{self, Write as _};

/// The name of the format.
pub(super) const FORMAT: &str = "reordering";

/// A stored witness and its finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredWitness {
    /// The id and title of the finding, if it has one.
    pub(crate) finding: Option<(String, String)>,
    pub(crate) reorders: Reorders,
    /// The two actions; for a deadlock, all requests.
    pub(crate) actions: Vec<String>,
    pub(crate) form: Form,
    pub(crate) prefix: u32,
    /// The labels of the events.
    pub(crate) order: Vec<String>,
}

/// A witness of a pair of a trace, or of a deadlock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reordering {
    /// The events of the pair, in trace order; for a deadlock, its requests, each waiting for the
    /// next.
    pub actions: Vec<EventId>,
    /// The requests of a deadlock.
    pub(crate) requests: Vec<DeadlockRequest>,
    pub(crate) witness: Witness,
    /// The kind of reordering.
    pub(crate) reorders: Reorders,
}

impl Reordering {
    pub(crate) fn new(
        (first, second, witness): (EventId, EventId, Witness),
        reorders: Reorders,
    ) -> Reordering {
        let (actions, requests) = (vec![first, second], Vec::new());
        Reordering { actions, requests, witness, reorders }
    }

    /// Makes the witness of a deadlock.
    pub(crate) fn of_deadlock(requests: &[DeadlockRequest], witness: Witness) -> Reordering {
        let actions = requests.iter().map(|request| request.event).collect();
        let requests = requests.to_vec();
        Reordering { actions, requests, witness, reorders: Reorders::Threads }
    }

    /// Returns the run for reports.
    pub(crate) fn run(&self, trace: &Trace) -> Run {
        match self.actions[..] {
            [first, second] if self.requests.is_empty() => {
                run_of(trace, (first, second, &self.witness))
            }
            _ => run_of_deadlock(trace, &self.requests, &self.witness),
        }
    }

    /// Writes the witness of a finding about `trace` as a JSON object, with all its steps: it may
    /// be as long as the trace. [`StoredWitness::read`] reads the line.
    ///
    /// # Errors
    ///
    /// Fails when `out` does.
    pub fn write(
        &self,
        trace: &Trace,
        finding: &Finding,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        let mut out = HarmlessJson::new(out);
        let names = WrittenNames::new(trace);
        let head = self.head(&names, finding).to_string();
        // The object has members: cut off its closing brace, and write it after the steps.
        write!(out, "{},\"steps\":[", head.strip_suffix('}').unwrap_or(&head))?;
        for (place, event) in self.witness.order.iter().enumerate() {
            let comma = if place > 0 { "," } else { "" };
            write!(out, "{comma}{}", step(trace, &names, *event))?;
        }
        writeln!(out, "]}}")
    }

    /// Puts the witness into its finding, with its last `shown` steps.
    pub(super) fn place(
        &self,
        trace: &Trace,
        names: &WrittenNames<'_>,
        shown: usize,
        finding: &mut Finding,
    ) {
        let order = &self.witness.order;
        let left_out = order.len().saturating_sub(shown);
        let mut value = self.head(names, finding);
        value["steps"] = order[left_out..].iter().map(|event| step(trace, names, *event)).collect();
        if left_out > 0 {
            value["left_out"] = left_out.into();
        }
        finding.witness =
            Some(Placed { format: FORMAT.to_owned(), place: WitnessPlace::Inline(value) });
    }

    /// Returns all but the steps.
    fn head(&self, names: &WrittenNames<'_>, finding: &Finding) -> Value {
        let mut head = json!({
            "reordering": 1,
            "finding": finding.id,
            "title": finding.title,
            "form": self.witness.form.word(),
            "reorders": self.reorders.word(),
            "prefix": self.witness.prefix,
            "shortest": self.witness.shortest,
            "events": self.witness.order.len(),
        });
        let actions: Vec<String> = self.actions.iter().map(|event| names.event(*event)).collect();
        match &actions[..] {
            [first, second] if self.witness.form != Form::Deadlock => {
                head["first"] = first.clone().into();
                head["second"] = second.clone().into();
            }
            _ => head["requests"] = actions.into(),
        }
        head
    }
}

fn step(trace: &Trace, names: &WrittenNames<'_>, event: EventId) -> Value {
    let [lane, text, at] = step_fields(trace, event);
    let mut step = json!({ "event": names.event(event), "lane": lane, "text": text });
    if let Some(at) = at {
        step["at"] = at.into();
    }
    step
}

/// Returns the description of a step: its lane, its text and its place in the source.
pub(crate) fn step_fields(trace: &Trace, event: EventId) -> [Option<String>; 3] {
    let lane = trace.handler_name(trace.handler_of(event)).to_owned();
    let site = trace.tables().site_text(trace.event(event).site);
    [Some(lane), Some(step_text(trace, event)), (site != "?").then_some(site)]
}

impl StoredWitness {
    /// Reads the whole witness that a finding has with it; `None` if it has none, or not all of it.
    pub(crate) fn of_finding(finding: &Finding) -> Option<StoredWitness> {
        match &finding.witness {
            Some(Placed { format, place: WitnessPlace::Inline(value) }) if format == FORMAT => {
                witness(value).ok()
            }
            _ => None,
        }
    }

    /// Reads the witnesses of a text: a single witness, or those of a result's findings whose ids
    /// begin with `id`. `name` is the name of the text in messages.
    ///
    /// # Errors
    ///
    /// Fails when the text is neither, or has no witness.
    pub fn read(name: &str, text: &str, id: Option<&str>) -> Result<Vec<StoredWitness>, Failure> {
        let wrong = |why: Unusable| Failure::input(name, why);
        let wrong_witness = |what| wrong(Unusable::Witness(what));
        let value: Value =
            serde_json::from_str(text).map_err(|error| wrong(Unusable::NotJson(error)))?;
        if value.get("findings").is_none() {
            let one = witness(&value).map_err(wrong_witness)?;
            return Ok(vec![one]);
        }
        let result: Outcome =
            serde_json::from_value(value).map_err(|error| wrong(Unusable::NotAResult(error)))?;
        let mut all = Vec::new();
        for finding in result.findings {
            let Some(Placed { format, place: WitnessPlace::Inline(value) }) = &finding.witness
            else {
                continue;
            };
            if format == FORMAT && id.is_none_or(|id| finding.id.starts_with(id)) {
                let one = witness(value).map_err(wrong_witness)?;
                all.push(StoredWitness { finding: Some((finding.id, finding.title)), ..one });
            }
        }
        if all.is_empty() {
            return Err(wrong(Unusable::NoWitness));
        }
        Ok(all)
    }
}

fn witness(value: &Value) -> Result<StoredWitness, WrongWitness> {
    let wrong = |what: &str| WrongWitness::Field(what.to_owned());
    let text = |key: &str| {
        let text = value.get(key).and_then(Value::as_str).map(str::to_owned);
        text.ok_or_else(|| wrong(&format!("expected a text `{key}`")))
    };
    if value.get("reordering").and_then(Value::as_u64) != Some(1) {
        return Err(wrong("expected `\"reordering\": 1`"));
    }
    if value.get("left_out").is_some() {
        return Err(WrongWitness::LeftOut);
    }
    let word = text("form")?;
    let form = Form::from_word(&word).ok_or_else(|| wrong(&format!("unknown form `{word}`")))?;
    let prefix = value.get("prefix").and_then(Value::as_u64).unwrap_or(0);
    let prefix = u32::try_from(prefix).map_err(|_| wrong("`prefix` is too large"))?;
    let steps = value.get("steps").and_then(Value::as_array);
    let steps = steps.ok_or_else(|| wrong("no `steps`"))?;
    let event = |step: &Value| step.get("event").and_then(Value::as_str).map(str::to_owned);
    let order: Option<Vec<String>> = steps.iter().map(event).collect();
    let order = order.ok_or_else(|| wrong("a step without `event`"))?;
    let finding = text("finding").ok().map(|id| (id, text("title").unwrap_or_default()));
    let word = text("reorders").unwrap_or_default();
    let reorders = Reorders::ALL.into_iter().find(|reorders| reorders.word() == word);
    let reorders = reorders.unwrap_or_default();
    let actions = match form {
        Form::Deadlock => {
            let requests = value.get("requests").and_then(Value::as_array);
            let requests = requests.ok_or_else(|| wrong("no `requests`"))?;
            let texts = requests.iter().map(|one| one.as_str().map(str::to_owned));
            let texts: Option<Vec<String>> = texts.collect();
            texts.ok_or_else(|| wrong("a request that is no text"))?
        }
        _ => vec![text("first")?, text("second")?],
    };
    Ok(StoredWitness { finding, reorders, actions, form, prefix, order })
}
