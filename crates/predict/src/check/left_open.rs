//! Separates two kinds of unlisted pairs: those that the analysis had ordered, and unordered pairs.
//! The analysis keeps one action for several that it cannot distinguish.

use super::candidate::Candidate;
use super::facts::Facts;
use anyorder_stream::{Analysis, PredictError, Stamp, StreamEvent, ViolationKind};
use anyorder_system::Cancel;
use anyorder_trace::{Block, EventId, Trace, TraceBlocks, TraceSource};
use std::collections::{BTreeMap, BTreeSet};

/// The order of the analysis, as the check queries it.
pub enum Order<'a> {
    /// The analysis, before its first event.
    Engine(&'a mut dyn Analysis),
    /// The relation: whether the first event is ordered before the second one.
    Relation(&'a dyn Fn(EventId, EventId) -> bool),
}

impl std::fmt::Debug for Order<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Order::Engine(_) => "Engine",
            Order::Relation(_) => "Relation",
        })
    }
}

/// The key of actions that the analysis cannot distinguish: lane, time and locks held.
type Like = (u32, u32, Vec<(u32, bool)>);

/// Decides whether each candidate marked as ordered really is. Takes one pass of a new analysis
/// over the trace.
///
/// A pair without a common lock is ordered if the second event knows the first. A pair under a
/// common lock is always ordered, by its own edge. It counts as unordered if the analysis cannot
/// distinguish it from some candidate. Once the job is stopped, pairs without an answer stay
/// ordered, so that nothing is claimed of them.
///
/// # Errors
///
/// Fails when the analysis does.
pub(crate) fn mark_left_open(
    trace: &Trace,
    order: Order<'_>,
    facts: &Facts,
    (candidates, cancel): (&mut [Candidate], &Cancel),
) -> Result<(), PredictError> {
    match order {
        Order::Engine(engine) => by_engine(trace, engine, facts, (candidates, cancel)),
        Order::Relation(before) => {
            by_relation(before, candidates, cancel);
            Ok(())
        }
    }
}

fn by_relation(
    before: &dyn Fn(EventId, EventId) -> bool,
    candidates: &mut [Candidate],
    cancel: &Cancel,
) {
    for candidate in candidates {
        if cancel.reason().is_some() {
            return;
        }
        if candidate.ordered
            && candidate.kind == ViolationKind::Racy
            && let [Ok(first), Ok(second)] = [candidate.first, candidate.second].map(u32::try_from)
        {
            candidate.ordered = before(EventId(first), EventId(second));
        }
    }
}

fn by_engine(
    trace: &Trace,
    engine: &mut dyn Analysis,
    facts: &Facts,
    (candidates, cancel): (&mut [Candidate], &Cancel),
) -> Result<(), PredictError> {
    let mut by_second: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    let mut stamps: BTreeMap<u64, Option<Stamp>> = BTreeMap::new();
    for (i, candidate) in candidates.iter().enumerate() {
        by_second.entry(candidate.second).or_default().push(i);
        stamps.extend([(candidate.first, None), (candidate.second, None)]);
    }
    let mut source = TraceBlocks::new(trace);
    let mut block = Block::default();
    while source.next_block(&mut block)? {
        engine.grow(source.tables())?;
        for row in 0..block.columns.len() {
            if cancel.reason().is_some() {
                return Ok(());
            }
            engine.step(source.tables(), StreamEvent::of(&block, row))?;
            let event = block.first + row as u64;
            let Some(stamp) = stamps.get_mut(&event) else { continue };
            *stamp = engine.stamp();
            for i in by_second.get(&event).map_or(&[][..], Vec::as_slice) {
                let candidate = &mut candidates[*i];
                let first = stamps.get(&candidate.first).copied().flatten();
                if candidate.ordered && candidate.kind == ViolationKind::Racy {
                    candidate.ordered = first.is_none_or(|first| engine.knows(first));
                }
            }
        }
    }
    let like = |event: u64| -> Option<Like> {
        let stamp = stamps.get(&event).copied().flatten()?;
        let held = facts.get(event)?.held.iter().map(|held| (held.lock.0, held.shared)).collect();
        Some((stamp.slot.0, stamp.count, held))
    };
    let open: BTreeSet<_> = candidates
        .iter()
        .take_while(|_| cancel.reason().is_none())
        .filter(|candidate| !candidate.ordered && candidate.kind == ViolationKind::NonRacy)
        .filter_map(|candidate| Some((like(candidate.first)?, like(candidate.second)?)))
        .collect();
    for candidate in candidates.iter_mut() {
        if cancel.reason().is_some() {
            return Ok(());
        }
        if candidate.ordered
            && candidate.kind == ViolationKind::NonRacy
            && let (Some(first), Some(second)) = (like(candidate.first), like(candidate.second))
        {
            candidate.ordered = !open.contains(&(first, second));
        }
    }
    Ok(())
}
