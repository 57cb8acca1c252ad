//! The sequences of an outcome, stored compactly.

use super::names::{NameCache, TaskId};
use super::store::Store;
use anyorder_system::Choice;
use rustc_hash::FxHashMap;
use std::fmt;

/// The runs, the names of their tasks, and the choices that hold more than a name.
pub(crate) struct Sequences {
    pub(crate) store: Store,
    pub(crate) name_cache: NameCache,
    pub(crate) choices: FxHashMap<TaskId, Choice>,
}

impl Sequences {
    pub(crate) fn choices(&self, run: usize) -> Vec<Choice> {
        let steps = self.store.steps(u32::try_from(run).unwrap_or(u32::MAX));
        steps.iter().map(|step| self.name_cache.choice(step.task, &self.choices)).collect()
    }
}

impl fmt::Debug for Sequences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sequences").field("runs", &self.store.len()).finish()
    }
}
