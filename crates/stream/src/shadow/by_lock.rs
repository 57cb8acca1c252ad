//! The accesses of one object, indexed by the locks held, for objects with many records.
//!
//! **Problem.** Without lock discipline, an object has a record for each pair of thread and lock.
//! An access learns only from records under its own locks, and must not visit the others.
//!
//! **Idea.** An access has two roles: it may race with a later one, and later accesses may learn
//! from its sections. The records of the object's [`Cell`](crate::shadow::record::Cell) have the
//! first role only. The second role belongs to an [`Entry`] for each lock held. A later entry of
//! the same lock replaces an entry as soon as it carries the same information, whatever other locks
//! the two were under.

use crate::class::Class;
use crate::shadow::record::Record;
use crate::shadow::slot_list::{OfSlot, SlotLists};
use anyorder_order::ChainId;

const NO_LOCK: u32 = u32::MAX;
/// Entries in the group itself; most groups have a writer and a few readers.
const INLINE: usize = 4;
const GROUPS_MIN: usize = 4;
/// Tables above this size keep free space.
const FULL_MAX: usize = 32;

/// An access in its role for one of its locks. Packed: four entries and their head are two lines of
/// memory.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub(crate) struct Entry {
    record: Record,
    /// The section of the lock, and in the highest bit whether that is shared.
    section: u32,
}

const SHARED: u32 = 1 << 31;
const NO_ENTRY: Entry = Entry { record: Record::NONE, section: 0 };
const _: () = assert!(size_of::<Entry>() == 28);

impl Entry {
    /// Creates the entry of an access in a section.
    #[inline]
    pub(crate) fn new(record: &Record, section: u32, shared: bool) -> Entry {
        let flag = if shared { SHARED } else { 0 };
        Entry { record: *record, section: section | flag }
    }

    /// Returns the access.
    #[inline]
    pub(crate) const fn record(&self) -> Record {
        self.record
    }

    /// Returns the section of the lock.
    #[inline]
    pub(crate) const fn section(&self) -> u32 {
        self.section & !SHARED
    }

    /// Returns whether the section is shared.
    #[inline]
    pub(crate) const fn is_shared(&self) -> bool {
        self.section & SHARED != 0
    }
}

impl OfSlot for Entry {
    #[inline]
    fn slot(&self) -> ChainId {
        self.record().slot()
    }

    #[inline]
    fn class(&self) -> Class {
        self.record().class()
    }
}

/// The entries of one lock.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
struct Group {
    lock: u32,
    inline_count: u32,
    /// The list of those for which there is no room; 0 is none.
    more: u32,
    /// The classes of those entries, one bit each.
    more_classes: u32,
    inline: [Entry; INLINE],
}

const _: () = assert!(size_of::<Group>() == 128);

impl Group {
    const EMPTY: Group = Group {
        lock: NO_LOCK,
        inline_count: 0,
        inline: [NO_ENTRY; INLINE],
        more: 0,
        more_classes: 0,
    };

    #[inline]
    fn inline(&self) -> &[Entry] {
        &self.inline[..self.inline_count as usize]
    }

    fn push(&mut self, lists: &mut SlotLists<Entry>, new: Entry) {
        if let Some(place) = self.inline.get_mut(self.inline_count as usize) {
            *place = new;
            self.inline_count += 1;
            return;
        }
        if self.more == 0 {
            self.more = lists.make();
        }
        self.more_classes |= 1 << new.class().0;
        lists.push(self.more, new);
    }

    /// Drops the entries that are `covered` by one of a class. Returns how many. Skips a list whose
    /// cleanup may wait.
    #[inline]
    fn drop_if(
        &mut self,
        lists: &mut SlotLists<Entry>,
        (class, conflicting): (Class, u32),
        mut covered: impl FnMut(&Entry) -> bool,
    ) -> u32 {
        let mut dropped = 0;
        let mut at = 0;
        while at < self.inline_count as usize {
            if covered(&self.inline[at]) {
                self.inline_count -= 1;
                self.inline[at] = self.inline[self.inline_count as usize];
                dropped += 1;
            } else {
                at += 1;
            }
        }
        if self.more == 0 {
            return dropped;
        }
        let wide = lists.wide;
        let list = lists.get_mut(self.more);
        if conflicting >> class.0 & 1 == 0 && list.may_wait(class, wide) {
            return dropped;
        }
        let before = list.len();
        list.retain(|entry| !covered(entry));
        dropped += (before - list.len()) as u32;
        while (self.inline_count as usize) < INLINE
            && let Some(entry) = list.pop()
        {
            self.inline[self.inline_count as usize] = entry;
            self.inline_count += 1;
        }
        self.more_classes = list.classes();
        if list.len() == 0 {
            lists.free(std::mem::take(&mut self.more));
        }
        dropped
    }
}

