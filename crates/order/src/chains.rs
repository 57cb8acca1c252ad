//! Online decomposition of a partial order into chains.

use crate::clock::ChainId;

/// Puts elements, which come one by one in an order that respects theirs, on chains.
///
/// Elements are numbered from 0 as they come. Each belongs to a *group* (for tasks: the handler), and
/// chains never mix groups. [`place`](Chains::place) is greedy: the element goes to the end of the most recently
/// extended chain of its group whose last element is before it, or opens a chain.
///
/// # Cost
///
/// The chains of a group stand in a list ordered by use, so an element costs as many questions as the
/// chain it goes to stands far from the front: 1 where tasks follow one another, at most the number of
/// chains of the group. Greedy decomposition may need more chains than the width of the order (the greatest
/// number of pairwise unordered elements), which is the least possible; online, no method reaches
/// it, and first-fit is close on orders that come from programs.
///
/// [`with_tries_max`](Chains::with_tries_max) bounds the questions of one element. Then an element that
/// would have fitted farther down opens a chain: more chains, never a wrong one.
///
/// ```
/// use anyorder_order::Chains;
///
/// let mut chains = Chains::new();
/// let first = chains.place(0, |_, _| true); // no chain yet: nothing is asked
/// let second = chains.place(0, |_, tail| tail == 0); // element 0 is before element 1
/// let other = chains.place(0, |_, _| false);
/// assert_eq!(first, second);
/// assert_ne!(first, other);
/// assert_eq!((chains.position_of(1), chains.position_of(2)), (2, 1));
/// ```
#[derive(Clone, Debug)]
pub struct Chains {
    chains: Vec<Chain>,
    /// By group: its most recently extended chain, or [`NO_CHAIN`].
    recent: Vec<u32>,
    elements: Vec<Placed>,
    tries_max: u32,
    tries_total: u64,
    tries_cut: u64,
    reused: u64,
}

/// In the list of a group: no chain.
const NO_CHAIN: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Chain {
    group: u32,
    tail: u32,
    length: u32,
    /// The chain of the group that was extended last before this one was, or [`NO_CHAIN`].
    older: u32,
    /// The reverse of `older`.
    newer: u32,
}

#[derive(Clone, Copy, Debug)]
struct Placed {
    chain: ChainId,
    /// From 1.
    position: u32,
}

/// What [`Chains`] has done so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ChainsStats {
    /// Elements placed.
    pub elements: u64,
    /// Chains opened.
    pub chains: u64,
    /// Groups with a chain.
    pub groups: u64,
    /// Chains of the group that has most.
    pub chains_of_group_max: u64,
    /// Elements of the longest chain.
    pub longest: u64,
    /// Elements that went to an existing chain.
    pub reused: u64,
    /// Questions asked.
    pub tries: u64,
    /// Elements that opened a chain because of the bound on questions, with chains left unasked.
    pub tries_cut: u64,
}

impl Default for Chains {
    fn default() -> Chains {
        Chains::new()
    }
}

impl Chains {
    /// Starts without chains and without a bound on questions.
    #[must_use]
    pub const fn new() -> Chains {
        Chains::with_tries_max(u32::MAX)
    }

    /// Starts without chains; each element asks at most `tries_max` chains.
    #[must_use]
    pub const fn with_tries_max(tries_max: u32) -> Chains {
        Chains {
            chains: Vec::new(),
            recent: Vec::new(),
            elements: Vec::new(),
            tries_max,
            tries_total: 0,
            tries_cut: 0,
            reused: 0,
        }
    }

    /// Places the next element and returns its chain. `follows(chain, tail)` says whether the element `tail`,
    /// the last of `chain`, is before the new one. Groups must be numbered densely: memory grows with the
    /// greatest group.
    ///
    /// # Panics
    ///
    /// Panics after 2^32 - 1 elements.
    pub fn place(&mut self, group: u32, mut follows: impl FnMut(ChainId, u32) -> bool) -> ChainId {
        self.place_where(group, |chain, entry| follows(chain, entry.tail))
    }

    /// Places the next element by what its clock says: `known(chain)` is the number of positions of a chain of the group that are
    /// before the element, as a [`Clock`](crate::Clock) whose positions count elements has it.
    ///
    /// # Panics
    ///
    /// Panics after 2^32 - 1 elements.
    pub fn place_after(&mut self, group: u32, mut known: impl FnMut(ChainId) -> u32) -> ChainId {
        self.place_where(group, |chain, entry| known(chain) >= entry.length)
    }

    fn place_where(
        &mut self,
        group: u32,
        mut fits: impl FnMut(ChainId, &Chain) -> bool,
    ) -> ChainId {
        let mut tries = 0;
        let mut chain = self.recent.get(group as usize).copied().unwrap_or(NO_CHAIN);
        while chain != NO_CHAIN {
            if tries == self.tries_max {
                self.tries_cut += 1;
                chain = NO_CHAIN;
                break;
            }
            tries += 1;
            let entry = &self.chains[chain as usize];
            if fits(ChainId(chain), entry) {
                break;
            }
            chain = entry.older;
        }
        self.tries_total += u64::from(tries);
        if chain == NO_CHAIN { self.open(group) } else { self.extend(ChainId(chain)) }
    }

