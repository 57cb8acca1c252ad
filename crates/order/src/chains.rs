//! Online decomposition of a partial order into chains.

use crate::clock::ChainId;
use std::collections::BTreeMap;

/// Assigns elements to chains. The elements arrive one by one, in an order that respects the
/// partial order.
///
/// Elements are numbered from 0 as they come. Each belongs to a *group* (for tasks: the handler),
/// and chains never mix groups. [`place`](Chains::place) is greedy: the element goes to the end of
/// the most recently extended chain of its group whose last element is before it, or opens a chain.
///
/// # Cost
///
/// The chains of a group are ordered, the most recently used first. Placing an element asks
/// `follows` once for each chain up to the one it joins: once where tasks follow one another, at
/// most once per chain of the group. A caller that knows which chains cannot follow skips them with
/// [`find`](Chains::find). Greedy decomposition may need more chains than the width of
/// the order (the greatest number of pairwise unordered elements), which is the least possible. No
/// online method reaches the width; first-fit is close to it on orders that come from programs.
///
/// ```
/// use anyorder_order::Chains;
///
/// let mut chains = Chains::default();
/// let first = chains.place(0, |_, _| true); // no chain yet: nothing is asked
/// let second = chains.place(0, |_, tail| tail == 0); // element 0 is before element 1
/// let other = chains.place(0, |_, _| false);
/// assert_eq!(first, second);
/// assert_ne!(first, other);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Chains {
    /// The last element of each chain.
    tails: Vec<u32>,
    /// The chains by group and last element. The one that was extended last has the greatest.
    by_tail: BTreeMap<(u32, u32), u32>,
    elements_count: u32,
}

impl Chains {
    /// Places the next element and returns its chain. `follows(chain, tail)` says whether the
    /// element `tail`, the last of `chain`, comes before the new one.
    ///
    /// # Panics
    ///
    /// Panics after 2^32 - 1 elements.
    pub fn place(&mut self, group: u32, follows: impl FnMut(ChainId, u32) -> bool) -> ChainId {
        let chain = self.find(group, u32::MAX, follows);
        self.extend(group, chain)
    }

    /// Returns the chain of a group on which [`place`](Self::place) would put the next element, if
    /// it is known that none of those follows whose last element is `below` or greater.
    pub fn find(
        &self,
        group: u32,
        below: u32,
        mut follows: impl FnMut(ChainId, u32) -> bool,
    ) -> Option<ChainId> {
        let candidates = self.by_tail.range((group, 0)..(group, below)).rev();
        let mut chains = candidates.map(|((_, tail), chain)| (ChainId(*chain), *tail));
        chains.find(|(chain, tail)| follows(*chain, *tail)).map(|(chain, _)| chain)
    }

    /// Places the next element at the end of a chain of its group, or opens a chain. Returns the
    /// chain. Logarithmic in the chains.
    ///
    /// # Panics
    ///
    /// Panics after 2^32 - 1 elements, and for a chain that does not exist.
    pub fn extend(&mut self, group: u32, chain: Option<ChainId>) -> ChainId {
        let element = self.elements_count;
        assert!(element < u32::MAX, "elements are numbered in 32 bits");
        self.elements_count += 1;
        let chain = chain.unwrap_or_else(|| {
            // There are at most as many chains as elements, so the number fits.
            self.tails.push(element);
            ChainId(self.tails.len() as u32 - 1)
        });
        let tail = std::mem::replace(&mut self.tails[chain.index()], element);
        self.by_tail.remove(&(group, tail));
        self.by_tail.insert((group, element), chain.0);
        chain
    }

    /// Returns the last element of a chain. The chain that was extended last has the greatest.
    ///
    /// # Panics
    ///
    /// Panics for a chain that does not exist.
    #[must_use]
    pub fn tail(&self, chain: ChainId) -> u32 {
        self.tails[chain.index()]
    }
}
