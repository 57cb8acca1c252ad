//! `anyorder why`: why two events are ordered, or why nothing orders them.

use crate::args::{AnswerFormat, Global, WhyArgs};
use crate::bugs::{self, write_checked};
use crate::commands::predict::given_specifications;
use crate::failure::{Failure, JobFailure, Message};
use crate::input;
use crate::load::{Read, read};
use crate::output::to_stdout;
use crate::watch::Watch;
use anyorder_common::text::{escape, escape_json, shown};
use anyorder_drive::Missing;
use anyorder_drive::{CertifyOptions, Explanation, TraceInput, why};
use anyorder_finding::{Input, exit};
use anyorder_trace::{EventId, Trace};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

/// Explains the order of two events.
pub(crate) fn run(args: &WhyArgs, global: &Global, watch: &Watch) -> Result<ExitCode, Failure> {
    let Read { trace, input } = read(&args.trace, input::peek(&args.trace)?, global, watch)?;
    if let Some(reason) = watch.stopped() {
        // The rest of the trace was not read.
        return Err(JobFailure::stopped(reason, Missing::Answer).into());
    }
    let specifications = given_specifications(&args.types)?;
    let labels = [args.a.as_str(), &args.b];
    let why = why(&trace, labels, args.rules, specifications.as_ref(), &watch.control())?;
    watch.done();
    let Some(why) = why else {
        let reason = watch.stopped().map(|reason| reason.to_string()).unwrap_or_default();
        let _ = writeln!(anstream::stderr(), "no answer: {reason}");
        return Ok(ExitCode::from(exit::LIMIT));
    };
    if let Some(Err(reason)) = &why.checked {
        bugs::found(&format!("the independent checker rejected the explanation: {reason}"));
    }
    if let Some(path) = &args.certificate {
        write_certificate(path, &trace, &why, global, watch)?;
    }
    match args.format {
        AnswerFormat::Text => to_stdout(|out| text(&trace.trace, &why, out))?,
        AnswerFormat::Json => {
            let mut value = answer(&input, &trace.trace, &why);
            if !trace.warnings.is_empty() {
                value["warnings"] = json!(trace.warnings);
            }
            to_stdout(|out| writeln!(out, "{}", escape_json(&value.to_string())))?;
        }
    }
    Ok(ExitCode::from(exit::CLEAN))
}

/// Writes the proof, or warns that there is none.
fn write_certificate(
    path: &Path,
    input: &TraceInput,
    why: &Explanation,
    global: &Global,
    watch: &Watch,
) -> Result<(), Failure> {
    if why.has_certificate() {
        let (control, options) = (watch.control(), CertifyOptions::default());
        let mut write = |out: &mut dyn Write| why.write_certificate(&input.trace, out);
        return write_checked(path, input, options, &control, &mut write);
    }
    let missing = match (why.ordered, why.steps.is_empty()) {
        (true, true) => "the proof is too long",
        (true, false) => "the order rests on calls of objects, which certificates do not have",
        (false, _) => "nothing orders the two events",
    };
    let what = format!("{} was not written: {missing}", shown(path));
    global.print(&[Message::warning(what)]);
    Ok(())
}

fn text(trace: &Trace, why: &Explanation, out: &mut dyn Write) -> io::Result<()> {
    let [first, second] = [why.first, why.second].map(|event| named(trace, event));
    let rules = why.rules.word();
    if why.first == why.second {
        writeln!(out, "{first} is one event; it has no order with itself")?;
    } else if why.ordered {
        writeln!(out, "{first}\nhappens before\n{second}\nby the rules `{rules}`:")?;
    } else {
        writeln!(
            out,
            "{first}\nand\n{second}\ncan happen in either order by the rules `{rules}`:"
        )?;
    }
    for (number, step) in why.steps.iter().enumerate() {
        let rule =
            step.rule.as_ref().map(|rule| format!(" [{}]", escape(rule))).unwrap_or_default();
        writeln!(out, "  {}. {}{rule}", number + 1, escape(&step.text))?;
    }
    if why.ordered && why.steps.is_empty() {
        writeln!(out, "  the explanation is too long to print")?;
    }
    if why.checked == Some(Ok(())) {
        writeln!(out, "An independent checker verified each step.")?;
    }
    match &why.needed {
        Some(needed) => writeln!(out, "This holds only if {}.", escape(needed)),
        None => Ok(()),
    }
}

/// Describes an event: label, kind, operand, task, handler, position.
fn named(trace: &Trace, id: EventId) -> String {
    let event = trace.event(id);
    let mut text = format!("event {}: {}", escape(&trace.label(id)), event.kind().word());
    if let Some(location) = event.location() {
        text.push_str(&format!(" of `{}`", escape(&trace.location_text(location))));
    }
    text.push_str(&format!(" in task `{}`", escape(trace.task_name(event.task))));
    text.push_str(&format!(" on `{}`", escape(trace.handler_name(trace.handler_of(id)))));
    let site = trace.tables().site_text(event.site);
    if site != "?" {
        text.push_str(&format!(" at {}", escape(&site)));
    }
    text
}

fn answer(input: &Input, trace: &Trace, why: &Explanation) -> Value {
    let events = [why.first, why.second].map(|event| trace.event_name(event));
    let mut value = json!({
        "schema": 1, "tool": "anyorder", "version": env!("CARGO_PKG_VERSION"), "command": "why",
        "inputs": [{"path": input.path, "format": input.format}],
        "options": {"rules": why.rules.word()},
        "events": events,
        "ordered": why.ordered,
        "explanation": why.steps,
    });
    if let Some(checked) = &why.checked {
        value["certified"] = json!(checked.is_ok());
    }
    value
}
