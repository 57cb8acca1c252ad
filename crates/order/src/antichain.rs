//! The greatest antichain of a sample: how many things can be under way at the same time.
//!
//! **Problem.** Given `n` elements and a strict partial order on them, find a largest set of which no two are ordered.
//!
//! **Source.** Dilworth, "A decomposition theorem for partially ordered sets", Annals of Mathematics 51, 1950; Fulkerson's reduction to
//! bipartite matching, Proc. AMS 7, 1956; Hopcroft, Karp, "An n^5/2 algorithm for maximum matchings in bipartite
//! graphs", SIAM J. Computing 2(4), 1973; the set itself by König's theorem.
//!
//! **Guarantee.** No two of the result are ordered. If `before` is transitive, no antichain is larger.
//!
//! **Naive version.** All subsets, in `tests/`.
//!
//! **Worked example.** 0 < 1 < 3 and 0 < 2 < 3. Matching: 0-1, 1-3 (each element once as the earlier and once as the later of a
//! pair); 4 - 2 = 2 chains cover all, 0 < 1 < 3 and 2. From the unmatched lefts 2 and 3, alternating paths reach right 3 and
//! left 1; elements whose left copy is reached and right copy is not: 1, 2.
//!
//! **Deviations.** Rows of bits instead of lists of edges: each phase looks at 64 candidates at a time.
//!
//! **Cost.** `n^2` questions and `n^2 / 8` bytes; O(n^2 / 64) a phase, with O(sqrt(n)) phases. 10,000 elements take 12.5 MB.

/// Returns a greatest antichain of `0..elements` under `before(a, b)`, ascending. `before` must be a strict order without
/// cycles; only pairs of different elements are asked. See the module for the cost.
///
/// ```
/// use anyorder_order::greatest_antichain;
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
    /// Words a row.
    words: usize,
    /// By left copy: the right copies it may be matched with.
    rows: Vec<u64>,
    right_of: Vec<u32>,
    left_of: Vec<u32>,
    /// By left copy: its distance from an unmatched one in the last search; `NONE` when not reached.
    layer: Vec<u32>,
    /// Right copies not reached by the last search.
    unseen: Vec<u64>,
    /// By layer, a row: right copies first reached from left copies of that layer and not yet used.
    fresh: Vec<u64>,
    /// The layer of the left copies whose rows hold an unmatched right copy; `NONE` without one.
    layer_last: u32,
}

const NONE: u32 = u32::MAX;

impl Matching {
    fn new(elements: usize, mut before: impl FnMut(u32, u32) -> bool) -> Matching {
        let words = elements.div_ceil(64);
        let mut rows = vec![0u64; elements * words];
        for a in 0..elements {
            for b in 0..elements {
                if a != b && before(a as u32, b as u32) {
                    rows[a * words + b / 64] |= 1 << (b % 64);
                }
            }
        }
        Matching {
            elements,
            words,
            rows,
            right_of: vec![NONE; elements],
            left_of: vec![NONE; elements],
            layer: vec![NONE; elements],
            unseen: vec![0; words],
            fresh: Vec::new(),
            layer_last: NONE,
        }
    }

    /// Searches from all unmatched left copies along alternating paths, up to the first layer with an unmatched right
    /// copy; returns whether there is one.
    fn layers(&mut self) -> bool {
        self.layer_last = NONE;
        self.unseen.fill(u64::MAX);
        self.fresh.clear();
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
            let row = layer as usize * self.words;
            if self.fresh.len() == row {
                self.fresh.resize(row + self.words, 0);
            }
            for word in 0..self.words {
                let mut found = self.rows[left * self.words + word] & self.unseen[word];
                self.unseen[word] &= !found;
                self.fresh[row + word] |= found;
                while found != 0 {
                    let right = word * 64 + found.trailing_zeros() as usize;
                    found &= found - 1;
                    let mate = self.left_of[right];
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
            let row = &self.rows[left as usize * self.words..][..self.words];
            let fresh = &mut self.fresh[layer as usize * self.words..][..self.words];
            let Some(right) = take_common(row, fresh) else {
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
            // Behind the last layer there is nothing to find.
            if layer < self.layer_last {
                *by = right;
                path.push((mate, NONE));
            }
        }
    }

    /// The elements outside König's vertex cover, which is: left copies not reached, right copies reached.
    fn independent(&self) -> Vec<u32> {
        (0..self.elements)
            .filter(|&i| self.layer[i] != NONE && self.unseen[i / 64] & (1 << (i % 64)) != 0)
            .map(|i| i as u32)
            .collect()
    }
}

/// Takes the first bit that both rows have out of the second.
fn take_common(row: &[u64], fresh: &mut [u64]) -> Option<u32> {
    let word = row.iter().zip(&*fresh).position(|(row, fresh)| row & fresh != 0)?;
    let bit = (row[word] & fresh[word]).trailing_zeros();
    fresh[word] &= !(1 << bit);
    // Elements are numbered in 32 bits.
    Some((word * 64) as u32 + bit)
}
