//! The table of fingerprints that all threads share.
//!
//! **Problem.** Many threads ask "is this state known?" about states that mostly are. The first
//! finder of a state must be the same in every run, although thread timing is not.
//!
//! **Idea.** The search runs in rounds over a block of states with positions `0, 1, 2, ...`. A
//! fingerprint that is new in this round is inserted with the position of its source state, marked
//! *provisional*. A thread with a lower position lowers the mark. At the end of the round, each new
//! state belongs to the least position that leads to it, as if one thread had processed the block
//! in order. Then the states are numbered in that order, and the number replaces the mark.
//!
//! **Layout.** Open addressing with linear probing; the place of a fingerprint is `key * slots /
//! 2^64`. So the order of the slots is nearly that of the keys, and growing reads and writes memory
//! from left to right. A slot is a pair of words, both non-zero when it is taken, and a mark of 32
//! bits:
//!
//! | mark | meaning |
//! | --- | --- |
//! | 0 | free, or taken and not yet marked |
//! | 1 to 2^31 - 1 | the state's number, plus one |
//! | 2^31 and above | provisional: 2^31 plus a position |
//!
//! **Threads.** A thread takes a slot by exchanging its first word. It writes the second word and
//! the mark at once, and readers that find the first word equal wait for them. These words hold all
//! the data of the table, so they order no other memory.
//!
//! **Cost.** 20 bytes a slot; between 0.44 and 0.7 of the slots are taken. One or two cache misses
//! for each look-up.

use crate::parallel::Pool;
use anyorder_system::Hash128;
use std::hint::spin_loop;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// Marks from here on are provisional.
const PROVISIONAL: u32 = 1 << 31;

/// States are numbered below this.
pub const NUMBERS_MAX: u64 = (1 << 31) - 2;

/// Positions in a round stay below this.
pub(crate) const POSITIONS_MAX: usize = 1 << 30;

/// The bytes of a slot.
const SLOT_BYTES: u64 = 20;

const SLOTS_MIN: usize = 1 << 12;

const SLOTS_SMALL: usize = 1 << 10;

/// Smaller tables grow on one thread: a second one would not pay.
const SLOTS_ONE_THREAD: usize = 1 << 16;

/// The slots that a thread takes at a time when a table grows.
const SLOTS_BLOCK: usize = 1 << 14;

/// A fingerprint as stored in the table: two words, neither of them zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Key(u64, u64);

impl From<Hash128> for Key {
    #[inline]
    fn from(hash: Hash128) -> Key {
        Key(((hash.0 >> 64) as u64).max(1), (hash.0 as u64).max(1))
    }
}

impl Key {
    /// The words, for a checkpoint.
    pub(crate) const fn words(self) -> [u64; 2] {
        [self.0, self.1]
    }

    /// Builds a key from the words of a checkpoint.
    pub(crate) fn from_words(words: [u64; 2]) -> Key {
        Key(words[0].max(1), words[1].max(1))
    }
}

/// The result of a look-up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Visit {
    /// The fingerprint has this state number.
    Known(u32),
    /// It is new, and now in this slot with the given position.
    New(usize),
    /// Only later positions found it in this round. Its slot now has the given position.
    Lowered(usize),
    /// A lower or the same position found it in this round.
    Behind(usize),
}

/// The known fingerprints, and the numbers of their states.
///
/// ```
/// use anyorder_search::{FingerprintTable, Key};
/// use anyorder_system::StateHash;
/// let mut table = FingerprintTable::small();
/// let (a, b) = (Key::from(StateHash::of("a")), Key::from(StateHash::of("b")));
/// assert_eq!(table.enter(a, 0), None);
/// assert_eq!(table.enter(a, 1), Some(0), "it has a number already");
/// assert_eq!((table.find(a), table.find(b)), (Some(0), None));
/// ```
#[derive(Debug, Default)]
pub struct FingerprintTable {
    keys: Vec<[AtomicU64; 2]>,
    marks: Vec<AtomicU32>,
}

impl FingerprintTable {
    pub(crate) fn new() -> FingerprintTable {
        FingerprintTable::with_slots(SLOTS_MIN)
    }

