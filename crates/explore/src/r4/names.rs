//! Tasks and locations as small numbers, shared by all workers.
//!
//! The numbers depend on the order of first use, so no output may depend on their order.

use super::kept::{KeptStep, KeptTexts};
use super::lock::{read, write};
use crate::location_name::LocationName;
use anyorder_system::{Choice, Hash128, Step, TaskName, TaskRole, TaskSystem};
use rustc_hash::FxHashMap;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, RwLock};

/// The number of a task's name, or of a further alternative of that task.
pub(crate) type TaskId = u32;

/// No task.
pub(crate) const NO_TASK: TaskId = TaskId::MAX;

/// The data of a task's name.
#[derive(Clone, Debug)]
pub(crate) struct TaskInfo {
    pub(crate) name: TaskName,
    /// A hash of the name's text: the same in every run of this program.
    pub(crate) hash: u128,
    /// The task that created it, by its name.
    pub(crate) creator: TaskId,
    pub(crate) role: TaskRole,
    /// The first alternative of this task.
    pub(crate) base: TaskId,
    /// The number of this alternative, from 0.
    pub(crate) alternative: u32,
}

/// All names used so far, by any worker.
#[derive(Debug, Default)]
pub(crate) struct Names {
    tables: RwLock<Tables>,
    /// The bytes of the texts of kept steps.
    kept_bytes: AtomicU64,
}

#[derive(Debug, Default)]
struct Tables {
    tasks: Vec<TaskInfo>,
    task_ids: HashMap<TaskName, TaskId>,
    /// By the task and the number of the alternative.
    alternative_ids: HashMap<(TaskId, u32), TaskId>,
    locations: Vec<LocationName>,
    location_ids: HashMap<LocationName, u32>,
    /// The handlers of tasks, if they are kept.
    handlers: FxHashMap<TaskId, String>,
}

impl Names {
    /// Returns the bytes of the texts of kept steps.
    pub(crate) fn kept_bytes(&self) -> u64 {
        self.kept_bytes.load(Ordering::Relaxed)
    }

    /// Returns the number of a location.
    pub(crate) fn location(&self, name: LocationName) -> u32 {
        if let Some(id) = read(&self.tables).location_ids.get(&name) {
            return *id;
        }
        let mut tables = write(&self.tables);
        if let Some(id) = tables.location_ids.get(&name) {
            return *id;
        }
        let id = number(tables.locations.len());
        tables.locations.push(name.clone());
        tables.location_ids.insert(name, id);
        id
    }

    /// Returns whether some location stands for something else than the status of a task.
    pub(crate) fn any_data(&self) -> bool {
        read(&self.tables).locations.iter().any(|name| !name.is_task_status())
    }

    /// Returns whether some step accessed the location with this name.
    pub(crate) fn has_location(&self, name: &LocationName) -> bool {
        read(&self.tables).location_ids.contains_key(name)
    }

    /// Returns the handler that a task runs on; empty if unknown.
    pub(crate) fn handler(&self, base: TaskId) -> String {
        read(&self.tables).handlers.get(&base).cloned().unwrap_or_default()
    }

    /// Returns the text of a location.
    pub(crate) fn location_text(&self, id: u32) -> Arc<str> {
        read(&self.tables).locations[id as usize].text.clone()
    }

    /// Returns whether a location stands for the status of a task.
    pub(crate) fn is_task_status(&self, id: u32) -> bool {
        read(&self.tables).locations[id as usize].is_task_status()
    }

    /// Returns whether a location has this name.
    pub(crate) fn is_location(&self, id: u32, name: &LocationName) -> bool {
        read(&self.tables).locations[id as usize] == *name
    }
}

/// Converts a count to 32 bits. Each entry takes more than a hundred bytes, so memory ends first.
fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX - 1)
}

/// One worker's view of the names. It finds names that it has used before without a lock.
#[derive(Debug)]
pub(crate) struct NameCache {
    pub(crate) names: Arc<Names>,
    tasks: Vec<TaskInfo>,
    ids: HashMap<TaskName, TaskId>,
    /// The handlers that this worker has noted.
    handlers: FxHashMap<TaskId, String>,
    /// The texts of the steps that this worker has kept.
    texts: KeptTexts,
}

impl NameCache {
    pub(crate) fn new(names: Arc<Names>) -> NameCache {
        NameCache {
            names,
            tasks: Vec::new(),
            ids: HashMap::new(),
            handlers: FxHashMap::default(),
            texts: KeptTexts::default(),
        }
    }

    /// Keeps a step for reports.
    pub(crate) fn keep(&mut self, system: &dyn TaskSystem, step: &Step) -> KeptStep {
        let before = self.texts.memory_bytes();
        let kept = KeptStep::of(system, step, &mut self.texts);
        let new = self.texts.memory_bytes() - before;
        self.names.kept_bytes.fetch_add(new, Ordering::Relaxed);
        kept
    }

    /// Returns the number of a name. Calls `role` for names that no worker has used.
    pub(crate) fn id(&mut self, name: &TaskName, role: impl Fn(&TaskName) -> TaskRole) -> TaskId {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let shared = read(&self.names.tables).task_ids.get(name).copied();
        let id = shared.unwrap_or_else(|| self.add(name, role));
        self.ids.insert(name.clone(), id);
        self.catch_up();
        id
    }

