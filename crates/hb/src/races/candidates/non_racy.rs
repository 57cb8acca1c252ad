//! Pairs under a common lock that only their own sections order.
//!
//! **Problem.** Two actions `a < b` of different handlers do not commute and lie in sections of a
//! common lock. Event-driven EDC orders them by the edge that they themselves create. `b` can come
//! first only if, for each common lock, its section can come before that of `a`. So the acquire of
//! the first section must not be before the release of the second by edges other than those between
//! the two.
//!
//! **Definition computed.** `docs/prediction.md`, *Event-driven EDC*.
//!
//! **Idea.** A *block* is the time that a strand stays in sections. While a strand is in a block,
//! it remembers the earlier blocks that have edges into this one. For each it stores how far other
//! edges make its chain known; this number only grows. When a section of the block ends, the number
//! is compared with the acquires of the first sections. Only the latest block of a chain in a slot
//! matters, because its edge orders the earlier ones.
//!
//! **Cost.** For each action that takes from slots: the chains of those slots, times the open
//! earlier blocks.

use super::find::{CandidateLimits, CandidatePair, OrderCandidates};
use super::open::OpenBlock;
use super::visits::{ActionKind, BlockId, SectionSetId, Visit, Visits};
use crate::relation::engine::Engine;
use crate::relation::pass::{View, Visitor};
use crate::relation::sections::{
    Actions, OpenSections, Publish, Pull, Section, SectionId, SectionPlan,
};
use crate::relation::strands::StrandId;
use anyorder_order::{ChainId, ClockRef};
use anyorder_trace::{Action, EventId, LocationId, LockId, Mode, Trace};
use rustc_hash::FxHashMap;

/// A release in a slot that no later release of its handler knows.
#[derive(Clone, Copy, Debug)]
struct Latest {
    chain: ChainId,
    section: SectionId,
    clock: ClockRef,
}

/// Of one strand in sections.
#[derive(Default)]
struct Inside {
    /// The number of the strand's current block.
    block: u32,
    /// The sections around its last action, and how often they had changed by then.
    section_set: Option<(SectionSetId, u32)>,
    open: OpenBlock,
    published: bool,
}

/// Finds them during a pass.
pub(crate) struct NonRacy<'a> {
    trace: &'a Trace,
    actions: &'a Actions<'a>,
    limits: CandidateLimits,
    held: OpenSections,
    visits: Visits<'a>,
    inside: FxHashMap<StrandId, Inside>,
    pulls: Vec<Pull>,
    publishes: Vec<Publish>,
    next_pull: usize,
    next_publish: usize,
    slots: Vec<Vec<Latest>>,
    /// The last write of each location, and the sections around it.
    writes: FxHashMap<LocationId, (EventId, Option<SectionSetId>)>,
    /// The chain of the strand at the current event.
    chain: ChainId,
    found: OrderCandidates,
}

