//! The whole check: candidates, tries, groups, counts.

use super::candidate::{Candidate, CandidateList};
use super::category::Category;
use super::facts::{Facts, common_locks};
use super::found::{Found, FoundInput, found};
use super::groups::{Group, groups};
use super::left_open::{Order, mark_left_open};
use super::options::{CheckOptions, Cut, Pairs};
use super::pairs::{all_pairs, commute};
use super::signals::mark_losses;
use super::statistics::Statistics;
use super::tries::{Confirms, PairResult, ToTry, try_all};
use crate::order_path::{OrderPaths, Ordered};
use anyorder_hb::Guards;
use anyorder_stream::{PredictError, Report, Specification, ViolationKind};
use anyorder_system::{Cancel, Control, StopReason};
use anyorder_trace::{EventId, Tables, Trace, TraceBlocks};
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

/// On longer traces only an explicit option tries all pairs.
const AUTO_EVENTS_MAX: usize = 4_000_000;

/// The most groups that are passed on while the search for witnesses runs: of more, a report that
/// is written in a hurry would have no place.
const SO_FAR_MAX: usize = 1_000;

/// Searches for harmless notes visit this part of what the tries one by one may, or as often this
/// many events as the trace has.
const NOTES_SHARE: u64 = 4;
const NOTES_PER_EVENT: u64 = 2;

/// The most groups whose assumed order is explained, and the most steps for each.
const EXPLAINED_MAX: usize = 200;
const STEPS_MAX: u64 = 2_000_000;

/// The outcome of a check.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Checked {
    /// What the groups of candidates show, by category.
    pub found: Vec<Found>,
    /// The facts about the events of all candidates.
    pub facts: Arc<Facts>,
    /// The counts.
    pub statistics: Statistics,
    /// What left pairs without an answer.
    pub cuts: Vec<Cut>,
    /// The reason why the check ended early.
    pub stopped: Option<StopReason>,
    /// All pairs that were tried or scheduled, with their results. Empty after
    /// [`check_unconfirmed`].
    pub pair_results: Vec<(Candidate, PairResult)>,
    /// The number of groups that were not described, because the job was stopped or for
    /// [`Subject::so_far`].
    pub left_out: u64,
    /// Whether all pairs of the trace were tried, not only the candidates of the analysis.
    pub all_pairs: bool,
}

/// The input of a check.
pub struct Subject<'a, S> {
    /// The trace.
    pub trace: &'a Trace,
    /// The report of the analysis on the trace.
    pub report: &'a Report,
    /// The specification that the analysis used, in its initial state.
    pub spec: S,
    /// The order of the analysis. The check queries it to decide whether a pair is ordered. Without
    /// it, every unlisted pair counts as ordered.
    pub order: Option<Order<'a>>,
    /// Explains why the analysis orders two events, for confirmed pairs that it had ordered.
    pub why: Option<&'a OrderPaths>,
    /// Further unordered pairs without a common lock that the caller found, each in trace order.
    pub extra: &'a [(EventId, EventId)],
    /// Pairs for which this returns true are tried and counted, but in no group.
    pub is_known: &'a dyn Fn(&Candidate) -> bool,
    /// Takes the first groups so far, while the search for witnesses runs: before it, and when
    /// the number of confirmed pairs has doubled. Each time costs a pass over all candidates.
    pub so_far: &'a dyn Fn(Checked),
}

