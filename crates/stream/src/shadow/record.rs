//! Shadow state: for each object, the accesses that a later access may still conflict with.
//!
//! A record represents an access and all accesses that it *covers*. Those are ordered before it,
//! conflict with no more than it does, and their critical sections give a later access no
//! information beyond its own. Without races and with one lock, an object has one record. A race or
//! a set of readers adds records, at most one for each thread, class and lockset.

use crate::class::Class;
use crate::report::Side;
use crate::shadow::slot_list::{OfSlot, SlotList, SlotLists};
use anyorder_order::ChainId;
use anyorder_trace::SiteId;

/// A remembered access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    /// The epoch: the slot in the high half, the lane's own count in the low half.
    pub(crate) epoch: u64,
    /// From the low bits: the event in 48 bits, the class in five, and ten bits for the locks held.
    /// The highest bit says whether nothing raced with it.
    packed: u64,
    pub(crate) site: SiteId,
    pub(crate) lockset: u32,
}

const EVENT_BITS: u32 = 48;
const EVENT_MASK: u64 = (1 << EVENT_BITS) - 1;
const CLASS_BITS: u32 = 5;
const LOCKS_BITS: u32 = 10;
const QUIET: u64 = 1 << 63;

const _: () = assert!(EVENT_BITS + CLASS_BITS + LOCKS_BITS == 63);

/// The locks held, with collisions: two sets without a common bit have no common lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct LockBits(u16);

impl LockBits {
    /// Returns the bit of a lock.
    pub(crate) const fn of(lock: u32) -> LockBits {
        LockBits(1 << (lock % LOCKS_BITS))
    }

    /// Returns the union of both.
    pub(crate) const fn union(self, other: LockBits) -> LockBits {
        LockBits(self.0 | other.0)
    }

    /// Returns whether the two may have a lock in common.
    #[inline]
    pub(crate) const fn may_meet(self, other: LockBits) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns whether the other may contain all locks of this one.
    #[inline]
    pub(crate) const fn may_be_in(self, other: LockBits) -> bool {
        self.0 & !other.0 == 0
    }
}

/// The locks that a lane holds, counted by their bits.
#[derive(Clone, Debug, Default)]
pub(crate) struct LockCounts {
    counts: [u32; LOCKS_BITS as usize],
    bits: LockBits,
}

impl LockCounts {
    /// Adds a lock.
    pub(crate) fn add(&mut self, lock: u32) {
        self.counts[(lock % LOCKS_BITS) as usize] += 1;
        self.bits = self.bits.union(LockBits::of(lock));
    }

    /// Removes a lock that was added.
    pub(crate) fn remove(&mut self, lock: u32) {
        let count = &mut self.counts[(lock % LOCKS_BITS) as usize];
        *count -= 1;
        if *count == 0 {
            self.bits.0 &= !LockBits::of(lock).0;
        }
    }

    /// Returns the bits of all locks.
    #[inline]
    pub(crate) const fn bits(&self) -> LockBits {
        self.bits
    }
}

const _: () = assert!(size_of::<Record>() == 24);
const _: () = assert!(size_of::<Cell>() == 64);

/// Packs a slot and a count.
#[inline]
pub(crate) const fn epoch(slot: ChainId, now: u32) -> u64 {
    (slot.0 as u64) << 32 | now as u64
}

impl Record {
    /// The record of an object without accesses.
    pub(crate) const NONE: Record =
        Record { epoch: 0, packed: 0, site: SiteId::UNKNOWN, lockset: 0 };

    /// Creates a record. Event numbers above 48 bits (years of tracing) would only make reports
    /// wrong.
    #[inline]
    pub(crate) const fn new(
        epoch: u64,
        side: Side,
        (lockset, locks): (u32, LockBits),
        class: Class,
        quiet: bool,
    ) -> Record {
        let flag = if quiet { QUIET } else { 0 };
        let class = ((class.0 & 31) as u64) << EVENT_BITS;
        let locks = (locks.0 as u64) << (EVENT_BITS + CLASS_BITS);
        let packed = side.event & EVENT_MASK | class | locks | flag;
        Record { epoch, packed, site: side.site, lockset }
    }

    /// Returns which locks were held.
    #[inline]
    pub(crate) const fn locks(&self) -> LockBits {
        LockBits((self.packed >> (EVENT_BITS + CLASS_BITS)) as u16 & ((1 << LOCKS_BITS) - 1))
    }

