//! Predictions for traces of threads: each happens-before race once, with a witness if one was
//! found, then the findings that happens-before misses.

use super::{CheckTraceOptions, WithRuns, publish, without_runs};
use crate::control::JobControl;
use crate::failure::Failure;
use crate::not_understood::NotUnderstood;
use crate::predict::{
    Analysed, Analysis, EventPairs, KnownPairs, Placing, PredictOptions, Question, Reordering,
    add_deadlock_outcome, add_outcome, analyse, deadlock_witness, last_of, stats,
};
use crate::result::JobResult;
use crate::trace_input::TraceInput;
use crate::words::{
    self, DeadlockFinding, Predicted, RaceFinding, UNDECIDED, add_free_reads, form_words,
};
use anyorder_finding::run::Run;
use anyorder_finding::{ExplanationStep, Finding, Harm, Kind, StatName, option, stat};
use anyorder_predict::check::{Candidate, Category, PairResult};
use anyorder_predict::{Reorders, Together};
use anyorder_trace::{EventId, EventKind, Trace};
use std::collections::HashMap;
use std::mem;

/// The maximum number of pairs to search witnesses for, per happens-before race.
const PAIRS_TRIED_MAX: usize = 8;

/// The counts of a prediction that are added to those of happens-before.
const COUNTS: [StatName; 8] = [
    stat::CANDIDATES,
    stat::RACY,
    stat::NON_RACY,
    stat::CONFIRMED,
    stat::DROPPED,
    stat::UNCONFIRMED,
    stat::MISSED_BY_ORDER,
    stat::NOTES_OPEN,
];

/// A finding, and the run that shows it.
struct FindingWithRun {
    finding: Finding,
    run: Option<Run>,
    /// The last event of its witness or refutation, or of its sites.
    last: EventId,
    pairs: EventPairs,
}