/// Tries the candidates of an analysis, and on small traces all other pairs. Groups the pairs that
/// are not refuted.
///
/// # Errors
///
/// Fails when the analysis fails on the trace.
pub fn check<S: Specification>(
    subject: Subject<'_, S>,
    confirms: &mut dyn Confirms,
    options: &CheckOptions,
    control: &Control<'_>,
) -> Result<Checked, PredictError> {
    let Subject { trace, report, mut spec, order, why, extra, is_known, so_far } = subject;
    let tables = trace.tables();
    let mut list = CandidateList::of(report);
    list.list.retain(|candidate| {
        let [first, second] = [candidate.first, candidate.second].map(|e| EventId(e as u32));
        !commute(trace, &mut spec, first, second)
    });
    let mut cuts = Vec::new();
    if list.unlisted() > 0 {
        cuts.push(Cut::Candidates);
    }
    add(&mut list, extra.iter().copied(), false);
    let cancel = &control.cancel;
    let all = add_all_pairs((trace, cancel), spec, &mut list, options);
    if !all && options.pairs == Pairs::All {
        cuts.push(Cut::Pairs);
    }
    let wanted = events(&list);
    let facts = Facts::gather_until(&mut TraceBlocks::new(trace), wanted, cancel, |_| {})?;
    let facts = &Arc::new(facts);
    classify(facts, &mut list, cancel);
    if let Some(order) = order
        && list.list.iter().any(|candidate| candidate.ordered)
    {
        mark_left_open(trace, order, facts, (&mut list.list, cancel))?;
    }
    let by_site = groups(tables, facts, &list.list);
    let threads = OnceCell::new();
    let assembled = |pair_results: &[PairResult], found_max: usize| {
        let (candidates, max_pairs) = (&list, options.max_pairs);
        let with_witnesses = found_max == usize::MAX;
        let input = FoundInput {
            facts,
            candidates,
            pair_results,
            max_pairs,
            found_max,
            with_witnesses,
            cancel,
        };
        let mut checked = assemble(&input, (tables, facts), report, (&by_site, is_known));
        mark_losses((trace, &threads), facts, &mut checked.found);
        checked
    };
    let mut pass_on = |results: &[PairResult]| so_far(assembled(results, SO_FAR_MAX));
    let wanted = extra.iter().map(|(a, b)| (u64::from(a.0), u64::from(b.0))).collect();
    let notes_max = notes_max(trace, options);
    let to_try = ToTry { candidates: &list.list, groups: &by_site, wanted: &wanted, notes_max };
    let mut tried = try_all(&to_try, confirms, options, control, &mut pass_on);
    cuts.append(&mut tried.cuts);
    let mut checked = assembled(&tried.pair_results, usize::MAX);
    mark_guards(trace, &mut checked.found);
    if let Some(why) = why {
        explain_missed(why, &mut checked.found, cancel);
    }
    checked.cuts = cuts;
    checked.statistics.notes_open = tried.notes_open;
    checked.stopped = tried.stopped.or(control.cancel.reason());
    checked.all_pairs = all;
    checked.pair_results = list.list.into_iter().zip(tried.pair_results).collect();
    Ok(checked)
}

/// Groups candidates without trying them, for a stream or on request. Once the job is stopped, only
/// the first groups are described; all candidates are counted.
#[must_use]
pub fn check_unconfirmed(
    (tables, facts): (&Tables, &Arc<Facts>),
    report: &Report,
    options: &CheckOptions,
    cancel: &Cancel,
) -> Checked {
    let list = CandidateList::of(report);
    let by_site = groups(tables, facts, &list.list);
    let pair_results = &vec![PairResult::Untried; list.list.len()];
    let input = FoundInput {
        facts,
        candidates: &list,
        pair_results,
        max_pairs: options.max_pairs,
        found_max: usize::MAX,
        with_witnesses: true,
        cancel,
    };
    let mut checked = assemble(&input, (tables, facts), report, (&by_site, &|_| false));
    if list.unlisted() > 0 {
        checked.cuts.push(Cut::Candidates);
    }
    checked.stopped = cancel.reason();
    checked
}

impl Facts {
    /// Returns the numbers of the events of the candidates of a report. The caller gathers
    /// facts about these events.
    #[must_use]
    pub fn wanted(report: &Report) -> Vec<u64> {
        events(&CandidateList::of(report))
    }
}

fn events(list: &CandidateList) -> Vec<u64> {
    list.list.iter().flat_map(|candidate| [candidate.first, candidate.second]).collect()
}

/// Returns how many events the searches for groups may visit that can only give harmless notes:
/// all if these were asked for, otherwise few for a long trace.
fn notes_max(trace: &Trace, options: &CheckOptions) -> u64 {
    if options.strict || options.pairs == Pairs::All {
        return u64::MAX;
    }
    (options.one_by_one_max / NOTES_SHARE).max(NOTES_PER_EVENT * trace.len() as u64)
}

