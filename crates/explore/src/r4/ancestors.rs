//! What leads to each task of a run: the closure of its direct predecessors, as rows of bits.
//!
//! **Cost.** n²/64 words for n tasks, and as many steps for each direct predecessor.

use super::dependence::{Graph, Predecessor};
use anyorder_system::JobWatch;

/// The ancestors of the tasks of a run, or of those of its first part.
#[derive(Debug, Default)]
pub(crate) struct Ancestors {
    words: usize,
    bits: Vec<u64>,
}

/// So many tasks are taken between two polls.
pub(crate) const POLLED: usize = 64;

impl Ancestors {
    /// Returns the bytes of the rows for `n` tasks.
    pub(crate) fn memory_bytes(n: usize) -> u64 {
        (n as u64).saturating_mul(n.div_ceil(64) as u64).saturating_mul(8)
    }

    pub(crate) fn of(graph: &Graph) -> Ancestors {
        Ancestors::along(graph, |_| true)
    }

    /// Returns what happens before each task.
    pub(crate) fn by_creation(graph: &Graph) -> Ancestors {
        Ancestors::along(graph, |before| before.by_creation || before.enables)
    }

    fn along(graph: &Graph, counts: impl Fn(&&Predecessor) -> bool) -> Ancestors {
        let mut ancestors = Ancestors::default();
        ancestors.reset(graph.len());
        let watch = JobWatch::current();
        for at in 0..graph.len() {
            if at % POLLED == 0 && watch.check().is_err() {
                break;
            }
            ancestors.add(graph.before(at).iter().filter(&counts));
        }
        ancestors.bits.resize(ancestors.words * graph.len(), 0);
        ancestors
    }

    /// Begins with a run of so many tasks, of which none is known.
    pub(crate) fn reset(&mut self, tasks: usize) {
        self.words = tasks.div_ceil(64);
        self.bits.clear();
        self.bits.reserve(self.words * tasks);
    }

    /// Adds the next task, by its direct predecessors. Does nothing if the run has none.
    pub(crate) fn add<'a>(&mut self, before: impl IntoIterator<Item = &'a Predecessor>) {
        let (start, words) = (self.bits.len(), self.words);
        if words == 0 {
            return;
        }
        self.bits.resize(start + words, 0);
        let (earlier, row) = self.bits.split_at_mut(start);
        for one in before {
            let k = one.at as usize;
            for (word, other) in row[..=k / 64].iter_mut().zip(&earlier[k * words..]) {
                *word |= other;
            }
            row[k / 64] |= 1 << (k % 64);
        }
    }

    /// Returns the number of tasks.
    pub(crate) fn len(&self) -> usize {
        self.bits.len().checked_div(self.words).unwrap_or(0)
    }

    /// Adds what leads to a task to a row of bits.
    pub(crate) fn add_to(&self, row: &mut [u64], of: usize) {
        let own = &self.bits[of * self.words..(of + 1) * self.words];
        row.iter_mut().zip(own).for_each(|(word, bits)| *word |= bits);
    }

    /// Returns whether i -> j; both were added.
    pub(crate) fn has(&self, i: usize, j: usize) -> bool {
        self.bits[j * self.words + i / 64] >> (i % 64) & 1 == 1
    }
}
