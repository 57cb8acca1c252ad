//! Critical sections of a trace, and the open ones in a run.

use anyorder_trace::{EventId, EventKind, LockId, Trace};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The events of one lane from taking a lock to releasing it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Section {
    pub(super) lock: LockId,
    lane: u32,
    pub(super) acquire: u32,
    /// `NONE` if it is never released.
    release: u32,
    exclusive: bool,
}

const NONE: u32 = u32::MAX;

impl Section {
    fn excludes(&self, other: &Section) -> bool {
        self.lane != other.lane && (self.exclusive || other.exclusive)
    }
}

/// The sections of a trace.
#[derive(Default)]
pub(super) struct Sections {
    /// Ascending by acquire.
    all: Vec<Section>,
    /// Releases that end sections, ascending, with the section.
    ends: Vec<(u32, u32)>,
    /// By lock and lane, the sections, ascending.
    of: BTreeMap<(LockId, u32), Vec<u32>>,
    /// The acquire of the first section that begins while an excluding one is open; the length of
    /// the trace if there is none.
    pub(super) broken_at: u32,
    /// By failed attempt, the section that blocked it.
    met: FxHashMap<u32, u32>,
}

impl Sections {
    pub(super) fn new(trace: &Trace, lane_of: &[u32]) -> Sections {
        let mut sections = Sections { broken_at: trace.len() as u32, ..Sections::default() };
        // By lane and lock: the open section, and its depth of nested entries.
        let mut open: FxHashMap<(u32, LockId), (u32, u64)> = FxHashMap::default();
        for event in trace.events() {
            let (lane, lock) = (lane_of[event.id.index()], LockId(event.operand));
            match event.kind() {
                EventKind::Acquire => {
                    let exclusive = !event.mode().is_shared();
                    if let Some((section, times)) = open.get_mut(&(lane, lock)) {
                        *times += 1;
                        sections.all[*section as usize].exclusive |= exclusive;
                    } else {
                        let number = sections.all.len() as u32;
                        open.insert((lane, lock), (number, 1));
                        let acquire = event.id.0;
                        let section = Section { lock, lane, acquire, release: NONE, exclusive };
                        sections.all.push(section);
                        sections.of.entry((lock, lane)).or_default().push(number);
                    }
                }
                EventKind::Release => {
                    let Some((section, times)) = open.get_mut(&(lane, lock)) else { continue };
                    *times -= 1;
                    if *times == 0 {
                        sections.all[*section as usize].release = event.id.0;
                        sections.ends.push((event.id.0, *section));
                        open.remove(&(lane, lock));
                    }
                }
                EventKind::Refused => {
                    let excludes =
                        |section: &Section| !event.mode().is_shared() || section.exclusive;
                    let others = open.iter().filter(|(of, _)| of.0 != lane && of.1 == lock);
                    let met = others
                        .map(|(_, (section, _))| *section)
                        .filter(|section| excludes(&sections.all[*section as usize]))
                        .max();
                    met.and_then(|met| sections.met.insert(event.id.0, met));
                }
                _ => {}
            }
        }
        sections.find_broken();
        sections
    }

    /// Whether a section is exclusive is known only at its end: hence a separate pass.
    fn find_broken(&mut self) {
        // By lock: the number of open sections, and of exclusive ones among them.
        let mut open: FxHashMap<LockId, (u64, u64)> = FxHashMap::default();
        let mut ends = self.ends.iter().peekable();
        for section in &self.all {
            while let Some((_, ended)) = ends.next_if(|end| end.0 < section.acquire) {
                let ended = &self.all[*ended as usize];
                let counts = open.entry(ended.lock).or_default();
                counts.0 -= 1;
                counts.1 -= u64::from(ended.exclusive);
            }
            let counts = open.entry(section.lock).or_default();
            if counts.1 > 0 || (section.exclusive && counts.0 > 0) {
                self.broken_at = section.acquire;
                return;
            }
            counts.0 += 1;
            counts.1 += u64::from(section.exclusive);
        }
    }

