//! Chooses the first task of a set S: the ready task whose closure is predicted to be the smallest.
//!
//! The prediction uses all places that each task was ever seen to touch. The choice affects only
//! speed.

use super::knowledge::Knowledge;
use anyorder_common::bits;

/// The prediction for a set of ready tasks: for each of them, in order, the ready tasks in its
/// closure.
#[derive(Clone, Debug, Default)]
struct Ranking {
    version: u64,
    /// Whether each closure holds all ready tasks.
    whole: bool,
    sizes: Vec<u16>,
}

/// Not predicted: the closure is at least as large as another.
const NOT_LESS: u16 = u16::MAX;

/// Predictions of one thread.
#[derive(Debug, Default)]
pub(crate) struct Seeds {
    /// By the number of the set of ready tasks.
    rankings: Vec<Ranking>,
    fresh: Ranking,
    closure: Vec<u64>,
    done: Vec<u64>,
}

impl Seeds {
    /// Returns the ready task, not yet attempted, to put into S first, and whether its closure
    /// holds all ready tasks.
    pub(crate) fn choose(
        &mut self,
        know: &Knowledge,
        ready: (&[u64], Option<u32>),
        attempted: &[u64],
        last: Option<u32>,
    ) -> Option<(u32, bool)> {
        let (ready, number) = ready;
        let all = bits::common(ready, ready);
        let stays = |task: u32| {
            last.is_some_and(|last| task == last || bits::has(know.rivals.row(last), task))
        };
        let at = number.map(|number| number as usize);
        if let Some(at) = at.filter(|at| self.rankings.len() <= *at) {
            self.rankings.resize(at + 1, Ranking::default());
        }
        let mut ranking = std::mem::take(at.map_or(&mut self.fresh, |at| &mut self.rankings[at]));
        if at.is_none() || ranking.version != know.version {
            self.rank(know, ready, all, &mut ranking);
        }
        let slot = at.map_or(&mut self.fresh, |at| &mut self.rankings[at]);
        *slot = ranking;
        let ranking = &*slot;
        if ranking.whole {
            return bits::first_outside(ready, attempted).map(|task| (task, true));
        }
        let candidates = bits::members(ready).zip(&ranking.sizes);
        let open = candidates.filter(|(task, _)| !bits::has(attempted, *task));
        let last_is_ready = last.is_some_and(|last| bits::has(ready, last));
        let best = open.min_by_key(|(task, size)| {
            (last_is_ready && !stays(*task), **size, !stays(*task), *task)
        })?;
        Some((best.0, u32::from(*best.1) >= all))
    }

    fn rank(&mut self, know: &Knowledge, ready: &[u64], all: u32, out: &mut Ranking) {
        out.version = know.version;
        out.sizes.clear();
        out.sizes.resize(all as usize, 0);
        for (index, task) in bits::members(ready).enumerate() {
            if out.sizes[index] != 0 {
                continue;
            }
            self.close(know, ready, task);
            let size = bits::common(&self.closure, ready).min(u32::from(NOT_LESS)) as u16;
            out.sizes[index] = size;
            for (other, one) in bits::members(ready).enumerate().skip(index + 1) {
                // Each is in the closure of the other, so both closures are the same.
                let same = bits::has(&self.closure, one) && bits::has(know.rivals.row(one), task);
                if same && out.sizes[other] == 0 {
                    out.sizes[other] = size;
                }
            }
        }
        out.whole = out.sizes.iter().all(|size| u32::from(*size) >= all);
    }

    /// Predicts the closure of a task; may stop once it holds all ready tasks.
    fn close(&mut self, know: &Knowledge, ready: &[u64], task: u32) {
        self.closure.clear();
        self.closure.resize(know.width, 0);
        self.done.clear();
        self.done.resize(know.width, 0);
        bits::set(&mut self.closure, task);
        while let Some(next) = bits::first_outside(&self.closure, &self.done) {
            bits::set(&mut self.done, next);
            let active = bits::has(ready, next) || next < know.observers;
            let row = if active { know.rivals.row(next) } else { know.enablers.row(next) };
            if bits::join(&mut self.closure, row) && bits::within(ready, &self.closure) {
                break;
            }
        }
    }

    /// Removes from a set of tasks those in the predicted closure of one.
    pub(crate) fn take_out(
        &mut self,
        know: &Knowledge,
        ready: &[u64],
        task: u32,
        from: &mut [u64],
    ) {
        self.close(know, ready, task);
        for (word, closure) in from.iter_mut().zip(&self.closure) {
            *word &= !closure;
        }
        from[task as usize / 64] &= !(1 << (task % 64));
    }
}
