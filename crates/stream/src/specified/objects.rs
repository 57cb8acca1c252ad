//! Numbers for objects and their cells, and their names in reports.

use super::resolve::Resolver;
use anyorder_commute::Value;
use anyorder_trace::{ConditionId, LockId, NameId, Tables};
use std::collections::HashMap;

/// An object of a specification, as a report names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Described<'a> {
    /// The type: `condition`, `lock`, or the name of a specification.
    pub type_name: &'a str,
    /// The name.
    pub name: &'a str,
}

/// The type and counts of an object whose methods are invoked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ObjectSummary {
    /// The name.
    pub name: NameId,
    /// Its type; `None` if it has no specification.
    pub type_name: Option<String>,
    /// The number of its invocations, without those inside others.
    pub invocations: u64,
}

/// The object that a number denotes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum ObjectKind {
    Condition(u32),
    Lock(u32),
    /// The number from the resolver, and the position of the type.
    Invoked(u32, usize),
}

/// Numbers objects and cells in the order of their first use.
///
/// Memory: an entry for each object, and one for each key ever used with it.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbering {
    behind: Vec<ObjectKind>,
    /// The numbers of conditions and invoked objects.
    known: HashMap<ObjectKind, u32>,
    cells: HashMap<(u32, u16, Vec<Value>), u32>,
    cells_count: u32,
}

impl Numbering {
    fn add(&mut self, behind: ObjectKind) -> u32 {
        self.behind.push(behind);
        self.behind.len() as u32 - 1
    }

    /// Returns a new cell.
    pub(super) fn new_cell(&mut self) -> u32 {
        self.cells_count += 1;
        self.cells_count - 1
    }

    fn number(&mut self, kind: ObjectKind) -> u32 {
        if let Some(known) = self.known.get(&kind) {
            return *known;
        }
        let object = self.add(kind);
        self.known.insert(kind, object);
        object
    }

    /// Returns object and cell of a condition.
    pub(super) fn condition(&mut self, condition: u32) -> (u32, u32) {
        let object = self.number(ObjectKind::Condition(condition));
        (object, self.cell(object, 0, Vec::new()))
    }

    /// Returns object and cell of a new life of a lock.
    pub(super) fn lock(&mut self, lock: u32) -> (u32, u32) {
        (self.add(ObjectKind::Lock(lock)), self.new_cell())
    }

    /// Returns the object for a number of the resolver.
    pub(super) fn invoked(&mut self, resolved: u32, of_type: usize) -> u32 {
        self.number(ObjectKind::Invoked(resolved, of_type))
    }

    /// Returns the cell of an object, a table and a key.
    pub(super) fn cell(&mut self, object: u32, table: u16, key: Vec<Value>) -> u32 {
        let next = self.cells_count;
        let cell = *self.cells.entry((object, table, key)).or_insert(next);
        self.cells_count = self.cells_count.max(cell + 1);
        cell
    }

    /// Returns the object that a number denotes.
    pub(super) fn describe<'a>(
        &self,
        resolver: &'a Resolver,
        tables: &'a Tables,
        object: u32,
    ) -> Option<Described<'a>> {
        Some(match *self.behind.get(object as usize)? {
            ObjectKind::Condition(id) => {
                let name = *tables.conditions.get(ConditionId(id).index())?;
                Described { type_name: "condition", name: tables.name(name) }
            }
            ObjectKind::Lock(id) => {
                let name = *tables.locks.get(LockId(id).index())?;
                Described { type_name: "lock", name: tables.name(name) }
            }
            ObjectKind::Invoked(resolved, of_type) => {
                let name = *resolver.names.get(resolved as usize)?;
                let type_name = resolver.types.list[of_type].spec.name();
                Described { type_name, name: tables.name(name) }
            }
        })
    }
}
