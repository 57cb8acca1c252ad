//! `anyorder consistency`: whether some order of its messages explains a trace.

mod finding;

mod remarks;

use crate::args::{ConsistencyArgs, Global};
use crate::commands::read::{Read, read_any};
use crate::commands::render::{self, Form};
use crate::consistent::{Examined, Proof, Question, Refused, Verdict, examine};
use crate::failure::{Failure, warn};
use crate::output::to_file;
use crate::watch::Watch;
use anyorder_certify::consistency::write_proof;
use anyorder_common::text::escape;
use anyorder_common::text::shown;
use anyorder_finding as found;
use anyorder_finding::run::Runs;
use anyorder_finding::{Input, Outcome, Policy, assign_ids};
use anyorder_trace::{EventId, Trace, TraceOrder};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

pub(crate) use finding::{inconsistency, label};

/// Decides, writes what was asked for, and returns the exit status of the verdict.
pub(crate) fn run(args: &ConsistencyArgs, global: &Global) -> Result<ExitCode, Failure> {
    let started = Instant::now();
    let watch = Watch::start(global, &args.limits)?;
    let Read { trace, format, damaged, warnings, .. } = read_any(&args.trace, global, &watch)?;
    let question = Question {
        mailbox: args.mailbox,
        procedure: args.procedure,
        infer_co: global.infer_co,
        max_conflicts: args.max_conflicts,
        whole_proof: args.certificate.is_some(),
    };
    let examined = examine(&trace, &question, &watch.control())
        .map_err(|refused| failure(&args.trace, &trace, &refused))?;
    watch.done();
    let mut outcome = Outcome::new("consistency", env!("CARGO_PKG_VERSION"));
    let path = args.trace.to_string_lossy().into_owned();
    outcome.inputs.push(Input { path, format: format.word().to_owned() });
    outcome.warnings = warnings;
    set_options(&mut outcome, args, global, &examined);
    if damaged {
        outcome.cut_by("salvage");
    }
    match &examined.verdict {
        Verdict::Consistent(_) => outcome.verdict = found::Verdict::Consistent,
        Verdict::Unknown(limit) => {
            outcome.verdict = found::Verdict::Unknown;
            outcome.cut_by(limit);
        }
        Verdict::Inconsistent(_) => {
            outcome.verdict = found::Verdict::Inconsistent;
            outcome.findings.push(inconsistency(&trace, &examined, args.max_reasons));
            assign_ids(&mut outcome.findings);
        }
    }
    set_stats(&mut outcome.stats, &examined);
    let elapsed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    outcome.stats.set("elapsed_ms", elapsed_ms);
    write_files(args, &trace, &examined, global.quiet)?;
    let remarks = remarks::of(args, &examined);
    let form = Form { out: &args.out, max_findings: 1, remarks: &remarks, runs: &Runs::new() };
    let policy = Policy::default();
    // The timeline of a report shows the order of the events, which a partial trace does not have.
    let observed = trace.tables().meta.order == TraceOrder::Observed;
    render::finish(&form, &outcome, &policy, observed.then_some(&trace))
}

/// Says why there is no answer.
pub(crate) fn failure(path: &Path, trace: &Trace, refused: &Refused) -> Failure {
    use anyorder_consistency::{FromTraceError, Unsupported};
    let event = |event: &EventId| format!("event `{}`", escape(&trace.label(*event)));
    let location = |location| escape(&trace.location_text(location)).into_owned();
    let (what, hint) = match refused {
        Refused::Trace(FromTraceError::NoWrite { event: read }) => {
            (format!("{} reads from what is no other write of its location", event(read)), None)
        }
        Refused::Trace(FromTraceError::NoSource { event: read }) => {
            (format!("{} does not say what it reads from", event(read)), None)
        }
        Refused::Trace(FromTraceError::NoCoherence { location: at }) => (
            format!("`{}` has several writes, and nothing says in which order", location(*at)),
            Some("`--infer-co` looks for an order"),
        ),
        Refused::Trace(FromTraceError::BadCoherence { location: at }) => (
            format!("the coherence order of `{}` does not name each write once", location(*at)),
            None,
        ),
        Refused::Trace(FromTraceError::NoHandler { task }) => (
            format!("nothing says which handler runs task `{}`", escape(trace.task_name(*task))),
            None,
        ),
        Refused::Procedure(Unsupported::Nested { .. }) => (
            "a posted message posts another one, which procedure `flat` cannot handle".to_owned(),
            Some("`--procedure solver` takes all traces"),
        ),
        Refused::Procedure(Unsupported::OpenCoherence) => (
            "a coherence order is to be found, which only procedure `solver` can do".to_owned(),
            Some("`--procedure solver` takes all traces"),
        ),
    };
    let failure = Failure::new(format!("{}: {what}", shown(path)));
    match hint {
        Some(hint) => failure.with_hint(hint),
        None => failure,
    }
}

