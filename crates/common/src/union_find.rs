//! Disjoint sets of small numbers.

/// Disjoint sets of the numbers below a length. The least number represents its set.
///
/// **Source.** R. Tarjan and J. van Leeuwen, "Worst-case analysis of set union algorithms", J. ACM
/// 31 (2), 1984: path halving. **Deviation.** The least number becomes the root, not the root of
/// the larger set, so that results do not depend on the order of joins. **Cost.** `O(log n)`
/// amortised for each operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnionFind {
    parents: Vec<u32>,
}

impl UnionFind {
    /// Returns `count` sets of one number each.
    #[must_use]
    pub fn new(count: usize) -> UnionFind {
        UnionFind { parents: (0..count as u32).collect() }
    }

    /// Returns how many numbers there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.parents.len()
    }

    /// Returns whether there are no numbers.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.parents.is_empty()
    }

    /// Adds a set of one new number, and returns the number.
    pub fn push(&mut self) -> u32 {
        let new = self.parents.len() as u32;
        self.parents.push(new);
        new
    }

    /// Returns the least number of the set of a number.
    ///
    /// # Panics
    ///
    /// Panics if there is no such number.
    pub fn find(&mut self, mut number: u32) -> u32 {
        while self.parents[number as usize] != number {
            let parent = self.parents[number as usize];
            self.parents[number as usize] = self.parents[parent as usize];
            number = parent;
        }
        number
    }

    /// Joins the sets of two numbers; returns whether they were different.
    ///
    /// # Panics
    ///
    /// Panics if one of the numbers is not there.
    pub fn join(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        self.parents[a.max(b) as usize] = a.min(b);
        a != b
    }

    /// Returns for each number the least number of its set. Linear.
    #[must_use]
    pub fn into_least(mut self) -> Vec<u32> {
        // A parent is less than its number, so it already points to the least one.
        for number in 0..self.parents.len() {
            self.parents[number] = self.parents[self.parents[number] as usize];
        }
        self.parents
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_number_represents_its_set() {
        let mut sets = UnionFind::new(6);
        assert!(sets.join(5, 3) && sets.join(3, 1) && !sets.join(1, 5) && sets.join(2, 4));
        assert_eq!([0, 1, 2, 3, 4, 5].map(|number| sets.find(number)), [0, 1, 2, 1, 2, 1]);
        assert_eq!(sets.push(), 6);
        assert!(sets.join(6, 4) && sets.join(6, 1));
        assert_eq!(sets.len(), 7);
        assert_eq!(sets.into_least(), [0, 1, 1, 1, 1, 1, 1]);
        assert!(UnionFind::default().is_empty());
    }
}
