//! `anyorder why`: why two events are ordered, or why nothing orders them.

use super::read::{Read, read};
use crate::args::{Global, WhyArgs, WhyFormat};
use crate::certified::certified;
use crate::engine;
use crate::failure::{Failure, warn};
use crate::output::to_stdout;
use crate::watch::Watch;
use anyorder_common::text::escape;
use anyorder_common::text::shown;
use anyorder_drive::ISSUES;
use anyorder_finding::exit;
use anyorder_hb::{RuleSet, Why};
use anyorder_trace::{EventId, LabelScheme, Trace};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

/// Explains the order of two events.
pub(crate) fn run(args: &WhyArgs, global: &Global) -> Result<ExitCode, Failure> {
    let watch = Watch::start(global, &args.limits)?;
    let Read { trace, format, not_understood, warnings, .. } = read(&args.trace, global, &watch)?;
    let a = event(&trace, &args.trace, &args.a)?;
    let b = event(&trace, &args.trace, &args.b)?;
    let rules = engine::rule_set(&trace, args.rules);
    let why = match watch.stopped() {
        None => engine::why(&trace, rules, a, b, &watch.control()).ok(),
        Some(_) => None,
    };
    watch.done();
    let Some(why) = why else {
        let reason = watch.stopped().map(|reason| reason.to_string()).unwrap_or_default();
        let _ = writeln!(anstream::stderr(), "no answer: {reason}");
        return Ok(ExitCode::from(exit::LIMIT));
    };
    let checked = certified(&trace, rules, &why);
    if let Some(Err(reason)) = &checked {
        warn(&format!(
            "the explanation did not stand the independent check: {}; please report this at {ISSUES}",
            escape(reason)
        ));
    }
    let checked = checked.map(|result| result.is_ok());
    // An order that was found stays one, whatever else there is.
    let needed = not_understood.needed(why.second).filter(|_| !why.ordered && a != b);
    match args.format {
        WhyFormat::Text => to_stdout(|out| {
            text(&trace, &why, rules, checked, out)?;
            match &needed {
                Some(needed) => writeln!(out, "This holds only if {}.", escape(needed)),
                None => Ok(()),
            }
        })?,
        WhyFormat::Json => {
            let mut value = answer(args, &trace, &why, rules, checked, format.word());
            if !warnings.is_empty() {
                value["warnings"] = json!(warnings);
            }
            to_stdout(|out| writeln!(out, "{value}"))?;
        }
    }
    Ok(ExitCode::from(exit::CLEAN))
}

fn text(
    trace: &Trace,
    why: &Why,
    rules: RuleSet,
    checked: Option<bool>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let [first, second] = [why.first, why.second].map(|event| named(trace, event));
    let rules = rules.word();
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
        writeln!(out, "  the explanation is too long to be told")?;
    }
    if checked == Some(true) {
        writeln!(out, "Each step was checked again, independently.")?;
    }
    Ok(())
}

/// Names an event: label, kind, what it does it to, task, handler, position.
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

fn answer(
    args: &WhyArgs,
    trace: &Trace,
    why: &Why,
    rules: RuleSet,
    checked: Option<bool>,
    format: &str,
) -> Value {
    let mut value = json!({
        "schema": 1, "tool": "anyorder", "version": env!("CARGO_PKG_VERSION"), "command": "why",
        "inputs": [{"path": args.trace.to_string_lossy(), "format": format}],
        "options": {"rules": rules.word()},
        "events": [trace.label(why.first), trace.label(why.second)],
        "ordered": why.ordered,
        "explanation": why.steps,
    });
    if let Some(checked) = checked {
        value["certified"] = json!(checked);
    }
    value
}

/// Finds the event that was named.
fn event(trace: &Trace, path: &Path, label: &str) -> Result<EventId, Failure> {
    trace.find(label).ok_or_else(|| {
        let failure = Failure::new(format!("{} has no event `{}`", shown(path), escape(label)));
        let label_of = |row: usize| trace.label(EventId::from_index(row));
        failure.with_hint(match (trace.tables().meta.labels, trace.len()) {
            (LabelScheme::AccessOrOperation, _) => {
                "accesses and operations are numbered apart: `access:N` or `op:N`".to_owned()
            }
            (_, 0) => "the trace has no events".to_owned(),
            (_, n) => {
                let [first, last] = [label_of(0), label_of(n - 1)];
                format!("its events go from `{}` to `{}`", escape(&first), escape(&last))
            }
        })
    })
}
