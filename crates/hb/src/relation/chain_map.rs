//! Assignment of strands to chains.

use crate::relation::strands::{StrandId, Strands};
use anyorder_order::{ChainId, Chains};
use anyorder_trace::HandlerId;

/// Data of one chain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChainInfo {
    pub(crate) handler: HandlerId,
    /// Whether its strands are posted tasks.
    pub(crate) posted: bool,
    /// Its position among its handler's chains of posted tasks; 0 for other chains.
    pub(crate) local: ChainId,
}

/// The chains of a trace. Chains of posted tasks hold tasks of one handler in their task order;
/// chains of thread code hold strands of one handler, each wholly before the next.
///
/// Events of a chain ascend in trace order, so an event number is also a position on its chain. An
/// entry `v` of a clock means: all events of the chain with numbers below `v`.
#[derive(Clone, Debug)]
pub(crate) struct ChainMap {
    chains: Chains,
    of_strand: Vec<ChainId>,
    info: Vec<ChainInfo>,
    strands: Vec<Vec<StrandId>>,
    posted: Vec<Vec<ChainId>>,
    thread: Vec<Vec<ChainId>>,
    placed: Vec<StrandId>,
}

/// In `of_strand`: the strand has no chain yet.
const UNPLACED: ChainId = ChainId(u32::MAX);

impl ChainMap {
    pub(crate) fn new(strands: usize, handlers: usize) -> ChainMap {
        ChainMap {
            chains: Chains::default(),
            of_strand: vec![UNPLACED; strands],
            info: Vec::new(),
            strands: Vec::new(),
            posted: vec![Vec::new(); handlers],
            thread: vec![Vec::new(); handlers],
            placed: Vec::new(),
        }
    }

    /// Returns the number of chains.
    pub(crate) fn len(&self) -> usize {
        self.info.len()
    }

    /// Returns the chain of a strand that was placed.
    #[inline]
    pub(crate) fn of(&self, strand: StrandId) -> ChainId {
        self.of_strand[strand.index()]
    }

    /// Returns whether a strand was placed.
    pub(crate) fn is_placed(&self, strand: StrandId) -> bool {
        self.of_strand[strand.index()] != UNPLACED
    }

    /// Returns the data of a chain.
    #[inline]
    pub(crate) fn info(&self, chain: ChainId) -> ChainInfo {
        self.info[chain.index()]
    }

    /// Returns the chains of posted tasks of a handler, by local number.
    #[inline]
    pub(crate) fn posted_of(&self, handler: HandlerId) -> &[ChainId] {
        self.posted.get(handler.index()).map_or(&[], Vec::as_slice)
    }

    /// Returns the chains of thread code of a handler.
    pub(crate) fn thread_of(&self, handler: HandlerId) -> &[ChainId] {
        self.thread.get(handler.index()).map_or(&[], Vec::as_slice)
    }

    /// Returns the strands of a chain, in order.
    pub(crate) fn strands_of(&self, chain: ChainId) -> &[StrandId] {
        &self.strands[chain.index()]
    }

    /// Places a strand on a chain of its handler and kind whose last strand satisfies `follows`.
    pub(crate) fn place(
        &mut self,
        strands: &Strands,
        strand: StrandId,
        mut follows: impl FnMut(ChainInfo, ChainId, StrandId) -> bool,
    ) {
        let (handler, posted) = (strands.get(strand).handler, strands.get(strand).posted);
        let group = handler.0.wrapping_mul(2).wrapping_add(u32::from(posted));
        let (placed, info) = (&self.placed, &self.info);
        let chain = self
            .chains
            .place(group, |chain, tail| follows(info[chain.index()], chain, placed[tail as usize]));
        self.placed.push(strand);
        self.of_strand[strand.index()] = chain;
        if chain.index() == self.info.len() {
            let list = if posted { &mut self.posted } else { &mut self.thread };
            let list = &mut list[handler.index()];
            self.info.push(ChainInfo { handler, posted, local: ChainId(list.len() as u32) });
            self.strands.push(Vec::new());
            list.push(chain);
        }
        self.strands[chain.index()].push(strand);
    }
}
