//! Critical sections of a whole trace, and the open sections at each position.

use super::chains::{Link, NONE};
use anyorder_system::Cancel;
use anyorder_trace::{Event, EventKind, Trace};
use std::collections::HashMap;

/// Number of a section, in the order of the acquires.
pub(super) type SectionId = u32;

/// A section begins with the acquire of a lock that its owner does not hold, and ends with the
/// release of that lock. If tasks are reordered, each inner acquire with its own release is also a
/// section, because the outermost acquire may change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Section {
    /// The lock. Numbers after all locks stand for handlers that run one unit at a time.
    pub(super) lock: u32,
    /// The owner: two sections of one owner do not exclude each other.
    pub(super) owner: u32,
    /// The chain of the acquire.
    pub(super) chain: u32,
    pub(super) acquire: u32,
    /// The release; `NONE` while the section is open, or if the trace ends first.
    pub(super) release: u32,
    /// Whether it contains an exclusive acquire.
    pub(super) exclusive: bool,
}

impl Section {
    /// Returns whether two sections may not overlap.
    #[inline]
    pub(super) fn excludes(&self, other: &Section) -> bool {
        self.lock == other.lock && self.owner != other.owner && (self.exclusive || other.exclusive)
    }
}

#[derive(Clone, Copy, Debug)]
struct Open {
    lock: u32,
    depth: u32,
    section: SectionId,
}

/// All sections, and the open ones at certain positions.
#[derive(Clone, Debug, Default)]
pub(super) struct Holding {
    pub(super) sections: Vec<Section>,
    /// For each event that begins or ends a section, that section. The same for the turns of
    /// handlers, if there are any.
    of: Vec<u32>,
    of_turn: Vec<u32>,
    turns: Vec<SectionId>,
    /// The number of locks.
    locks: u32,
    open: Vec<Vec<Open>>,
    open_count: usize,
    /// The least distance between two positions at which the open sections are known.
    grain: usize,
    stops: Vec<u32>,
    starts: Vec<u32>,
    items: Vec<SectionId>,
    /// The open sections of each lock. `overlap` is the first event that begins a section that an
    /// open one excludes.
    holders: Vec<Vec<SectionId>>,
    overlap: u32,
    /// `each`: whether each acquire begins a section of its own, which the matching release of its
    /// mode ends. `own`: the open sections of this kind, by owner and lock, with their modes.
    /// `inner`: those inside other sections, by their releases.
    each: bool,
    own: HashMap<(u32, u32), Vec<(SectionId, bool)>>,
    inner: HashMap<u32, SectionId>,
    /// For each failed attempt, the section that blocked it.
    met: HashMap<u32, SectionId>,
    /// The owners, locks and modes for which one chain releases a lock that another one acquired.
    spanning: Vec<(u32, u32, bool)>,
    /// Whether the release that matches such an acquire could match a different acquire in another
    /// order.
    pub(super) is_ambiguous: bool,
}

impl Holding {
    pub(super) fn new(trace: &Trace, grain: u32, each: bool) -> Holding {
        let locks = trace.tables().locks.len();
        Holding {
            locks: locks as u32,
            of: Vec::with_capacity(trace.len()),
            holders: vec![Vec::new(); locks + trace.tables().handlers.len()],
            overlap: NONE,
            grain: grain as usize,
            each,
            ..Holding::default()
        }
    }

    /// Processes the next event of the trace. If it ends a section that another chain began,
    /// returns the acquire of that section.
    pub(super) fn take(&mut self, event: Event, link: Link) -> Option<u32> {
        let (id, lock) = (event.id.0, event.operand);
        let since = self.stops.last().map_or(usize::MAX, |stop| (id - stop) as usize);
        if since >= self.grain.max(self.open_count) {
            self.stop(id);
        }
        if self.open.len() <= link.owner as usize {
            self.open.resize_with(link.owner as usize + 1, Vec::new);
        }
        let shared = event.mode().is_shared();
        let (section, spanned) = match event.kind() {
            EventKind::Acquire => (self.acquire(id, shared, lock, link), None),
            EventKind::Release => {
                let spanned = self.end_own(id, shared, lock, link);
                (self.release(id, lock, link), spanned)
            }
            EventKind::Refused => (NONE, self.refuse(id, shared, lock, link)),
            _ => (NONE, None),
        };
        self.of.push(section);
        spanned
    }

