//! Fingerprints of states and their numbers: read by all threads while a block is gone on from, written by one in between.
//!
//! Open addressing with linear probing; a fingerprint's slot is `key * slots / 2^64`, so that growing goes through memory in order.

use anyorder_system::Hash128;

/// A free slot.
const FREE: u32 = u32::MAX;

/// States are numbered below this.
pub(crate) const NUMBERS_MAX: u64 = (1 << 31) - 2;

/// A fingerprint in four words of 32 bits, and a number or [`FREE`]: together, so that a look-up mostly needs one line of memory.
type Slot = [u32; 5];

#[derive(Debug)]
pub(crate) struct Table {
    slots: Vec<Slot>,
    len: usize,
}

impl Table {
    pub(crate) fn new() -> Table {
        Table::with_slots(1 << 10)
    }

    fn with_slots(slots: usize) -> Table {
        Table { slots: vec![[FREE; 5]; slots], len: 0 }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.slots.len() as u64 * 20
    }

    #[inline]
    fn home(&self, hash: Hash128) -> usize {
        let left = (hash.0 >> 64) as u64;
        ((u128::from(left) * self.slots.len() as u128) >> 64) as usize
    }

    /// Returns the slot that a fingerprint is in or would be put into, and its number or [`FREE`].
    #[inline]
    fn slot(&self, hash: Hash128) -> (usize, u32) {
        let [a, b, c, d] = words(hash);
        let mut slot = self.home(hash);
        loop {
            let [w, x, y, z, number] = self.slots[slot];
            if number == FREE || [a, b, c, d] == [w, x, y, z] {
                return (slot, number);
            }
            slot += 1;
            if slot == self.slots.len() {
                slot = 0;
            }
        }
    }

    /// Asks the memory for the slot of a fingerprint, so that several such requests overlap.
    #[inline]
    pub(crate) fn touch(&self, hash: Hash128) -> u32 {
        self.slots[self.home(hash)][4]
    }

    #[inline]
    pub(crate) fn find(&self, hash: Hash128) -> Option<u32> {
        let (_, number) = self.slot(hash);
        (number != FREE).then_some(number)
    }

    /// Returns the number of a fingerprint; if it is new, it gets the one given, and there is no answer.
    #[inline]
    pub(crate) fn insert(&mut self, hash: Hash128, number: u32) -> Option<u32> {
        let (slot, known) = self.slot(hash);
        if known != FREE {
            return Some(known);
        }
        self.put(slot, hash, number);
        if self.len > self.slots.len() / 10 * 7 {
            self.grow();
        }
        None
    }

    fn put(&mut self, slot: usize, hash: Hash128, number: u32) {
        let [a, b, c, d] = words(hash);
        self.slots[slot] = [a, b, c, d, number];
        self.len += 1;
    }

    fn grow(&mut self) {
        let mut larger = Table::with_slots(self.slots.len() / 10 * 16);
        for [a, b, c, d, number] in &self.slots {
            if *number != FREE {
                let word = |words: [u32; 4]| {
                    words.iter().fold(0, |all, word| all << 32 | u128::from(*word))
                };
                let hash = Hash128(word([*a, *b, *c, *d]));
                let (slot, _) = larger.slot(hash);
                larger.put(slot, hash, *number);
            }
        }
        *self = larger;
    }
}

#[inline]
fn words(hash: Hash128) -> [u32; 4] {
    [96, 64, 32, 0].map(|shift| (hash.0 >> shift) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_in_is_found_however_often_it_grew() {
        let mut table = Table::new();
        let hash = |number: u32| Hash128::of(&(number / 2).to_le_bytes());
        for number in 0..20_000 {
            let before = table.insert(hash(number), number);
            assert_eq!(before, (number % 2 == 1).then(|| number - 1));
        }
        for number in 0..20_000 {
            assert_eq!(table.find(hash(number)), Some(number / 2 * 2));
        }
        assert_eq!(table.find(hash(20_000)), None);
    }
}