    /// Makes an empty table for one thread. It grows by itself.
    #[must_use]
    pub fn small() -> FingerprintTable {
        FingerprintTable::with_slots(SLOTS_SMALL)
    }

    fn with_slots(slots: usize) -> FingerprintTable {
        let mut keys = Vec::new();
        keys.resize_with(slots, || [AtomicU64::new(0), AtomicU64::new(0)]);
        let mut marks = Vec::new();
        marks.resize_with(slots, || AtomicU32::new(0));
        FingerprintTable { keys, marks }
    }

    /// Returns how many fingerprints it can hold.
    pub(crate) fn room(&self) -> usize {
        self.keys.len() / 10 * 7
    }

    /// Returns the bytes that it takes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.keys.len() as u64 * SLOT_BYTES
    }

    /// Returns the bytes of the smallest table that grows to hold so many fingerprints. Unlike
    /// [`bytes`](Self::bytes) it does not depend on when threads found the table full.
    pub(crate) fn bytes_needed(entries: u64) -> u64 {
        let mut slots = SLOTS_MIN as u64;
        while slots / 10 * 7 < entries {
            slots += slots / 10 * 6;
        }
        slots * SLOT_BYTES
    }

    /// Returns the bytes of the table that would hold `entries` fingerprints and some more.
    pub(crate) fn bytes_for(&self, entries: usize) -> u64 {
        self.slots_for(entries) as u64 * SLOT_BYTES
    }

    fn slots_for(&self, entries: usize) -> usize {
        let needed = entries.saturating_add(1).saturating_mul(10).div_ceil(7).saturating_add(10);
        let larger = self.keys.len().saturating_add(self.keys.len() / 10 * 6);
        needed.max(larger)
    }

    #[inline]
    fn home(&self, key: Key) -> usize {
        ((u128::from(key.0) * self.keys.len() as u128) >> 64) as usize
    }

    /// Prefetches the slot of a fingerprint, so that several memory requests overlap.
    #[inline]
    #[must_use]
    pub fn touch(&self, key: Key) -> u64 {
        let home = self.home(key);
        self.keys[home][0].load(Ordering::Relaxed)
            ^ u64::from(self.marks[home].load(Ordering::Relaxed))
    }

    /// Returns the number of a fingerprint, while no thread adds to the table.
    #[inline]
    #[must_use]
    pub fn find(&self, key: Key) -> Option<u32> {
        let mut slot = self.home(key);
        loop {
            let [first, second] = [0, 1].map(|word| self.keys[slot][word].load(Ordering::Relaxed));
            if first == 0 {
                return None;
            }
            if first == key.0 && second == key.1 {
                return self.number(slot);
            }
            slot += 1;
            if slot == self.keys.len() {
                slot = 0;
            }
        }
    }

    /// Returns the number of a fingerprint. If it is new, the table stores it with the given
    /// number, which must be the number of fingerprints in the table, and returns `None`.
    #[inline]
    pub fn enter(&mut self, key: Key, number: u32) -> Option<u32> {
        match self.visit(key, 0) {
            Visit::Known(known) => return Some(known),
            Visit::New(slot) | Visit::Lowered(slot) | Visit::Behind(slot) => {
                self.set_number(slot, number);
            }
        }
        if number as usize >= self.room() {
            self.rebuild(self.keys.len() / 10 * 16);
        }
        None
    }

    /// Looks a fingerprint up, and inserts it if it is new. The caller ensures that there is room.
    #[inline]
    pub(crate) fn visit(&self, key: Key, position: u32) -> Visit {
        let provisional = PROVISIONAL | position;
        let mut slot = self.home(key);
        loop {
            let mut first = self.keys[slot][0].load(Ordering::Acquire);
            if first == 0 {
                let taken = self.keys[slot][0].compare_exchange(
                    0,
                    key.0,
                    Ordering::AcqRel,
                    Ordering::Acquire,
                );
                match taken {
                    Ok(_) => {
                        self.keys[slot][1].store(key.1, Ordering::Release);
                        self.marks[slot].store(provisional, Ordering::Release);
                        return Visit::New(slot);
                    }
                    Err(other) => first = other,
                }
            }
            if first == key.0 && self.second(slot) == key.1 {
                return self.mark_lower(slot, provisional);
            }
            slot += 1;
            if slot == self.keys.len() {
                slot = 0;
            }
        }
    }

    #[inline]
    fn second(&self, slot: usize) -> u64 {
        loop {
            let second = self.keys[slot][1].load(Ordering::Acquire);
            if second != 0 {
                return second;
            }
            spin_loop();
        }
    }

    #[inline]
    fn mark_lower(&self, slot: usize, provisional: u32) -> Visit {
        let mut mark = self.marks[slot].load(Ordering::Acquire);
        loop {
            if mark == 0 {
                spin_loop();
                mark = self.marks[slot].load(Ordering::Acquire);
                continue;
            }
            if mark < PROVISIONAL {
                return Visit::Known(mark - 1);
            }
            if mark <= provisional {
                return Visit::Behind(slot);
            }
            let lowered = self.marks[slot].compare_exchange(
                mark,
                provisional,
                Ordering::AcqRel,
                Ordering::Acquire,
            );
            match lowered {
                Ok(_) => return Visit::Lowered(slot),
                Err(other) => mark = other,
            }
        }
    }

    /// Returns the position that a slot belongs to in this round; `None` once it is numbered.
    #[inline]
    pub(crate) fn owner(&self, slot: usize) -> Option<u32> {
        let mark = self.marks[slot].load(Ordering::Relaxed);
        (mark >= PROVISIONAL).then_some(mark & !PROVISIONAL)
    }

    /// Returns the number of the state in a slot, once it has one.
    #[inline]
    pub(crate) fn number(&self, slot: usize) -> Option<u32> {
        let mark = self.marks[slot].load(Ordering::Relaxed);
        (mark != 0 && mark < PROVISIONAL).then(|| mark - 1)
    }

    /// Sets the number of the state in a slot.
    #[inline]
    pub(crate) fn set_number(&self, slot: usize, number: u32) {
        debug_assert!(
            u64::from(number) < NUMBERS_MAX,
            "numbers are kept below the limit by the caller"
        );
        self.marks[slot].store(number + 1, Ordering::Relaxed);
    }

    /// Inserts a numbered fingerprint, while no other thread uses the table.
    pub(crate) fn insert(&self, key: Key, number: u32) -> bool {
        let visit = self.visit(key, 0);
        if let Visit::New(slot) = visit {
            self.set_number(slot, number);
        }
        matches!(visit, Visit::New(_))
    }

    /// Returns whether the system has the memory for so many fingerprints. It is given back at
    /// once: this only finds out beforehand what would end the process.
    pub(crate) fn has_memory_for(&self, entries: usize) -> bool {
        Vec::<[u64; 2]>::new().try_reserve_exact(self.slots_for(entries)).is_ok()
    }

    /// Grows for at least `entries` fingerprints, and drops those without a number. Linear.
    pub(crate) fn grow(&mut self, entries: usize) {
        self.rebuild(self.slots_for(entries));
    }

    /// Like [`grow`](Self::grow), with several threads, which take the slots in blocks. One thread
    /// allocates and frees the memory of both tables.
    pub(crate) fn grow_with(&mut self, pool: &Pool<'_>, entries: usize) {
        if self.keys.len() < SLOTS_ONE_THREAD || pool.threads() == 1 {
            return self.grow(entries);
        }
        let larger = Arc::new(FingerprintTable::with_slots(self.slots_for(entries)));
        let old = Arc::new(std::mem::take(self));
        let (next, into) = (Arc::new(AtomicUsize::new(0)), Arc::clone(&larger));
        pool.everywhere(pool.threads(), move || {
            loop {
                let start = next.fetch_add(SLOTS_BLOCK, Ordering::Relaxed);
                if start >= old.keys.len() {
                    break;
                }
                old.move_to(&into, start..(start + SLOTS_BLOCK).min(old.keys.len()));
            }
        });
        *self = Arc::into_inner(larger).expect("threads give the table up before they report");
    }

    /// Drops the fingerprints without a number. Linear.
    pub(crate) fn forget_provisional(&mut self) {
        self.rebuild(self.keys.len());
    }

    fn rebuild(&mut self, slots: usize) {
        let mut larger = FingerprintTable::with_slots(slots);
        for (words, mark) in self.keys.iter_mut().zip(&mut self.marks) {
            let mark = *mark.get_mut();
            if mark != 0 && mark < PROVISIONAL {
                larger.put(Key(*words[0].get_mut(), *words[1].get_mut()), mark);
            }
        }
        *self = larger;
    }

    fn put(&mut self, key: Key, mark: u32) {
        let mut slot = self.home(key);
        while *self.keys[slot][0].get_mut() != 0 {
            slot += 1;
            if slot == self.keys.len() {
                slot = 0;
            }
        }
        *self.keys[slot][0].get_mut() = key.0;
        *self.keys[slot][1].get_mut() = key.1;
        *self.marks[slot].get_mut() = mark;
    }

    /// Copies the numbered fingerprints of some slots into another table, which has none of them.
    fn move_to(&self, other: &FingerprintTable, slots: Range<usize>) {
        for (words, mark) in self.keys[slots.clone()].iter().zip(&self.marks[slots]) {
            let mark = mark.load(Ordering::Relaxed);
            if mark != 0 && mark < PROVISIONAL {
                let [first, second] = [0, 1].map(|word| words[word].load(Ordering::Relaxed));
                other.put_shared(Key(first, second), mark);
            }
        }
    }

    /// Like [`put`](Self::put), while other threads insert other fingerprints. No thread looks any
    /// up.
    fn put_shared(&self, key: Key, mark: u32) {
        let mut slot = self.home(key);
        while !self.take(slot, key) {
            slot += 1;
            if slot == self.keys.len() {
                slot = 0;
            }
        }
        self.keys[slot][1].store(key.1, Ordering::Relaxed);
        self.marks[slot].store(mark, Ordering::Relaxed);
    }

    /// Takes a slot if it is free.
    fn take(&self, slot: usize, key: Key) -> bool {
        let first = &self.keys[slot][0];
        first.load(Ordering::Relaxed) == 0
            && first.compare_exchange(0, key.0, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Returns the numbered fingerprints, in the order of the slots.
    pub(crate) fn numbered(&self) -> impl Iterator<Item = (Key, u32)> + '_ {
        self.keys.iter().zip(&self.marks).filter_map(|(words, mark)| {
            let mark = mark.load(Ordering::Relaxed);
            let key = Key(words[0].load(Ordering::Relaxed), words[1].load(Ordering::Relaxed));
            (mark != 0 && mark < PROVISIONAL).then(|| (key, mark - 1))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    /// Fingerprints with collisions: the positions of each thousand are close together, and the
    /// last run past the end.
    fn key(number: u32) -> Key {
        let place = u64::MAX - (u64::from(number / 1000) << 57) - u64::from(number % 1000);
        Key(place, u64::from(number) + 1)
    }

    #[test]
    fn threads_grow_a_table_as_one_does() {
        const ENTRIES: u32 = 100_000;
        let mut table = FingerprintTable::new();
        table.grow(ENTRIES as usize);
        assert!(table.keys.len() >= SLOTS_ONE_THREAD, "large enough to be worth several threads");
        for number in 0..ENTRIES {
            assert!(table.insert(key(number), number));
        }
        let provisional = Key(1 << 40, 7);
        assert!(matches!(table.visit(provisional, 3), Visit::New(_)));
        thread::scope(|scope| {
            let pool = Pool::new(scope, 4);
            table.grow_with(&pool, 2 * ENTRIES as usize);
        });
        assert!(table.room() >= 2 * ENTRIES as usize);
        assert_eq!(table.numbered().count(), ENTRIES as usize);
        for number in 0..ENTRIES {
            assert_eq!(table.visit(key(number), 0), Visit::Known(number));
        }
        assert!(matches!(table.visit(provisional, 3), Visit::New(_)), "forgotten");
    }
}
