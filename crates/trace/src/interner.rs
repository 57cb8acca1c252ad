//! Fills the tables of a trace, and gives equal entries one id.

use crate::ids::{
    ConditionId, HandlerId, InputId, InvocationId, LocationId, LockId, NameId, SiteId, TaskId,
};
use crate::names::NameIndex;
use crate::tables::{Handler, Input, Invocation, Location, Site, Tables, TaskDef};
use hashbrown::HashMap;
use std::hash::Hash;

/// A table reached the largest size that an index can address. Larger traces are refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("too many {0}: one trace can hold 4,294,967,294 of them at the most")]
pub struct TableFull(pub &'static str);

/// Fills [`Tables`], giving equal entries the same id.
#[derive(Clone, Debug, Default)]
pub struct Interner {
    /// The tables filled so far.
    pub tables: Tables,
    names: NameIndex,
    locations: HashMap<Location, u32>,
    locks: HashMap<NameId, u32>,
    conditions: HashMap<NameId, u32>,
    inputs: HashMap<Input, u32>,
    sites: HashMap<Site, u32>,
}

/// Finds `entry` in `map`, or appends it to `table` under a new id.
fn intern_in<T: Clone + Eq + Hash>(
    map: &mut HashMap<T, u32>,
    table: &mut Vec<T>,
    entry: T,
    what: &'static str,
) -> Result<u32, TableFull> {
    if let Some(id) = map.get(&entry) {
        return Ok(*id);
    }
    let id = push_to(table, entry.clone(), what)?;
    map.insert(entry, id);
    Ok(id)
}

/// Appends `entry` to `table`, and returns its id.
fn push_to<T>(table: &mut Vec<T>, entry: T, what: &'static str) -> Result<u32, TableFull> {
    let id = table.len() as u32;
    if table.len() >= u32::MAX as usize {
        return Err(TableFull(what));
    }
    table.push(entry);
    Ok(id)
}

impl Interner {
    /// Returns the id of a string.
    ///
    /// # Errors
    ///
    /// Fails when all strings together pass 4 GiB.
    pub fn name(&mut self, text: &str) -> Result<NameId, TableFull> {
        self.names.intern(&mut self.tables.names, text)
    }

    /// Returns the id of a location.
    ///
    /// # Errors
    ///
    /// Fails when the table is full.
    pub fn location(&mut self, location: Location) -> Result<LocationId, TableFull> {
        intern_in(&mut self.locations, &mut self.tables.locations, location, "locations")
            .map(LocationId)
    }

    /// Returns the id of the lock of this name.
    ///
    /// # Errors
    ///
    /// Fails when the table is full.
    pub fn lock(&mut self, name: NameId) -> Result<LockId, TableFull> {
        intern_in(&mut self.locks, &mut self.tables.locks, name, "locks").map(LockId)
    }

    /// Returns the id of the condition of this name.
    ///
    /// # Errors
    ///
    /// Fails when the table is full.
    pub fn condition(&mut self, name: NameId) -> Result<ConditionId, TableFull> {
        intern_in(&mut self.conditions, &mut self.tables.conditions, name, "conditions")
            .map(ConditionId)
    }

    /// Returns the id of an input event.
    ///
    /// # Errors
    ///
    /// Fails when the table is full.
    pub fn input(&mut self, input: Input) -> Result<InputId, TableFull> {
        intern_in(&mut self.inputs, &mut self.tables.inputs, input, "inputs").map(InputId)
    }

    /// Returns the id of a source position.
    ///
    /// # Errors
    ///
    /// Fails when the table is full.
    pub fn site(&mut self, site: Site) -> Result<SiteId, TableFull> {
        if site == Site::default() {
            return Ok(SiteId::UNKNOWN);
        }
        intern_in(&mut self.sites, &mut self.tables.sites, site, "sites").map(SiteId)
    }

    /// Appends a handler.
    ///
    /// # Errors
    ///
    /// Fails when the table is full.
    pub fn push_handler(&mut self, handler: Handler) -> Result<HandlerId, TableFull> {
        push_to(&mut self.tables.handlers, handler, "handlers").map(HandlerId)
    }

    /// Appends a task.
    ///
    /// # Errors
    ///
    /// Fails when the table is full.
    pub fn push_task(&mut self, task: TaskDef) -> Result<TaskId, TableFull> {
        push_to(&mut self.tables.tasks, task, "tasks").map(TaskId)
    }

    /// Appends an invocation.
    ///
    /// # Errors
    ///
    /// Fails when the table is full.
    pub fn push_invocation(&mut self, invocation: Invocation) -> Result<InvocationId, TableFull> {
        push_to(&mut self.tables.invocations, invocation, "invocations").map(InvocationId)
    }
}
