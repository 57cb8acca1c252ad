//! The sequences of an outcome, stored compactly.

use super::names::{NameCache, TaskId};
use super::store::Store;
use anyorder_system::{Choice, TaskName};
use rustc_hash::FxHashMap;
use std::fmt;
use std::sync::Arc;

/// The runs, and the names of their tasks.
#[derive(Clone)]
pub(crate) struct Sequences {
    inner: Arc<Inner>,
}

struct Inner {
    store: Store,
    name_cache: NameCache,
    choices: FxHashMap<TaskId, Choice>,
}

impl Sequences {
    pub(crate) fn new(
        store: Store,
        name_cache: NameCache,
        choices: FxHashMap<TaskId, Choice>,
    ) -> Sequences {
        Sequences { inner: Arc::new(Inner { store, name_cache, choices }) }
    }

    pub(crate) fn names(&self, run: usize) -> Vec<TaskName> {
        self.choices(run).into_iter().map(|choice| choice.task).collect()
    }

    pub(crate) fn choices(&self, run: usize) -> Vec<Choice> {
        let id = u32::try_from(run).unwrap_or(u32::MAX);
        let choice = |task: TaskId| {
            let info = self.inner.name_cache.task(task);
            let choice = match self.inner.choices.get(&info.base) {
                Some(choice) => choice.clone(),
                None => Choice::of(info.name.clone()),
            };
            Choice { alternative: info.alternative, ..choice }
        };
        self.inner.store.steps(id).iter().map(|step| choice(step.task)).collect()
    }
}

impl fmt::Debug for Sequences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sequences").field("runs", &self.inner.store.len()).finish()
    }
}