    /// Returns the slot.
    #[inline]
    pub(crate) const fn slot(&self) -> ChainId {
        ChainId((self.epoch >> 32) as u32)
    }

    /// Returns the count.
    #[inline]
    pub(crate) const fn count(&self) -> u32 {
        self.epoch as u32
    }

    /// Returns whether the record is an access.
    #[inline]
    pub(crate) const fn is_some(&self) -> bool {
        self.count() != 0
    }

    /// Returns the class.
    #[inline]
    pub(crate) const fn class(&self) -> Class {
        Class((self.packed >> EVENT_BITS & 31) as u8)
    }

    /// Returns whether nothing raced with the newest record of an object.
    #[inline]
    pub(crate) const fn is_quiet(&self) -> bool {
        self.packed & QUIET != 0
    }

    /// Returns the number of the event.
    #[inline]
    pub(crate) const fn event(&self) -> u64 {
        self.packed & EVENT_MASK
    }

    /// Returns the access, for a report.
    pub(crate) const fn side(&self) -> Side {
        Side { event: self.event(), site: self.site }
    }
}

/// The shadow state of one object: two records, and a list for further records.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Cell {
    /// The last access, not counting accesses that conflict with nothing here.
    pub(crate) newest: Record,
    /// Another record.
    second: Record,
    /// The list in the pool; 0 for none.
    more: u32,
    /// The classes of all records, one bit each.
    pub(crate) classes: u32,
    /// The index by lock; 0 for none.
    pub(crate) by_lock: u32,
    /// Whether other locations overlap this one.
    pub(crate) overlaps: bool,
    /// Whether the records are never indexed by lock, because one is under too many locks.
    pub(crate) is_listed: bool,
}

/// The lists of those objects that have more than two records.
pub(crate) type Pool = SlotLists<Record>;

impl Pool {
    /// Returns whether an action that is compared with some classes may be added to a list without
    /// a search for the records that it covers.
    #[inline]
    pub(crate) fn may_wait(&self, more: u32, class: Class, compared: u32) -> bool {
        let wide = self.wide;
        compared >> class.0 & 1 == 0
            && self.get(more).is_some_and(|list| list.may_wait(class, wide))
    }

    /// Returns the classes to search for records that an action covers, one bit each. It has been
    /// compared with some classes already.
    #[inline]
    pub(crate) fn to_sweep(&self, more: u32, covering: u32, compared: u32) -> u32 {
        let Some(list) = self.get(more) else { return 0 };
        let covered = list.classes() & covering;
        if covered & !compared == 0 { covered } else { covered & (compared | list.due(self.wide)) }
    }

    /// Returns the classes of a list, one bit each.
    #[inline]
    pub(crate) fn classes(&self, more: u32) -> u32 {
        self.get(more).map_or(0, SlotList::classes)
    }

    /// Loads some lines of a list from memory.
    #[inline]
    pub(crate) fn touch(&self, more: u32) -> u32 {
        let list = self.get(more).map_or(&[][..], SlotList::few);
        let last = list.len().saturating_sub(1);
        let places = [0, last / 4, last / 2, last / 4 * 3, last];
        places.iter().fold(0, |all, at| all | list.get(*at).map_or(0, |record| record.lockset))
    }
}

impl Cell {
    /// An object without accesses.
    pub(crate) const NEW: Cell = Cell {
        newest: Record::NONE,
        second: Record::NONE,
        more: 0,
        classes: 0,
        by_lock: 0,
        overlaps: false,
        is_listed: false,
    };

    /// Returns all records, the newest first.
    #[inline]
    pub(crate) fn records<'c>(&'c self, pool: &'c Pool) -> impl Iterator<Item = &'c Record> {
        [&self.newest, &self.second]
            .into_iter()
            .filter(|r| r.is_some())
            .chain(pool.items(self.more))
    }

