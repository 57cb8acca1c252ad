//! What `check` predicts of a trace of threads, beside the races of happens-before.

use crate::args::{AnalysisArg, CheckArgs, Global, PairsArg};
use crate::commands::predict::{stats, warn_of_rejected};
use crate::engine::Analysis;
use crate::failure::Failure;
use crate::ignored::NotUnderstood;
use crate::predicted::{FORMAT, Question, beside_hb, tie_findings, types_of};
use anyorder_common::text::quote;
use anyorder_finding::run::Run;
use anyorder_finding::{Finding, Outcome, Stats, Witness, WitnessPlace, assign_ids};
use anyorder_system::Control;
use anyorder_trace::{TaskKind, Trace};
use std::collections::BTreeMap;
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
    not_understood: NotUnderstood,
) -> Result<(), Failure> {
    if trace.len() as u64 > args.witnesses.max_events {
        outcome.cut_by("max-events");
        let at = outcome.findings.len();
        outcome.findings.extend(races);
        not_understood.mark_by_sites(trace, outcome.findings[at..].iter_mut());
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
    let (mut all, found) = beside_hb(path, trace, races, &question, &replay, control)?;
    let not_understood = not_understood.with_unspecified(trace, &found.unspecified);
    outcome.warnings.extend(not_understood.of_unspecified(path));
    runs.resize(outcome.findings.len(), None);
    for one in &mut all {
        if let Some(last) = one.last {
            not_understood.mark(&mut one.finding, last);
        }
    }
    let by_sites = all.iter_mut().filter(|one| one.last.is_none());
    not_understood.mark_by_sites(trace, by_sites.map(|one| &mut one.finding));
    let at = outcome.findings.len();
    for one in all {
        outcome.findings.push(one.finding);
        runs.push(one.run);
    }
    // Ids that differ within this input; all inputs are numbered together later.
    assign_ids(&mut outcome.findings[at..]);
    tie_findings(trace, &mut outcome.findings[at..]);
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

/// Sets the final ids of all findings, and writes them where groups name them.
pub(super) fn number(findings: &mut [Finding]) {
    let before: Vec<(Option<String>, String)> =
        findings.iter().map(|finding| (finding.input.clone(), finding.id.clone())).collect();
    assign_ids(findings);
    let after: BTreeMap<(Option<String>, String), String> =
        before.into_iter().zip(findings.iter().map(|finding| finding.id.clone())).collect();
    for finding in findings {
        if let Some(group) = finding.group.take() {
            finding.group = after.get(&(finding.input.clone(), group)).cloned();
        }
    }
}
