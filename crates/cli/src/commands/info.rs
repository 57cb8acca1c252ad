//! `anyorder info`: what is in a trace, counted while it streams by.

use super::show::{Info, json, text};
use crate::args::{Global, InfoArgs, InfoFormat, LimitArgs};
use crate::failure::{Failure, print_warnings};
use crate::input::{self, Watched};
use crate::output::to_stdout;
use crate::tally::Tally;
use crate::watch::Watch;
use anyorder_finding::exit;
use anyorder_trace::{Block, TraceSource};
use std::process::ExitCode;

/// Prints what is in a trace.
pub(crate) fn run(args: &InfoArgs, global: &Global) -> Result<ExitCode, Failure> {
    let watch = Watch::start(global, &LimitArgs::default())?;
    let control = watch.control();
    let mut opened = input::open(&args.trace, global)?;
    let (mut tally, mut block) = (Tally::default(), Block::default());
    control.progress.phase("reading");
    let mut source = Watched { opened: &mut opened, control: &control };
    while source.next_block(&mut block).map_err(|error| Failure::input(&args.trace, &error))? {
        tally.add(source.tables(), &block);
    }
    let complete = watch.stopped().is_none();
    watch.done();
    tally.finish(opened.source.tables());
    if !global.quiet {
        print_warnings(&args.trace, opened.source.problems());
    }
    let info = Info { args, opened: &opened, tally: &tally, complete };
    match args.format {
        InfoFormat::Text => to_stdout(|out| text(&info, out))?,
        InfoFormat::Json => to_stdout(|out| writeln!(out, "{}", json(&info)))?,
    }
    Ok(ExitCode::from(if complete { exit::CLEAN } else { exit::LIMIT }))
}
