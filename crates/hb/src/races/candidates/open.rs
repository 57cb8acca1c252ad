//! Pairs of blocks, and of visits in them, that are still open.

use super::find::CandidatePair;
use super::visits::BlockId;
use crate::relation::sections::SectionId;
use anyorder_order::{ChainId, ClockRef};
use anyorder_trace::EventId;

/// A pair of actions with a second section that has not ended.
struct OpenPair {
    pair: CandidatePair,
    /// For each common lock: the acquire of the first section, and the second section until it
    /// ends.
    common: Vec<(EventId, SectionId)>,
}

/// An earlier block with edges into the one that a strand is in.
pub(crate) struct EarlierBlock {
    pub(crate) block: BlockId,
    pub(crate) chain: ChainId,
    /// The number below which the later block knows all events of `chain` by edges other than those
    /// between the two blocks.
    pub(crate) known: u32,
    pairs: Vec<OpenPair>,
}

/// The open pairs of the block that a strand is in.
#[derive(Default)]
pub(crate) struct OpenBlock {
    pub(crate) earlier: Vec<EarlierBlock>,
    /// The number of open pairs.
    pub(crate) count: usize,
}

impl OpenBlock {
    /// Opens an earlier block unless it is open.
    pub(crate) fn open(&mut self, block: BlockId, chain: ChainId, known: u32) {
        if !self.earlier.iter().any(|earlier| earlier.block == block) {
            self.earlier.push(EarlierBlock { block, chain, known, pairs: Vec::new() });
        }
    }

    /// Records that the later block learns a clock; `own` is the block whose own edge brings it.
    pub(crate) fn learn(
        &mut self,
        clock: ClockRef,
        own: Option<BlockId>,
        get: impl Fn(ClockRef, ChainId) -> u32,
    ) {
        for earlier in self.earlier.iter_mut().filter(|earlier| Some(earlier.block) != own) {
            earlier.known = earlier.known.max(get(clock, earlier.chain));
        }
    }

    /// Records that the later block observes an action in a section of an earlier block that ended
    /// with `release`.
    pub(crate) fn observe(&mut self, block: BlockId, release: EventId) {
        for earlier in self.earlier.iter_mut().filter(|earlier| earlier.block == block) {
            earlier.known = earlier.known.max(release.0.saturating_add(1));
        }
    }

    /// Opens a pair of actions. Returns whether there was room.
    pub(crate) fn push(
        &mut self,
        earlier: usize,
        pair: CandidatePair,
        common: Vec<(EventId, SectionId)>,
        open_max: usize,
    ) -> bool {
        if self.count >= open_max {
            return false;
        }
        self.count += 1;
        self.earlier[earlier].pairs.push(OpenPair { pair, common });
        true
    }

    /// Ends a section of the later block. Passes candidates to `decided`, and returns the number of
    /// ordered pairs.
    pub(crate) fn released(
        &mut self,
        section: SectionId,
        mut decided: impl FnMut(CandidatePair),
    ) -> u64 {
        let mut ordered = 0;
        for earlier in &mut self.earlier {
            let known = earlier.known;
            earlier.pairs.retain_mut(|open| {
                let ending = |(_, second): &(EventId, SectionId)| *second == section;
                if open.common.iter().any(|c| ending(c) && c.0.0 < known) {
                    ordered += 1;
                    self.count -= 1;
                    return false;
                }
                open.common.retain(|common| !ending(common));
                if open.common.is_empty() {
                    decided(open.pair);
                    self.count -= 1;
                }
                !open.common.is_empty()
            });
        }
        ordered
    }
}
