//! The whole check: candidates, tries, groups, findings, counts.

use super::candidate::{Candidate, CandidateList};
use super::category::Category;
use super::facts::Facts;
use super::findings::{FindingInput, findings};
use super::groups::{Group, groups};
use super::hints::common;
use super::left_open::{Order, mark_left_open};
use super::missed::explain_missed;
use super::options::{CheckOptions, Pairs};
use super::pairs::{all_pairs, commute};
use super::statistics::Statistics;
use super::tries::{Confirms, PairResult, try_all};
use crate::confirm::Witness;
use crate::order_path::OrderPaths;
use anyorder_finding::{Finding, Harm, Kind, Severity};
use anyorder_hb::{Filter, Guards, chain_of_posts, only_guards};
use anyorder_stream::{PredictError, Report, Specification, ViolationKind};
use anyorder_system::{Cancel, Control, StopReason};
use anyorder_trace::{EventId, Tables, Trace, TraceBlocks};
use std::collections::BTreeSet;

/// On longer traces only an explicit option tries all pairs.
const AUTO_EVENTS_MAX: usize = 4_000_000;

/// The most findings that are passed on while the search for witnesses runs: of more, a report that
/// is written in a hurry would have no place.
const SO_FAR_MAX: usize = 1_000;

/// A finding, with its witness.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// The finding without a witness. The caller chooses how to store the witness.
    pub finding: Finding,
    /// The pairs of events that it lists, the pair of its sites first.
    pub pairs: Vec<(u64, u64)>,
    /// Its category.
    pub category: Category,
    /// The pair that represents the group, in trace order, and its witness.
    pub witness: Option<(EventId, EventId, Witness)>,
    /// Whether the analysis had ordered that pair.
    pub ordered: bool,
}

/// The outcome of a check.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Checked {
    /// The findings, the most important first.
    pub found: Vec<Found>,
    /// The counts.
    pub statistics: Statistics,
    /// The names of the options whose limits left pairs without an answer.
    pub cuts: Vec<&'static str>,
    /// The reason why the check ended early.
    pub stopped: Option<StopReason>,
    /// All pairs that were tried or scheduled, with their results. Empty after
    /// [`check_unconfirmed`].
    pub pair_results: Vec<(Candidate, PairResult)>,
    /// The number of findings that were not built, because the job was stopped or for
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
    /// Pairs for which this returns true are tried and counted, but no finding contains them.
    pub is_known: &'a dyn Fn(&Candidate) -> bool,
    /// Takes the first findings so far, while the search for witnesses runs: before it, and when
    /// the number of confirmed pairs has doubled. Each time costs a pass over all candidates.
    pub so_far: &'a dyn Fn(Checked),
}

/// Tries the candidates of an analysis, and on small traces all other pairs. Builds findings from
/// the pairs that are not refuted.
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
        cuts.push("max-candidates");
    }
    add(&mut list, extra.iter().copied(), false);
    let cancel = &control.cancel;
    let all = add_all_pairs((trace, cancel), spec, &mut list, options);
    if !all && options.pairs == Pairs::All {
        cuts.push("pairs");
    }
    let wanted = events(&list);
    let facts = Facts::gather_until(&mut TraceBlocks::new(trace), wanted, cancel, |_| {})?;
    classify(&facts, &mut list, cancel);
    if let Some(order) = order
        && list.list.iter().any(|candidate| candidate.ordered)
    {
        mark_left_open(trace, order, &facts, (&mut list.list, cancel))?;
    }
    let by_site = groups(tables, &facts, &list.list);
    let assembled = |pair_results: &[PairResult], findings_max: usize| {
        let (facts, candidates, max_pairs) = (&facts, &list, options.max_pairs);
        let input = FindingInput {
            tables,
            facts,
            candidates,
            pair_results,
            max_pairs,
            findings_max,
            cancel,
        };
        assemble(&input, report, &by_site, is_known)
    };
    let mut pass_on = |results: &[PairResult]| so_far(assembled(results, SO_FAR_MAX));
    let mut tried = try_all((&list.list, &by_site), confirms, options, control, &mut pass_on);
    cuts.append(&mut tried.cuts);
    let mut checked = assembled(&tried.pair_results, usize::MAX);
    add_chains(trace, &mut checked.found, cancel);
    mark_guards(trace, &mut checked.found);
    if let Some(why) = why {
        explain_missed(trace, why, &mut checked.found, cancel);
    }
    checked.cuts = cuts;
    checked.stopped = tried.stopped.or(control.cancel.reason());
    checked.all_pairs = all;
    checked.pair_results = list.list.into_iter().zip(tried.pair_results).collect();
    Ok(checked)
}

