//! `anyorder simulate`: random runs of a model.

use crate::args::{Global, SimulateArgs};
use crate::commands::check::{print_warnings, set_limits};
use crate::commands::render::{self, Form};
use crate::failure::{Failure, warn};
use crate::model::{self, Replay};
use crate::watch::Watch;
use anyorder_common::text::shown;
use anyorder_finding::run::Runs;
use anyorder_finding::{Input, Outcome, Policy, assign_ids};
use anyorder_search::{WalkOptions, walk};
use std::process::ExitCode;
use std::time::Instant;

/// Runs the model, prints what went wrong, and returns the exit status that it gives.
pub(crate) fn run(args: &SimulateArgs, global: &Global) -> Result<ExitCode, Failure> {
    let started = Instant::now();
    let model = model::load(&args.model)?;
    print_warnings(&model, global);
    if !model.machine.responses().is_empty() && !global.quiet {
        let what = "random runs do not check responses, `anyorder check` does";
        warn(&format!("{}: {what}", shown(&args.model)));
    }
    let watch = Watch::start(global, &args.limits)?;
    let control = watch.control();
    control.progress.phase("runs");
    let options = WalkOptions {
        seed: args.seed,
        walks: args.runs,
        steps_max: args.max_steps,
        deadlocks: true,
    };
    let walked = walk(&*model.machine, &options, &control)
        .map_err(|error| model::failure(&args.model, &error))?;
    watch.done();
    let mut outcome = Outcome::new("simulate", env!("CARGO_PKG_VERSION"));
    let path = args.model.to_string_lossy().into_owned();
    outcome.inputs.push(Input { path: path.clone(), format: "model".to_owned() });
    outcome.options.set("runs", args.runs);
    outcome.options.set("seed", args.seed);
    outcome.options.set("max-steps", u64::from(args.max_steps));
    set_limits(&mut outcome.options, &args.limits);
    for limit in &walked.limits {
        outcome.cut_by(model::limit_word(*limit));
    }
    let mut told = Vec::new();
    for reported in model::report(&model, &walked.violations) {
        outcome.findings.push(reported.finding);
        told.push(reported.run);
    }
    assign_ids(&mut outcome.findings);
    let runs: Runs = outcome.findings.iter().map(|finding| finding.id.clone()).zip(told).collect();
    let numbers =
        format!("--runs {} --seed {} --max-steps {}", args.runs, args.seed, args.max_steps);
    let again = format!("anyorder simulate {} {numbers} --format json", model::quote(&path));
    let replay = Replay::of(args.schedules.as_deref(), &args.out, &again);
    model::place(&mut outcome.findings, replay)?;
    let policy = Policy::default();
    outcome.judge(&policy);
    let stats = &walked.stats;
    outcome
        .stats
        .set("executions", stats.executions)
        .set("states", stats.states)
        .set("transitions", stats.transitions)
        .set("max_depth", stats.max_depth)
        .set("elapsed_ms", u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX));
    let form = Form { out: &args.out, max_findings: usize::MAX, remarks: "", runs: &runs };
    render::finish(&form, &outcome, &policy, None)
}
