//! The largest antichain of a sample: how many things can be in progress at the same time.
//!
//! **Problem.** Given `n` elements and a strict partial order on them, find a largest set of which
//! no two are ordered.
//!
//! **Source.** Dilworth, "A decomposition theorem for partially ordered sets", Annals of
//! Mathematics 51, 1950; Fulkerson's reduction to bipartite matching, Proc. AMS 7, 1956; Hopcroft,
//! Karp, "An n^5/2 algorithm for maximum matchings in bipartite graphs", SIAM J. Computing 2(4),
//! 1973; the set itself by König's theorem.
//!
//! **Guarantee.** No two of the result are ordered. If `before` is transitive, no antichain is
//! larger.
//!
//! **Naive version.** All subsets, in the tests below.
//!
//! **Worked example.** 0 < 1 < 3 and 0 < 2 < 3. Matching: 0-1, 1-3 (each element once as the
//! earlier and once as the later of a pair); 4 - 2 = 2 chains cover all, 0 < 1 < 3 and 2. From the
//! unmatched lefts 2 and 3, alternating paths reach right 3 and left 1; elements whose left copy is
//! reached and right copy is not: 1, 2.
//!
//! **Deviations.** Rows of bits instead of lists of edges: each phase tests 64 candidates at a
//! time.
//!
//! **Cost.** `n^2` calls of `before` and `n^2 / 8` bytes; O(n^2 / 64) a phase, with O(sqrt(n))
//! phases. 10,000 elements take 12.5 MB.

use anyorder_common::bits::{Rows, has, members_of_word, unset, width};

/// Returns a largest antichain of `0..elements` under `before(a, b)`, ascending. `before` must be a
/// strict order without cycles; it is called only for pairs of different elements. The module
/// documents the cost.
///
/// ```
/// use anyorder_testkit::greatest_antichain;
///
/// let divides = |a: u32, b: u32| (b + 1) % (a + 1) == 0;
/// // Of 1 to 10: no set of six is free of divisors of one another.
/// assert_eq!(greatest_antichain(10, divides).len(), 5);
/// ```
#[must_use]
pub fn greatest_antichain(elements: u32, before: impl FnMut(u32, u32) -> bool) -> Vec<u32> {
    let mut matching = Matching::new(elements as usize, before);
    while matching.layers() {
        matching.augment();
    }
    matching.independent()
}

/// A matching between left copies (the earlier of a pair) and right copies (the later).
struct Matching {
    elements: usize,
    /// By left copy: the right copies it may be matched with.
    rows: Rows,
    right_of: Vec<u32>,
    left_of: Vec<u32>,
    /// By left copy: its distance from an unmatched one in the last search; `NONE` when not
    /// reached.
    layer: Vec<u32>,
    /// Right copies not reached by the last search.
    unseen: Vec<u64>,
    /// By layer, a row: right copies first reached from left copies of that layer and not yet used.
    fresh: Rows,
    /// The layer of the left copies whose rows hold an unmatched right copy; `NONE` without one.
    layer_last: u32,
}

const NONE: u32 = u32::MAX;

impl Matching {
    fn new(elements: usize, mut before: impl FnMut(u32, u32) -> bool) -> Matching {
        let mut rows = Rows::square(elements);
        let all = 0..elements as u32;
        for (a, b) in all.clone().flat_map(|a| all.clone().map(move |b| (a, b))) {
            if a != b && before(a, b) {
                rows.set(a, b);
            }
        }
        Matching {
            elements,
            rows,
            right_of: vec![NONE; elements],
            left_of: vec![NONE; elements],
            layer: vec![NONE; elements],
            unseen: vec![0; width(elements)],
            fresh: Rows::new(elements),
            layer_last: NONE,
        }
    }

    /// Searches from all unmatched left copies along alternating paths, up to the first layer with
    /// an unmatched right copy. Returns whether one exists.
    fn layers(&mut self) -> bool {
        self.layer_last = NONE;
        self.unseen.fill(u64::MAX);
        self.fresh = Rows::new(self.elements);
        let mut queue: Vec<u32> = Vec::new();
        for left in 0..self.elements {
            let free = self.right_of[left] == NONE;
            self.layer[left] = if free { 0 } else { NONE };
            if free {
                queue.push(left as u32);
            }
        }
        let mut next = 0;
        while next < queue.len() {
            let left = queue[next] as usize;
            next += 1;
            let layer = self.layer[left];
            if layer > self.layer_last {
                break;
            }
            if self.fresh.len() == layer as usize {
                self.fresh.push(None);
            }
            for (word, unseen) in self.unseen.iter_mut().enumerate() {
                let found = self.rows.row(left as u32)[word] & *unseen;
                *unseen &= !found;
                self.fresh.row_mut(layer)[word] |= found;
                for right in members_of_word(found) {
                    let mate = self.left_of[word * 64 + right as usize];
                    if mate == NONE {
                        self.layer_last = layer;
                    } else {
                        debug_assert_eq!(self.layer[mate as usize], NONE);
                        self.layer[mate as usize] = layer + 1;
                        queue.push(mate);
                    }
                }
            }
        }
        self.layer_last != NONE
    }

