//! `anyorder simulate`: random runs of a model.

use crate::args::{Global, SimulateArgs};
use crate::commands::render::{self, Form, set_elapsed};
use crate::failure::{Failure, Message};
use crate::guard::{Document, Kind};
use crate::input::load_model;
use crate::watch::Watch;
use crate::witness::{Replay, name_replays, write_schedules};
use anyorder_common::text::quote;
use anyorder_drive::model::simulate_model;
use anyorder_drive::states::SimulateOptions;
use anyorder_finding::{Input, Policy};
use std::process::ExitCode;

/// The name of the command.
const COMMAND: &str = "simulate";

/// Runs the model, prints the findings, and returns the exit status.
pub(crate) fn run(
    args: &SimulateArgs,
    global: &Global,
    watch: &Watch,
) -> Result<ExitCode, Failure> {
    let policy = Policy::default();
    watch.begin(Document {
        command: COMMAND,
        out: args.out.clone(),
        max_findings: usize::MAX,
        policy: policy.clone(),
        kind: Kind::Search,
    });
    let model = load_model(&args.model)?;
    global.warn_of(model.warnings());
    if model.responses() > 0 {
        let what = "random runs do not check responses; `anyorder check` checks them";
        global.print(&[Message::warning_at(&args.model, what)]);
    }
    let input = [Input::new(&args.model, "model")];
    watch.draft().working_on(&input);
    let options = SimulateOptions { runs: args.runs, seed: args.seed, steps_max: args.max_steps };
    let result = simulate_model(&model, &options, &watch.control())?;
    watch.done();
    watch.draft().add(input.to_vec(), result);
    let (mut outcome, runs) = watch.draft().take(COMMAND).finish();
    outcome.options.set("runs", args.runs);
    outcome.options.set("seed", args.seed);
    outcome.options.set("max-steps", u64::from(args.max_steps));
    watch.asked.set(&mut outcome.options);
    let numbers =
        format!("--runs {} --seed {} --max-steps {}", args.runs, args.seed, args.max_steps);
    let path = quote(&args.model.to_string_lossy());
    let rerun_command = format!("anyorder simulate {path} {numbers} --format json");
    let replay = Replay::of(args.placed.schedules.as_deref(), &args.out, &rerun_command);
    name_replays(&mut outcome.findings, replay, None);
    outcome.judge(&policy);
    set_elapsed(&mut outcome, watch.started);
    let done = watch.draft().finish(outcome, runs);
    write_schedules(&done.outcome.findings, replay)?;
    let form = Form { out: &args.out, max_findings: usize::MAX, remarks: "", runs: &done.runs };
    render::finish(&form, &done.outcome, &policy, None)
}
