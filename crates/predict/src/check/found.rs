//! What a group of candidates shows: its category, its best pair, and what is known of it.

use super::candidate::{Candidate, CandidateList};
use super::category::Category;
use super::facts::Facts;
use super::groups::Group;
use super::signals::Loss;
use super::tries::PairResult;
use crate::confirm::{Form, GaveUp, Together, Witness};
use crate::order_path::OrderStep;
use anyorder_system::{Cancel, StopReason};
use anyorder_trace::EventId;
use std::iter;

/// Pairs of actions with one cause, and what is known of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// What fails when the two come in the other order.
    pub category: Category,
    /// The pair that represents the group.
    pub shown: Candidate,
    /// The confirmed pairs; if there is none, those without an answer. Cut at
    /// [`CheckOptions::max_pairs`](super::CheckOptions::max_pairs).
    pub members: Vec<(u64, u64)>,
    /// The number of these pairs.
    pub total: u64,
    /// The number of pairs without an answer, besides confirmed ones.
    pub open: u64,
    /// Whether there is a witness: `None` if none was looked for.
    pub confirmed: Option<bool>,
    /// What is known of the pair that represents the group.
    pub evidence: Evidence,
    /// Whether it is undecided that the two can also come at the same time: the search for such a
    /// run was cut.
    pub is_undecided: bool,
    /// The pair that represents the group, in trace order, and its witness.
    pub witness: Option<(EventId, EventId, Witness)>,
    /// Whether all reads of the pairs only decide whether their tasks do anything.
    pub only_guards: bool,
    /// What is lost when a signal comes before a wait, if that is what the pairs are.
    pub loss: Loss,
    /// The steps by which the analysis had ordered the pair that represents the group.
    pub missed: Option<Vec<OrderStep>>,
}

/// What is known of a pair.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Evidence {
    /// There is a witness.
    Witness {
        /// Its form.
        form: Form,
        /// Whether it ends before a call that waits for ever.
        waits: bool,
        /// Whether it was kept; if not, to save memory or time.
        kept: bool,
    },
    /// The search for a witness gave up.
    GaveUp(GaveUp),
    /// The search claimed a witness that the checker refused, for this reason. This is a bug.
    Rejected(String),
    /// No witness was looked for.
    Untried,
}

impl Evidence {
    fn of(result: &PairResult) -> Evidence {
        match result {
            PairResult::Confirmed(Witness { form, waits, .. }) => {
                Evidence::Witness { form: *form, waits: *waits, kept: true }
            }
            PairResult::Shown(form, _) => {
                Evidence::Witness { form: *form, waits: false, kept: false }
            }
            PairResult::GaveUp(why) => Evidence::GaveUp(*why),
            PairResult::Rejected(why) => Evidence::Rejected(why.clone()),
            PairResult::Untried | PairResult::Impossible => Evidence::Untried,
        }
    }
}

impl Found {
    /// Returns whether it is a race, not a violation of an order.
    #[must_use]
    pub const fn is_race(&self) -> bool {
        // Such a pair can come in either order; that it can come together is not shown.
        self.category.is_race() && !self.is_undecided
    }

    /// Returns whether there is a witness.
    #[must_use]
    pub fn is_confirmed(&self) -> bool {
        self.confirmed == Some(true)
    }

    /// Returns the form of the witness of the pair that represents the group.
    #[must_use]
    pub const fn form(&self) -> Option<Form> {
        match self.evidence {
            Evidence::Witness { form, .. } => Some(form),
            _ => None,
        }
    }

    /// Returns the listed pairs, the one that represents the group first.
    pub fn pairs(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let shown = (self.shown.first, self.shown.second);
        let others = self.members.iter().copied().filter(move |pair| *pair != shown);
        iter::once(shown).chain(others)
    }

    /// Returns the listed pairs as events of a trace in memory.
    #[must_use]
    pub fn event_pairs(&self) -> Vec<(EventId, EventId)> {
        self.pairs().filter_map(|(a, b)| Some((event(a)?, event(b)?))).collect()
    }
}

/// Returns the id of an event in a trace in memory.
fn event(number: u64) -> Option<EventId> {
    u32::try_from(number).ok().map(EventId)
}

