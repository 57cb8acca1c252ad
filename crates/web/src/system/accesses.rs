//! Accesses of events, in the engine's tables.

use crate::page::Record;
use crate::rewriter::Rewriter;
use anyorder_system::{Access, AccessKind, Accesses, RunError, TASK_STATUS, TaskName};
use anyorder_trace::{Interner, Location, LocationId, Site, SiteId, TableFull, Tables};
use std::collections::BTreeMap;

/// The tables of locations and sites. They only grow.
#[derive(Default)]
pub(super) struct AccessTables {
    interner: Interner,
}

impl AccessTables {
    pub(super) fn tables(&self) -> &Tables {
        &self.interner.tables
    }

    /// Returns the accesses of an event: it reads its own status, writes the status of those that
    /// it enabled or disabled, and does what the log says.
    pub(super) fn accesses(
        &mut self,
        task: &TaskName,
        changed: &[TaskName],
        records: &[Record],
        rewriter: &dyn Rewriter,
    ) -> Result<Accesses, RunError> {
        self.collect(task, changed, records, rewriter).map_err(full)
    }

    fn collect(
        &mut self,
        task: &TaskName,
        changed: &[TaskName],
        records: &[Record],
        rewriter: &dyn Rewriter,
    ) -> Result<Accesses, TableFull> {
        let mut set: BTreeMap<(LocationId, AccessKind), SiteId> = BTreeMap::new();
        set.insert((self.status(task)?, AccessKind::Read), SiteId::UNKNOWN);
        for task in changed {
            set.insert((self.status(task)?, AccessKind::Write), SiteId::UNKNOWN);
        }
        for record in records {
            let Some(kind) = kind_of(record.flags) else { continue };
            let name = self.interner.name(&record.location)?;
            let location = self.interner.location(Location::Named(name))?;
            let site = self.site(rewriter.site(record.site))?;
            set.entry((location, kind)).or_insert(site);
        }
        let access =
            |((location, kind), site)| Access { location, kind, site, read: None, written: None };
        Ok(Accesses::Set(set.into_iter().map(access).collect()))
    }

    /// Returns the location that stands for the status of an event.
    fn status(&mut self, task: &TaskName) -> Result<LocationId, TableFull> {
        let class = self.interner.name(TASK_STATUS)?;
        let field = self.interner.name(&task.to_string())?;
        self.interner.location(Location::Static { class, field })
    }

    fn site(&mut self, place: Option<(String, u32, u32)>) -> Result<SiteId, TableFull> {
        let Some((file, line, column)) = place else { return Ok(SiteId::UNKNOWN) };
        let file = self.interner.name(&file)?;
        self.interner.site(Site { file, line, column, ..Site::default() })
    }
}

/// Returns the kind of an access. A write of the value that was there only reads it: the paper's
/// filter for `x = x ? x : {}`.
fn kind_of(flags: u64) -> Option<AccessKind> {
    match (flags & 1 != 0, flags & 2 != 0, flags & 4 != 0) {
        (_, _, true) | (true, false, _) => Some(AccessKind::Read),
        (false, true, false) => Some(AccessKind::Write),
        (true, true, false) => Some(AccessKind::Rmw),
        (false, false, false) => None,
    }
}

fn full(error: TableFull) -> RunError {
    RunError::Crashed(format!("too many {}", error.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rewriter::Unchanged;

    #[test]
    fn records_become_accesses() {
        let mut tables = AccessTables::default();
        let record = |location: &str, flags| Record { location: location.into(), flags, site: 1 };
        let records = [record("x", 1), record("y", 3), record("z", 6), record("w", 2)];
        let (task, other) = (TaskName::root("a"), TaskName::root("b"));
        let accesses = tables.accesses(&task, &[other], &records, &Unchanged).unwrap();
        let kinds: Vec<AccessKind> = accesses.as_slice().iter().map(|one| one.kind).collect();
        use AccessKind::{Read, Rmw, Write};
        assert_eq!(kinds, [Read, Write, Read, Rmw, Read, Write]);
        assert_eq!(kind_of(0), None);
    }
}
