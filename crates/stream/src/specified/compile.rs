//! From access points to tables of classes.
//!
//! Two points can only conflict if conflicts link their classes. So each connected part of the
//! conflict graph has its own table, and a cell is (object, table, key). A part of more than 32
//! classes is cut into groups of 16. Each two groups with conflicts between them get a table, so
//! points of such a part lie in several cells. Either way, two points conflict in some cell iff
//! they conflict.

use crate::class::{Class, ClassTable};
use anyorder_commute::{AccessPoints, ClassId};

/// The table and cell for the points of a class of access points.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    /// The table, and with object and key the cell.
    pub(super) table: u16,
    pub(super) class: Class,
    /// Whether points of all keys share a cell.
    pub(super) keyless: bool,
}

const CLASSES_MAX: usize = 32;
const GROUP: usize = CLASSES_MAX / 2;

/// The most tables.
const TABLES_MAX: usize = 1 << 15;

/// The table of conditions.
pub(super) const CONDITIONS: u16 = 1;
/// The table of locks.
pub(super) const LOCKS: u16 = 2;
/// The table of types with too many classes: nothing commutes.
const NOTHING_COMMUTES: u16 = 3;

/// Returns the predefined tables: memory, and the tables above.
pub(super) fn first_tables() -> Vec<ClassTable> {
    let [use_or_wait, end_or_signal] = [Class(0), Class(1)];
    let mut conditions = ClassTable::new();
    conditions.conflict(use_or_wait, end_or_signal);
    let mut locks = lock_memory();
    locks.conflict(use_or_wait, end_or_signal).conflict(end_or_signal, end_or_signal);
    locks.conflict(end_or_signal, Class(FREED));
    let mut nothing_commutes = ClassTable::new();
    nothing_commutes.conflict(Class(0), Class(0));
    vec![ClassTable::memory(), conditions, locks, nothing_commutes]
}

/// The class of the end of the memory around a lock, and of a write over a lock.
pub(super) const FREED: u8 = 2;
pub(super) const OVERWRITTEN: u8 = 3;

/// Returns the table of locks whose destruction counts as nothing: only their memory does.
pub(super) fn lock_memory() -> ClassTable {
    let mut locks = ClassTable::new();
    locks.conflict(Class(0), Class(FREED)).conflict(Class(0), Class(OVERWRITTEN));
    // A later write over the lock does not stand for the end of its memory.
    locks.keep(Class(FREED));
    locks
}

/// Adds the tables that a compiled specification needs. Returns the places of each class. If there
/// would be too many tables, nothing commutes.
pub(super) fn places(points: &AccessPoints, tables: &mut Vec<ClassTable>) -> Vec<Vec<Place>> {
    let ids: Vec<ClassId> = points.classes().collect();
    let before = tables.len();
    let mut places = vec![Vec::new(); ids.len()];
    let parts = parts(points, &ids);
    if tables.len() + parts.len() > TABLES_MAX {
        return nothing_commutes(ids.len());
    }
    for part in parts {
        if part.len() <= CLASSES_MAX {
            add_table(points, tables, &mut places, &part, &part);
            continue;
        }
        let groups: Vec<&[ClassId]> = part.chunks(GROUP).collect();
        for (at, left) in groups.iter().enumerate() {
            for right in &groups[at..] {
                if tables.len() > TABLES_MAX {
                    tables.truncate(before);
                    return nothing_commutes(ids.len());
                }
                add_table(points, tables, &mut places, left, right);
            }
        }
    }
    places
}

/// Returns the connected parts of the conflict graph, without the classes that conflict with none.
fn parts(points: &AccessPoints, ids: &[ClassId]) -> Vec<Vec<ClassId>> {
    let mut seen = vec![false; ids.len()];
    let mut parts = Vec::new();
    for &start in ids {
        if seen[start.index()] || points.conflicts(start).is_empty() {
            continue;
        }
        seen[start.index()] = true;
        let mut part = vec![start];
        let mut next = 0;
        while let Some(&id) = part.get(next) {
            next += 1;
            for &other in points.conflicts(id) {
                if !seen[other.index()] {
                    seen[other.index()] = true;
                    part.push(other);
                }
            }
        }
        part.sort_unstable();
        parts.push(part);
    }
    parts
}

/// Adds a table for the conflicts between two groups, or within one.
fn add_table(
    points: &AccessPoints,
    tables: &mut Vec<ClassTable>,
    places: &mut [Vec<Place>],
    left: &[ClassId],
    right: &[ClassId],
) {
    let is_same = left == right;
    let meets = |id: ClassId, others: &[ClassId]| {
        points.conflicts(id).iter().any(|other| others.binary_search(other).is_ok())
    };
    let number = tables.len() as u16;
    let mut table = ClassTable::new();
    let mut any = false;
    for (a, &id) in left.iter().enumerate() {
        for (b, other) in right.iter().enumerate() {
            if points.conflicts(id).binary_search(other).is_ok() {
                let b = if is_same { b } else { GROUP + b };
                table.conflict(Class(a as u8), Class(b as u8));
                any = true;
            }
        }
    }
    if !any {
        return;
    }
    let mut put = |id: ClassId, class: usize| {
        places[id.index()].push(Place { table: number, class: Class(class as u8), keyless: false });
    };
    for (a, &id) in left.iter().enumerate().filter(|(_, id)| meets(**id, right)) {
        put(id, a);
    }
    if !is_same {
        for (b, &id) in right.iter().enumerate().filter(|(_, id)| meets(**id, left)) {
            put(id, GROUP + b);
        }
    }
    tables.push(table);
}

fn nothing_commutes(classes: usize) -> Vec<Vec<Place>> {
    vec![vec![Place { table: NOTHING_COMMUTES, class: Class(0), keyless: true }]; classes]
}