/// The input from which groups are described.
pub(crate) struct FoundInput<'a> {
    pub(crate) facts: &'a Facts,
    pub(crate) candidates: &'a CandidateList,
    pub(crate) pair_results: &'a [PairResult],
    pub(crate) max_pairs: usize,
    /// The most groups to describe.
    pub(crate) found_max: usize,
    /// Whether groups get copies of their witnesses, which can be long.
    pub(crate) with_witnesses: bool,
    /// Once the job is stopped, only some groups are described.
    pub(crate) cancel: &'a Cancel,
}

/// The most groups that are described after the job was stopped, besides those with a witness if
/// there is memory. Describing and reporting them takes a fraction of a second.
const STOPPED_MAX: usize = 2_000;

/// Describes groups, by category. Returns the number of groups left out: once the job was stopped,
/// because of the bound of the input, or because memory is short.
pub(crate) fn found(input: &FoundInput<'_>, groups: &[Group]) -> (Vec<Found>, u64) {
    let mut found: Vec<Found> = Vec::new();
    let mut left_out = 0;
    let is_confirmed =
        |group: &Group| group.members.iter().any(|i| input.pair_results[*i].form().is_some());
    let confirmed: Vec<bool> = groups.iter().map(is_confirmed).collect();
    // Those with a witness come first, and the order of the result is that of the groups.
    let mut by_rank: Vec<usize> = (0..groups.len()).collect();
    by_rank.sort_by_key(|at| !confirmed[*at]);
    let mut chosen = vec![false; groups.len()];
    by_rank.into_iter().take(input.found_max).for_each(|at| chosen[at] = true);
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
        found.extend(one(input, group));
    }
    found.sort_by_key(|one| one.category);
    (found, left_out)
}

/// Describes a group by its confirmed pairs. If it has none, uses the pairs without an answer.
fn one(input: &FoundInput<'_>, group: &Group) -> Option<Found> {
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
    let shown = input.candidates.list[best];
    // Groups have only pairs whose events have facts.
    debug_assert!([shown.first, shown.second].iter().all(|at| input.facts.get(*at).is_some()));
    let evidence = Evidence::of(pair_result(&best));
    let together = confirmed.iter().filter_map(|i| pair_result(i).together()).min();
    let category = match group.category {
        _ if matches!(evidence, Evidence::Witness { waits: true, .. }) => Category::LostWakeup,
        // Another mechanism than a common lock, for example a semaphore, separates them.
        Category::MultiThreaded if together == Some(Together::No) => Category::Guarded,
        category => category,
    };
    let members = listed.iter().take(input.max_pairs).map(|i| &input.candidates.list[*i]);
    let untried = listed.iter().all(|i| *pair_result(i) == PairResult::Untried);
    let witness = match pair_result(&best) {
        PairResult::Confirmed(witness) if input.with_witnesses => of_pair(shown, witness),
        _ => None,
    };
    Some(Found {
        category,
        shown,
        members: members.map(|pair| (pair.first, pair.second)).collect(),
        total: listed.len() as u64,
        open: others.len() as u64,
        confirmed: match evidence {
            Evidence::Witness { .. } => Some(true),
            _ if untried => None,
            _ => Some(false),
        },
        evidence,
        is_undecided: category == Category::MultiThreaded && together == Some(Together::Undecided),
        witness,
        only_guards: false,
        loss: Loss::Possible,
        missed: None,
    })
}

/// Returns a witness with the pair that it reverses.
fn of_pair(shown: Candidate, witness: &Witness) -> Option<(EventId, EventId, Witness)> {
    Some((event(shown.first)?, event(shown.second)?, witness.clone()))
}

/// Returns the member that represents the group. Prefers a call that may wait for ever, then a
/// pair that can be enabled at the same time, then one whose witness was kept, then the strongest
/// form, then the shortest witness, then the first member.
fn best(input: &FoundInput<'_>, members: &[usize]) -> Option<usize> {
    let rank = |i: &usize| match &input.pair_results[*i] {
        PairResult::Confirmed(Witness { form, order, waits, together, .. }) => {
            (0, !waits, *together, false, *form, order.len())
        }
        PairResult::Shown(form, together) => (0, true, *together, true, *form, usize::MAX),
        _ => (1, true, Together::Undecided, true, Form::Reversed, 0),
    };
    members.iter().copied().min_by_key(|i| (rank(i), *i))
}