    /// Processes a failed attempt. Returns the acquire of the section that blocked it.
    fn refuse(&mut self, event: u32, shared: bool, lock: u32, link: Link) -> Option<u32> {
        let held = |section: &&SectionId| {
            let of = &self.sections[**section as usize];
            let open = self.open.get(of.owner as usize).map_or(&[][..], Vec::as_slice);
            of.owner != link.owner
                && (!shared || of.exclusive)
                && open.iter().any(|open| open.section == **section)
        };
        let met = *self.holders.get(lock as usize)?.iter().rfind(held)?;
        self.met.insert(event, met);
        Some(self.sections[met as usize].acquire)
    }

    /// Returns the section that blocked a failed attempt.
    pub(super) fn met(&self, event: u32) -> Option<&Section> {
        self.met.get(&event).map(|section| &self.sections[*section as usize])
    }

    /// Processes the turn of a handler in the same way. The unit of the event has the turn up to
    /// its event `last`. Call it after [`take`](Self::take).
    pub(super) fn take_turn(&mut self, event: u32, chain: u32, (handler, last): (u32, u32)) {
        let begun = (self.turns.get(chain as usize)).copied().filter(|turn| *turn != NONE);
        let turn = match begun {
            _ if handler == NONE => NONE,
            Some(turn) => turn,
            None => {
                let lock = self.locks + handler;
                let new = Section {
                    lock,
                    owner: chain,
                    chain,
                    acquire: event,
                    release: NONE,
                    exclusive: true,
                };
                if self.turns.len() <= chain as usize {
                    self.turns.resize(chain as usize + 1, NONE);
                }
                self.turns[chain as usize] = self.sections.len() as u32;
                self.begin(new)
            }
        };
        self.of_turn.push(turn);
        if turn != NONE && event == last {
            self.end(turn, event);
        }
    }

    fn stop(&mut self, event: u32) {
        self.stops.push(event);
        self.starts.push(self.items.len() as u32);
        for open in &self.open {
            self.items.extend(open.iter().map(|open| open.section));
        }
        let locks = self.locks as usize;
        for holders in self.holders.iter().skip(locks) {
            self.items.extend(holders);
        }
    }

    fn acquire(&mut self, event: u32, shared: bool, lock: u32, link: Link) -> u32 {
        let new = Section {
            lock,
            owner: link.owner,
            chain: link.chain,
            acquire: event,
            release: NONE,
            exclusive: !shared,
        };
        let open = &mut self.open[link.owner as usize];
        let again = open.iter_mut().find(|open| open.lock == lock);
        let section = match again {
            Some(open) => {
                open.depth = open.depth.saturating_add(1);
                self.sections[open.section as usize].exclusive |= !shared;
                if self.each { self.begin(new) } else { NONE }
            }
            None => {
                open.push(Open { lock, depth: 1, section: self.sections.len() as u32 });
                self.begin(new)
            }
        };
        if self.each {
            self.own.entry((link.owner, lock)).or_default().push((section, shared));
        }
        section
    }

    /// Ends the last section of this mode, if each acquire begins a section. Returns its acquire if
    /// another chain acquired it.
    fn end_own(&mut self, event: u32, shared: bool, lock: u32, link: Link) -> Option<u32> {
        let own = self.own.get_mut(&(link.owner, lock))?;
        let at =
            own.iter().rposition(|(_, other)| *other == shared).or(own.len().checked_sub(1))?;
        let (section, _) = own.remove(at);
        let is_inner = !self.open[link.owner as usize].iter().any(|open| open.section == section);
        if is_inner && self.sections[section as usize].release == NONE {
            self.end(section, event);
            self.inner.insert(event, section);
        }
        let section = self.sections[section as usize];
        if section.chain != link.chain {
            self.spanning.push((link.owner, lock, shared));
        }
        (section.chain != link.chain).then_some(section.acquire)
    }

