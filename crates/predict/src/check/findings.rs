//! Groups as findings, each with its best witness.

use super::candidate::{Candidate, CandidateList};
use super::category::Category;
use super::driver::Found;
use super::facts::{Fact, Facts};
use super::groups::Group;
use super::hints::{Pair, common, hint};
use super::tries::PairResult;
use super::words;
use crate::confirm::{Form, GaveUp, Together, Witness};
use anyorder_finding::{ExplanationStep, Finding, Harm, Kind, Severity, assign_ids};
use anyorder_stream::ViolationKind;
use anyorder_system::{Cancel, StopReason};
use anyorder_trace::{EventId, Tables};
use std::iter;

/// The input from which findings are built.
pub(crate) struct FindingInput<'a> {
    pub(crate) tables: &'a Tables,
    pub(crate) facts: &'a Facts,
    pub(crate) candidates: &'a CandidateList,
    pub(crate) pair_results: &'a [PairResult],
    pub(crate) max_pairs: usize,
    /// The most findings to build.
    pub(crate) findings_max: usize,
    /// Once the job is stopped, only some findings are built.
    pub(crate) cancel: &'a Cancel,
}

/// The most findings that are built after the job was stopped, besides those with a witness if
/// there is memory. Building and reporting them takes a fraction of a second.
const STOPPED_MAX: usize = 2_000;

/// Builds findings of groups, the most important first. Returns the number of groups left out: once
/// the job was stopped, because of the bound of the input, or because memory is short.
pub(crate) fn findings(input: &FindingInput<'_>, groups: &[Group]) -> (Vec<Found>, u64) {
    let mut found: Vec<Found> = Vec::new();
    let mut left_out = 0;
    let is_confirmed =
        |group: &Group| group.members.iter().any(|i| input.pair_results[*i].form().is_some());
    let confirmed: Vec<bool> = groups.iter().map(is_confirmed).collect();
    // Those with a witness come first, and the ids follow the order of the groups.
    let mut by_rank: Vec<usize> = (0..groups.len()).collect();
    by_rank.sort_by_key(|at| !confirmed[*at]);
    let mut chosen = vec![false; groups.len()];
    by_rank.into_iter().take(input.findings_max).for_each(|at| chosen[at] = true);
    for (at, group) in groups.iter().enumerate() {
        let is_short = match input.cancel.reason() {
            Some(StopReason::MemoryLimit) => true,
            Some(_) => !confirmed[at],
            None => false,
        };
        if !chosen[at] || is_short && found.len() >= STOPPED_MAX {
            left_out += 1;
            continue;
        }
        found.extend(finding(input, group));
    }
    found.sort_by_key(|one| one.category);
    let take = |one: &mut Found| std::mem::replace(&mut one.finding, Finding::new(Kind::Race));
    let mut findings: Vec<Finding> = found.iter_mut().map(take).collect();
    assign_ids(&mut findings);
    for (one, with_id) in found.iter_mut().zip(findings) {
        one.finding = with_id;
    }
    found.sort_by(|a, b| a.finding.rank(&b.finding));
    (found, left_out)
}

