//! `anyorder convert`: turns any readable format into any writable one, block by block.

use crate::args::{ConvertArgs, Global};
use crate::failure::{Failure, JobFailure, Usage, warn};
use crate::input::{self, Watched};
use crate::output::bytes_to;
use crate::phase::claim;
use crate::watch::Watch;
use anyorder_common::numbers::plural;
use anyorder_common::text::shown;
use anyorder_drive::Missing;
use anyorder_finding::exit;
use anyorder_formats::detect::Format;
use anyorder_formats::open::create;
use anyorder_formats::std::{Losses, StdWriter};
use anyorder_trace::{Block, CopyError, Tables, TraceSink, TraceSource, copy};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

/// Converts a trace.
pub(crate) fn run(args: &ConvertArgs, global: &Global, watch: &Watch) -> Result<ExitCode, Failure> {
    let mut events = 0;
    let convert = |out: &mut dyn Write| -> Result<(), Failure> {
        events = stream(args, global, watch, out)?;
        // The file gets its name next.
        claim();
        Ok(())
    };
    let file = Some(args.output.as_path()).filter(|path| *path != Path::new("-"));
    bytes_to(file, convert)?;
    if let (Some(file), false) = (file, global.quiet) {
        let (what, title) = (plural(events, "event"), args.to.title());
        let _ = writeln!(anstream::stderr(), "wrote {what} to {} as {title}", shown(file));
    }
    Ok(ExitCode::from(exit::CLEAN))
}

/// Copies all events; returns their number.
fn stream(
    args: &ConvertArgs,
    global: &Global,
    watch: &Watch,
    out: &mut dyn Write,
) -> Result<u64, Failure> {
    let control = watch.control();
    let mut opened = input::open(&args.input, global)?;
    control.progress.phase("converting");
    let mut source = Watched { opened: &mut opened, control: &control };
    let copied = if args.to == Format::Std {
        to_std(args, &mut source, out)
    } else {
        let sink = create(args.to, Box::new(out));
        let mut sink = sink.map_err(|error| JobFailure::writing(&args.output, error))?;
        copy(&mut source, sink.as_mut(), |_| {})
    };
    watch.done();
    let events = copied.map_err(|error| match error {
        CopyError::Read(error) => JobFailure::trace(&args.input, error).into(),
        CopyError::Write(error) => refused(args, error),
    })?;
    if let Some(reason) = watch.stopped() {
        let what = match args.output == Path::new("-") {
            true => Missing::RestOfOutput,
            false => Missing::Output,
        };
        return Err(JobFailure::stopped(reason, what).into());
    }
    global.print_warnings(&args.input, opened.source.problems());
    Ok(events)
}

/// Writes STD, which cannot hold everything: fails, or leaves things out and reports them.
fn to_std(
    args: &ConvertArgs,
    source: &mut dyn TraceSource,
    out: &mut dyn Write,
) -> Result<u64, CopyError> {
    let mut sink =
        Std { writer: StdWriter::new(out).lossy(args.lossy), lossy: args.lossy, extras: 0 };
    let events = copy(source, &mut sink, |_| {})?;
    let Losses { skipped, approximated, renamed } = sink.writer.losses();
    let lost = [
        (skipped, "left out, because STD has no such operation"),
        (approximated, "written as the nearest operation of STD"),
        (renamed, "given another name"),
        (sink.extras, "not kept: a value, a time, a stack or a reference"),
    ];
    for (number, what) in lost {
        if number > 0 {
            warn(&format!("{} {what}", plural(number, "time")));
        }
    }
    Ok(events)
}

/// An STD writer that detects event properties that STD cannot hold.
struct Std<'a> {
    writer: StdWriter<&'a mut dyn Write>,
    lossy: bool,
    extras: u64,
}

impl TraceSink for Std<'_> {
    fn block(&mut self, tables: &Tables, block: &Block) -> io::Result<()> {
        let columns = &block.columns;
        let lens =
            [columns.values.len(), columns.times.len(), columns.stacks.len(), columns.refers.len()];
        let extras = lens.iter().sum::<usize>() as u64;
        if extras > 0 && !self.lossy {
            let what = "STD has no values, times, stacks and references";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        self.extras += extras;
        self.writer.block(tables, block)
    }

    fn finish(&mut self, tables: &Tables) -> io::Result<()> {
        self.writer.finish(tables)
    }
}

/// Makes the failure of a lossy conversion or of the file system.
fn refused(args: &ConvertArgs, error: io::Error) -> Failure {
    let cannot = matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput);
    let failure = JobFailure::writing(&args.output, error);
    match cannot && args.to == Format::Std {
        true => Usage::Lossless(failure).into(),
        false => failure.into(),
    }
}
