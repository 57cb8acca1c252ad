//! Non-racy candidates of event-driven EDC: `docs/prediction.md`.

use super::fixpoint::Fixpoint;
use super::race;
use super::sections::{Fault, Section, SectionEdge, Sections, Strand};
use super::view::{Edge, View};
use anyorder_trace::EventId;

/// Tests all pairs.
pub(super) fn find(fixpoint: &Fixpoint<'_, '_>, sections: &Sections) -> Vec<(EventId, EventId)> {
    let view = fixpoint.view;
    let mut found = Vec::new();
    for a in view.events().filter(|a| a.kind().is_access()) {
        for b in view.events().filter(|b| b.id > a.id) {
            if race::conflict(view.trace, a, b) && is_candidate(fixpoint, sections, (a.id, b.id)) {
                found.push((a.id, b.id));
            }
        }
    }
    found
}

fn is_candidate(
    fixpoint: &Fixpoint<'_, '_>,
    sections: &Sections,
    (a, b): (EventId, EventId),
) -> bool {
    let (from, to) = (sections.strands[a.index()], sections.strands[b.index()]);
    let mut common = Vec::new();
    for s in sections.around(a) {
        for t in sections.around(b) {
            let (s, t) = (&sections.list[s], &sections.list[t]);
            if sections.exclude(s, t) && s.release.is_some_and(|release| release < b) {
                common.push((s, t));
            }
        }
    }
    let (Some((s, t)), true) = (common.first(), from.0 != to.0) else { return false };
    let blocks = ((from, s.block), (to, t.block));
    let fits = |(s, t): &(&Section, &Section)| {
        let Some(release) = t.release else { return false };
        let until = if sections.has(Fault::BeforeAction) { b } else { release };
        let start = s.release.filter(|_| sections.has(Fault::FirstReleases)).unwrap_or(s.acquire);
        let mut foreign = edges(fixpoint, sections).into_iter().filter(|(edge, _)| {
            edge.to <= until
                && sections.strands[edge.to.index()] == to
                && sections.strands[edge.from.index()] != to
        });
        !foreign.any(|(edge, section)| {
            let known = edge.from == start || fixpoint.r.has(start.index(), edge.from.index());
            let own = |e: SectionEdge| {
                let ends = &sections.list[e.section];
                let common = common.iter().any(|(first, _)| *first == ends);
                is_own(fixpoint.view, sections, e, blocks)
                    && (common || !sections.has(Fault::OwnSections))
            };
            known && !section.is_some_and(own)
        })
    };
    if sections.has(Fault::OneLock) { common.iter().any(fits) } else { common.iter().all(fits) }
}

/// All edges but derived ones, with the one of sections that it is.
fn edges(fixpoint: &Fixpoint<'_, '_>, sections: &Sections) -> Vec<(Edge, Option<SectionEdge>)> {
    let derived = fixpoint.derived.iter().map(|(edge, _)| edge);
    let derived = derived.filter(|_| sections.has(Fault::Derived));
    let all = fixpoint.base.iter().chain(&fixpoint.end_get).chain(derived);
    all.map(|edge| {
        let same = |e: &&SectionEdge| {
            e.to == edge.to && sections.list[e.section].release == Some(edge.from)
        };
        (*edge, sections.edges.iter().find(same).copied())
    })
    .collect()
}

/// Whether an edge lies between the blocks of a pair, and its action observes nothing of the
/// section where the edge starts.
fn is_own(
    view: View<'_>,
    sections: &Sections,
    edge: SectionEdge,
    (from, to): ((Strand, usize), (Strand, usize)),
) -> bool {
    let section = &sections.list[edge.section];
    let inside = |e: EventId| {
        sections.around(e).iter().any(|s| (sections.list[*s].strand, sections.list[*s].block) == to)
    };
    (section.strand, section.block) == from
        && inside(edge.to)
        && (sections.has(Fault::Communication)
            || !observed(view, edge.to).is_some_and(|write| section.inside.contains(&write)))
}

/// The write that an event observes: the last one before it, at its location or an overlapping one.
fn observed(view: View<'_>, event: EventId) -> Option<EventId> {
    let at = view.trace.event(event);
    if !at.kind().reads() {
        return None;
    }
    let before = view.events().filter(|w| w.id < event && w.kind().writes());
    before.filter(|w| race::same_place(view.trace, *w, at)).map(|w| w.id).last()
}