impl<'a> NonRacy<'a> {
    pub(crate) fn new(
        engine: &Engine<'_>,
        actions: &'a Actions<'a>,
        limits: CandidateLimits,
    ) -> NonRacy<'a> {
        let none = SectionPlan::default();
        let plan = engine.sections.as_ref().unwrap_or(&none);
        NonRacy {
            trace: actions.trace,
            actions,
            limits,
            held: OpenSections::new(engine.strands.len()),
            visits: Visits::new(actions.trace, actions.conflicts, actions.points),
            inside: FxHashMap::default(),
            pulls: plan.pulls.clone(),
            publishes: plan.publishes.clone(),
            next_pull: 0,
            next_publish: 0,
            slots: vec![Vec::new(); plan.slots],
            writes: FxHashMap::default(),
            chain: ChainId(0),
            found: OrderCandidates::default(),
        }
    }

    /// Handles the end of the trace.
    pub(crate) fn finish(mut self) -> OrderCandidates {
        let open = self.inside.values().map(|inside| inside.open.count as u64);
        self.found.undecided += open.sum::<u64>();
        self.found.lost += self.visits.lost;
        self.found.stray_releases = self.held.strays;
        self.found.non_racy.sort_unstable();
        self.found
    }

    /// Handles an action in sections.
    fn act(&mut self, view: &View<'_, '_>, event: EventId, strand: StrandId) {
        self.open_blocks(view, event, strand);
        self.observe(event, strand);
        let Some(inside) = self.inside.get_mut(&strand) else { return };
        let changes = self.held.changes(strand);
        let section_set = match inside.section_set {
            Some((section_set, then)) if then == changes => section_set,
            _ => self.visits.section_set(&self.held, strand),
        };
        inside.section_set = Some((section_set, changes));
        let Some(block) = self.held.of(strand).next().map(|s| block_of(self.held.section(s)))
        else {
            return;
        };
        let mut new: Vec<ActionKind> = Vec::new();
        self.visits.of(event, |what| new.push(what));
        new.retain(|what| self.visits.add(block, Visit { what: *what, section_set, event }));
        for what in new {
            self.open_pairs(strand, Visit { what, section_set, event });
        }
    }

    /// Pulls the clocks of slots: opens the blocks that they come from, and records the learnt
    /// clocks.
    fn open_blocks(&mut self, view: &View<'_, '_>, event: EventId, strand: StrandId) {
        let start = self.next_pull;
        while self.pulls.get(self.next_pull).is_some_and(|pull| pull.event <= event) {
            self.next_pull += 1;
        }
        let Some(inside) = self.inside.get_mut(&strand) else { return };
        let handler = view.engine.strands.get(strand).handler;
        let slots = self.pulls[start..self.next_pull].iter().map(|pull| pull.slot.0 as usize);
        let latest = slots.flat_map(|slot| &self.slots[slot]);
        let latest =
            latest.filter(|latest| view.engine.chains.info(latest.chain).handler != handler);
        let get = |clock, chain| view.clocks.get(clock, chain);
        for latest in latest.clone() {
            let section = self.held.section(latest.section);
            let known = get(view.unsectioned, latest.chain);
            if known <= section.release.0 {
                inside.open.open(block_of(section), latest.chain, known);
            }
        }
        for latest in latest {
            let block = block_of(self.held.section(latest.section));
            inside.open.learn(latest.clock, Some(block), get);
        }
    }

    /// Finds the write that a read observes, and records a write.
    fn observe(&mut self, event: EventId, strand: StrandId) {
        let at = self.trace.event(event);
        let Some(location) = at.location().filter(|_| at.kind().is_access()) else { return };
        if at.kind().reads()
            && let Some(inside) = self.inside.get_mut(&strand)
            && !inside.open.earlier.is_empty()
        {
            let overlaps = self.actions.conflicts.overlaps(location).iter().copied();
            let writes = std::iter::once(location).chain(overlaps);
            let last = writes.filter_map(|l| self.writes.get(&l).copied()).max_by_key(|w| w.0);
            let section_set = last.and_then(|(_, section_set)| section_set);
            for section in
                section_set.map_or(&[][..], |section_set| self.visits.sections(section_set))
            {
                let first = self.held.section(*section);
                let mut around = self.held.of(strand).map(|s| self.held.section(s));
                if let Some(release) = first.release.some()
                    && around.any(|second| first.excludes(second))
                {
                    inside.open.observe(block_of(first), release);
                }
            }
        }
    }

    /// Records the last write of a location.
    fn note_write(&mut self, event: EventId, strand: StrandId) {
        let at = self.trace.event(event);
        let Some(location) = at.location().filter(|_| at.kind().writes()) else { return };
        if self.actions.conflicts.is_shared(location) {
            let inside = self.inside.get(&strand).filter(|_| self.held.is_inside(strand));
            let section_set =
                inside.and_then(|inside| inside.section_set).map(|(section_set, _)| section_set);
            self.writes.insert(location, (event, section_set));
        }
    }

    /// Opens the pairs of a visit with visits of earlier blocks.
    fn open_pairs(&mut self, strand: StrandId, later: Visit) {
        let Some(inside) = self.inside.get_mut(&strand) else { return };
        for at in 0..inside.open.earlier.len() {
            let (block, known) = (inside.open.earlier[at].block, inside.open.earlier[at].known);
            for earlier in self.visits.conflicting(block, later.what) {
                let mut common = Vec::new();
                for first in self.visits.sections(earlier.section_set) {
                    let section = self.held.section(*first);
                    for second in self.visits.sections(later.section_set) {
                        let excludes = section.excludes(self.held.section(*second));
                        if excludes && !section.release.is_none() {
                            common.push((section.acquire, *second));
                        }
                    }
                }
                if common.is_empty() {
                    continue;
                }
                let object = match later.what {
                    ActionKind::Access(..) => None,
                    ActionKind::Point(object, ..) => Some(object),
                };
                let pair = CandidatePair { first: earlier.event, second: later.event, object };
                if common.iter().any(|(acquire, _)| acquire.0 < known) {
                    self.found.ordered += 1;
                } else if !inside.open.push(at, pair, common, self.limits.open_max) {
                    self.found.lost += 1;
                }
            }
        }
    }

    fn acquire(&mut self, event: EventId, strand: StrandId, lock: LockId, mode: Mode) {
        let section = self.held.acquire(event, strand, lock, mode.is_shared());
        let Some(section) = section else { return };
        let block = self.held.section(section).block;
        let inside = self.inside.entry(strand).or_default();
        if inside.block != block {
            // The previous section, if still present, ended without a release.
            self.found.undecided += inside.open.count as u64;
            *inside = Inside { block, ..Inside::default() };
        }
    }

    /// Drops from the slots of a release the releases of the same handler that it knows: its edges
    /// order their blocks.
    fn forget_known(&mut self, view: &View<'_, '_>, event: EventId, strand: StrandId) {
        let (at, own) = (view.at[strand.index()], self.chain);
        let handler = view.engine.strands.get(strand).handler;
        let (sections, slots) = (&self.held, &mut self.slots);
        let publishes = self.publishes[self.next_publish..].iter();
        for publish in publishes.take_while(|publish| publish.event <= event) {
            slots[publish.slot.0 as usize].retain(|old| {
                let release = sections.section(old.section).release;
                let is_known = old.chain == own || view.clocks.get(at, old.chain) > release.0;
                view.engine.chains.info(old.chain).handler != handler || !is_known
            });
        }
    }

    /// Handles a release: decides the pairs that waited for it.
    fn release(&mut self, event: EventId, strand: StrandId, lock: LockId) {
        let Some(section) = self.held.release(event, strand, lock) else { return };
        let Some(inside) = self.inside.get_mut(&strand) else { return };
        let (found, max) = (&mut self.found, self.limits.pairs_max);
        found.ordered += inside.open.released(section, |pair| {
            found.non_racy_total += 1;
            if found.non_racy.len() < max {
                found.non_racy.push(pair);
            }
        });
        let publishes = &self.publishes[self.next_publish..];
        inside.published |= publishes.first().is_some_and(|publish| publish.event <= event);
        if !self.held.is_inside(strand) {
            if !inside.published {
                self.visits.forget(block_of(self.held.section(section)));
            }
            self.inside.remove(&strand);
        }
    }
}

