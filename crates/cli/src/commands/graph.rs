//! `anyorder graph`: the states of a model and the steps between them.

use crate::args::{Global, GraphArgs, GraphForm};
use crate::commands::check::print_warnings;
use crate::failure::{Failure, warn};
use crate::model;
use crate::output::{shown, to_file, to_stdout};
use crate::watch::Watch;
use anyorder_finding::exit;
use anyorder_search::{GraphFormat, Options, Search, export};
use std::process::ExitCode;

/// Writes the graph; the status is 3 when a limit left states out.
pub(crate) fn run(args: &GraphArgs, global: &Global) -> Result<ExitCode, Failure> {
    let model = model::load(&args.model)?;
    print_warnings(&model, global);
    let watch = Watch::start(global, &args.limits)?;
    let control = watch.control();
    let options = Options {
        states_max: Some(args.max_states),
        depth_max: args.max_depth,
        responses: false,
        ..Options::default()
    };
    let failed = |error| model::failure(&args.model, &error);
    let format = match args.format {
        GraphForm::Dot => GraphFormat::Dot,
        GraphForm::Json => GraphFormat::Json,
    };
    let text = export(&*model.machine, format, &options, &control).map_err(failed)?;
    // The graph does not tell whether it is whole in every form; the same search does.
    let mut search = Search::new(&*model.machine, &options).map_err(failed)?;
    let outcome = search.run(&control).map_err(failed)?;
    watch.done();
    if !outcome.complete && !global.quiet {
        let limits: Vec<_> = outcome.limits.iter().map(|limit| model::limit_word(*limit)).collect();
        let what = format!("the graph is not whole, it was cut by --{}", limits.join(", --"));
        warn(&format!("{}: {what}", shown(&args.model)));
    }
    match &args.output {
        Some(path) => to_file(path, |out| {
            writeln!(out, "{}", text.trim_end()).map_err(|error| Failure::writing(path, &error))
        })?,
        None => to_stdout(|out| writeln!(out, "{}", text.trim_end()))?,
    }
    Ok(ExitCode::from(if outcome.complete { exit::CLEAN } else { exit::LIMIT }))
}