    fn begun_by(&self, acquire: EventId) -> Option<u32> {
        self.all.binary_search_by_key(&acquire.0, |s| s.acquire).ok().map(|at| at as u32)
    }

    fn ended_by(&self, release: EventId) -> Option<u32> {
        let at = self.ends.binary_search_by_key(&release.0, |end| end.0).ok()?;
        Some(self.ends[at].1)
    }

    /// The sections of a lock that are open after the first `prefix` events of the trace.
    fn open_at(&self, lock: LockId, prefix: u32) -> Vec<u32> {
        let of_lanes = self.of.range((lock, 0)..=(lock, u32::MAX));
        let last = of_lanes.filter_map(|(_, sections)| {
            let begun = sections.partition_point(|s| self.all[*s as usize].acquire < prefix);
            begun.checked_sub(1).map(|at| sections[at])
        });
        last.filter(|s| self.all[*s as usize].release >= prefix).collect()
    }
}

/// The sections open in a run.
#[derive(Default)]
pub(super) struct OpenSections {
    /// By lock touched in the run: its open sections.
    open: FxHashMap<LockId, Vec<u32>>,
}

impl OpenSections {
    /// Returns whether the section that blocked a failed attempt is open.
    pub(super) fn is_met(
        &mut self,
        sections: &Sections,
        (event, prefix): (EventId, u32),
        lock: LockId,
    ) -> bool {
        let Some(met) = sections.met.get(&event.0) else { return true };
        self.open.entry(lock).or_insert_with(|| sections.open_at(lock, prefix)).contains(met)
    }

    /// Returns the acquires of the open sections that exclude the section that an event would
    /// begin; none if it begins no section.
    pub(super) fn excluding(
        &mut self,
        sections: &Sections,
        (event, prefix): (EventId, u32),
        lock: LockId,
    ) -> Vec<u32> {
        let Some(new) = sections.begun_by(event) else { return Vec::new() };
        let new = &sections.all[new as usize];
        let open = self.open.entry(lock).or_insert_with(|| sections.open_at(lock, prefix));
        let open = open.iter().map(|section| &sections.all[*section as usize]);
        open.filter(|section| section.excludes(new)).map(|section| section.acquire).collect()
    }

    /// Returns the acquires of the open sections of a lock, and whether they are exclusive.
    pub(super) fn of_lock(
        &mut self,
        sections: &Sections,
        prefix: u32,
        lock: LockId,
    ) -> Vec<(u32, bool)> {
        let open = self.open.entry(lock).or_insert_with(|| sections.open_at(lock, prefix));
        let open = open.iter().map(|section| &sections.all[*section as usize]);
        open.map(|section| (section.acquire, section.exclusive)).collect()
    }

    /// Takes the next event of the run; returns the acquire of an open section that excludes the
    /// section it begins.
    pub(super) fn step(
        &mut self,
        sections: &Sections,
        (event, prefix): (EventId, u32),
        (kind, lock): (EventKind, LockId),
    ) -> Option<EventId> {
        let (begun, ended) = match kind {
            EventKind::Acquire => (sections.begun_by(event), None),
            EventKind::Release => (None, sections.ended_by(event)),
            _ => return None,
        };
        if begun.is_none() && ended.is_none() {
            return None;
        }
        let open = self.open.entry(lock).or_insert_with(|| sections.open_at(lock, prefix));
        if let Some(begun) = begun {
            let new = &sections.all[begun as usize];
            let held = open.iter().map(|s| &sections.all[*s as usize]).find(|s| s.excludes(new));
            if let Some(held) = held {
                return Some(EventId(held.acquire));
            }
            open.push(begun);
        }
        if let Some(ended) = ended {
            open.retain(|other| *other != ended);
        }
        None
    }
}