    /// Places the next element at the end of a chain that the caller knows to fit. O(1).
    ///
    /// # Panics
    ///
    /// Panics when there is no such chain, and after 2^32 - 1 elements.
    pub fn extend(&mut self, chain: ChainId) -> ChainId {
        let element = self.next_element();
        let Chain { group, older, newer, .. } = self.chains[chain.index()];
        if newer != NO_CHAIN {
            self.chains[newer as usize].older = older;
            if older != NO_CHAIN {
                self.chains[older as usize].newer = newer;
            }
            let front = self.recent[group as usize];
            self.chains[front as usize].newer = chain.0;
            self.recent[group as usize] = chain.0;
            self.chains[chain.index()].older = front;
            self.chains[chain.index()].newer = NO_CHAIN;
        }
        debug_assert_eq!(self.recent[group as usize], chain.0);
        let entry = &mut self.chains[chain.index()];
        entry.tail = element;
        entry.length += 1;
        let position = entry.length;
        self.elements.push(Placed { chain, position });
        self.reused += 1;
        chain
    }

    /// Places the next element on a new chain of `group`, without asking. O(1).
    ///
    /// # Panics
    ///
    /// Panics after 2^32 - 1 elements.
    pub fn open(&mut self, group: u32) -> ChainId {
        let element = self.next_element();
        if group as usize >= self.recent.len() {
            self.recent.resize(group as usize + 1, NO_CHAIN);
        }
        // There are at most as many chains as elements, so the number fits below `NO_CHAIN`.
        let chain = ChainId(self.chains.len() as u32);
        let front = std::mem::replace(&mut self.recent[group as usize], chain.0);
        if front != NO_CHAIN {
            self.chains[front as usize].newer = chain.0;
        }
        let (older, newer) = (front, NO_CHAIN);
        self.chains.push(Chain { group, tail: element, length: 1, older, newer });
        self.elements.push(Placed { chain, position: 1 });
        chain
    }

    fn next_element(&self) -> u32 {
        let element = u32::try_from(self.elements.len()).unwrap_or(u32::MAX);
        assert!(element < u32::MAX, "elements are numbered in 32 bits");
        element
    }

    /// Makes room for exactly this many more elements, to keep growth from taking twice what is needed.
    pub fn reserve_exact(&mut self, elements: usize) {
        self.elements.reserve_exact(elements);
    }

    /// Returns the number of elements placed.
    #[must_use]
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// Returns whether no element was placed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    /// Returns the number of chains.
    #[must_use]
    pub fn chains_count(&self) -> usize {
        self.chains.len()
    }

    /// Returns the chain of an element. O(1).
    ///
    /// # Panics
    ///
    /// Panics when the element was not placed.
    #[inline]
    #[must_use]
    pub fn chain_of(&self, element: u32) -> ChainId {
        self.elements[element as usize].chain
    }

    /// Returns the position of an element in its chain, from 1. O(1).
    ///
    /// # Panics
    ///
    /// Panics when the element was not placed.
    #[inline]
    #[must_use]
    pub fn position_of(&self, element: u32) -> u32 {
        self.elements[element as usize].position
    }

    /// Returns the last element of a chain. O(1).
    ///
    /// # Panics
    ///
    /// Panics when there is no such chain.
    #[inline]
    #[must_use]
    pub fn tail(&self, chain: ChainId) -> u32 {
        self.chains[chain.index()].tail
    }

    /// Returns the number of elements of a chain. O(1).
    ///
    /// # Panics
    ///
    /// Panics when there is no such chain.
    #[inline]
    #[must_use]
    pub fn length(&self, chain: ChainId) -> u32 {
        self.chains[chain.index()].length
    }

    /// Returns the group of a chain. O(1).
    ///
    /// # Panics
    ///
    /// Panics when there is no such chain.
    #[inline]
    #[must_use]
    pub fn group_of(&self, chain: ChainId) -> u32 {
        self.chains[chain.index()].group
    }

    /// Returns the chains of a group, the most recently extended first; none for an unknown group.
    pub fn chains_of_group(&self, group: u32) -> impl Iterator<Item = ChainId> + '_ {
        let first = self.recent.get(group as usize).copied().unwrap_or(NO_CHAIN);
        let some = |chain: u32| (chain != NO_CHAIN).then_some(ChainId(chain));
        std::iter::successors(some(first), move |chain| some(self.chains[chain.index()].older))
    }

    /// Returns the counts. O(chains).
    #[must_use]
    pub fn stats(&self) -> ChainsStats {
        let mut of_groups = vec![0u64; self.recent.len()];
        for chain in &self.chains {
            of_groups[chain.group as usize] += 1;
        }
        ChainsStats {
            elements: self.elements.len() as u64,
            chains: self.chains.len() as u64,
            groups: of_groups.iter().filter(|&&chains| chains != 0).count() as u64,
            chains_of_group_max: of_groups.iter().copied().max().unwrap_or(0),
            longest: self.chains.iter().map(|chain| u64::from(chain.length)).max().unwrap_or(0),
            reused: self.reused,
            tries: self.tries_total,
            tries_cut: self.tries_cut,
        }
    }

    /// Returns the bytes held on the heap.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.chains.capacity() * size_of::<Chain>()
            + self.elements.capacity() * size_of::<Placed>()
            + self.recent.capacity() * size_of::<u32>()
    }
}
