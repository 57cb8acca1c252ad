//! `anyorder simulate`: random runs of a model.

use crate::args::{Global, SimulateArgs};
use crate::commands::render::{self, Form, set_elapsed};
use crate::failure::Failure;
use crate::input::load_model;
use crate::watch::Watch;
use crate::witness::{Replay, place};
use anyorder_common::text::quote;
use anyorder_drive::states::{SimulateOptions, simulate};
use anyorder_drive::{Collected, FailureMessage, Level};
use anyorder_finding::{Input, Policy};
use std::process::ExitCode;
use std::time::Instant;

/// Runs the model, prints the findings, and returns the exit status.
pub(crate) fn run(args: &SimulateArgs, global: &Global) -> Result<ExitCode, Failure> {
    let started = Instant::now();
    let model = load_model(&args.model)?;
    global.print(model.warnings());
    if model.responses() > 0 {
        let what = "random runs do not check responses; `anyorder check` checks them";
        global.print(&[FailureMessage::at(Level::Warning, &args.model, what)]);
    }
    let watch = Watch::start(global, &args.limits)?;
    let options = SimulateOptions { runs: args.runs, seed: args.seed, steps_max: args.max_steps };
    let result = simulate(&model, &options, &watch.control())?;
    watch.done();
    let mut all = Collected::new("simulate", env!("CARGO_PKG_VERSION"));
    all.add(vec![Input::new(&args.model, "model")], result);
    let (mut outcome, runs) = all.finish();
    outcome.options.set("runs", args.runs);
    outcome.options.set("seed", args.seed);
    outcome.options.set("max-steps", u64::from(args.max_steps));
    args.limits.set(&mut outcome.options);
    let numbers =
        format!("--runs {} --seed {} --max-steps {}", args.runs, args.seed, args.max_steps);
    let path = quote(&args.model.to_string_lossy());
    let rerun_command = format!("anyorder simulate {path} {numbers} --format json");
    let replay = Replay::of(args.placed.schedules.as_deref(), &args.out, &rerun_command);
    place(&mut outcome.findings, replay, None)?;
    let policy = Policy::default();
    outcome.judge(&policy);
    set_elapsed(&mut outcome, started);
    let form = Form { out: &args.out, max_findings: usize::MAX, remarks: "", runs: &runs };
    render::finish(&form, &outcome, &policy, None)
}
