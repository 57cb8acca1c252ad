//! `anyorder graph`: the states of a model and the steps between them.

use crate::args::{Global, GraphArgs, GraphForm};
use crate::commands::check::print_warnings;
use crate::failure::{Failure, warn};
use crate::model;
use crate::output::{to_file, to_stdout};
use crate::watch::Watch;
use anyorder_common::text::shown;
use anyorder_finding::exit;
use anyorder_search::{GraphFormat, Options, export};
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
    let graph = export(&*model.machine, format, &options, &control).map_err(failed)?;
    watch.done();
    if !graph.complete && !global.quiet {
        let limits: Vec<_> = graph.limits.iter().map(|limit| model::limit_word(*limit)).collect();
        let what = format!("the graph is not whole, it was cut by --{}", limits.join(", --"));
        warn(&format!("{}: {what}", shown(&args.model)));
    }
    let text = graph.text.trim_end();
    match &args.output {
        Some(path) => to_file(path, |out| {
            writeln!(out, "{text}").map_err(|error| Failure::writing(path, &error))
        })?,
        None => to_stdout(|out| writeln!(out, "{text}"))?,
    }
    // A depth that was asked for is no limit.
    let cut = graph.limits.iter().any(|limit| !limit.is_bound());
    Ok(ExitCode::from(if cut { exit::LIMIT } else { exit::CLEAN }))
}
