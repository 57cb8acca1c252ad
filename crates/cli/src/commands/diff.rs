//! `anyorder diff`: two runs of a model side by side.

use super::model_inputs::{self, ModelInputs, warn_if_changed};
use crate::args::{DiffArgs, Global};
use crate::failure::{Failure, JobFailure, Usage, warn};
use crate::output::{to_stdout, width};
use crate::reading::{stopped, watched};
use anyorder_common::numbers::{more, plural};
use anyorder_common::text::{escape, shorten, shown};
use anyorder_drive::Missing;
use anyorder_drive::first_schedule;
use anyorder_drive::model::compare_model_runs;
use anyorder_finding::exit;
use anyorder_finding::run::Run;
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

/// The number of steps shown before and after the first difference.
const COMMON_MAX: usize = 10;
const AFTER_MAX: usize = 20;

/// Compares the runs; the status is 0 when they are the same, 1 when they differ, 3 when one cannot
/// be followed.
pub(crate) fn run(args: &DiffArgs, global: &Global) -> Result<ExitCode, Failure> {
    let _watched = watched();
    let given = model_inputs::read(&args.inputs, global)?;
    let [(path_a, text_a), (path_b, text_b)] = &given.others[..] else {
        let found = given.others.len();
        return Err(Usage::TwoSchedules { found }.into());
    };
    let a = first_schedule(path_a, text_a, None)?.schedule;
    let b = first_schedule(path_b, text_b, None)?.schedule;
    let Some((path, model)) = given.model_of(&a) else {
        return Err(ModelInputs::no_model(path_a, &a));
    };
    for schedule in [&a, &b] {
        warn_if_changed(path, model, schedule, global);
    }
    let compared = compare_model_runs(model, &a, &b);
    // A run that is stopped looks like one that cannot be followed.
    stopped().map_err(|stopped| JobFailure::stopped(stopped.0, Missing::Comparison))?;
    let compared = compared?;
    let [run_a, run_b] = &compared.runs;
    for (path, lost) in [path_a, path_b].into_iter().zip(&compared.lost) {
        if let Some(lost) = lost {
            warn(&format!("{}: {}", shown(path), escape(lost)));
        }
    }
    let lost = compared.lost.iter().any(Option::is_some);
    let Some(parting) = &compared.parting else {
        to_stdout(|out| {
            writeln!(out, "the runs are the same: {}", plural(run_a.steps.len() as u64, "step"))
        })?;
        return Ok(ExitCode::from(if lost { exit::LIMIT } else { exit::CLEAN }));
    };
    let mut text = side_by_side([run_a, run_b], [path_a, path_b], parting.common);
    // Writing to a string does not fail.
    let _ = writeln!(text, "\nthe runs part after {} equal steps", parting.common);
    for (name, a, b) in &parting.values {
        let value = |value: &Option<String>| match value {
            Some(value) => shorten(value, 200),
            None => "not there".to_owned(),
        };
        let _ = writeln!(text, "  {}: {} | {}", escape(name), value(a), value(b));
    }
    for (path, run) in [(path_a, run_a), (path_b, run_b)] {
        let failure = || run.steps.last().and_then(|step| step.failure.as_deref());
        let end = Some(run.end.as_str()).filter(|end| !end.is_empty()).or_else(failure);
        if let Some(end) = end {
            let _ = writeln!(text, "  {}: {}", shown(path), escape(end));
        }
    }
    to_stdout(|out| out.write_all(text.as_bytes()))?;
    Ok(ExitCode::from(if lost { exit::LIMIT } else { exit::FINDINGS }))
}

/// Prints the steps of two runs side by side: the last equal steps and the steps after them.
fn side_by_side(runs: [&Run; 2], paths: [&Path; 2], common: usize) -> String {
    let column = (width().saturating_sub(10) / 2).max(16);
    let mut text = format!(
        "      {:<column$} | {}\n",
        shorten(&shown(paths[0]), column),
        shorten(&shown(paths[1]), column)
    );
    let from = common.saturating_sub(COMMON_MAX);
    if from > 0 {
        let _ = writeln!(text, "      … {from} equal steps");
    }
    let longest = runs.iter().map(|run| run.steps.len()).max().unwrap_or(0);
    let to = longest.min(common + AFTER_MAX);
    for at in from..to {
        let cell = |run: &Run| {
            run.steps.get(at).map_or_else(String::new, |step| {
                let effects = step.effects().join("; ");
                let who = if step.lane == step.what {
                    step.title()
                } else {
                    format!("{}: {}", step.lane, step.title())
                };
                shorten(&if effects.is_empty() { who } else { format!("{who}  {effects}") }, column)
            })
        };
        let mark = if at < common { ' ' } else { '*' };
        let line = format!("{mark}{:>4} {:<column$} | {}", at + 1, cell(runs[0]), cell(runs[1]));
        text.push_str(line.trim_end());
        text.push('\n');
    }
    if longest > to {
        let _ = writeln!(text, "      … {}", more((longest - to) as u64, "step"));
    }
    text
}
