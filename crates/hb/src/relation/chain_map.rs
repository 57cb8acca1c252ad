//! Assignment of strands to chains.

use crate::relation::strands::{StrandId, Strands};
use anyorder_order::{ChainId, Chains, ClockRef, ClockStore};
use anyorder_trace::HandlerId;
use rustc_hash::FxHashMap;

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
    /// The first events of the strands of each chain. Searches touch only these.
    firsts: Vec<Vec<u32>>,
    posted: Vec<Vec<ChainId>>,
    thread: Vec<Vec<ChainId>>,
    placed: Vec<StrandId>,
    /// For a group and a clock: the chains whose last element is this one or a later one do not
    /// precede a strand with that clock. Only for posted strands: the clocks of their orders are
    /// not renumbered while strands are placed.
    failed: FxHashMap<(u32, ClockRef), u32>,
    /// How many chains were asked for a place.
    pub(crate) asked: u64,
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
            firsts: Vec::new(),
            posted: vec![Vec::new(); handlers],
            thread: vec![Vec::new(); handlers],
            placed: Vec::new(),
            failed: FxHashMap::default(),
            asked: 0,
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

    /// Returns the strands of a chain that begin before an event number, in order.
    pub(crate) fn begun_on(&self, chain: ChainId, before: u32) -> &[StrandId] {
        let firsts = &self.firsts[chain.index()];
        // Most questions are about the present, where all strands have begun.
        let begun = match firsts.last() {
            Some(last) if *last < before => firsts.len(),
            _ => firsts.partition_point(|first| *first < before),
        };
        &self.strands[chain.index()][..begun]
    }

    /// Places a strand on a chain of its handler and kind whose last strand is before it.
    ///
    /// `clock` has the number of the event below which all events of each chain are before the
    /// strand, by local number for a posted strand.
    pub(crate) fn place(
        &mut self,
        strands: &Strands,
        strand: StrandId,
        store: &ClockStore,
        clock: ClockRef,
    ) {
        let (handler, posted) = (strands.get(strand).handler, strands.get(strand).posted);
        let group = handler.0.wrapping_mul(2).wrapping_add(u32::from(posted));
        let chain = match self.few_known(store, clock, (handler, posted)) {
            Some(known) => {
                self.asked += known.len() as u64;
                let follows = |(chain, value): &(ChainId, u32)| {
                    let tail = self.chains.tail(*chain);
                    (*value > self.last_of(strands, tail)).then_some((tail, *chain))
                };
                known.iter().filter_map(follows).max().map(|(_, chain)| chain)
            }
            None => {
                let failed = self.failed.get(&(group, clock)).filter(|_| posted);
                let below = failed.copied().unwrap_or(u32::MAX);
                let mut asked = 0;
                let found = self.chains.find(group, below, |chain, tail| {
                    asked += 1;
                    let info = self.info[chain.index()];
                    let value = store.get(clock, if posted { info.local } else { chain });
                    value > self.last_of(strands, tail)
                });
                self.asked += asked;
                if posted && asked > FAILED_NOTED_MIN {
                    // Whatever has this clock, too, need not ask these chains again: they only get
                    // later tails.
                    let below = found.map_or(0, |chain| self.chains.tail(chain));
                    self.failed.insert((group, clock), below);
                }
                found
            }
        };
        let chain = self.chains.extend(group, chain);
        self.placed.push(strand);
        self.of_strand[strand.index()] = chain;
        if chain.index() == self.info.len() {
            let list = if posted { &mut self.posted } else { &mut self.thread };
            let list = &mut list[handler.index()];
            self.info.push(ChainInfo { handler, posted, local: ChainId(list.len() as u32) });
            self.strands.push(Vec::new());
            self.firsts.push(Vec::new());
            list.push(chain);
        }
        self.strands[chain.index()].push(strand);
        self.firsts[chain.index()].push(strands.get(strand).first.0);
    }

    /// Returns the chains of a handler and kind of which a clock knows something, if the clock has
    /// few entries.
    fn few_known(
        &self,
        store: &ClockStore,
        clock: ClockRef,
        (handler, posted): (HandlerId, bool),
    ) -> Option<Vec<(ChainId, u32)>> {
        let mut known = Vec::new();
        let few = store.for_each_while(clock, |chain, value| {
            let chain = match posted {
                true => self.posted_of(handler).get(chain.index()).copied(),
                false => Some(chain),
            };
            known.extend(chain.map(|chain| (chain, value)));
            known.len() <= FEW_KNOWN_MAX
        });
        known.retain(|(chain, _)| {
            let info = self.info[chain.index()];
            info.handler == handler && info.posted == posted
        });
        few.then_some(known)
    }

    /// Returns the last event of the strand that was placed as an element.
    fn last_of(&self, strands: &Strands, element: u32) -> u32 {
        strands.get(self.placed[element as usize]).last.0
    }
}

/// The most chains that a strand may know for only those to be asked for a place.
const FEW_KNOWN_MAX: usize = 16;

/// The fewest chains that are asked in vain before that is noted.
const FAILED_NOTED_MIN: u64 = 4;
