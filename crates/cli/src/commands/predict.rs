//! `anyorder predict`: predicts other orders of a recorded run.

use super::runner::{Ending, Runner};
use crate::args::{Global, PAIRS, PredictArgs, SpecificationArgs, word_of};
use crate::failure::{Failure, JobFailure, Usage};
use crate::guard::{Document, Kind};
use crate::input::{self, Watched};
use crate::load::{Loaded, Stream, load};
use crate::output::to_folder;
use crate::reading::{SPECIFICATION, failed};
use crate::source_lines::add_recorded_lines;
use crate::watch::{Watch, peak_memory_kb};
use crate::witness::{Replay, file_name};
use anyorder_common::files::text_of;
use anyorder_common::text::quote;
use anyorder_drive::{
    Pairs, PredictOptions, Prediction, Specifications, TraceInput, predict, predict_stream,
};
use anyorder_finding::{option, stat};
use anyorder_trace::{Tables, TraceSource};
use std::path::Path;
use std::process::ExitCode;

/// The filter of findings that no witness shows.
pub(crate) const UNCONFIRMED: &str = "unconfirmed";

/// Predicts, prints the findings, and returns the exit status.
pub(crate) fn run(args: &PredictArgs, global: &Global, watch: &Watch) -> Result<ExitCode, Failure> {
    let filters = if args.no_confirm { Vec::new() } else { vec![UNCONFIRMED.to_owned()] };
    let policy = args.counting.policy(filters);
    let document = Document {
        command: "predict",
        out: args.out.clone(),
        max_findings: args.list.max_findings,
        policy,
        kind: Kind::Search,
    };
    let runner = Runner::begin(document, global, watch).accepting(&args.counting)?;
    let options = args.options(specifications(&args.types)?);
    let peeked = input::peek(&args.trace)?;
    // Standard input cannot be read twice.
    let is_pipe = args.trace == Path::new("-");
    let held = |tables: &Tables| if is_pipe { u64::MAX } else { options.max_held(tables) };
    let (input, mut prediction, trace) = match load(&args.trace, peeked, &held, global, watch)? {
        Loaded::InMemory(read) => {
            runner.working_on(&read.input);
            let prediction = predict(&read.trace, &options, &watch.control())?;
            (read.input, prediction, Some(read.trace))
        }
        Loaded::Streamed(stream) => {
            let input = stream.input.clone();
            runner.working_on(&input);
            (input, streamed(*stream, args, &options, global, watch)?, None)
        }
    };
    runner.ended(&prediction.result);
    if let Some(trace) = &trace {
        if args.schedules.is_some() {
            // Many files may take long.
            watch.control().publish(prediction.result.clone());
        }
        place(args, trace, &mut prediction)?;
        add_recorded_lines(&args.trace, &trace.trace, &mut prediction.result);
    }
    runner.add(vec![input], prediction.result, |options| {
        options.set(option::STRICT, args.counting.strict);
    });
    runner.finish(Ending {
        measure: &|outcome| {
            outcome.stats.set(stat::PEAK_MEMORY_KB, peak_memory_kb().unwrap_or(0));
        },
        trace: trace.as_ref().map(|input| &input.trace),
        ..Ending::default()
    })
}

/// Predicts from a trace that is too long for memory.
fn streamed(
    mut stream: Stream,
    args: &PredictArgs,
    options: &PredictOptions,
    global: &Global,
    watch: &Watch,
) -> Result<Prediction, Failure> {
    let path = &args.trace;
    if path == Path::new("-") {
        return Err(Usage::StandardInputTooLong.into());
    }
    let control = watch.control();
    let mut reopen = || -> Result<Box<dyn TraceSource + '_>, JobFailure> {
        Ok(Box::new(Watched { opened: input::open(path, global)?, control: &control }))
    };
    let name = path.to_string_lossy();
    Ok(predict_stream(&name, &mut stream.source(&control), &mut reopen, options, &control)?)
}

/// Reads the specifications of the types in a trace.
pub(super) fn specifications(types: &SpecificationArgs) -> Result<Specifications, JobFailure> {
    let SpecificationArgs { spec, object } = types;
    let text = |path: &Path| -> Result<(String, String), JobFailure> {
        Ok((path.to_string_lossy().into(), spec_text(path)?))
    };
    let file = spec.as_deref().map(text).transpose()?;
    let file = file.as_ref().map(|(name, text)| (name.as_str(), text.as_str()));
    Specifications::new(file, object)
}

/// Reads them if any are given; otherwise those of the built-in types hold.
pub(super) fn given_specifications(
    types: &SpecificationArgs,
) -> Result<Option<Specifications>, JobFailure> {
    types.is_given().then(|| specifications(types)).transpose()
}

/// Reads a specification; `-` is standard input.
fn spec_text(path: &Path) -> Result<String, JobFailure> {
    let text = text_of(input::peek(path)?.bytes_of(path, SPECIFICATION)?);
    text.map_err(|error| failed(path, SPECIFICATION, error))
}

/// Writes the full witnesses of findings into the folder, and sets the commands that check them.
fn place(
    args: &PredictArgs,
    input: &TraceInput,
    prediction: &mut Prediction,
) -> Result<(), Failure> {
    let folder = args.schedules.as_deref();
    let rerun_command = command(args);
    let replay = match (folder, args.out.json_file()) {
        (Some(folder), _) => Replay::Folder(folder),
        (None, Some(file)) => Replay::Result(file),
        (None, None) => Replay::Command(&rerun_command),
    };
    let Prediction { result, witnesses } = prediction;
    let mut found = Vec::new();
    for (one, witness) in result.findings.iter_mut().zip(witnesses) {
        let (finding, Some(witness)) = (&mut one.finding, witness) else { continue };
        let command = replay.command(&quote(&input.name), &finding.id);
        finding.replay = Some(command + &args.types.words());
        found.push((witness, finding));
    }
    let Some(folder) = folder else { return Ok(()) };
    to_folder(folder, |out| {
        found.iter().try_for_each(|(witness, finding)| {
            let name = file_name(&finding.id);
            out.file(&name, &mut |file| witness.write(&input.trace, finding, file))
        })
    })
}

/// Returns the command that prints the same findings as JSON.
fn command(args: &PredictArgs) -> String {
    let trace = quote(&args.trace.to_string_lossy());
    let mut words = vec![format!("anyorder predict {trace}{}", args.types.words())];
    words.extend(args.analysis.map(|analysis| format!("--analysis {}", analysis.word())));
    if args.pairs != Pairs::Auto {
        words.push(format!("--pairs {}", word_of(PAIRS, args.pairs)));
    }
    words.push("--format json".to_owned());
    words.join(" ")
}
