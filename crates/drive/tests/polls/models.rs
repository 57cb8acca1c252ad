//! Jobs on models.

use crate::polls::harness::{
    INTERRUPT, at_every_poll, cut_or_whole, is_candidate, lines, or_stopped, whole,
};
use anyorder_drive::explore::{
    ExploreOptions, Order, ReversalOptions, ShrinkOptions, explore, shrink,
};
use anyorder_drive::model::{Model, check_model, replay_model};
use anyorder_drive::states::{
    Algorithm, CheckOptions, GraphFormat, GraphOptions, Limit, ReplayVerdict, SimulateOptions,
    Storage, export_graph, simulate,
};
use anyorder_drive::{JobControl, JobResult, schedule_of};
use anyorder_system::Control;
use std::path::Path;

/// Models of all kinds: with and without a violation, with threads, responses, symmetry.
const MODELS: [&str; 7] = [
    "four-events",
    "check-then-act",
    "dining-philosophers",
    "lost-wake-up",
    "starved-writer",
    "two-phase-commit-symmetric",
    "token-refresh",
];

pub(crate) fn model(name: &str) -> Model {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/models");
    let text = std::fs::read_to_string(root.join(format!("{name}.any"))).expect("an example");
    Model::compile(name, &text).expect("an example compiles")
}

/// Every finding is one of the whole result, or its schedule shows it.
fn true_findings(model: &Model, all: &JobResult, part: &JobResult) -> Result<(), String> {
    cut_or_whole(all, part)?;
    for found in &part.findings {
        let finding = &found.finding;
        if let Some(schedule) = schedule_of(finding) {
            let verdict = replay_model(model, &schedule).map_err(|e| lines(&e))?.verdict;
            if verdict != ReplayVerdict::Reproduced {
                return Err(format!(
                    "`{}` does not occur in its schedule: {verdict:?}",
                    finding.title
                ));
            }
            continue;
        }
        let known = |f: &&anyorder_drive::Reported| {
            f.finding.kind == finding.kind && f.finding.title == finding.title
        };
        // A pair that was not reversed yet may turn out to be harmless.
        if !is_candidate(finding) && !all.findings.iter().any(|f| known(&f)) {
            let what = format!("{:?}, confirmed {:?}", finding.severity, finding.confirmed);
            return Err(format!("`{}` is not in the whole result ({what})", finding.title));
        }
    }
    Ok(())
}

#[test]
fn a_check_of_a_model_stops_at_each_poll() {
    let stateful = CheckOptions::default();
    let with = |algorithm| CheckOptions { algorithm: Some(algorithm), ..stateful.clone() };
    let variants = [
        ("stateful", with(Algorithm::Stateful)),
        ("paper", with(Algorithm::Paper)),
        ("full", with(Algorithm::Full)),
        ("first", CheckOptions { first: true, ..with(Algorithm::Full) }),
        (
            "depth first",
            CheckOptions { order: anyorder_drive::states::Order::Depth, ..with(Algorithm::Full) },
        ),
        ("exact", CheckOptions { storage: Storage::Exact, ..with(Algorithm::Full) }),
        (
            "bits",
            CheckOptions { storage: Storage::Bitstate { bytes: 1 << 16 }, ..with(Algorithm::Full) },
        ),
        ("symmetry", CheckOptions { symmetry: true, ..with(Algorithm::Full) }),
    ];
    let mut jobs = 0;
    for name in MODELS {
        let model = model(name);
        for (variant, options) in &variants {
            let job = |control: &Control<'_>| {
                check_model(&model, options, &control.into()).map(|found| found.result)
            };
            if job(&Control::default()).is_err() {
                continue;
            }
            jobs += 1;
            at_every_poll(&format!("check {name} {variant}"), job, |all, part| {
                or_stopped(part, |part| true_findings(&model, whole(all), part))
            });
        }
    }
    assert!(jobs > 40, "only {jobs} jobs");
}