    /// Augments along disjoint shortest paths, a maximal set of them.
    fn augment(&mut self) {
        for left in 0..self.elements {
            if self.right_of[left] == NONE {
                self.augment_from(left as u32);
            }
        }
    }

    /// A depth-first search with its own stack: paths can be as long as the sample.
    fn augment_from(&mut self, start: u32) {
        let mut path = vec![(start, NONE)];
        while let Some(&mut (left, ref mut by)) = path.last_mut() {
            let layer = self.layer[left as usize];
            let Some(right) = take_common(self.rows.row(left), self.fresh.row_mut(layer)) else {
                path.pop();
                continue;
            };
            let mate = self.left_of[right as usize];
            if mate == NONE {
                *by = right;
                for (left, right) in path {
                    self.right_of[left as usize] = right;
                    self.left_of[right as usize] = left;
                }
                return;
            }
            // Nothing can be found after the last layer.
            if layer < self.layer_last {
                *by = right;
                path.push((mate, NONE));
            }
        }
    }

    /// The elements outside König's vertex cover, which is: left copies not reached, right copies
    /// reached.
    fn independent(&self) -> Vec<u32> {
        (0..self.elements as u32)
            .filter(|&i| self.layer[i as usize] != NONE && has(&self.unseen, i))
            .collect()
    }
}

/// Removes from the second row the first bit that both rows have.
fn take_common(row: &[u64], fresh: &mut [u64]) -> Option<u32> {
    let word = row.iter().zip(&*fresh).position(|(row, fresh)| row & fresh != 0)?;
    let bit = word as u32 * 64 + (row[word] & fresh[word]).trailing_zeros();
    unset(fresh, bit);
    Some(bit)
}

#[cfg(test)]
mod tests {
    use super::greatest_antichain;
    use anyorder_common::bits::Rows;
    use anyorder_common::random::{Random, Rng};

    /// The size of a greatest antichain, by all subsets.
    fn size(elements: u32, before: impl Fn(u32, u32) -> bool) -> usize {
        let ordered: Vec<u32> = (0..elements)
            .map(|a| (0..elements).filter(|&b| before(a, b)).map(|b| 1 << b).sum())
            .collect();
        (0u32..1 << elements)
            .filter(|set| {
                (0..elements).all(|a| set & (1 << a) == 0 || set & ordered[a as usize] == 0)
            })
            .map(|set| set.count_ones() as usize)
            .max()
            .unwrap_or(0)
    }

    /// The transitive closure, by Warshall's loops.
    fn closure(elements: u32, edges: &[(u32, u32)]) -> Rows {
        let mut reaches = Rows::square(elements as usize);
        edges.iter().for_each(|(a, b)| _ = reaches.set(*a, *b));
        for via in 0..elements {
            for from in 0..elements {
                if reaches.has(from, via) {
                    reaches.join(from, via);
                }
            }
        }
        reaches
    }

    #[test]
    fn antichains_are_the_greatest() {
        let (mut chains, mut unordered, mut between) = (0, 0, 0);
        for seed in 0..3_000 {
            let mut rng = Rng::new(seed);
            let elements = rng.within(1, 11) as u32;
            let mut element = || rng.below(elements.into()) as u32;
            let edges: Vec<(u32, u32)> = (0..seed % 31).map(|_| (element(), element())).collect();
            let edges: Vec<(u32, u32)> = edges.into_iter().filter(|(a, b)| a < b).collect();
            let reaches = closure(elements, &edges);
            let before = |a: u32, b: u32| reaches.has(a, b);
            let found = greatest_antichain(elements, before);
            assert!(found.windows(2).all(|w| w[0] < w[1]));
            assert!(found.iter().all(|&a| found.iter().all(|&b| !before(a, b))));
            let size = size(elements, before);
            assert_eq!(found.len(), size, "seed {seed}");
            chains += usize::from(size == 1 && elements > 2);
            unordered += usize::from(size == elements as usize && elements > 2);
            between += usize::from(size > 1 && size < elements as usize);
            // Not transitive: still pairwise unordered.
            let direct = greatest_antichain(elements, |a, b| edges.contains(&(a, b)));
            assert!(direct.iter().all(|&a| direct.iter().all(|&b| !edges.contains(&(a, b)))));
        }
        assert!(chains > 0 && unordered > 0 && between > 0, "{chains} {unordered} {between}");
    }

    #[test]
    fn antichains_of_known_orders() {
        assert_eq!(greatest_antichain(0, |_, _| false), []);
        assert_eq!(greatest_antichain(1000, |a, b| a < b).len(), 1);
        assert_eq!(greatest_antichain(1000, |_, _| false).len(), 1000);
        // 30 chains of 40, by turns.
        assert_eq!(greatest_antichain(1200, |a, b| a < b && a % 30 == b % 30).len(), 30);
        // Subsets of eight: by Sperner's theorem, those of size four.
        let subset = |a: u32, b: u32| a != b && a & b == a;
        assert_eq!(greatest_antichain(256, subset).len(), 70);
    }
}
