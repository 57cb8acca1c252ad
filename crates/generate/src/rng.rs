//! A small deterministic generator of pseudo-random numbers.
//!
//! **Source**: xoshiro256** 1.0 by David Blackman and Sebastiano Vigna (Scrambled linear pseudorandom number
//! generators, ACM TOMS 2021), seeded by SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
//! generators, OOPSLA 2014). Bounded numbers by multiplication and shift, whose bias is below 2^-32
//! for the bounds of this crate (below 2^32). A seed gives the same numbers on every machine, in every version.

/// The state of a generator.
#[derive(Clone, Debug)]
pub(crate) struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// Starts from a seed; every seed is good.
    pub(crate) fn new(seed: u64) -> Rng {
        let mut mixed = seed;
        Rng { state: [(); 4].map(|()| split_mix(&mut mixed)) }
    }

    /// Starts a generator that is independent of others with the same seed and another purpose.
    pub(crate) fn for_purpose(seed: u64, purpose: [u8; 4]) -> Rng {
        let mut mixed = u64::from(u32::from_be_bytes(purpose));
        Rng::new(seed ^ split_mix(&mut mixed))
    }

    /// Returns the next 64 bits.
    pub(crate) fn bits(&mut self) -> u64 {
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

    /// Returns a number below `bound`; 0 for the bound 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns an index into a table of `len` entries; 0 for an empty one.
    pub(crate) fn index(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }

    /// Returns a number in `from..=to`, `from` when the range is empty.
    pub(crate) fn within(&mut self, from: u64, to: u64) -> u64 {
        from + self.below(to.saturating_sub(from) + 1)
    }

    /// Returns `true` with the given probability.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        // 53 bits: every value is a double below 1, so that 1.0 is always and 0.0 never.
        ((self.bits() >> 11) as f64) < probability * (1u64 << 53) as f64
    }

    /// Puts a slice into random order, each order being as likely as any other.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.index(end + 1));
        }
    }
}

fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::{Rng, split_mix};

    /// The first numbers of SplitMix64 from 1234567, as its authors' code gives them.
    #[test]
    fn the_seeding_is_split_mix() {
        let mut state = 1_234_567;
        let got = [(); 3].map(|()| split_mix(&mut state));
        let expected =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(got, expected);
    }

    /// The first numbers of xoshiro256** from the state 1, 2, 3, 4, as its authors' code gives them.
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
    }
}