/// Returns the happens-before races, with the witnesses found, and then the predictions.
pub(super) fn add(
    input: &TraceInput,
    (checked, races): (anyorder_hb::Checked<'_>, Vec<RaceFinding>),
    options: &CheckTraceOptions,
    control: &JobControl<'_>,
    result: &mut JobResult,
) -> Result<WithRuns, Failure> {
    let trace = &input.trace;
    if trace.len() as u64 > options.witnesses.max_events {
        result.cut_by(option::MAX_EVENTS);
        return Ok(without_runs(input, races));
    }
    let options = PredictOptions {
        specifications: options.specifications.clone(),
        analysis: Some(Analysis::Edc),
        max_pairs: options.max_pairs,
        search: options.witnesses,
        ..PredictOptions::default()
    };
    let tried = |pairs: &EventPairs| pairs.iter().take(PAIRS_TRIED_MAX).copied().collect();
    let extra: Vec<(EventId, EventId)> =
        races.iter().flat_map(|race| -> EventPairs { tried(&race.pairs) }).collect();
    // Without races, happens-before orders all conflicting accesses.
    let order = match races.is_empty() {
        true => None,
        false => checked.into_order(&control.cancel),
    };
    let is_known = |candidate: &Candidate| {
        let ids =
            [candidate.first, candidate.second].map(|event| u32::try_from(event).map(EventId));
        let ([Ok(a), Ok(b)], Some(order)) = (ids, &order) else { return false };
        is_plain(trace, a) && is_plain(trace, b) && !order.happens_before(a, b)
    };
    let base = result.clone();
    let so_far = |deadlocks: &[DeadlockFinding], predicted: Vec<Predicted>, more: u64| {
        let predicted = predicted.into_iter().map(|one| one.finding).collect();
        let deadlocks = deadlocks.iter().map(|one| one.finding.clone()).collect();
        publish(&input.name, (deadlocks, &races, predicted, more), &base, control);
    };
    let known = KnownPairs { extra: &extra, is_known: &is_known, so_far: &so_far };
    let question = Question::new(&input.name, &options)?;
    let mut analysed = analyse(trace, &question, &known, control)?;
    let found = mem::take(&mut analysed.deadlocks.findings);
    let mut placing = Placing::new(trace, control);
    let mut all = deadlocks((trace, &input.not_understood), found, &mut placing);
    all.extend(join(trace, races, &mut analysed, &mut placing));
    add_deadlock_outcome(&analysed.deadlocks.outcome, result);
    let not_understood =
        input.not_understood.clone().with_unspecified(trace, &analysed.unspecified);
    result.warnings.extend(not_understood.of_unspecified(&input.name));
    result.warnings.extend(analysed.odd_calls.warnings(&input.name, trace));
    let of_each = all.iter_mut().map(|one| (&mut one.finding, one.last, one.pairs.as_slice()));
    not_understood.mark_all(trace, of_each);
    add_outcome(&input.name, &analysed.checked, result);
    if !analysed.checked.all_pairs {
        result.bounded_by(option::PAIRS);
    }
    for (name, stat) in stats(&analysed.checked.statistics).iter() {
        if COUNTS.iter().any(|count| count.word() == name) {
            result.stats.keep(name, stat.clone());
        }
    }
    Ok(all.into_iter().map(|one| (one.finding, one.run, one.pairs)).collect())
}

/// Returns the deadlocks with their runs.
fn deadlocks(
    (trace, not_understood): (&Trace, &NotUnderstood),
    found: Vec<DeadlockFinding>,
    placing: &mut Placing<'_>,
) -> Vec<FindingWithRun> {
    let with_run = |DeadlockFinding { mut finding, deadlock }| {
        let witness = deadlock_witness(&deadlock);
        let last = last_of(trace, &finding, &[], witness.as_ref());
        let run = witness.and_then(|witness| placing.place(&witness, &mut finding));
        not_understood.mark_deadlock(trace, &mut finding, &deadlock.requests);
        FindingWithRun { finding, run, last, pairs: Vec::new() }
    };
    found.into_iter().map(with_run).collect()
}

/// Returns the happens-before races in their order, then the other findings.
fn join(
    trace: &Trace,
    races: Vec<RaceFinding>,
    analysed: &mut Analysed,
    placing: &mut Placing<'_>,
) -> Vec<FindingWithRun> {
    let pair_results: HashMap<(u64, u64), &PairResult> = analysed
        .checked
        .pair_results
        .iter()
        .map(|(one, pair_result)| ((one.first, one.second), pair_result))
        .collect();
    let mut all = Vec::new();
    for mut race in races {
        let pairs: EventPairs = race.pairs.iter().take(PAIRS_TRIED_MAX).copied().collect();
        // A confirmed race with a free is reported as a use after free instead.
        let pair_result =
            |(a, b): &(EventId, EventId)| pair_results.get(&(u64::from(a.0), u64::from(b.0)));
        let frees = |(a, b): &(EventId, EventId)| !(is_plain(trace, *a) && is_plain(trace, *b));
        let confirmed =
            |pair| pair_result(pair).is_some_and(|pair_result| pair_result.form().is_some());
        if pairs.iter().any(|pair| frees(pair) && confirmed(pair)) {
            continue;
        }
        let (run, last) = confirm((trace, &mut *placing), &mut race, &pairs, &pair_results);
        let RaceFinding { finding, pairs, .. } = race;
        all.push(FindingWithRun { finding, run, last, pairs });
    }
    for Predicted { mut finding, found } in mem::take(&mut analysed.predicted) {
        let pairs = found.event_pairs();
        let witness = found.witness.map(|witness| Reordering::new(witness, Reorders::Threads));
        let last = last_of(trace, &finding, &pairs, witness.as_ref());
        let run = witness.and_then(|witness| placing.place(&witness, &mut finding));
        all.push(FindingWithRun { finding, run, last, pairs });
    }
    all
}

/// Returns whether an event is a read or a write, not a free.
fn is_plain(trace: &Trace, event: EventId) -> bool {
    let kind = trace.event(event).kind();
    kind.is_access() && kind != EventKind::Free
}

/// Makes a race of two threads an order violation unless a run was found in which both could come
/// next. `all` says whether all its pairs were tried.
fn keep_apart(race: &mut RaceFinding, together: Option<Together>, all: bool) {
    let is_proved = match together {
        None | Some(Together::Yes) => return,
        Some(Together::No) => all,
        Some(Together::Undecided) => false,
    };
    if is_proved {
        race.say_never_together();
    }
    let finding = &mut race.finding;
    finding.kind = Kind::OrderViolation;
    if is_proved {
        let category = Category::Guarded;
        finding.category = Some(category.word().to_owned());
        finding.severity = words::severity(category);
        finding.harm = Harm::Harmless;
        finding.harm_class = Some(category.word().to_owned());
    } else {
        finding.explanation.push(ExplanationStep {
            rule: Some("undecided".to_owned()),
            ..ExplanationStep::new(UNDECIDED)
        });
    }
}

/// Marks a race by the outcomes of its pairs. Returns the run of the best witness, and the last
/// event that the outcome depends on.
fn confirm(
    (trace, placing): (&Trace, &mut Placing<'_>),
    race: &mut RaceFinding,
    pairs: &[(EventId, EventId)],
    pair_results: &HashMap<(u64, u64), &PairResult>,
) -> (Option<Run>, EventId) {
    let pair_result =
        |(a, b): &(EventId, EventId)| pair_results.get(&(u64::from(a.0), u64::from(b.0))).copied();
    let confirmed = pairs.iter().filter_map(|pair| match pair_result(pair)? {
        PairResult::Confirmed(witness) => Some((*pair, witness)),
        _ => None,
    });
    let best = confirmed
        .min_by_key(|(pair, witness)| (witness.together, witness.form, witness.order.len(), *pair));
    let together = pairs.iter().filter_map(|pair| pair_result(pair)?.together()).min();
    keep_apart(race, together, pairs.len() as u64 == race.finding.pairs_total);
    let finding = &mut race.finding;
    let form = pairs.iter().filter_map(|pair| pair_result(pair)?.form()).min();
    if form.is_some() {
        add_free_reads(trace, finding);
    }
    if let Some(((first, second), witness)) = best {
        finding.confirmed = Some(true);
        finding.form = Some(witness.form.word().to_owned());
        let shown = Reordering::new((first, second, witness.clone()), Reorders::Threads);
        let run = placing.place(&shown, finding);
        let step = ExplanationStep {
            rule: Some("witness".to_owned()),
            events: [first, second].map(|event| trace.unique_label(event)).to_vec(),
            ..ExplanationStep::new(form_words(witness.form))
        };
        finding.explanation.insert(0, step);
        return (run, last_of(trace, finding, pairs, Some(&shown)));
    }
    if let Some(form) = form {
        finding.confirmed = Some(true);
        finding.form = Some(form.word().to_owned());
        return (None, last_of(trace, finding, pairs, None));
    }
    let all = pairs.len() as u64 == finding.pairs_total && !pairs.is_empty();
    if all && pairs.iter().all(|pair| pair_result(pair) == Some(&PairResult::Impossible)) {
        finding.confirmed = Some(false);
        let text = "no order of the recorded events has the two the other way round, as long as each thread sees what it saw";
        finding.explanation.insert(
            0,
            ExplanationStep { rule: Some("impossible".to_owned()), ..ExplanationStep::new(text) },
        );
        // The proof is about the whole trace.
        return (None, EventId(trace.len() as u32));
    }
    (None, last_of(trace, finding, pairs, None))
}
