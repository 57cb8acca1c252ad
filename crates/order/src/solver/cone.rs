//! The keys near an edge: those it reaches, or that reach it, up to a bound.

use super::condense::{Key, Keys};
use super::graph::Graph;

/// The greatest number of keys on each side of a new edge.
const CONE: usize = 256;

/// The keys reachable from one key, or those that reach it.
#[derive(Clone, Debug, Default)]
pub(super) struct Cone {
    /// By key: the last stamp at which it was found, and its position in `keys`.
    mark: Vec<(u32, u32)>,
    stamp: u32,
    pub(super) keys: Vec<Key>,
}

impl Cone {
    pub(super) fn new(keys: usize) -> Cone {
        Cone { mark: vec![(0, 0); keys], ..Cone::default() }
    }

    /// Collects the keys that a key reaches (or that reach it), itself included, up to [`CONE`]
    /// keys.
    pub(super) fn grow<const OUT: bool>(&mut self, keys: &Keys, graph: &Graph, start: Key) {
        self.stamp += 1;
        self.keys.clear();
        self.meet(start);
        let mut next = 0;
        while next < self.keys.len() && self.keys.len() < CONE {
            let key = self.keys[next];
            next += 1;
            let given = if OUT { keys.out.keys(key) } else { keys.into.keys(key) };
            for &other in given {
                self.meet(other);
            }
            if OUT {
                graph.added_out(key).for_each(|(_, added)| self.meet(added.to));
            } else {
                graph.added_into(key).for_each(|(_, added)| self.meet(added.from));
            }
        }
    }

    fn meet(&mut self, key: Key) {
        let mark = &mut self.mark[key as usize];
        if mark.0 != self.stamp {
            *mark = (self.stamp, self.keys.len() as u32);
            self.keys.push(key);
        }
    }

    /// Returns whether a key was found.
    #[inline]
    pub(super) fn has(&self, key: Key) -> bool {
        self.mark[key as usize].0 == self.stamp
    }

    /// Returns the position of a key that was found.
    #[inline]
    pub(super) fn place(&self, key: Key) -> u32 {
        self.mark[key as usize].1
    }
}