/// Builds the finding of a group from its confirmed pairs. If it has none, uses the pairs without
/// an answer.
fn finding(input: &FindingInput<'_>, group: &Group) -> Option<Found> {
    let pair_result = |i: &usize| &input.pair_results[*i];
    let confirmed: Vec<usize> =
        group.members.iter().copied().filter(|i| pair_result(i).form().is_some()).collect();
    let open: Vec<usize> = group
        .members
        .iter()
        .copied()
        .filter(|i| !input.candidates.list[*i].ordered)
        .filter(|i| pair_result(i).form().is_none() && *pair_result(i) != PairResult::Impossible)
        .collect();
    let (listed, others) =
        if confirmed.is_empty() { (&open, &[][..]) } else { (&confirmed, &open[..]) };
    let best = best(input, listed)?;
    let candidate = input.candidates.list[best];
    let (first, second) = (input.facts.get(candidate.first)?, input.facts.get(candidate.second)?);
    let witness = match &input.pair_results[best] {
        PairResult::Confirmed(witness) => Some(witness),
        _ => None,
    };
    let form = input.pair_results[best].form();
    let together = confirmed.iter().filter_map(|i| pair_result(i).together()).min();
    let category = match group.category {
        _ if witness.is_some_and(|witness| witness.waits) => Category::LostWakeup,
        // Another mechanism than a common lock, for example a semaphore, separates them.
        Category::MultiThreaded if together == Some(Together::No) => Category::Guarded,
        category => category,
    };
    let mut finding = of_category(category, form.is_some());
    let undecided = category == Category::MultiThreaded && together == Some(Together::Undecided);
    if undecided {
        // They can come in either order; that they can come together is not shown.
        finding.kind = Kind::OrderViolation;
    }
    finding.title = words::title(input.tables, category, first, second);
    finding.sites = vec![words::site(input.tables, first), words::site(input.tables, second)];
    let candidates = listed.iter().map(|i| &input.candidates.list[*i]);
    finding.pairs = candidates
        .clone()
        .take(input.max_pairs)
        .filter_map(|candidate| labels(input.facts, candidate))
        .collect();
    let of_sites = (candidate.first, candidate.second);
    let pairs = candidates.take(input.max_pairs).map(|one| (one.first, one.second));
    let pairs = iter::once(of_sites).chain(pairs.filter(|pair| *pair != of_sites)).collect();
    finding.pairs_total = listed.len() as u64;
    finding.confirmed = match form {
        Some(_) => Some(true),
        None if listed.iter().all(|i| input.pair_results[*i] == PairResult::Untried) => None,
        None => Some(false),
    };
    finding.form = form.map(|form| form.word().to_owned());
    if form.is_none() {
        finding.filters = vec![UNCONFIRMED.to_owned()];
    }
    let pair = Pair {
        tables: input.tables,
        facts: input.facts,
        category,
        first,
        second,
        second_event: candidate.second,
    };
    finding.explanation = explanation(&pair, candidate, &input.pair_results[best]);
    if undecided {
        finding.explanation.push(ExplanationStep {
            rule: Some("undecided".to_owned()),
            ..ExplanationStep::new(UNDECIDED)
        });
    }
    if !others.is_empty() {
        let text = format!("{} more of the group: without an answer", others.len());
        finding.explanation.push(ExplanationStep {
            rule: Some("unconfirmed".to_owned()),
            ..ExplanationStep::new(text)
        });
    }
    let hint =
        ExplanationStep { rule: Some("hint".to_owned()), ..ExplanationStep::new(hint(&pair)) };
    finding.explanation.push(hint);
    let witness = witness.and_then(|witness| of_pair(candidate, witness));
    Some(Found { finding, pairs, category, witness, ordered: candidate.ordered })
}

/// Returns a witness with the pair that it reverses.
fn of_pair(candidate: Candidate, witness: &Witness) -> Option<(EventId, EventId, Witness)> {
    let event = |event| u32::try_from(event).ok().map(EventId);
    Some((event(candidate.first)?, event(candidate.second)?, witness.clone()))
}

/// Builds a finding with the kind, the severity and the harm of its category.
fn of_category(category: Category, is_confirmed: bool) -> Finding {
    let mut finding = Finding::new(category.kind());
    finding.category = Some(category.word().to_owned());
    finding.severity = if is_confirmed { category.severity() } else { Severity::Note };
    if matches!(category, Category::Arrival | Category::Guarded) {
        finding.harm = Harm::Harmless;
        finding.harm_class = Some(category.word().to_owned());
    }
    finding
}

/// What is said where the search for a witness of the form `co_enabled` was cut.
pub const UNDECIDED: &str = "whether the two can also happen at the same time is undecided: the search for such a run was cut";

/// The filter of findings without a witness.
pub(crate) const UNCONFIRMED: &str = "unconfirmed";

