//! The critical sections that each strand is in.
//!
//! A strand begins without locks. If it leaves a section open, no release ends that section. The
//! section then ends when another strand takes the lock. `docs/prediction.md` explains why.

use crate::relation::strands::StrandId;
use anyorder_trace::{EventId, LockId};
use rustc_hash::FxHashMap;

/// A section: its position in [`OpenSections::sections`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct SectionId(pub(crate) u32);

impl SectionId {
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// One critical section.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Section {
    pub(crate) lock: LockId,
    pub(crate) shared: bool,
    pub(crate) strand: StrandId,
    /// The number of the block: how many times its strand had held no lock before.
    pub(crate) block: u32,
    /// The outermost acquire.
    pub(crate) acquire: EventId,
    /// The release that ends it; `NONE` while it is open.
    pub(crate) release: EventId,
}

impl Section {
    /// Returns whether two sections of one lock exclude each other.
    pub(crate) fn excludes(&self, other: &Section) -> bool {
        self.lock == other.lock && !(self.shared && other.shared)
    }
}

#[derive(Clone, Copy, Debug)]
struct HeldLock {
    lock: LockId,
    section: SectionId,
}

#[derive(Clone, Debug, Default)]
struct StrandLocks {
    holds: Vec<HeldLock>,
    blocks: u32,
    /// Counts the changes of `holds`.
    changes: u32,
}

/// The sections of a trace, and the open ones of each strand at the current event.
pub(crate) struct OpenSections {
    pub(crate) sections: Vec<Section>,
    strands: Vec<StrandLocks>,
    /// How often each strand has acquired a lock that it holds.
    depths: FxHashMap<(StrandId, LockId), u32>,
    /// The open sections of each lock: exclusive ones (at most one) and shared ones.
    open: FxHashMap<LockId, [Vec<SectionId>; 2]>,
    /// The number of releases of locks that their strand did not hold.
    pub(crate) strays: u64,
}

impl OpenSections {
    pub(crate) fn new(strands: usize) -> OpenSections {
        OpenSections {
            sections: Vec::new(),
            strands: vec![StrandLocks::default(); strands],
            depths: FxHashMap::default(),
            open: FxHashMap::default(),
            strays: 0,
        }
    }

    /// Records that a strand acquires a lock. A repeated acquire only raises a count: the first
    /// acquire decides whether the section is shared. Returns the section if one begins.
    pub(crate) fn acquire(
        &mut self,
        event: EventId,
        strand: StrandId,
        lock: LockId,
        shared: bool,
    ) -> Option<SectionId> {
        let depth = self.depths.entry((strand, lock)).or_insert(0);
        *depth += 1;
        if *depth > 1 {
            return None;
        }
        let at = &mut self.strands[strand.index()];
        at.blocks += u32::from(at.holds.is_empty());
        let section = SectionId(self.sections.len() as u32);
        let (block, release) = (at.blocks, EventId::NONE);
        self.sections.push(Section { lock, shared, strand, block, acquire: event, release });
        at.holds.push(HeldLock { lock, section });
        at.changes += 1;
        self.end_excluded(section);
        Some(section)
    }

    /// Ends, without a release, the sections that a section excludes. Some other strand released
    /// the lock.
    fn end_excluded(&mut self, section: SectionId) {
        let Section { lock, shared, .. } = self.sections[section.index()];
        let [exclusive, both] = self.open.entry(lock).or_default();
        let mut ended = std::mem::take(exclusive);
        if shared {
            both.push(section);
        } else {
            ended.append(both);
            exclusive.push(section);
        }
        for id in ended {
            let strand = self.sections[id.index()].strand;
            self.depths.remove(&(strand, lock));
            let other = &mut self.strands[strand.index()];
            other.holds.retain(|hold| hold.section != id);
            other.changes += 1;
        }
    }

    /// Records that a strand releases a lock. Returns the section if the release ends it.
    pub(crate) fn release(
        &mut self,
        event: EventId,
        strand: StrandId,
        lock: LockId,
    ) -> Option<SectionId> {
        let Some(depth) = self.depths.get_mut(&(strand, lock)) else {
            self.strays += 1;
            return None;
        };
        *depth -= 1;
        if *depth > 0 {
            return None;
        }
        self.depths.remove(&(strand, lock));
        // Sections usually end in the reverse order of their begins.
        let holds = &mut self.strands[strand.index()].holds;
        let at = holds.iter().rposition(|hold| hold.lock == lock)?;
        let section = holds.remove(at).section;
        self.strands[strand.index()].changes += 1;
        self.sections[section.index()].release = event;
        for open in self.open.entry(lock).or_default() {
            open.retain(|open| *open != section);
        }
        Some(section)
    }

    /// Returns the sections that a strand is in.
    pub(crate) fn of(&self, strand: StrandId) -> impl Iterator<Item = SectionId> {
        self.strands[strand.index()].holds.iter().map(|hold| hold.section)
    }

    /// Returns how often the sections of a strand have changed.
    #[inline]
    pub(crate) fn changes(&self, strand: StrandId) -> u32 {
        self.strands[strand.index()].changes
    }

    /// Returns whether a strand is in a section.
    #[inline]
    pub(crate) fn is_inside(&self, strand: StrandId) -> bool {
        !self.strands[strand.index()].holds.is_empty()
    }

    /// Returns a section.
    #[inline]
    pub(crate) fn section(&self, section: SectionId) -> &Section {
        &self.sections[section.index()]
    }
}
