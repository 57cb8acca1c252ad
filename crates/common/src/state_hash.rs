//! A fast hash for states: 128 bits, the same in every run and build.

use crate::hash::Hash128;
use std::hash::{Hash, Hasher};

// Odd constants with about half of their bits set and no pattern: the fractions of the square roots
// of 2, 3, 5 and 7.
const LEFT: u64 = 0x6a09_e667_f3bc_c909;
const RIGHT: u64 = 0xbb67_ae85_84ca_a73b;
const START_LEFT: u64 = 0x3c6e_f372_fe94_f82b;
const START_RIGHT: u64 = 0xa54f_f53a_5f1d_36f1;

/// A 128-bit hash made for states: some nanoseconds for a few words. Not for input that is chosen
/// to collide, and not for files that must be readable by other versions: use [`Hash128::of`]
/// there.
///
/// Small writes are packed into words of 64 bits first. Two lanes of 64 bits each take every word,
/// by full products of 64 by 64 bits whose halves are exchanged between the lanes.
///
/// It is a [`Hasher`], so that anything that is [`Hash`] can be hashed; the result is the same in
/// every run and build on machines with the same byte order.
///
/// ```
/// use anyorder_common::state_hash::StateHash;
/// let (a, b) = (StateHash::of(&("left", 1u8)), StateHash::of(&("left", 2u8)));
/// assert_eq!(a, StateHash::of(&("left", 1u8)));
/// assert_ne!(a, b);
/// ```
#[derive(Clone, Debug)]
pub struct StateHash {
    left: u64,
    right: u64,
    /// The bits that do not fill a word yet, from the lowest up.
    pending: u64,
    /// How many they are, below 64.
    pending_bits: u32,
    bytes: u64,
}

impl Default for StateHash {
    fn default() -> StateHash {
        StateHash::new()
    }
}

impl StateHash {
    /// Makes the hash of nothing.
    #[inline]
    #[must_use]
    pub const fn new() -> StateHash {
        StateHash { left: START_LEFT, right: START_RIGHT, pending: 0, pending_bits: 0, bytes: 0 }
    }

    /// Returns the hash of one value, in time linear in what it writes.
    #[inline]
    #[must_use]
    pub fn of<T: Hash + ?Sized>(value: &T) -> Hash128 {
        let mut hash = StateHash::new();
        value.hash(&mut hash);
        hash.finish128()
    }

    /// Returns the hash of bytes, in time linear in their number.
    #[inline]
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Hash128 {
        let mut hash = StateHash::new();
        hash.write(bytes);
        hash.finish128()
    }

    /// Returns the hash of everything written.
    #[inline]
    #[must_use]
    pub fn finish128(&self) -> Hash128 {
        let mut end = self.clone();
        end.mix(end.pending);
        end.mix(end.bytes);
        end.mix(LEFT);
        Hash128((u128::from(end.left) << 64) | u128::from(end.right))
    }

    #[inline]
    fn mix(&mut self, word: u64) {
        let left = u128::from(self.left ^ word) * u128::from(LEFT);
        let right = u128::from(self.right.wrapping_add(word)) * u128::from(RIGHT);
        self.left = (left as u64) ^ ((right >> 64) as u64);
        self.right = ((left >> 64) as u64) ^ (right as u64);
    }

    /// Takes the lowest `bits` bits of a number whose other bits are zero.
    #[inline]
    fn push(&mut self, number: u64, bits: u32) {
        self.bytes = self.bytes.wrapping_add(u64::from(bits / 8));
        self.pending |= number << self.pending_bits;
        let filled = self.pending_bits + bits;
        if filled < 64 {
            self.pending_bits = filled;
            return;
        }
        self.mix(self.pending);
        let used = 64 - self.pending_bits;
        self.pending = if used < 64 { number >> used } else { 0 };
        self.pending_bits = filled - 64;
    }
}