/// The groups of one object: a hash table by lock.
#[derive(Clone, Debug, Default)]
struct ByLock {
    groups: Vec<Group>,
    groups_count: u32,
    entries_count: u32,
}

impl ByLock {
    #[inline]
    fn place(&self, lock: u32) -> usize {
        // Locks have dense numbers, so their low bits spread them. The other bits only help against
        // patterns.
        (lock ^ lock >> 7 ^ lock >> 15) as usize & self.groups.len().wrapping_sub(1)
    }

    /// Returns the position of a lock's group, or its free position; `None` in a full table.
    #[inline]
    fn find(&self, lock: u32) -> Option<usize> {
        if self.groups.is_empty() {
            return None;
        }
        let mut at = self.place(lock);
        for _ in 0..self.groups.len() {
            let found = self.groups[at].lock;
            if found == lock || found == NO_LOCK {
                return Some(at);
            }
            at = (at + 1) & (self.groups.len() - 1);
        }
        None
    }

    fn make(&mut self, lock: u32) -> usize {
        let size = self.groups.len();
        let filled = self.groups_count as usize;
        if filled >= size || (size > FULL_MAX && filled >= size / 4 * 3) {
            self.resize();
        }
        let at = self.find(lock).unwrap_or(0);
        self.groups[at].lock = lock;
        self.groups_count += 1;
        at
    }

    /// Makes room for at least one more group.
    fn resize(&mut self) {
        let old = std::mem::take(&mut self.groups);
        let is_used = |group: &&Group| group.inline_count > 0;
        let kept = old.iter().filter(is_used).count();
        let size = ((kept + 1) * 4 / 3 + 1).next_power_of_two().max(GROUPS_MIN);
        self.groups.resize(size, Group::EMPTY);
        self.groups_count = kept as u32;
        for group in old.iter().filter(is_used) {
            let at = self.find(group.lock).unwrap_or(0);
            self.groups[at] = group.clone();
        }
    }
}

/// The objects whose accesses are indexed by lock.
#[derive(Clone, Debug, Default)]
pub(crate) struct ByLocks {
    all: Vec<ByLock>,
    free: Vec<u32>,
    /// The entries that their groups have no room for.
    lists: SlotLists<Entry>,
}

