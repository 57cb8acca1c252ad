//! `anyorder graph`: the states of a model and the steps between them.

use crate::args::{Global, GraphArgs};
use crate::failure::{Failure, Message};
use crate::input::load_model;
use crate::output::to;
use crate::watch::Watch;
use anyorder_drive::model::model_graph;
use anyorder_drive::states::GraphOptions;
use anyorder_finding::exit;
use std::process::ExitCode;

/// Writes the graph. The status is 3 if a limit left states out.
pub(crate) fn run(args: &GraphArgs, global: &Global, watch: &Watch) -> Result<ExitCode, Failure> {
    let model = load_model(&args.model)?;
    global.warn_of(model.warnings());
    let (states_max, depth_max) = (Some(args.max_states), args.max_depth);
    let options = GraphOptions { format: args.format, states_max, depth_max };
    let graph = model_graph(&model, &options, &watch.control())?;
    watch.done();
    if !graph.complete {
        let limits: Vec<_> = graph.limits.iter().map(|limit| limit.word()).collect();
        let what = format!("the graph is incomplete: it was cut by --{}", limits.join(", --"));
        global.print(&[Message::warning_at(&args.model, what)]);
    }
    let text = graph.text.trim_end();
    to(args.output.as_deref(), |out| writeln!(out, "{text}"))?;
    // A requested depth is not a limit.
    let cut = graph.limits.iter().any(|limit| !limit.is_bound());
    Ok(ExitCode::from(if cut { exit::LIMIT } else { exit::CLEAN }))
}