impl Hasher for StateHash {
    /// Returns the first half of the hash.
    #[inline]
    fn finish(&self) -> u64 {
        (self.finish128().0 >> 64) as u64
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.push(u64::from_le_bytes(*word), 64);
        }
        for byte in rest {
            self.push(u64::from(*byte), 8);
        }
    }

    #[inline]
    fn write_u8(&mut self, number: u8) {
        self.push(u64::from(number), 8);
    }

    #[inline]
    fn write_u16(&mut self, number: u16) {
        self.push(u64::from(number), 16);
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.push(u64::from(number), 32);
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.push(number, 64);
    }

    #[inline]
    fn write_u128(&mut self, number: u128) {
        self.push(number as u64, 64);
        self.push((number >> 64) as u64, 64);
    }

    // Sizes are 64 bits wide everywhere, so that the width of a pointer does not show.
    #[inline]
    fn write_usize(&mut self, number: usize) {
        self.push(number as u64, 64);
    }

    #[inline]
    fn write_isize(&mut self, number: isize) {
        self.push(number as u64, 64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_hash_is_the_same_in_every_build() {
        // Checkpoints hold these hashes: a change of the function needs a new checkpoint version.
        let known = [
            (StateHash::of_bytes(b""), KNOWN[0]),
            (StateHash::of_bytes(b"anyorder"), KNOWN[1]),
            (StateHash::of(&(1u8, 2u16, 3u32, 4u64)), KNOWN[2]),
        ];
        for (hash, expected) in known {
            assert_eq!(hash.to_string(), expected);
        }
    }

    const KNOWN: [&str; 3] = [
        "daeb979bb739f8fb5fe1bc2d1b2dcf27",
        "947a27a5d515c05473cf5c4ecad6b93b",
        "dec5a6ef15fa8019a331c42d2c199fc4",
    ];

    #[test]
    fn writes_are_packed_as_bytes() {
        let mut whole = StateHash::new();
        whole.write(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
        let mut parts = StateHash::new();
        parts.write_u8(1);
        parts.write_u16(0x0302);
        parts.write_u64(0x0b0a_0908_0706_0504);
        assert_eq!(whole.finish128(), parts.finish128());
    }

    #[test]
    fn trailing_zeros_count() {
        let hashes: BTreeSet<Hash128> =
            (0..64).map(|length| StateHash::of_bytes(&vec![0; length])).collect();
        assert_eq!(hashes.len(), 64);
    }

    /// Of `values` random numbers of `bits` bits, this many pairs are expected to be equal.
    fn pairs_expected(values: f64, bits: i32) -> f64 {
        values * values / 2.0 / 2f64.powi(bits)
    }

    fn pairs_equal(mut parts: Vec<u32>) -> f64 {
        parts.sort_unstable();
        let mut pairs = 0.0;
        for run in parts.chunk_by(|a, b| a == b) {
            let length = run.len() as f64;
            pairs += length * (length - 1.0) / 2.0;
        }
        pairs
    }

    #[test]
    fn any_32_bits_of_it_collide_as_random_ones_do() {
        // Inputs as states are: counters, few bits set, words that differ in one place.
        let mut inputs: Vec<[u64; 3]> = Vec::new();
        for i in 0..100_000 {
            inputs.push([i, 0, 0]);
            inputs.push([1 << 40, i << 32, 0]);
        }
        for a in 0..192 {
            for b in 0..a {
                for c in (0..b).step_by(16) {
                    let mut words = [7u64; 3];
                    for bit in [a, b, c] {
                        words[bit / 64] ^= 1 << (bit % 64);
                    }
                    inputs.push(words);
                }
            }
        }
        inputs.sort_unstable();
        inputs.dedup();
        let hashes: Vec<u128> = inputs.iter().map(|words| StateHash::of(words).0).collect();
        let expected = pairs_expected(hashes.len() as f64, 32);
        assert!(expected > 5.0, "{expected}: too few inputs to tell");
        for shift in (0..=96).step_by(8) {
            let pairs = pairs_equal(hashes.iter().map(|hash| (hash >> shift) as u32).collect());
            assert!(
                pairs < 2.0 * expected + 10.0,
                "bits from {shift}: {pairs} pairs, expected {expected}"
            );
        }
    }

    #[test]
    fn each_input_bit_changes_each_output_bit_half_the_time() {
        const ROUNDS: u64 = 2_000;
        for bit in 0..128 {
            let mut changed = [0u32; 128];
            for round in 0..ROUNDS {
                let input =
                    u128::from(round).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
                let difference = StateHash::of(&input).0 ^ StateHash::of(&(input ^ (1 << bit))).0;
                for (place, count) in changed.iter_mut().enumerate() {
                    *count += ((difference >> place) & 1) as u32;
                }
            }
            for (place, count) in changed.iter().enumerate() {
                let share = f64::from(*count) / ROUNDS as f64;
                assert!(
                    (0.42..0.58).contains(&share),
                    "input bit {bit}, output bit {place}: {share}"
                );
            }
        }
    }
}
