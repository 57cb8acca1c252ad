//! Hashes of states: 128 bits, so that two states with one hash do not occur.

use crate::execution::Spins;
use crate::object::Object;

/// A hash in the making.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hash {
    low: u64,
    high: u64,
}

/// Odd numbers without structure: the fractions of the square roots of 2, 3 and 5.
const MIX: [u64; 3] = [0x6a09_e667_f3bc_c909, 0xbb67_ae85_84ca_a73b, 0x3c6e_f372_fe94_f82b];

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

impl Hash {
    pub(crate) const fn new() -> Hash {
        Hash { low: MIX[0], high: MIX[1] }
    }

    #[inline]
    pub(crate) fn number(&mut self, number: u64) {
        self.low = fold(self.low ^ number, MIX[1]) ^ self.high.rotate_left(23);
        self.high = fold(self.high ^ number.rotate_left(32), MIX[2]).wrapping_add(self.low);
    }

    pub(crate) fn end(mut self) -> u128 {
        self.number(MIX[0]);
        self.number(MIX[1]);
        u128::from(self.high) << 64 | u128::from(self.low)
    }

    pub(crate) fn spins(&mut self, spins: &Spins) {
        if *spins != Spins::default() {
            let (fruitless, last) = spins.parts();
            self.number(u64::from(fruitless) << 32 | u64::from(last));
        }
    }

    /// Adds the state of an object. Who holds a lock follows from where the threads are.
    pub(crate) fn object(&mut self, object: &Object) {
        match object {
            Object::Register(value) | Object::Data(value) | Object::Count(value) => {
                self.number(*value);
            }
            Object::Lock { exclusive, upgradable, shared, poisoned } => {
                let held = u64::from(exclusive.is_some()) | u64::from(*upgradable) << 1;
                self.number(held | u64::from(*poisoned) << 2 | u64::from(*shared) << 3);
            }
            Object::Condition { waiting, notified } => {
                self.number(waiting.len() as u64);
                waiting.iter().chain(notified).for_each(|id| self.number(u64::from(id.0)));
            }
            Object::Token(token) => self.number(u64::from(*token)),
            Object::End(end) => {
                self.number(u64::from(end.is_some()));
                self.number(end.unwrap_or(0));
            }
            Object::Queue { items, senders, receivers, .. } => {
                self.number(items.len() as u64);
                items.iter().for_each(|item| self.number(*item));
                self.number(u64::from(*senders) << 32 | u64::from(*receivers));
            }
            Object::Barrier { arrived, generation, .. } => {
                self.number(u64::from(*arrived));
                self.number(*generation);
            }
            Object::Semaphore { permits, closed } => {
                self.number(*permits);
                self.number(u64::from(*closed));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_differ() {
        let mut all = std::collections::BTreeSet::new();
        for a in 0..300 {
            for b in 0..300 {
                let mut hash = Hash::new();
                hash.number(a);
                hash.number(b << 32);
                all.insert(hash.end());
            }
        }
        assert_eq!(all.len(), 300 * 300);
    }
}
