//! Critical sections, and their edges in event-driven EDC: `docs/prediction.md`.

use super::race;
use super::rules::{RuleName, RuleSet};
use super::view::{Edges, View};
use anyorder_trace::{Action, EventId, HandlerId, LockId, TaskId, TaskKind};
use std::collections::BTreeMap;

/// The rule for orders from locks.
#[derive(Clone, Copy, Debug)]
pub enum Locks<'f> {
    /// Each release before later acquires: happens-before.
    HandOver,
    /// Sections before actions that do not commute with them: event-driven EDC, with injected
    /// faults.
    Sections(&'f [Fault]),
}

/// A fault in the treatment of sections, to test the tests.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Fault {
    /// Sections of one handler order each other.
    OneHandler,
    /// Reads do not commute.
    Reads,
    /// Overlapping ranges commute.
    Overlaps,
    /// Two atomic accesses commute.
    Atomics,
    /// Shared sections exclude each other.
    Shared,
    /// A section ends at the first release of its lock.
    FirstRelease,
    /// Sections belong to handlers: they continue in the next task.
    Handlers,
    /// A section's edge starts at its acquire.
    FromAcquire,
    /// An edge ends at the acquire of the second section.
    ToAcquire,
    /// Only the last section of a lock gives an edge.
    LastOnly,
    /// Candidates: a communicating edge counts as the pair's own edge too.
    Communication,
    /// Candidates: only edges between sections of the common locks are own edges, not all edges of
    /// the blocks.
    OwnSections,
    /// Candidates: one common lock is enough.
    OneLock,
    /// Candidates: edges derived by the fixpoint count.
    Derived,
    /// Candidates: only edges before the second action count.
    BeforeAction,
    /// Candidates: the release of the first section is compared, not its acquire.
    FirstReleases,
}

impl Fault {
    /// All faults that change the candidates but not the order.
    pub const OF_CANDIDATES: [Fault; 6] = [
        Fault::Communication,
        Fault::OwnSections,
        Fault::OneLock,
        Fault::Derived,
        Fault::BeforeAction,
        Fault::FirstReleases,
    ];

    /// All faults that change the order.
    pub const ALL: [Fault; 10] = [
        Fault::OneHandler,
        Fault::Reads,
        Fault::Overlaps,
        Fault::Atomics,
        Fault::Shared,
        Fault::FirstRelease,
        Fault::Handlers,
        Fault::FromAcquire,
        Fault::ToAcquire,
        Fault::LastOnly,
    ];
}

/// A critical section.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Section {
    /// The lock.
    pub lock: LockId,
    /// Whether its first acquire is shared.
    pub shared: bool,
    /// The strand that holds it.
    pub strand: Strand,
    /// How many times the strand held no lock before it.
    pub block: usize,
    /// The first acquire.
    pub acquire: EventId,
    /// The release that ends it, if there is one.
    pub release: Option<EventId>,
    /// The strand's events after the acquire, up to the release or the strand's end.
    pub inside: Vec<EventId>,
}

/// A strand: its handler, its task (none for the sequence that `threads` makes of a handler), and
/// the number of the piece of thread code.
pub type Strand = (HandlerId, Option<TaskId>, usize);

/// An edge from the release of a section to an action.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SectionEdge {
    /// The section, by its place in the list.
    pub section: usize,
    /// The action.
    pub to: EventId,
}

/// The sections of a trace and their edges.
#[derive(Clone, Debug, Default)]
pub(super) struct Sections {
    pub(super) list: Vec<Section>,
    pub(super) edges: Vec<SectionEdge>,
    pub(super) strands: Vec<Strand>,
    faults: Vec<Fault>,
}

impl Sections {
    pub(super) fn new(view: View<'_>, set: RuleSet, faults: &[Fault]) -> Sections {
        let strands = view.events().map(|e| strand(view, set, e.id)).collect();
        let faults = faults.to_vec();
        let mut sections = Sections { list: Vec::new(), edges: Vec::new(), strands, faults };
        sections.find(view);
        for (number, a) in sections.list.iter().enumerate() {
            let Some(release) = a.release else { continue };
            for b in view.events().filter(|b| b.id > release) {
                if sections.order(view, a, b.id) {
                    sections.edges.push(SectionEdge { section: number, to: b.id });
                }
            }
        }
        if sections.has(Fault::LastOnly) {
            let (list, all) = (&sections.list, sections.edges.clone());
            sections.edges.retain(|edge| {
                let lock = |edge: &SectionEdge| list[edge.section].lock;
                let release = |edge: &SectionEdge| list[edge.section].release;
                let mut same = all.iter().filter(|e| e.to == edge.to && lock(e) == lock(edge));
                same.all(|other| release(other) <= release(edge))
            });
        }
        sections
    }