    fn begin(&mut self, new: Section) -> SectionId {
        let section = self.sections.len() as u32;
        if let Some(holders) = self.holders.get_mut(new.lock as usize) {
            if self.overlap == NONE
                && holders.iter().any(|other| self.sections[*other as usize].excludes(&new))
            {
                self.overlap = new.acquire;
            }
            holders.push(section);
        }
        self.sections.push(new);
        self.open_count += 1;
        section
    }

    fn release(&mut self, event: u32, lock: u32, link: Link) -> u32 {
        let open = &mut self.open[link.owner as usize];
        let Some(at) = open.iter().rposition(|open| open.lock == lock) else { return NONE };
        open[at].depth -= 1;
        if open[at].depth > 0 {
            return NONE;
        }
        let section = open.remove(at).section;
        self.end(section, event);
        section
    }

    fn end(&mut self, section: SectionId, event: u32) {
        self.open_count -= 1;
        self.sections[section as usize].release = event;
        let lock = self.sections[section as usize].lock;
        if let Some(holders) = self.holders.get_mut(lock as usize) {
            holders.retain(|other| *other != section);
        }
    }

    /// Handles the end of the trace and frees temporary data.
    pub(super) fn finish(&mut self, cancel: &Cancel) {
        if cancel.reason().is_some() {
            self.spanning = Vec::new();
        }
        self.spanning.sort_unstable();
        self.is_ambiguous = self.spanning.chunk_by(|a, b| a == b).any(|same| {
            let (owner, lock, shared) = same[0];
            let open = self.own.get(&(owner, lock)).into_iter().flatten();
            same.len() + open.filter(|(_, other)| *other == shared).count() > 1
        });
        self.open = Vec::new();
        self.own = HashMap::new();
        self.turns = Vec::new();
        self.holders = Vec::new();
    }

    #[inline]
    fn at(&self, event: u32) -> impl Iterator<Item = SectionId> + '_ {
        let of = self.of[event as usize];
        let turn = self.of_turn.get(event as usize).copied().unwrap_or(NONE);
        let inner = match self.inner.is_empty() {
            true => NONE,
            false => self.inner.get(&event).copied().unwrap_or(NONE),
        };
        [of, turn, inner].into_iter().filter(|section| *section != NONE)
    }

    /// Returns the sections that an event begins.
    #[inline]
    pub(super) fn begun(&self, event: u32) -> impl Iterator<Item = SectionId> + '_ {
        self.at(event).filter(move |section| self.sections[*section as usize].acquire == event)
    }

    /// Returns the sections that an event ends.
    #[inline]
    pub(super) fn ended(&self, event: u32) -> impl Iterator<Item = SectionId> + '_ {
        self.at(event).filter(move |section| self.sections[*section as usize].release == event)
    }

    /// Returns the first event whose acquire is not possible in the trace's own order.
    pub(super) fn overlap(&self) -> u32 {
        self.overlap
    }

    /// Returns the last position up to `event` at which the open sections are known.
    pub(super) fn stop_before(&self, event: u32) -> u32 {
        let at = self.stops.partition_point(|stop| *stop <= event);
        if at == 0 { 0 } else { self.stops[at - 1] }
    }

    /// Returns the sections that are open before such a position.
    pub(super) fn open_at(&self, stop: u32) -> &[SectionId] {
        let Ok(at) = self.stops.binary_search(&stop) else { return &[] };
        let end = self.starts.get(at + 1).map_or(self.items.len(), |end| *end as usize);
        &self.items[self.starts[at] as usize..end]
    }

    /// Returns the sections that are open before an event of a chain, and the one it begins.
    pub(super) fn held(&self, chain: &[u32], event: u32) -> Vec<SectionId> {
        let stop = self.stop_before(event);
        let lane = chain[event as usize];
        let of_lane = |section: &SectionId| self.sections[*section as usize].chain == lane;
        let mut held: Vec<SectionId> = self.open_at(stop).iter().copied().filter(of_lane).collect();
        for at in stop..event {
            if chain[at as usize] == lane {
                held.extend(self.begun(at));
            }
        }
        held.retain(|section| {
            let release = self.sections[*section as usize].release;
            release >= event || chain[release as usize] != lane
        });
        held.extend(self.begun(event));
        held
    }
}