/// Returns the member that represents the group. Prefers a call that may wait for ever, then a
/// pair that can be enabled at the same time, then the strongest form, then the shortest witness,
/// then the first member.
fn best(input: &FindingInput<'_>, members: &[usize]) -> Option<usize> {
    let rank = |i: &usize| match &input.pair_results[*i] {
        PairResult::Confirmed(Witness { form, order, waits, together, .. }) => {
            (0, !waits, *together, *form, order.len())
        }
        PairResult::Shown(form, together) => (0, true, *together, *form, usize::MAX),
        _ => (1, true, Together::Undecided, Form::Reversed, 0),
    };
    members.iter().copied().min_by_key(|i| (rank(i), *i))
}

fn labels(facts: &Facts, candidate: &Candidate) -> Option<[String; 2]> {
    let label = |event| facts.get(event).map(|fact| fact.label.to_string());
    Some([label(candidate.first)?, label(candidate.second)?])
}

/// Explains the finding: the locks, the evidence, and its strength.
fn explanation(
    pair: &Pair<'_>,
    candidate: Candidate,
    pair_result: &PairResult,
) -> Vec<ExplanationStep> {
    let Pair { tables, first, second, .. } = *pair;
    let step = |rule: &str, text: String| ExplanationStep {
        rule: Some(rule.to_owned()),
        events: vec![first.label.to_string(), second.label.to_string()],
        ..ExplanationStep::new(text)
    };
    vec![
        step("locks", locks(pair, candidate)),
        match pair_result {
            PairResult::Confirmed(witness) if witness.waits => step(
                "witness",
                "another run of the same events leads to where both could come next; if the second does, the first waits, and nothing that can still come serves it"
                    .to_owned(),
            ),
            PairResult::Confirmed(witness) => step("witness", form_words(witness.form).to_owned()),
            PairResult::Shown(form, _) => {
                let text = format!("{}; it has too many events to be kept", form_words(*form));
                step("witness", text)
            }
            PairResult::GaveUp(GaveUp::Window) => step(
                "unconfirmed",
                "no witness within the window; what lies before it happened as it did".to_owned(),
            ),
            PairResult::GaveUp(GaveUp::Barrier) => step(
                "unconfirmed",
                "every witness rests on a barrier, and the trace does not say who had arrived at it".to_owned(),
            ),
            PairResult::GaveUp(GaveUp::Conflicts) => {
                step("unconfirmed", "the search for a witness gave up".to_owned())
            }
            PairResult::GaveUp(GaveUp::Stopped) => {
                step("unconfirmed", "the search for a witness was stopped".to_owned())
            }
            PairResult::Rejected(why) => step("unconfirmed", format!("the witness did not hold: {why}")),
            PairResult::Untried | PairResult::Impossible => {
                let who = match (
                    words::handler(tables, first.handler),
                    words::handler(tables, second.handler),
                ) {
                    (a, b) if a == b => format!("the two tasks of `{a}`"),
                    (a, b) => format!("`{a}` and `{b}`"),
                };
                step(
                    "unconfirmed",
                    format!(
                        "the analysis found nothing that orders {who} here; no witness was looked for"
                    ),
                )
            }
        },
    ]
}

/// Says which locks are held.
fn locks(pair: &Pair<'_>, candidate: Candidate) -> String {
    let Pair { tables, first, second, .. } = *pair;
    let shared: Vec<_> = common(first, second).collect();
    let held = |fact: &Fact| words::locks(tables, &fact.held);
    match (shared.is_empty(), candidate.kind) {
        (false, ViolationKind::NonRacy) => format!(
            "both hold {}: one section comes before the other, and nothing says which",
            words::locks(tables, &shared)
        ),
        _ if first.held.is_empty() && second.held.is_empty() => {
            "no lock is held at either".to_owned()
        }
        _ => format!("held at the first: {}; at the second: {}", held(first), held(second)),
    }
}

/// Returns a phrase that says what a witness of a form shows.
#[must_use]
pub const fn form_words(form: Form) -> &'static str {
    match form {
        Form::Reversed => {
            "another run of the same events has them the other way round, and every event in it sees what it saw"
        }
        Form::Last => {
            "another run of the same events has them the other way round; every event before the last one sees what it saw"
        }
        Form::CoEnabled => "another run of the same events leads to where both could come next",
        Form::Overtakes => {
            "another run of the same events leads to where the task of the second is taken while that of the first waits"
        }
    }
}