fn block_of(section: &Section) -> BlockId {
    (section.strand, section.block)
}

impl Visitor for NonRacy<'_> {
    fn event(&mut self, view: &View<'_, '_>, event: EventId, strand: StrandId) {
        if view.learnt != ClockRef::EMPTY
            && let Some(inside) = self.inside.get_mut(&strand)
        {
            inside.open.learn(view.learnt, None, |clock, chain| view.clocks.get(clock, chain));
        }
        match self.trace.event(event).action() {
            Action::Acquire(lock, mode) => self.acquire(event, strand, lock, mode),
            Action::Release(lock, _) => {
                self.chain = view.engine.chains.of(strand);
                self.release(event, strand, lock);
                self.forget_known(view, event, strand);
            }
            _ => {
                if self.held.is_inside(strand) {
                    self.act(view, event, strand);
                }
                self.note_write(event, strand);
            }
        }
    }

    fn stamp(&mut self, event: EventId, clock: ClockRef) {
        while let Some(publish) = self.publishes.get(self.next_publish).copied() {
            if publish.event > event {
                break;
            }
            self.next_publish += 1;
            let slot = &mut self.slots[publish.slot.0 as usize];
            slot.push(Latest { chain: self.chain, section: publish.section, clock });
        }
    }

    fn wants_stamp(&self, event: EventId) -> bool {
        self.publishes.get(self.next_publish).is_some_and(|publish| publish.event <= event)
    }

    fn kept_clocks(&mut self) -> Box<dyn Iterator<Item = &mut ClockRef> + '_> {
        Box::new(self.slots.iter_mut().flatten().map(|latest| &mut latest.clock))
    }
}
