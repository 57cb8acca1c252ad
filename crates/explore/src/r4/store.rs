//! The runs of an exploration. A run is stored as its changed steps and the ranges of its parent
//! that it keeps.

use super::step::{ExecutedStep, Steps};
use std::sync::Arc;

/// The number of a run.
pub(crate) type RunId = u32;

/// One run: its parent's first `start` steps, then `middle`, then its parent's steps from `resume`
/// on.
#[derive(Debug)]
struct StoredRun {
    parent: Option<RunId>,
    start: u32,
    middle: Box<[Arc<ExecutedStep>]>,
    resume: u32,
}

/// All runs.
#[derive(Debug, Default)]
pub(crate) struct Store {
    runs: Vec<StoredRun>,
    bytes: u64,
}

impl Store {
    /// Adds a run; linear in its length.
    pub(crate) fn add(&mut self, parent: Option<(RunId, &Steps)>, steps: &Steps) -> RunId {
        let of_parent = parent.map_or(&[][..], |(_, steps)| steps);
        let same = |(a, b): &(&Arc<ExecutedStep>, &Arc<ExecutedStep>)| Arc::ptr_eq(a, b);
        let start = steps.iter().zip(of_parent).take_while(same).count();
        let most = steps.len().min(of_parent.len()) - start;
        let ends = steps.iter().rev().zip(of_parent.iter().rev()).take(most);
        let end = ends.take_while(same).count();
        let middle: Box<[Arc<ExecutedStep>]> = steps[start..steps.len() - end].into();
        // Steps shared with other runs count once: for their only owner.
        let own = middle.iter().filter(|step| Arc::strong_count(step) <= 3);
        self.bytes += own.map(|step| step.memory_bytes()).sum::<u64>();
        self.bytes += (size_of::<StoredRun>() + middle.len() * size_of::<usize>()) as u64;
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let id = number(self.runs.len());
        self.runs.push(StoredRun {
            parent: parent.map(|(id, _)| id),
            start: number(start),
            middle,
            resume: number(of_parent.len() - end),
        });
        id
    }

    /// Returns the number of runs.
    pub(crate) fn len(&self) -> usize {
        self.runs.len()
    }

    /// Returns the approximate memory of the runs, in bytes.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the steps of a run. Takes time linear in its length for each reversal that led to
    /// it.
    pub(crate) fn steps(&self, id: RunId) -> Vec<Arc<ExecutedStep>> {
        let mut lineage = vec![&self.runs[id as usize]];
        while let Some(parent) = lineage.last().and_then(|run| run.parent) {
            lineage.push(&self.runs[parent as usize]);
        }
        let mut steps: Vec<Arc<ExecutedStep>> = Vec::new();
        for run in lineage.into_iter().rev() {
            let (start, rest) = (&steps[..run.start as usize], &steps[run.resume as usize..]);
            let next = [start, &run.middle, rest].concat();
            steps = next;
        }
        steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_come_back_as_they_went() {
        let mut name_cache = super::super::names::NameCache::new(Arc::default());
        let mut step = |i: u32| {
            let task = name_cache.id(&anyorder_system::TaskName::root(&format!("t{i}")), |_| {
                anyorder_system::TaskRole::Task
            });
            Arc::new(ExecutedStep::of(task, &name_cache))
        };
        let steps: Vec<_> = (0..5).map(&mut step).collect();
        let pick = |order: &[usize]| order.iter().map(|i| steps[*i].clone()).collect::<Vec<_>>();
        let mut store = Store::default();
        let mut runs: Vec<(Option<usize>, Vec<Arc<ExecutedStep>>)> = Vec::new();
        let orders: [(Option<usize>, &[usize]); 7] = [
            (None, &[0, 1, 2, 3]),
            (Some(0), &[0, 2, 1, 3]),
            (Some(0), &[0, 1, 2, 3, 4]),
            (Some(1), &[0, 2]),
            (Some(3), &[]),
            (Some(4), &[3, 3, 3]),
            (Some(5), &[3, 3]),
        ];
        for (parent, order) in orders {
            let run = pick(order);
            let of = parent.map(|id| (id as u32, runs[id].1.as_slice()));
            store.add(of, &run);
            runs.push((parent, run));
        }
        for (id, (_, run)) in (0..).zip(&runs) {
            assert_eq!(store.steps(id), *run, "run {id}");
        }
        assert_eq!(store.len(), 7);
        assert!(store.memory_bytes() > 0);
    }
}
