//! `anyorder info`: the contents of a trace, counted in one pass.

use crate::args::{AnswerFormat, Global, InfoArgs};
use crate::failure::{Failure, JobFailure, Message};
use crate::input::{self, Watched};
use crate::output::{to_stdout, width};
use crate::watch::Watch;
use anyorder_common::text::{escape, escape_json};
use anyorder_drive::StreamDoubts;
use anyorder_finding::{WarningKind, exit};
use anyorder_report::info::{Info, Tally, json, text};
use anyorder_trace::{Block, TraceSource};
use std::process::ExitCode;

/// Prints the contents of a trace.
pub(crate) fn run(args: &InfoArgs, global: &Global, watch: &Watch) -> Result<ExitCode, Failure> {
    let control = watch.control();
    let mut opened = input::open(&args.trace, global)?;
    let (mut tally, mut block) = (Tally::default(), Block::default());
    let mut doubts = StreamDoubts::default();
    control.progress.phase("reading");
    let mut source = Watched { opened: &mut opened, control: &control };
    while source.next_block(&mut block).map_err(|error| JobFailure::trace(&args.trace, error))? {
        tally.add(source.tables(), &block);
        doubts.block(source.tables(), &block);
    }
    let complete = watch.stopped().is_none();
    watch.done();
    let problems = opened.source.problems();
    tally.finish(opened.source.tables());
    global.print_warnings(&args.trace, problems);
    let path = &*args.trace.to_string_lossy();
    let tables = opened.source.tables();
    let warnings = doubts.warnings(path, tables, problems, complete);
    let ignored = warnings.iter().filter(|warning| warning.kind == WarningKind::Ignored);
    let told = ignored.map(|one| Message::warning_at(path, escape(&one.text)));
    global.print(&told.collect::<Vec<_>>());
    let info = Info {
        path,
        format: (opened.format.word(), opened.format.title()),
        size: opened.size,
        tables,
        warnings,
        tally: &tally,
        complete,
        top: args.top,
    };
    match args.format {
        AnswerFormat::Text => {
            to_stdout(|out| text(&info, width(), args.ascii || ascii_locale(), out))?;
        }
        AnswerFormat::Json => {
            to_stdout(|out| writeln!(out, "{}", escape_json(&json(&info).to_string())))?
        }
    }
    Ok(ExitCode::from(if complete { exit::CLEAN } else { exit::LIMIT }))
}

/// Returns whether the locale supports only ASCII.
fn ascii_locale() -> bool {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG"));
    // If none is set, assume UTF-8. `C` and `POSIX` mean ASCII.
    locale.is_some_and(|locale| !locale.to_ascii_lowercase().replace('-', "").contains("utf8"))
}
