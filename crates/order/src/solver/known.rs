//! The pairs of blocks that the given orders determine.

use super::blocks::Blocks;
use anyorder_common::bits::{has, members_of_word, width};

/// For each block, a bit set of the blocks of its resource that must come before it.
///
/// A set takes one word for a resource of at most 64 blocks, and as many as needed for a larger
/// one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    /// The number of each block within its resource.
    number: Vec<u32>,
    start: Vec<usize>,
    words: Vec<u64>,
}

impl Known {
    /// Returns the size of the sets of these blocks, in bytes.
    pub(crate) fn bytes_for(blocks: &Blocks) -> usize {
        blocks.of.iter().map(|members| members.len() * width(members.len()) * 8).sum()
    }

    /// Starts with no known pair. The blocks of each resource are numbered as in `members`.
    pub(crate) fn new(blocks: &Blocks, members: &[Vec<u32>]) -> Known {
        let mut known = Known {
            number: vec![0; blocks.first.len()],
            start: vec![0; blocks.first.len()],
            words: vec![0; Self::bytes_for(blocks) / 8],
        };
        let mut at = 0;
        for members in members {
            let words = width(members.len());
            for (number, &block) in members.iter().enumerate() {
                known.number[block as usize] = number as u32;
                known.start[block as usize] = at;
                at += words;
            }
        }
        known
    }

    /// Returns the number of a block within its resource.
    #[inline]
    pub(crate) fn number(&self, block: u32) -> u32 {
        self.number[block as usize]
    }

    /// Returns whether `first` must come before `second`, a block of the same resource.
    #[inline]
    pub(crate) fn is(&self, first: u32, second: u32) -> bool {
        if self.words.is_empty() {
            return false;
        }
        let bit = self.number[first as usize];
        has(&self.words[self.start[second as usize]..], bit)
    }

    #[inline]
    pub(crate) fn word(&self, block: u32, word: usize) -> u64 {
        self.words[self.start[block as usize] + word]
    }

    /// Records that `first` and all its predecessors come before `second`, whose set takes `words`
    /// words; calls `fresh` with the number of each new predecessor.
    pub(crate) fn learn(
        &mut self,
        first: u32,
        second: u32,
        words: usize,
        mut fresh: impl FnMut(u32),
    ) {
        let (from, to) = (self.start[first as usize], self.start[second as usize]);
        let own = self.number[first as usize] as usize;
        for word in 0..words {
            let mut known = self.words[from + word];
            if own / 64 == word {
                known |= 1 << (own % 64);
            }
            let new = known & !self.words[to + word];
            self.words[to + word] |= new;
            members_of_word(new).for_each(|bit| fresh(word as u32 * 64 + bit));
        }
    }

    /// Returns how many pairs are known.
    pub(crate) fn count(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    pub(crate) fn bytes(&self) -> usize {
        8 * self.words.len() + 12 * self.number.len()
    }
}
