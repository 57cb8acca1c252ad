//! `anyorder simulate`: random runs of a model.

use crate::args::{Global, SimulateArgs};
use crate::commands::runner::{Ending, Judgement, Runner};
use crate::failure::{Failure, Message};
use crate::guard::{Document, Kind};
use crate::input::load_model;
use crate::watch::Watch;
use crate::witness::Replay;
use anyorder_common::text::quote;
use anyorder_drive::model::simulate_model;
use anyorder_drive::states::SimulateOptions;
use anyorder_finding::{Input, Policy, option};
use std::process::ExitCode;

/// Runs the model, prints the findings, and returns the exit status.
pub(crate) fn run(
    args: &SimulateArgs,
    global: &Global,
    watch: &Watch,
) -> Result<ExitCode, Failure> {
    let document = Document {
        command: "simulate",
        out: args.out.clone(),
        max_findings: usize::MAX,
        policy: Policy::default(),
        kind: Kind::Search,
    };
    let runner = Runner::begin(document, global, watch);
    let model = load_model(&args.model)?;
    global.warn_of(model.warnings());
    if model.responses() > 0 {
        let what = "random runs do not check responses; `anyorder check` checks them";
        global.print(&[Message::warning_at(&args.model, what)]);
    }
    let input = Input::new(&args.model, "model");
    runner.working_on(&input);
    let options = SimulateOptions { runs: args.runs, seed: args.seed, steps_max: args.max_steps };
    let result = simulate_model(&model, &options, &watch.control())?;
    runner.ended(&result);
    runner.add(vec![input], result, |options| {
        options.set(option::RUNS, args.runs);
        options.set(option::SEED, args.seed);
        options.set(option::MAX_STEPS, u64::from(args.max_steps));
    });
    let numbers =
        format!("--runs {} --seed {} --max-steps {}", args.runs, args.seed, args.max_steps);
    let path = quote(&args.model.to_string_lossy());
    let rerun_command = format!("anyorder simulate {path} {numbers} --format json");
    let replay = Replay::of(args.placed.schedules.as_deref(), &args.out, &rerun_command);
    let judgement = Judgement::InOrder;
    runner.finish(Ending { replay: Some((replay, None)), judgement, ..Ending::default() })
}