#[test]
fn a_stopped_check_knows_no_part_that_never_runs() {
    for name in MODELS {
        let model = model(name);
        let job =
            |control: &Control<'_>| check_model(&model, &CheckOptions::default(), &control.into());
        at_every_poll(&format!("never run {name}"), job, |all, part| {
            or_stopped(part, |part| {
                let cut = part.result.limits.iter().any(|limit| limit == INTERRUPT);
                let known = part.never_run.iter().all(|one| whole(all).never_run.contains(one));
                if cut && !known {
                    Err(format!("it never ran: {:?}", part.never_run))
                } else {
                    Ok(())
                }
            })
        });
    }
}

#[test]
fn a_simulation_stops_at_each_poll() {
    let options = SimulateOptions { runs: 40, ..SimulateOptions::default() };
    for name in MODELS {
        let model = model(name);
        let job = |control: &Control<'_>| simulate(&model, &options, &control.into());
        at_every_poll(&format!("simulate {name}"), job, |all, part| {
            or_stopped(part, |part| true_findings(&model, whole(all), part))
        });
    }
}

#[test]
fn a_graph_stops_at_each_poll() {
    for name in MODELS {
        let model = model(name);
        for format in [GraphFormat::Dot, GraphFormat::Json] {
            let options = GraphOptions { format, states_max: Some(60), depth_max: None };
            let job = |control: &Control<'_>| export_graph(&model, &options, control);
            at_every_poll(&format!("graph {name} {format:?}"), job, |all, part| {
                or_stopped(part, |part| {
                    let says = part.limits.contains(&Limit::Interrupt) && !part.complete;
                    if says || part == whole(all) {
                        return Ok(());
                    }
                    Err(format!("complete {}, limits {:?}", part.complete, part.limits))
                })
            });
        }
    }
}

#[test]
fn an_exploration_stops_at_each_poll() {
    let r4 = ReversalOptions::default;
    let variants = [
        ("usual", r4()),
        ("bound 2", ReversalOptions { bound: Some(2), ..r4() }),
        ("depth", ReversalOptions { order: Order::DepthFirst, bound: Some(2), ..r4() }),
        ("confirmed", ReversalOptions { confirm: true, ..r4() }),
    ];
    // A whole exploration of the philosophers takes thousands of runs.
    for name in MODELS.into_iter().filter(|name| *name != "dining-philosophers") {
        let model = model(name);
        for (variant, reversals) in &variants {
            let options =
                ExploreOptions { reversals: reversals.clone(), ..ExploreOptions::default() };
            let job = |control: &Control<'_>| explore(&model, &options, &control.into());
            if job(&Control::default()).is_err() {
                continue;
            }
            at_every_poll(&format!("explore {name} {variant}"), job, |all, part| {
                or_stopped(part, |part| true_findings(&model, whole(all), part))
            });
        }
    }
}

#[test]
fn a_shrinking_stops_at_each_poll() {
    let mut jobs = 0;
    for name in MODELS {
        let model = model(name);
        let options = SimulateOptions { runs: 40, ..SimulateOptions::default() };
        let found = simulate(&model, &options, &JobControl::default()).expect("a simulation");
        let schedules = found.findings.iter().filter_map(|found| schedule_of(&found.finding));
        for schedule in schedules.take(2) {
            let options = ShrinkOptions { executions_max: 60, ..ShrinkOptions::default() };
            let job = |control: &Control<'_>| shrink(&model, &schedule, &options, &control.into());
            if job(&Control::default()).is_err() {
                continue;
            }
            jobs += 1;
            at_every_poll(&format!("shrink {name}"), job, |all, part| {
                or_stopped(part, |part| match (whole(all), part) {
                    (all, part) if all == part => Ok(()),
                    (_, None) => Err("it says that the schedule shows nothing".to_owned()),
                    (all, Some(part)) => {
                        let verdict =
                            replay_model(&model, &part.schedule).map_err(|e| lines(&e))?.verdict;
                        if verdict != ReplayVerdict::Reproduced {
                            return Err(format!("the shrunk schedule shows nothing: {verdict:?}"));
                        }
                        let least = all.as_ref().map_or(0, |all| all.reversals);
                        if part.fewest && part.reversals > least {
                            return Err(format!("{} reversals are not the fewest", part.reversals));
                        }
                        Ok(())
                    }
                })
            });
        }
    }
    assert!(jobs > 3, "only {jobs} schedules");
}
