//! What `check` predicts of a trace of threads, beside the races of happens-before.

use crate::args::{AnalysisArg, CheckArgs, Global, PairsArg};
use crate::commands::predict::{stats, warn_of_rejected};
use crate::engine::Analysis;
use crate::failure::Failure;
use crate::model::quote;
use crate::predicted::{FORMAT, Question, beside_hb, types_of};
use anyorder_finding::{Finding, Outcome, Stats, Witness, WitnessPlace};
use anyorder_report::run::Run;
use anyorder_system::Control;
use anyorder_trace::{TaskKind, Trace};
use std::path::Path;

/// Returns whether a trace is one of threads, to be predicted from.
pub(super) fn fits(trace: &Trace, analysis: &Analysis, args: &CheckArgs) -> bool {
    let posted = trace.tables().tasks.iter().any(|task| task.kind == TaskKind::Posted);
    !args.no_predict && !posted && analysis.rules == "threads" && analysis.limit.is_none()
}

/// Adds the races of happens-before, with witnesses where there are some, and the predictions to the result.
#[expect(clippy::too_many_arguments, reason = "what one input of a check comes with")]
pub(super) fn add(
    path: &Path,
    trace: &Trace,
    races: Vec<Finding>,
    args: &CheckArgs,
    global: &Global,
    control: &Control<'_>,
    outcome: &mut Outcome,
    runs: &mut Vec<Option<Run>>,
) -> Result<(), Failure> {
    if trace.len() as u64 > args.witnesses.max_events {
        outcome.cut_by("max-events");
        outcome.findings.extend(races);
        return Ok(());
    }
    let question = Question {
        types: types_of(None, &[])?,
        analysis: Some(AnalysisArg::Edc),
        pairs: PairsArg::Auto,
        confirm: true,
        max_pairs: args.max_pairs,
        search: &args.witnesses,
    };
    let trace_path = quote(&path.to_string_lossy());
    let replay = |finding: &Finding| {
        let id = &finding.id;
        format!(
            "anyorder check {trace_path} --format json | anyorder replay {trace_path} - --finding {id}"
        )
    };
    let (all, found) = beside_hb(path, trace, races, &question, &replay, control)?;
    runs.resize(outcome.findings.len(), None);
    for one in all {
        outcome.findings.push(one.finding);
        runs.push(one.run);
    }
    for cut in &found.checked.cuts {
        outcome.cut_by(cut);
    }
    if !found.checked.all_pairs {
        outcome.bounded_by("pairs");
    }
    if let Some(reason) = found.checked.stopped {
        outcome.cut_by(reason.word());
    }
    warn_of_rejected(path, &found.checked.statistics, global);
    let mut counts = Stats::new();
    let of_prediction = [
        "candidates",
        "racy",
        "non_racy",
        "confirmed",
        "dropped",
        "unconfirmed",
        "missed_by_order",
    ];
    for (name, stat) in stats(&found.checked.statistics).iter() {
        if of_prediction.contains(&name) {
            counts.set(name, stat.clone());
        }
    }
    super::add_stats(&mut outcome.stats, &counts);
    Ok(())
}

/// Writes the final ids of findings where their witnesses and commands name them: an id may get an ordinal among those of other inputs.
pub(super) fn name_again(findings: &mut [Finding]) {
    const NAMED: &str = " --finding ";
    for finding in findings {
        if let Some(Witness { format, place: WitnessPlace::Inline(value) }) = &mut finding.witness
            && format == FORMAT
        {
            value["finding"] = finding.id.clone().into();
            if let Some(replay) = &mut finding.replay
                && let Some(at) = replay.rfind(NAMED)
            {
                replay.truncate(at + NAMED.len());
                replay.push_str(&finding.id);
            }
        }
    }
}