/// Marks the races whose reads only guard. They do no harm.
fn mark_guards(trace: &Trace, found: &mut [Found]) {
    let mut guards = None;
    for one in found.iter_mut().filter(|one| one.category == Category::SameHandler) {
        let guards = guards.get_or_insert_with(|| Guards::new(trace));
        let pairs = one.event_pairs();
        one.only_guards = !pairs.is_empty() && pairs.iter().all(|(a, b)| guards.guards(*a, *b));
    }
}

/// Adds the steps by which the analysis ordered a pair, where a witness refutes that order.
fn explain_missed(why: &OrderPaths, found: &mut [Found], cancel: &Cancel) {
    let missed = found.iter_mut().filter(|one| one.shown.ordered);
    for one in missed.take(EXPLAINED_MAX) {
        let Some((first, second, _)) = &one.witness else { continue };
        if let Ordered::By(steps) = why.why_until((*first, *second), STEPS_MAX, cancel) {
            one.missed = Some(steps);
        }
    }
}

/// Adds the pairs that the analysis ordered, if the options request all pairs and there are few
/// enough. Returns whether the list now contains all pairs of the trace.
fn add_all_pairs<S: Specification>(
    (trace, cancel): (&Trace, &Cancel),
    spec: S,
    list: &mut CandidateList,
    options: &CheckOptions,
) -> bool {
    let max = match options.pairs {
        Pairs::Candidates => return false,
        Pairs::Auto if trace.len() > AUTO_EVENTS_MAX => return false,
        Pairs::Auto => Pairs::AUTO_MAX,
        Pairs::All => Pairs::ALL_MAX,
    };
    let Some(pairs) = all_pairs(trace, spec, options.reorders, (max, cancel)) else { return false };
    add(list, pairs.into_iter(), true);
    true
}

/// Adds the pairs that are not in the list.
fn add(list: &mut CandidateList, pairs: impl Iterator<Item = (EventId, EventId)>, ordered: bool) {
    let known: BTreeSet<(u64, u64)> =
        list.list.iter().map(|candidate| (candidate.first, candidate.second)).collect();
    for (a, b) in pairs {
        let (first, second) = (u64::from(a.0), u64::from(b.0));
        if !known.contains(&(first, second)) {
            let kind = ViolationKind::Racy;
            list.list.push(Candidate { first, second, kind, ordered });
        }
    }
}

/// Decides for the pairs that the analysis ordered whether a common lock protects them.
fn classify(facts: &Facts, list: &mut CandidateList, cancel: &Cancel) {
    for candidate in list.list.iter_mut().filter(|candidate| candidate.ordered) {
        if cancel.reason().is_some() {
            return;
        }
        if let [Some(a), Some(b)] = [facts.get(candidate.first), facts.get(candidate.second)]
            && common_locks(a, b).next().is_some()
        {
            candidate.kind = ViolationKind::NonRacy;
        }
    }
}

/// Returns whether the caller knows a pair.
type IsKnown<'a> = &'a dyn Fn(&Candidate) -> bool;

/// Describes the groups, without the pairs that are known, and counts all pairs.
fn assemble(
    input: &FoundInput<'_>,
    (tables, facts): (&Tables, &Arc<Facts>),
    report: &Report,
    (by_site, is_known): (&[Group], IsKnown<'_>),
) -> Checked {
    let list = input.candidates;
    let mut statistics = Statistics::of(&report.counts, tables, facts.invocations);
    for (candidate, pair_result) in list.list.iter().zip(input.pair_results) {
        statistics.count(candidate, pair_result);
    }
    statistics.count_unlisted(list);
    let mut reported: Vec<Group> = by_site.to_vec();
    for group in &mut reported {
        group.members.retain(|i| !is_known(&list.list[*i]));
    }
    // Groups that the caller knows are not left out.
    reported.retain(|group| !group.members.is_empty());
    let (found, left_out) = found(input, &reported);
    statistics.race_pairs = found
        .iter()
        .filter(|one| one.is_race() && one.confirmed != Some(false))
        .map(|one| one.total)
        .sum();
    Checked { found, facts: Arc::clone(facts), statistics, left_out, ..Checked::default() }
}
