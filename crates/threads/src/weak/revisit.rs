//! Which reads a new write may revisit.
//!
//! A write that is added may be read by reads that were added before. Such a read gets the write
//! for a source; what was added after the read is deleted, except what the write depends on, and
//! comes again in its turn. Each graph must be reached from one other graph only. So a read is
//! revisited only in the one graph, of all that differ in what is deleted, in which everything that
//! is deleted was added *maximally*: reads from the last write there was, writes after the last
//! write there was, choices as the first way (Kokologiannakis and others, POPL 2022, section 3).

use super::graph::{Graph, Id, Kind, has};
use super::sabotage::Sabotage;

/// Lists the reads of an object that a new write may revisit, of which `prefix` is the clock of
/// what the write depends on.
pub(super) fn revisitable(
    graph: &Graph,
    object: u32,
    prefix: &[u32],
    sabotage: Sabotage,
    found: &mut Vec<Id>,
) {
    found.clear();
    let Some(mut first) = graph.accesses(object).and_then(|all| all.reads.first().copied()) else {
        return;
    };
    if sabotage == Sabotage::DeletionsForgotten {
        first = first.max(graph.events.len().saturating_sub(1) as Id);
    }
    for id in (first..graph.events.len() as Id).rev() {
        let event = graph.event(id);
        let is_kept = has(prefix, event) && sabotage != Sabotage::RevisitsOfThePrefix;
        if is_kept {
            continue;
        }
        if !is_maximal(graph, id, prefix, false, sabotage) {
            return;
        }
        if event.kind == Kind::Read && event.object == object {
            found.push(id);
        }
    }
}

/// Whether an event was added maximally, as far as what is not deleted with it tells. The writes of
/// an open object have no order.
pub(super) fn is_maximal(
    graph: &Graph,
    id: Id,
    prefix: &[u32],
    is_open: bool,
    sabotage: Sabotage,
) -> bool {
    if sabotage == Sabotage::DeletionsOfAll {
        return true;
    }
    let event = graph.event(id);
    // Whatever was there when the event was added, or would be if the write came at once.
    let is_previous = |other: &Id| *other < id || has(prefix, graph.event(*other));
    let is_last = |rank: usize| !graph.order(event.object)[rank..].iter().any(is_previous);
    if event.alternative != 0 && sabotage != Sabotage::DeletionsOfChoices {
        return false;
    }
    match event.kind {
        Kind::Read => sabotage == Sabotage::DeletionsOfReads || is_last(graph.rank(event.source)),
        Kind::Write => {
            let reads = graph.accesses(event.object).map_or(&[][..], |all| &all.reads);
            let has_revisited = reads
                .iter()
                .take_while(|read| **read < id)
                .any(|read| graph.event(*read).source == id);
            (!has_revisited || sabotage == Sabotage::DeletionsOfRevisitors)
                && (is_open && sabotage != Sabotage::DeletionsOfLastOnly
                    || sabotage == Sabotage::DeletionsOfWrites
                    || is_last(graph.rank(id)))
        }
        Kind::Fence | Kind::Spawn | Kind::Join | Kind::Local => true,
    }
}

/// Makes `part` the graph in which a read is revisited by a write that depends on `prefix`, before
/// the write is there. The read keeps its number.
pub(super) fn restrict(graph: &Graph, read: Id, prefix: &[u32], part: &mut Graph) {
    part.become_part(graph, |id, event| id <= read || has(prefix, event));
}
