//! Sorting in generic code.
//!
//! A sort by a closure is compiled once for each type that the code around the closure is compiled
//! for, and a sort is large. These functions sort keys of a plain type, whose sort is compiled
//! once, and then move the items.

/// Returns the indices of the keys in the order of the keys; equal keys keep their order.
#[must_use]
pub fn order_of<K: Ord>(keys: Vec<K>) -> Vec<usize> {
    let mut order: Vec<(K, usize)> = keys.into_iter().zip(0..).collect();
    // The index makes the keys distinct, so that this is stable.
    order.sort_unstable();
    order.into_iter().map(|(_, index)| index).collect()
}

/// Moves items so that the one of index `order[i]` comes to index `i`. Linear.
///
/// # Panics
///
/// Panics if `order` does not have each index once.
pub fn rearrange<T>(items: &mut [T], mut order: Vec<usize>) {
    assert_eq!(items.len(), order.len(), "an index for each item");
    // Cycle by cycle. An index that is done stands at its own place.
    for start in 0..items.len() {
        let mut to = start;
        loop {
            let from = std::mem::replace(&mut order[to], to);
            if from == start {
                break;
            }
            assert_ne!(from, to, "each index once");
            items.swap(to, from);
            to = from;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Random, SplitMix64};

    #[test]
    fn items_are_sorted_as_by_a_stable_sort() {
        for seed in 0..200 {
            let mut rng = SplitMix64(seed);
            let length = rng.below(40);
            let items: Vec<(u64, u64)> = (0..length).map(|at| (rng.below(12), at)).collect();
            let mut expected = items.clone();
            expected.sort_by_key(|(key, _)| *key);
            let mut sorted = items;
            let order = order_of(sorted.iter().map(|(key, _)| *key).collect());
            rearrange(&mut sorted, order);
            assert_eq!(sorted, expected, "seed {seed}");
        }
    }
}