/// Writes the witness and the certificate, where they are wanted and there is one.
fn write_files(
    args: &ConsistencyArgs,
    trace: &Trace,
    examined: &Examined,
    quiet: bool,
) -> Result<(), Failure> {
    let missing = |path: &Path, why: &str| {
        if !quiet {
            warn(&format!("{} was not written: {why}", shown(path)));
        }
    };
    if let Some(path) = &args.witness {
        match &examined.verdict {
            Verdict::Consistent(order) => write_run(path, trace, order)?,
            Verdict::Inconsistent(_) => missing(path, "an inconsistent trace has no witness"),
            Verdict::Unknown(_) => missing(path, "there is no answer"),
        }
    }
    if let Some(path) = &args.certificate {
        match &examined.verdict {
            Verdict::Inconsistent(Some(proof)) => {
                let Proof { certificate, split, .. } = proof.as_ref();
                let of = split.as_ref().unwrap_or(trace);
                to_file(path, |out| {
                    write_proof(certificate, of, out).map_err(|e| Failure::writing(path, &e))
                })?;
            }
            Verdict::Inconsistent(None) => missing(path, "this procedure gives no proof"),
            Verdict::Consistent(_) => {
                missing(path, "the trace is consistent; `--witness` writes a run");
            }
            Verdict::Unknown(_) => missing(path, "there is no answer"),
        }
    }
    Ok(())
}

/// Writes a run, one event a line.
pub(crate) fn write_run(path: &Path, trace: &Trace, order: &[EventId]) -> Result<(), Failure> {
    to_file(path, |out| {
        for event in order {
            writeln!(out, "{}", label(trace, *event))
                .map_err(|error| Failure::writing(path, &error))?;
        }
        Ok(())
    })
}

fn set_options(
    outcome: &mut Outcome,
    args: &ConsistencyArgs,
    global: &Global,
    examined: &Examined,
) {
    let options = &mut outcome.options;
    options.set("mailbox", examined.partial.mailboxes.word());
    options.set("procedure", examined.procedure.name());
    options.set("infer-co", global.infer_co);
    options.set("max-reasons", args.max_reasons as u64);
    if let Some(limit) = args.max_conflicts {
        options.set("max-conflicts", limit);
    }
    if let Some(limit) = args.limits.time_limit {
        options.set("time-limit", u64::try_from(limit.as_millis()).unwrap_or(u64::MAX));
    }
    if let Some(limit) = args.limits.memory_limit {
        options.set("memory-limit", limit);
    }
}

/// Sets the counts under the names that they have in results.
pub(crate) fn set_stats(stats: &mut found::Stats, examined: &Examined) {
    let counts = &examined.stats;
    stats
        .set("events", examined.kept.events)
        .set("messages", examined.partial.messages.len() as u64)
        .set("handlers", examined.kept.handlers)
        .set("pairs_total", counts.pairs_total)
        .set("pairs", counts.pairs)
        .set("variables", counts.variables)
        .set("decisions", counts.decisions)
        .set("conflicts", counts.conflicts)
        .set("propagations", counts.propagations)
        .set("candidates", counts.candidates)
        .set("procedure", examined.procedure.name())
        .set("solve_ms", examined.solve_ms);
}
