//! `anyorder consistency`: whether some order of its messages explains a trace.

mod remarks;

use crate::args::{ConsistencyArgs, Global};
use crate::bugs::write_checked;
use crate::commands::runner::{Ending, Judgement, Runner};
use crate::failure::{Failure, Message};
use crate::guard::{Document, Kind};
use crate::input;
use crate::load::{Read, read};
use crate::watch::Watch;
use anyorder_common::text::shown;
use anyorder_drive::{
    CertifyOptions, Consistency, Consistent, TraceInput, WrittenNames, consistency,
};
use anyorder_finding::{Policy, Verdict, stat};
use anyorder_trace::{EventId, Trace};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

/// Decides the trace, writes the requested files, and returns the exit status of the verdict.
pub(crate) fn run(
    args: &ConsistencyArgs,
    global: &Global,
    watch: &Watch,
) -> Result<ExitCode, Failure> {
    let document = Document {
        command: "consistency",
        out: args.out.clone(),
        max_findings: 1,
        policy: Policy::default(),
        kind: Kind::Decision,
    };
    let runner = Runner::begin(document, global, watch);
    let Read { trace, input } = read(&args.trace, input::peek(&args.trace)?, global, watch)?;
    runner.working_on(&input);
    let mut answer = consistency(&trace, &args.options(global), &watch.control())?;
    let result = std::mem::take(&mut answer.result);
    runner.ended(&result);
    runner.add(vec![input], result, |_| {});
    runner.finish(Ending {
        judgement: Judgement::Own(&|outcome| outcome.verdict = verdict(&answer, outcome.complete)),
        change: &|outcome| {
            outcome.stats.set(stat::SOLVE_MS, watch.phase_ms("solving"));
        },
        write: &|| write_files(args, &trace, &answer, global, watch),
        remarks: &remarks::of(args, &answer),
        // The timeline of a report shows the order of the events, which a partial trace does not
        // have.
        trace: Some(&trace.trace).filter(|_| !trace.is_partial()),
        ..Ending::default()
    })
}

fn verdict(answer: &Consistency, is_complete: bool) -> Verdict {
    match &answer.verdict {
        // What was not understood may be what does not fit.
        Consistent::Yes(_) if !is_complete => Verdict::Unknown,
        Consistent::Yes(_) => Verdict::Consistent,
        Consistent::No(_) => Verdict::Inconsistent,
        Consistent::Unknown(_) => Verdict::Unknown,
    }
}

/// Writes the witness or the certificate if the user asked for it and the answer has one.
fn write_files(
    args: &ConsistencyArgs,
    input: &TraceInput,
    answer: &Consistency,
    global: &Global,
    watch: &Watch,
) -> Result<(), Failure> {
    let (trace, verdict, control) = (&input.trace, &answer.verdict, watch.control());
    let options =
        CertifyOptions { mailbox: Some(answer.partial.mailboxes), ..CertifyOptions::default() };
    let missing = |path: &Path, why: &str| {
        let what = format!("{} was not written: {why}", shown(path));
        global.print(&[Message::warning(what)]);
    };
    if let Some(path) = &args.witness {
        match verdict {
            Consistent::Yes(order) => {
                let mut write = |out: &mut dyn Write| write_run(trace, order, out);
                write_checked(path, input, options.clone(), &control, &mut write)?;
            }
            Consistent::No(_) => missing(path, "an inconsistent trace has no witness"),
            Consistent::Unknown(_) => missing(path, "the search ended without an answer"),
        }
    }
    if let Some(path) = &args.certificate {
        match verdict {
            Consistent::No(Some(proof)) => {
                let mut write = |out: &mut dyn Write| proof.write(trace, out);
                write_checked(path, input, options, &control, &mut write)?;
            }
            Consistent::No(None) => missing(path, "this procedure gives no proof"),
            Consistent::Yes(_) => {
                missing(path, "the trace is consistent; `--witness` writes a run");
            }
            Consistent::Unknown(_) => missing(path, "the search ended without an answer"),
        }
    }
    Ok(())
}

/// Writes a run, one event per line.
pub(crate) fn write_run(trace: &Trace, order: &[EventId], out: &mut dyn Write) -> io::Result<()> {
    let names = WrittenNames::new(trace);
    order.iter().try_for_each(|event| writeln!(out, "{}", names.event(*event)))
}
