//! A field of bits instead of a table: bounded memory, never complete.
//!
//! Each state sets [`PROBES`] bits that its fingerprint chooses; a state whose bits are all set
//! counts as known. With `n` states in `m` bits, a new state is missed with probability `(1 -
//! e^(-3n/m))^3`: 1 in 3,500 at 40 bits a state, 1 in 130 at 14.
//!
//! A round only reads the field. The bits are set at the end of the round, in order, so that the
//! missed states are the same with any number of threads.

use anyorder_system::Hash128;

/// The bits that a state sets.
const PROBES: u64 = 3;

/// A field of bits of a fixed size.
#[derive(Clone, Debug)]
pub(crate) struct Bitstate {
    words: Vec<u64>,
    /// The bits set in this round: position, word, bit.
    recent: Vec<(u32, usize, u64)>,
}

impl Bitstate {
    /// Makes an empty field of at most `bytes` bytes, at least one word; `None` if the system has
    /// no memory for it.
    pub(crate) fn new(bytes: u64) -> Option<Bitstate> {
        let words = usize::try_from((bytes / 8).max(1)).ok()?;
        // Tried first, as only this can fail. Zeroed memory then comes from the system, which gives
        // a page of it when the page is used.
        Vec::<u64>::new().try_reserve_exact(words).ok()?;
        Some(Bitstate { words: vec![0; words], recent: Vec::new() })
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.words.len() as u64 * 8
    }

    fn places(&self, hash: Hash128) -> impl Iterator<Item = (usize, u64)> + use<> {
        // Double hashing: the second half, made odd, is the stride.
        let (start, stride) = ((hash.0 >> 64) as u64, (hash.0 as u64) | 1);
        let bits = self.words.len() as u128 * 64;
        (0..PROBES).map(move |probe| {
            let point = start.wrapping_add(stride.wrapping_mul(probe));
            let bit = (u128::from(point) * bits) >> 64;
            ((bit / 64) as usize, 1 << (bit % 64))
        })
    }

    /// Returns whether a state counts as known.
    pub(crate) fn contains(&self, hash: Hash128) -> bool {
        self.places(hash).all(|(word, bit)| self.words[word] & bit != 0)
    }

    /// Marks a state as known. Returns whether it was not marked before.
    pub(crate) fn insert(&mut self, hash: Hash128, position: u32) -> bool {
        let before = self.recent.len();
        for (word, bit) in self.places(hash) {
            if self.words[word] & bit == 0 {
                self.words[word] |= bit;
                self.recent.push((position, word, bit));
            }
        }
        self.recent.len() > before
    }

    /// Ends a round: removes bits that positions at or after `cut` set. Positions come in order, so
    /// no earlier state relied on a removed bit.
    pub(crate) fn settle(&mut self, cut: u32) {
        for (position, word, bit) in self.recent.drain(..) {
            if position >= cut {
                self.words[word] &= !bit;
            }
        }
    }

    /// The words, for a checkpoint.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// Builds a field from the words of a checkpoint.
    pub(crate) fn from_words(words: Vec<u64>) -> Bitstate {
        Bitstate { words, recent: Vec::new() }
    }
}