    /// Returns the records of some classes, and maybe others, the newest first.
    #[inline]
    pub(crate) fn of_classes<'c>(
        &'c self,
        pool: &'c Pool,
        classes: u32,
    ) -> impl Iterator<Item = &'c Record> {
        [&self.newest, &self.second]
            .into_iter()
            .filter(|r| r.is_some())
            .chain(pool.of_classes(self.more, classes))
    }

    /// Returns whether a condition holds for all records of some classes. The condition may also be
    /// tested on other records.
    #[inline]
    pub(crate) fn all(
        &self,
        pool: &Pool,
        classes: u32,
        condition: impl Fn(&Record) -> bool,
    ) -> bool {
        (!self.newest.is_some() || condition(&self.newest))
            && (!self.second.is_some() || condition(&self.second))
            && (pool.classes(self.more) & classes == 0
                || pool.of_classes(self.more, classes).all(condition))
    }

    /// Replaces the record of one slot and class in place, if there is one; see
    /// [`find`](Self::find). Returns the old one. The newest record stays, so its lane must look
    /// here again if the two do not commute.
    #[inline]
    pub(crate) fn replace(
        &mut self,
        pool: &mut Pool,
        new: Record,
        (any_lockset, conflicting): (bool, u32),
    ) -> Option<Record> {
        let old = std::mem::replace(self.find(pool, &new, any_lockset)?, new);
        if conflicting >> self.newest.class().0 & 1 != 0 {
            self.newest.packed &= !QUIET;
        }
        Some(old)
    }

    /// Adds an older record.
    pub(crate) fn append(&mut self, pool: &mut Pool, old: Record) {
        if self.more == 0 {
            self.more = pool.make();
        }
        pool.push(self.more, old);
        self.classes |= 1 << old.class().0;
    }

    /// Returns the second record, which may be empty.
    #[inline]
    pub(crate) const fn second(&self) -> Record {
        self.second
    }

    /// Replaces the records by one or two. There must be at most two.
    #[inline]
    pub(crate) fn set_two(&mut self, newest: Record, second: Record) {
        self.classes = 1 << newest.class().0;
        if second.is_some() {
            self.classes |= 1 << second.class().0;
        }
        (self.newest, self.second) = (newest, second);
    }

    /// Returns whether the newest record is the only one.
    #[inline]
    pub(crate) const fn has_one(&self) -> bool {
        !self.second.is_some() && self.more == 0
    }

    /// Returns the list in the pool; 0 for none.
    #[inline]
    pub(crate) const fn more(&self) -> u32 {
        self.more
    }

    /// Returns the record of one slot and class (and of one lockset, if given), if there is one.
    #[inline]
    pub(crate) fn find<'c>(
        &'c mut self,
        pool: &'c mut Pool,
        like: &Record,
        any_lockset: bool,
    ) -> Option<&'c mut Record> {
        let is_like = |r: &Record| {
            r.epoch >> 32 == like.epoch >> 32
                && (any_lockset || r.lockset == like.lockset)
                && r.class().0 == like.class().0
                && r.is_some()
        };
        if is_like(&self.newest) {
            return Some(&mut self.newest);
        }
        if is_like(&self.second) {
            return Some(&mut self.second);
        }
        if self.more == 0 {
            return None;
        }
        pool.get_mut(self.more).find((like.slot(), like.class()), is_like)
    }

    /// Makes a record the newest, and drops the records that are `covered`, in the list only those
    /// of the classes to `sweep`. Classes that are `heavy` conflict with themselves and stay out of
    /// the list if possible, so that other classes need not search there.
    #[inline]
    pub(crate) fn add(
        &mut self,
        pool: &mut Pool,
        new: Record,
        (sweep, heavy): (u32, u32),
        mut covered: impl FnMut(&Record) -> bool,
    ) {
        if self.more != 0 && sweep != 0 {
            let list = pool.get_mut(self.more);
            list.retain_in(sweep, |old| !covered(old));
            if list.len() == 0 {
                pool.free(self.more);
                self.more = 0;
            }
        }
        if self.second.is_some() && covered(&self.second) {
            self.second = Record::NONE;
        }
        if self.newest.is_some() && !covered(&self.newest) {
            let mut kept = self.newest;
            if self.second.is_some() {
                if heavy >> kept.class().0 & 1 != 0 {
                    std::mem::swap(&mut kept, &mut self.second);
                }
                if self.more == 0 {
                    self.more = pool.make();
                }
                pool.push(self.more, kept);
            } else {
                self.second = kept;
            }
        }
        self.newest = new;
        self.classes = pool.classes(self.more) | 1 << new.class().0;
        if self.second.is_some() {
            self.classes |= 1 << self.second.class().0;
        }
    }
}

impl OfSlot for Record {
    #[inline]
    fn slot(&self) -> ChainId {
        Record::slot(self)
    }

    #[inline]
    fn class(&self) -> Class {
        Record::class(self)
    }
}
