//! Online decomposition of a partial order into chains.

use crate::clock::ChainId;

/// Assigns elements to chains. The elements arrive one by one, in an order that respects the
/// partial order.
///
/// Elements are numbered from 0 as they come. Each belongs to a *group* (for tasks: the handler),
/// and chains never mix groups. [`place`](Chains::place) is greedy: the element goes to the end of
/// the most recently extended chain of its group whose last element is before it, or opens a chain.
///
/// # Cost
///
/// The chains of a group form a list, the most recently used first. Placing an element asks
/// `follows` once for each chain up to the one it joins: once where tasks follow one another, at
/// most once per chain of the group. Greedy decomposition may need more chains than the width of
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
    chains: Vec<Chain>,
    /// By group: its most recently extended chain, or [`NO_CHAIN`].
    recent: Vec<u32>,
    elements_count: u32,
}

/// Marks the end of a group's list.
const NO_CHAIN: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Chain {
    tail: u32,
    /// The chain of the group that was extended last before this one, or [`NO_CHAIN`].
    older: u32,
    /// The reverse of `older`.
    newer: u32,
}

impl Chains {
    /// Places the next element and returns its chain. `follows(chain, tail)` says whether the
    /// element `tail`, the last of `chain`, comes before the new one. Number groups densely: memory
    /// grows with the greatest group.
    ///
    /// # Panics
    ///
    /// Panics after 2^32 - 1 elements.
    pub fn place(&mut self, group: u32, mut follows: impl FnMut(ChainId, u32) -> bool) -> ChainId {
        let element = self.elements_count;
        assert!(element < u32::MAX, "elements are numbered in 32 bits");
        self.elements_count += 1;
        let group = group as usize;
        if group >= self.recent.len() {
            self.recent.resize(group + 1, NO_CHAIN);
        }
        let mut chain = self.recent[group];
        while chain != NO_CHAIN {
            let Chain { tail, older, .. } = self.chains[chain as usize];
            if follows(ChainId(chain), tail) {
                self.unlink(chain);
                break;
            }
            chain = older;
        }
        if chain == NO_CHAIN {
            // There are at most as many chains as elements, so the number fits below `NO_CHAIN`.
            chain = self.chains.len() as u32;
            self.chains.push(Chain { tail: element, older: NO_CHAIN, newer: NO_CHAIN });
        }
        self.link_in_front(chain, group, element);
        ChainId(chain)
    }

    /// Takes a chain out of the list of its group, unless it is the first there.
    fn unlink(&mut self, chain: u32) {
        let Chain { older, newer, .. } = self.chains[chain as usize];
        if newer != NO_CHAIN {
            self.chains[newer as usize].older = older;
            if older != NO_CHAIN {
                self.chains[older as usize].newer = newer;
            }
        }
    }

    /// Puts a chain first in the list of its group, with a new last element.
    fn link_in_front(&mut self, chain: u32, group: usize, element: u32) {
        let front = std::mem::replace(&mut self.recent[group], chain);
        self.chains[chain as usize].tail = element;
        if front != chain {
            if front != NO_CHAIN {
                self.chains[front as usize].newer = chain;
            }
            let entry = &mut self.chains[chain as usize];
            (entry.older, entry.newer) = (front, NO_CHAIN);
        }
    }
}