    /// Adds a name and its creators, outermost creator first. A loop, because a chain of a million
    /// timers must not recurse.
    fn add(&self, name: &TaskName, role: impl Fn(&TaskName) -> TaskRole) -> TaskId {
        let mut tables = write(&self.names.tables);
        let mut missing = Vec::new();
        let mut next = Some(name);
        let mut creator = NO_TASK;
        while let Some(name) = next {
            if let Some(id) = tables.task_ids.get(name) {
                creator = *id;
                break;
            }
            missing.push(name);
            next = name.creator();
        }
        for name in missing.into_iter().rev() {
            let id = number(tables.tasks.len());
            let hash = Hash128::of(name.to_string().as_bytes()).0;
            let role = role(name);
            let info =
                TaskInfo { name: name.clone(), hash, creator, role, base: id, alternative: 0 };
            tables.tasks.push(info);
            tables.task_ids.insert(name.clone(), id);
            creator = id;
        }
        creator
    }

    /// Returns the number of an alternative of a task.
    pub(crate) fn alternative(&mut self, base: TaskId, alternative: u32) -> TaskId {
        if alternative == 0 {
            return base;
        }
        let known = read(&self.names.tables).alternative_ids.get(&(base, alternative)).copied();
        let id = known.unwrap_or_else(|| {
            let tables = &mut *write(&self.names.tables);
            *tables.alternative_ids.entry((base, alternative)).or_insert_with(|| {
                let mut info = tables.tasks[base as usize].clone();
                let part = format!("{}\n{alternative}", info.name);
                (info.hash, info.alternative) = (Hash128::of(part.as_bytes()).0, alternative);
                tables.tasks.push(info);
                number(tables.tasks.len() - 1)
            })
        });
        self.catch_up();
        id
    }

    /// Notes the handler of a task. If runs name several, the first by name stands for all: that
    /// does not depend on the order of runs.
    pub(crate) fn note_handler(&mut self, base: TaskId, handler: &str) {
        let is_known = self.handlers.get(&base).is_some_and(|known| known.as_str() <= handler);
        if handler.is_empty() || is_known {
            return;
        }
        self.handlers.insert(base, handler.to_owned());
        let tables = &mut *write(&self.names.tables);
        let known = tables.handlers.entry(base).or_insert_with(|| handler.to_owned());
        if handler < known.as_str() {
            handler.clone_into(known);
        }
    }

    /// Returns the first alternative of a task.
    pub(crate) fn base(&self, id: TaskId) -> TaskId {
        self.task(id).base
    }

    /// Asks again for the roles of all names, because a system may know roles only after it ran the
    /// tasks. No other worker may have used the names yet.
    pub(crate) fn ask_roles(&mut self, role: impl Fn(&TaskName) -> TaskRole) {
        let mut tables = write(&self.names.tables);
        for task in &mut tables.tasks {
            task.role = role(&task.name);
        }
        self.tasks.clone_from(&tables.tasks);
    }

    /// Copies the names that other workers added.
    pub(crate) fn catch_up(&mut self) {
        let tables = read(&self.names.tables);
        let known = self.tasks.len();
        self.tasks.extend_from_slice(&tables.tasks[known..]);
    }

    /// Returns the data of a task added before the last [`catch_up`](Self::catch_up).
    pub(crate) fn task(&self, id: TaskId) -> &TaskInfo {
        &self.tasks[id as usize]
    }

    /// Returns the choice that runs a task, given the choices that hold more than a name.
    pub(crate) fn choice(&self, task: TaskId, choices: &FxHashMap<TaskId, Choice>) -> Choice {
        let info = self.task(task);
        let choice = choices.get(&info.base).cloned();
        let choice = choice.unwrap_or_else(|| Choice::of(info.name.clone()));
        Choice { alternative: info.alternative, ..choice }
    }

    /// Returns the number of tasks known.
    pub(crate) fn len(&self) -> usize {
        self.tasks.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_system::TASK_STATUS;
    use anyorder_trace::{Interner, Location};

    #[test]
    fn books_agree_and_know_creators() {
        let names = Arc::new(Names::default());
        let (mut a, mut b) = (NameCache::new(names.clone()), NameCache::new(names));
        let timer = TaskName::root("load").child("timer");
        let role = |name: &TaskName| match name.depth() {
            1 => TaskRole::Input,
            _ => TaskRole::Timer,
        };
        let id = a.id(&timer, role);
        assert_eq!(b.id(&timer, role), id);
        let info = b.task(id).clone();
        assert_eq!(info.role, TaskRole::Timer);
        assert_eq!(b.task(info.creator).name, TaskName::root("load"));
        assert_eq!(b.task(info.creator).creator, NO_TASK);
    }

    #[test]
    fn a_variable_is_no_status_of_a_task_whatever_its_name() {
        let mut interner = Interner::default();
        let [class, field, text] =
            [TASK_STATUS, "load#1", "task.load#1"].map(|text| interner.name(text).unwrap());
        let status = interner.location(Location::Static { class, field }).unwrap();
        let variable = interner.location(Location::Named(text)).unwrap();
        let tables = &interner.tables;
        let names = Names::default();
        let status = names.location(LocationName::of(tables, status));
        assert_eq!(names.location(LocationName::of_class(TASK_STATUS, "task.load#1")), status);
        assert!(!names.any_data());
        let variable = names.location(LocationName::of(tables, variable));
        assert!(variable != status && names.any_data());
        assert_eq!(names.location_text(variable), names.location_text(status));
    }
}