impl ByLocks {
    /// Creates an object without entries. Returns its number, from 1.
    pub(crate) fn make(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.all.push(ByLock::default());
            self.all.len() as u32
        })
    }

    /// Frees an object. `dropped` gets each of its entries.
    pub(crate) fn free(&mut self, object: u32, mut dropped: impl FnMut(&Entry)) {
        let by_lock = std::mem::take(&mut self.all[object as usize - 1]);
        for group in &by_lock.groups {
            group.inline().iter().for_each(&mut dropped);
            if group.more != 0 {
                self.lists.items(group.more).for_each(&mut dropped);
                self.lists.free(group.more);
            }
        }
        self.free.push(object);
    }

    fn group(&self, object: u32, lock: u32) -> Option<&Group> {
        let by_lock = &self.all[object as usize - 1];
        by_lock.find(lock).map(|at| &by_lock.groups[at]).filter(|group| group.lock == lock)
    }

    /// Returns the entries of an object for a lock.
    #[inline]
    pub(crate) fn entries(&self, object: u32, lock: u32) -> impl Iterator<Item = &Entry> {
        let group = self.group(object, lock);
        let inline = group.map_or(&[][..], Group::inline);
        inline.iter().chain(self.lists.items(group.map_or(0, |group| group.more)))
    }

    /// Returns whether a condition holds for all entries of an object for a lock that belong to
    /// some classes. The condition may also be tested on other entries.
    #[inline]
    pub(crate) fn all(
        &self,
        (object, lock): (u32, u32),
        classes: u32,
        mut condition: impl FnMut(&Entry) -> bool,
    ) -> bool {
        self.group(object, lock).is_none_or(|group| {
            group.inline().iter().all(&mut condition)
                && (group.more_classes & classes == 0
                    || self.lists.of_classes(group.more, classes).all(&mut condition))
        })
    }

    /// Adds an entry of an object for a lock, and drops the entries of that lock that are
    /// `covered`. If the new entry conflicts with nothing in a long list, it may drop only one
    /// entry there.
    #[inline]
    pub(crate) fn add(
        &mut self,
        (object, lock): (u32, u32),
        (new, conflicting): (Entry, u32),
        mut covered: impl FnMut(&Entry) -> bool,
    ) {
        let by_lock = &mut self.all[object as usize - 1];
        let at = by_lock.find(lock).filter(|at| by_lock.groups[*at].lock == lock);
        let at = at.unwrap_or_else(|| by_lock.make(lock));
        let group = &mut by_lock.groups[at];
        let class = new.class();
        by_lock.entries_count -= group.drop_if(&mut self.lists, (class, conflicting), &mut covered);
        if group.more != 0 {
            let is_like = |old: &Entry| old.is_shared() == new.is_shared();
            let wide = self.lists.wide;
            let list = self.lists.get_mut(group.more);
            if list.may_wait(class, wide)
                && let Some(old) = list.find((new.slot(), class), is_like)
                && covered(old)
            {
                *old = new;
                return;
            }
        }
        by_lock.entries_count += 1;
        group.push(&mut self.lists, new);
    }

    /// Returns how often a list of entries has become wide.
    pub(crate) fn widened(&self) -> u64 {
        self.lists.widened
    }

    /// Keeps the entries of a lock by class from a list of `entries` on.
    pub(crate) fn keep_apart_above(&mut self, entries: usize) {
        self.lists.wide = entries;
    }

    /// Returns the number of entries of an object.
    #[inline]
    pub(crate) fn len(&self, object: u32) -> usize {
        self.all[object as usize - 1].entries_count as usize
    }

    /// Returns whether no object was ever created.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Prefetches the probable group of a lock.
    #[inline]
    pub(crate) fn touch(&self, object: u32, lock: u32) -> u32 {
        let by_lock = &self.all[object as usize - 1];
        by_lock.groups.get(by_lock.place(lock)).map_or(0, |g| g.lock | g.inline[INLINE - 1].section)
    }

    /// Returns the sections of some entries, probably of a lock. Entries of other classes give 0.
    #[inline]
    pub(crate) fn some_sections(&self, object: u32, lock: u32, classes: u32) -> [u32; INLINE] {
        let by_lock = &self.all[object as usize - 1];
        let group = by_lock.groups.get(by_lock.place(lock));
        // Without a branch: see `relations/prefetch.rs`.
        let section = |e: Entry| e.section() & (classes >> e.class().0 & 1).wrapping_neg();
        group.map_or([0; INLINE], |group| group.inline.map(section))
    }

    /// Returns the memory held, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        let object = |o: &ByLock| size_of::<ByLock>() + o.groups.capacity() * size_of::<Group>();
        self.all.iter().map(object).sum::<usize>() + self.lists.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Side;
    use crate::shadow::record::{LockBits, epoch};
    use anyorder_trace::SiteId;

    fn entry(slot: u32, class: Class) -> Entry {
        let side = Side { event: u64::from(slot), site: SiteId::UNKNOWN };
        let record =
            Record::new(epoch(ChainId(slot), 1), side, (0, LockBits::default()), class, true);
        Entry::new(&record, slot, false)
    }

    /// Returns the slots of the entries tested for some classes.
    fn slots_of(all: &ByLocks, object: u32, lock: u32, classes: u32) -> Vec<u32> {
        let mut slots = Vec::new();
        assert!(all.all((object, lock), classes, |entry| {
            slots.push(entry.slot().0);
            true
        }));
        slots.sort_unstable();
        slots
    }

    #[test]
    fn entries_without_room_in_their_group_are_asked_about_too() {
        let (read, write) = (1 << Class::READ.0, 1 << Class::WRITE.0);
        let mut all = ByLocks::default();
        let object = all.make();
        for slot in 0..6 {
            all.add((object, 7), (entry(slot, Class::WRITE), read | write), |_| false);
        }
        // Reads that drop nothing keep the classes of the writes in the list.
        for slot in 6..8 {
            all.add((object, 7), (entry(slot, Class::READ), write), |_| false);
        }
        assert_eq!(slots_of(&all, object, 7, write), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert!(slots_of(&all, object, 8, write).is_empty());
        all.add((object, 7), (entry(9, Class::WRITE), read | write), |old| old.slot().0 != 5);
        assert_eq!(slots_of(&all, object, 7, read | write), [5, 9]);
        assert_eq!(all.len(object), 2);
    }

    #[test]
    fn tables_grow_with_the_locks_and_lose_none() {
        let mut all = ByLocks::default();
        let object = all.make();
        for lock in (0..500).map(|i| i * 97) {
            all.add((object, lock), (entry(lock, Class::WRITE), u32::MAX), |_| true);
        }
        for lock in (0..500).map(|i| i * 97) {
            assert_eq!(slots_of(&all, object, lock, u32::MAX), [lock]);
        }
        let mut dropped = 0;
        all.free(object, |_| dropped += 1);
        assert_eq!(dropped, 500);
        assert_eq!((all.make(), all.len(object)), (object, 0));
    }
}
