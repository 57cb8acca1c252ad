//! `anyorder graph`: the states of a model and the steps between them.

use crate::args::{Global, GraphArgs};
use crate::failure::{Failure, print_messages, warn};
use crate::input::load_model;
use crate::output::{to_file, to_stdout};
use crate::watch::Watch;
use anyorder_common::text::shown;
use anyorder_drive::states::{GraphOptions, export_graph};
use anyorder_finding::exit;
use std::process::ExitCode;

/// Writes the graph. The status is 3 if a limit left states out.
pub(crate) fn run(args: &GraphArgs, global: &Global) -> Result<ExitCode, Failure> {
    let model = load_model(&args.model)?;
    if !global.quiet {
        print_messages(model.warnings());
    }
    let watch = Watch::start(global, &args.limits)?;
    let (states_max, depth_max) = (Some(args.max_states), args.max_depth);
    let options = GraphOptions { format: args.format, states_max, depth_max };
    let graph = export_graph(&model, &options, &watch.control())?;
    watch.done();
    if !graph.complete && !global.quiet {
        let limits: Vec<_> = graph.limits.iter().map(|limit| limit.word()).collect();
        let what = format!("the graph is incomplete: it was cut by --{}", limits.join(", --"));
        warn(&format!("{}: {what}", shown(&args.model)));
    }
    let text = graph.text.trim_end();
    match &args.output {
        Some(path) => to_file(path, |out| {
            writeln!(out, "{text}").map_err(|error| Failure::writing(path, &error))
        })?,
        None => to_stdout(|out| writeln!(out, "{text}"))?,
    }
    // A requested depth is not a limit.
    let cut = graph.limits.iter().any(|limit| !limit.is_bound());
    Ok(ExitCode::from(if cut { exit::LIMIT } else { exit::CLEAN }))
}
