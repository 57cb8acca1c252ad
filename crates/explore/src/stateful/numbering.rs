//! Small numbers for tasks and places, in the order of first use.

use anyorder_system::TaskKey;
use rustc_hash::FxHashMap;

/// No number yet.
const UNKNOWN: u32 = u32::MAX;

/// Numbers of keys: by index where keys are small numbers, in a map where they are hashes.
#[derive(Debug, Default)]
pub(crate) struct Numbering {
    dense: Vec<u32>,
    hashed: FxHashMap<u64, u32>,
    keys: Vec<u64>,
}

impl Numbering {
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.dense.len() as u64 * 4 + self.hashed.len() as u64 * 24 + self.keys.len() as u64 * 8
    }

    #[inline]
    pub(crate) fn find(&self, key: u64) -> Option<u32> {
        let number = if key < TaskKey::DENSE {
            self.dense.get(key as usize).copied()
        } else {
            self.hashed.get(&key).copied()
        };
        number.filter(|number| *number != UNKNOWN)
    }

    /// Returns the number of a key, and whether it is new.
    pub(crate) fn intern(&mut self, key: u64) -> (u32, bool) {
        if let Some(number) = self.find(key) {
            return (number, false);
        }
        let number = self.push(key);
        if key < TaskKey::DENSE {
            let index = key as usize;
            if self.dense.len() <= index {
                self.dense.resize(index + 1, UNKNOWN);
            }
            self.dense[index] = number;
        } else {
            self.hashed.insert(key, number);
        }
        (number, true)
    }

    /// Takes the next number for something without a key.
    pub(crate) fn push(&mut self, key: u64) -> u32 {
        self.keys.push(key);
        (self.keys.len() - 1) as u32
    }

    pub(crate) fn task(&self, number: u32) -> TaskKey {
        TaskKey(self.keys[number as usize])
    }
}
