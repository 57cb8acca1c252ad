//! The groups of races that a check reports.

use crate::races::category::{CapturedClocks, RaceCategory};
use crate::races::coverage::Uncovered;
use crate::races::detector::Races;
use crate::races::filters::Filter;
use crate::races::groups::{Group, Key, pairs};
use crate::races::unordered::{self, Reason};
use crate::relation::engine::Engine;
use anyorder_system::{Cancel, Stopped};
use anyorder_trace::{EventId, LocationId};

/// Groups beyond this number are not explained step by step.
const EXPLAINED_MAX: usize = 500;
/// The most pairs of a group that a stopped check lists.
const PAIRS_AFTER_STOP_MAX: usize = 16;

/// Races with one cause.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RaceGroup {
    /// Why their order is open.
    pub category: RaceCategory,
    /// Racing pairs of accesses, in trace order. The first one represents the group; there is one
    /// even if no pair was asked for.
    pub pairs: Vec<(EventId, EventId)>,
    /// The number of racing pairs, including those that are not listed.
    pub pairs_total: u64,
    /// The number of uncovered pairs among them.
    pub uncovered_pairs: u64,
    /// The patterns that all of them fit.
    pub filters: Vec<Filter>,
    /// The location of the first one.
    pub location: LocationId,
    /// Whether the group is about one object of a class.
    pub is_of_object: bool,
    /// Why nothing orders the first pair. Empty where the check was stopped, and beyond the first
    /// 500 groups.
    pub reasons: Vec<Reason>,
}

/// The races of a trace, with what describes them.
#[derive(Clone, Copy)]
pub(crate) struct Found<'f> {
    pub(crate) races: &'f Races,
    pub(crate) groups: &'f [Group],
    pub(crate) uncovered: &'f Uncovered,
    /// The most pairs that a group lists.
    pub(crate) max_pairs: usize,
}

/// Whether groups are explained. That takes one more pass over the trace.
#[derive(Clone, Copy)]
pub(crate) enum Explain<'c> {
    /// They are, unless the token stops it.
    With(&'c Cancel),
    /// They are not, because the check was stopped.
    Nothing,
}

/// Describes each group, those with an uncovered race first.
///
/// # Errors
///
/// Fails if it was cancelled.
pub(crate) fn race_groups(
    engine: &mut Engine<'_>,
    found: &Found<'_>,
    explain: Explain<'_>,
) -> Result<Vec<RaceGroup>, Stopped> {
    let Found { races, groups, uncovered, max_pairs, .. } = *found;
    let max = if matches!(explain, Explain::Nothing) {
        max_pairs.min(PAIRS_AFTER_STOP_MAX)
    } else {
        max_pairs
    };
    let mut listed: Vec<Vec<(EventId, EventId)>> = Vec::with_capacity(groups.len());
    for group in groups {
        if let Explain::With(cancel) = explain {
            cancel.check()?;
        }
        listed.push(pairs(engine.trace, races, uncovered, group, max.max(1)));
    }
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by_key(|i| (groups[*i].uncovered == 0, *i));
    let captured = match explain {
        Explain::Nothing => None,
        Explain::With(cancel) => {
            let mut wanted = Vec::new();
            for i in order.iter().take(EXPLAINED_MAX) {
                if let Some((a, b)) = listed[*i].first() {
                    unordered::needs(engine, *a, *b, &mut wanted);
                }
            }
            let mut captured = CapturedClocks::new(wanted.into_iter());
            engine.visit(&mut captured, cancel, &mut |_| ())?;
            Some(captured)
        }
    };
    let described = order.iter().enumerate().map(|(rank, i)| {
        let (group, pairs) = (&groups[*i], std::mem::take(&mut listed[*i]));
        let captured = captured.as_ref().filter(|_| rank < EXPLAINED_MAX);
        let reasons = captured
            .zip(pairs.first())
            .map(|(captured, (a, b))| unordered::reasons(engine, captured, *a, *b));
        RaceGroup {
            category: group.category,
            pairs,
            pairs_total: group.pairs_total,
            uncovered_pairs: group.uncovered,
            filters: group.filters.clone(),
            location: races.run(races.pairs[group.members[0] as usize].0).location,
            is_of_object: matches!(group.key, Key::Field { object: Some(_), .. }),
            reasons: reasons.unwrap_or_default(),
        }
    });
    Ok(described.collect())
}