    /// Adds the edges under the name of locks.
    pub(super) fn edges(&self, out: &mut Edges<'_>) {
        for edge in &self.edges {
            let a = &self.list[edge.section];
            let from = if self.has(Fault::FromAcquire) { Some(a.acquire) } else { a.release };
            let mut to = edge.to;
            if self.has(Fault::ToAcquire) {
                let around = self.around(edge.to).into_iter().map(|b| &self.list[b]);
                to = around.filter(|b| b.lock == a.lock).map(|b| b.acquire).min().unwrap_or(to);
            }
            out.add(RuleName::Lock, from, to);
        }
    }

    /// The sections that contain an event.
    pub(super) fn around(&self, event: EventId) -> Vec<usize> {
        (0..self.list.len()).filter(|s| self.list[*s].inside.contains(&event)).collect()
    }

    pub(super) fn has(&self, fault: Fault) -> bool {
        self.faults.contains(&fault)
    }

    /// Whether two sections of one lock exclude each other.
    pub(super) fn exclude(&self, a: &Section, b: &Section) -> bool {
        a.lock == b.lock && (!(a.shared && b.shared) || self.has(Fault::Shared))
    }

    /// Whether section `a` is before an action after its release.
    fn order(&self, view: View<'_>, a: &Section, b: EventId) -> bool {
        let strand = self.strands[b.index()];
        (a.strand.0 != strand.0 || (self.has(Fault::OneHandler) && a.strand != strand))
            && self.around(b).into_iter().any(|s| self.exclude(a, &self.list[s]))
            && a.inside.iter().any(|action| self.fail_to_commute(view, *action, b))
    }

    fn fail_to_commute(&self, view: View<'_>, a: EventId, b: EventId) -> bool {
        let (a, b) = (view.trace.event(a), view.trace.event(b));
        a.kind().is_access()
            && b.kind().is_access()
            && (a.kind().writes() || b.kind().writes() || self.has(Fault::Reads))
            && !(self.has(Fault::Atomics) && a.mode().is_atomic() && b.mode().is_atomic())
            && race::same_place(view.trace, a, b)
            && (a.location() == b.location() || !self.has(Fault::Overlaps))
    }

    /// Processes each strand's acquires and releases.
    fn find(&mut self, view: View<'_>) {
        /// The open sections of a strand, each with its unreleased acquires, and its blocks so far.
        type Open = (Vec<(usize, usize)>, usize);
        let mut open: BTreeMap<Strand, Open> = BTreeMap::new();
        for event in view.events() {
            let own = self.strands[event.id.index()];
            let key = if self.has(Fault::Handlers) { (own.0, None, 0) } else { own };
            if let Action::Acquire(lock, mode) = event.action() {
                let again = open.get(&key).is_some_and(|(held, _)| {
                    held.iter().any(|(section, _)| self.list[*section].lock == lock)
                });
                // Another strand released the section that the new one excludes.
                for (held, _) in open.values_mut().filter(|_| !again) {
                    held.retain(|(section, _)| {
                        let section = &self.list[*section];
                        let both_shared = section.shared && mode.is_shared();
                        section.lock != lock
                            || (both_shared && !self.faults.contains(&Fault::Shared))
                    });
                }
            }
            let (held, blocks) = open.entry(key).or_default();
            for (section, _) in held.iter() {
                self.list[*section].inside.push(event.id);
            }
            match event.action() {
                Action::Acquire(lock, mode) => {
                    if let Some((_, n)) = held.iter_mut().find(|(s, _)| self.list[*s].lock == lock)
                    {
                        *n += 1;
                        continue;
                    }
                    *blocks += usize::from(held.is_empty());
                    held.push((self.list.len(), 1));
                    self.list.push(Section {
                        lock,
                        shared: mode.is_shared(),
                        strand: own,
                        block: *blocks,
                        acquire: event.id,
                        release: None,
                        inside: Vec::new(),
                    });
                }
                Action::Release(lock, _) => {
                    let at = held.iter().position(|(s, _)| self.list[*s].lock == lock);
                    let Some(at) = at else { continue };
                    held[at].1 -= 1;
                    if held[at].1 == 0 || self.faults.contains(&Fault::FirstRelease) {
                        self.list[held[at].0].release = Some(event.id);
                        held.remove(at);
                    }
                }
                _ => {}
            }
        }
    }
}

/// The strand of an event.
fn strand(view: View<'_>, set: RuleSet, event: EventId) -> Strand {
    let task = view.task_of(event);
    let handler = view.handler(task);
    match view.kind(task) {
        TaskKind::Burst => (handler, Some(task), 0),
        _ if set == RuleSet::Threads => (handler, None, 0),
        TaskKind::Posted => (handler, Some(task), 0),
        TaskKind::Initial => (handler, None, piece(view, handler, event)),
    }
}

/// The piece of thread code that an event is in: 0 up to the loop point.
fn piece(view: View<'_>, handler: HandlerId, event: EventId) -> usize {
    super::program_order::pieces(view, handler)
        .iter()
        .position(|piece| piece.contains(&event))
        .expect("an event of thread code is in one of its pieces")
}
