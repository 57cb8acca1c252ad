//! Mutex-access words, and the release clocks they refer to.

use anyorder_order::{ChainId, Clock};

/// A mutex-access word. From the low end: 28 bits acquire count of the lock, 20 bits lock, 14 bits slot of the thread, one bit
/// whether the section wrote, one bit set in all words but the empty one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Word(u64);

const COUNT_BITS: u32 = 28;
const LOCK_BITS: u32 = 20;
const SLOT_BITS: u32 = 14;
const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;
const WRITES: u64 = 1 << 62;
const SOME: u64 = 1 << 63;

const _: () = assert!(COUNT_BITS + LOCK_BITS + SLOT_BITS == 62);

impl Word {
    /// No word.
    pub(crate) const NONE: Word = Word(0);

    /// Packs a word; `None` when the lock or the slot does not fit.
    pub(crate) fn new(slot: ChainId, lock: u32, count: u64, writes: bool) -> Option<Word> {
        if slot.0 >> SLOT_BITS != 0 || lock >> LOCK_BITS != 0 {
            return None;
        }
        let who = u64::from(slot.0) << LOCK_BITS | u64::from(lock);
        let flag = if writes { WRITES } else { 0 };
        Some(Word(SOME | flag | who << COUNT_BITS | count & COUNT_MASK))
    }

    /// Returns whether there is a word.
    #[inline]
    pub(crate) const fn is_some(self) -> bool {
        self.0 != 0
    }

    /// Returns whether it is of a lock.
    #[inline]
    pub(crate) const fn is_of(self, lock: u32) -> bool {
        (self.0 >> COUNT_BITS) & ((1 << LOCK_BITS) - 1) == lock as u64
    }

    /// Returns the slot of its thread.
    #[inline]
    pub(crate) const fn slot(self) -> ChainId {
        ChainId((self.0 >> (COUNT_BITS + LOCK_BITS)) as u32 & ((1 << SLOT_BITS) - 1))
    }

    /// Returns whether the section wrote.
    #[inline]
    pub(crate) const fn writes(self) -> bool {
        self.0 & WRITES != 0
    }

    /// Returns the word of a section that wrote.
    pub(crate) const fn as_write(self) -> Word {
        Word(self.0 | WRITES)
    }
}

/// A section of a lock that has ended.
#[derive(Clone, Debug)]
pub(crate) struct Ended {
    count: u64,
    pub(crate) shared: bool,
    pub(crate) clock: Clock,
}

/// The last sections of a lock.
#[derive(Clone, Debug, Default)]
pub(crate) struct LockHistory {
    /// How often it was taken.
    acquires: u64,
    /// A ring by acquire count.
    ended: Vec<Option<Ended>>,
}

impl LockHistory {
    /// Counts an acquire and returns the count.
    pub(crate) fn acquire(&mut self) -> u64 {
        self.acquires += 1;
        self.acquires
    }

    /// Keeps the clock of a release in place of an older one.
    pub(crate) fn release(&mut self, depth: usize, (count, shared): (u64, bool), clock: &Clock) {
        if self.ended.is_empty() {
            self.ended.resize_with(depth, || None);
        }
        let at = (count % depth as u64) as usize;
        match &mut self.ended[at] {
            Some(ended) => {
                (ended.count, ended.shared) = (count, shared);
                ended.clock.copy_from(clock);
            }
            none => *none = Some(Ended { count, shared, clock: clock.clone() }),
        }
    }

    /// Returns the section that a word is of, if it has ended and is still kept.
    pub(crate) fn find(&self, word: &Word) -> Option<&Ended> {
        // Counts wrap in words: the last one that ends in these bits is meant.
        let back = self.acquires.wrapping_sub(word.0) & COUNT_MASK;
        let count = self.acquires.checked_sub(back)?;
        let depth = self.ended.len() as u64;
        let at = count.checked_rem(depth)?;
        self.ended[at as usize].as_ref().filter(|ended| ended.count == count)
    }

    /// Returns the memory held, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        let ended = |e: &Option<Ended>| e.as_ref().map_or(0, |e| e.clock.memory_bytes());
        self.ended.len() * size_of::<Option<Ended>>() + self.ended.iter().map(ended).sum::<usize>()
    }
}