/// Builds findings from candidates without trying them, for a stream or on request. Once the job is
/// stopped, only the first candidates become findings; all are counted.
#[must_use]
pub fn check_unconfirmed(
    (tables, facts): (&Tables, &Facts),
    report: &Report,
    options: &CheckOptions,
    cancel: &Cancel,
) -> Checked {
    let list = CandidateList::of(report);
    let by_site = groups(tables, facts, &list.list);
    let pair_results = &vec![PairResult::Untried; list.list.len()];
    let max_pairs = options.max_pairs;
    let input = FindingInput {
        tables,
        facts,
        candidates: &list,
        pair_results,
        max_pairs,
        findings_max: usize::MAX,
        cancel,
    };
    let mut checked = assemble(&input, report, &by_site, &|_| false);
    if list.unlisted() > 0 {
        checked.cuts.push("max-candidates");
    }
    checked.stopped = cancel.reason();
    checked
}

impl Facts {
    /// Returns the numbers of the events that the findings of a report mention. The caller gathers
    /// facts about these events.
    #[must_use]
    pub fn wanted(report: &Report) -> Vec<u64> {
        events(&CandidateList::of(report))
    }
}

fn events(list: &CandidateList) -> Vec<u64> {
    list.list.iter().flat_map(|candidate| [candidate.first, candidate.second]).collect()
}

/// Adds the chains of posts that led to their tasks to both actions of findings.
fn add_chains(trace: &Trace, found: &mut [Found], cancel: &Cancel) {
    for one in found {
        if cancel.reason().is_some() {
            return;
        }
        let Some((first, second, _)) = &one.witness else { continue };
        for (site, event) in one.finding.sites.iter_mut().zip([*first, *second]) {
            site.chain = chain_of_posts(trace, trace.event(event).task);
        }
    }
}

/// Marks the races whose reads only guard. They do no harm.
fn mark_guards(trace: &Trace, found: &mut [Found]) {
    let mut guards = None;
    for one in found.iter_mut().filter(|one| one.category == Category::SameHandler) {
        let guards = guards.get_or_insert_with(|| Guards::new(trace));
        let event = |event: u64| u32::try_from(event).ok().map(EventId);
        let pairs = one.pairs.iter().map(|(a, b)| Some((event(*a)?, event(*b)?)));
        let Some(pairs) = pairs.collect::<Option<Vec<_>>>() else { continue };
        if !pairs.is_empty() && pairs.iter().all(|(a, b)| guards.guards(*a, *b)) {
            let word = Filter::OnlyGuards.word().to_owned();
            one.finding.harm = Harm::Harmless;
            one.finding.severity = Severity::Note;
            one.finding.explanation.push(only_guards(trace, pairs[0].0, pairs[0].1));
            one.finding.harm_class = Some(word);
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
            && common(a, b).next().is_some()
        {
            candidate.kind = ViolationKind::NonRacy;
        }
    }
}

/// Builds findings of the groups, without the pairs that are known, and counts all pairs.
fn assemble(
    input: &FindingInput<'_>,
    report: &Report,
    by_site: &[Group],
    is_known: &dyn Fn(&Candidate) -> bool,
) -> Checked {
    let list = input.candidates;
    let mut statistics = Statistics::of(&report.counts, input.tables, input.facts.invocations);
    for (candidate, pair_result) in list.list.iter().zip(input.pair_results) {
        statistics.count(candidate, pair_result);
    }
    statistics.count_unlisted(list);
    let mut reported: Vec<Group> = by_site.to_vec();
    for group in &mut reported {
        group.members.retain(|i| !is_known(&list.list[*i]));
    }
    let (found, left_out) = findings(input, &reported);
    statistics.race_pairs = found
        .iter()
        .filter(|one| one.finding.kind == Kind::Race && one.finding.confirmed != Some(false))
        .map(|one| one.finding.pairs_total)
        .sum();
    Checked { found, statistics, left_out, ..Checked::default() }
}
