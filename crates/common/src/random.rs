//! Deterministic generators of pseudo-random numbers.
//!
//! A seed gives the same numbers on every machine and in every version, because results, reports
//! and tests name seeds. No generator here is suitable for secrets.

/// A source of random bits, with derived operations.
///
/// Bounded numbers use multiplication and shift; their bias is below `bound / 2^64`.
pub trait Random {
    /// Returns the next 64 bits.
    fn bits(&mut self) -> u64;

    /// Returns a number below `bound`; 0 for the bound 0.
    fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns an index into a table of `len` entries; 0 for an empty one.
    fn index(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }

    /// Returns a number in `from..=to`, `from` when the range is empty.
    fn within(&mut self, from: u64, to: u64) -> u64 {
        from + self.below(to.saturating_sub(from) + 1)
    }

    /// Returns `true` with the given probability.
    fn chance(&mut self, probability: f64) -> bool {
        // 53 bits: every value is a double below 1. So probability 1.0 means always, and 0.0 never.
        ((self.bits() >> 11) as f64) < probability * (1u64 << 53) as f64
    }

    /// Returns `true` in `percent` of 100 cases.
    fn percent(&mut self, percent: u32) -> bool {
        self.below(100) < u64::from(percent)
    }

    /// Returns one entry of a list.
    ///
    /// # Panics
    ///
    /// Panics if the list is empty.
    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.index(list.len())]
    }

    /// Shuffles a slice. Every order is equally likely.
    fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.index(end + 1));
        }
    }
}

/// SplitMix64 by Steele, Lea and Flood ("Fast splittable pseudorandom number generators", OOPSLA
/// 2014): every seed is good.
#[derive(Clone, Debug)]
pub struct SplitMix64(pub u64);

impl Random for SplitMix64 {
    #[inline]
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// xorshift64* by Sebastiano Vigna ("An experimental exploration of Marsaglia's xorshift
/// generators, scrambled", ACM TOMS 2016): the fastest one here. A seed of 0 gives only zeros.
#[derive(Clone, Debug)]
pub struct XorShift64(pub u64);

impl Random for XorShift64 {
    #[inline]
    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}

/// The default generator, for long sequences: xoshiro256** 1.0 by David Blackman and Sebastiano
/// Vigna ("Scrambled linear pseudorandom number generators", ACM TOMS 2021), seeded by
/// [`SplitMix64`]. Every seed is good.
#[derive(Clone, Debug)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// Starts from a seed.
    #[must_use]
    pub fn new(seed: u64) -> Rng {
        let mut mixed = SplitMix64(seed);
        Rng { state: [(); 4].map(|()| mixed.bits()) }
    }

    /// Starts a generator that is independent of others with the same seed and another purpose.
    #[must_use]
    pub fn for_purpose(seed: u64, purpose: [u8; 4]) -> Rng {
        Rng::new(seed ^ SplitMix64(u64::from(u32::from_be_bytes(purpose))).bits())
    }
}

impl Random for Rng {
    #[inline]
    fn bits(&mut self) -> u64 {
        let state = &mut self.state;
        let result = state[1].wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let shifted = state[1] << 17;
        state[2] ^= state[0];
        state[3] ^= state[1];
        state[1] ^= state[2];
        state[0] ^= state[3];
        state[2] ^= shifted;
        state[3] = state[3].rotate_left(45);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of SplitMix64 from 1234567, as published by its authors.
    #[test]
    fn the_seeding_is_split_mix() {
        let mut seeder = SplitMix64(1_234_567);
        let got = [(); 3].map(|()| seeder.bits());
        let expected =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(got, expected);
    }

    /// The first numbers of xoshiro256** from the state 1, 2, 3, 4, as published by its authors.
    #[test]
    fn the_numbers_are_those_of_xoshiro() {
        let mut rng = Rng { state: [1, 2, 3, 4] };
        let got = [(); 4].map(|()| rng.bits());
        assert_eq!(got, [11_520, 0, 1_509_978_240, 1_215_971_899_390_074_240]);
    }

    #[test]
    fn bounded_numbers_stay_below_the_bound_and_reach_all_values() {
        let mut rng = Rng::new(7);
        let mut seen = [0u32; 5];
        for _ in 0..5_000 {
            seen[rng.index(5)] += 1;
        }
        assert!(seen.iter().all(|count| (800..1_200).contains(count)), "{seen:?}");
        assert_eq!(rng.below(0), 0);
        assert_eq!(rng.within(3, 3), 3);
        assert!(!rng.chance(0.0));
        assert!(rng.chance(1.0));
        assert!(!rng.percent(0) && rng.percent(100));
        assert_eq!(rng.pick(&[3]), 3);
    }

    #[test]
    fn a_shuffle_keeps_all_items() {
        let mut items: Vec<u32> = (0..20).collect();
        XorShift64(1).shuffle(&mut items);
        assert_ne!(items, (0..20).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..20).collect::<Vec<_>>());
    }
}
