//! The locations of large traces, and which code accesses them.

use super::stream::Stream;
use anyorder_common::random::{Random, Rng};
use anyorder_trace::{EventKind, Location, LocationId, LockId, NameId, SiteId, TableFull};

/// The number of locations of each task, session and lock.
const GROUP: u32 = 4;

/// A run of [`GROUP`] locations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Group(u32);

/// All locations that exist from the start, and the source positions of accesses.
pub(super) struct Places {
    /// Written before anything else begins, then only read.
    pub(super) settings: Vec<LocationId>,
    /// Accessed occasionally by any code.
    racy: Vec<LocationId>,
    /// One group for each session, passed from task to task.
    pub(super) sessions: Vec<Group>,
    /// Locks with the locations that they guard.
    pub(super) locks: Vec<(LockId, Group)>,
    local_class: NameId,
    fields: [NameId; GROUP as usize],
    sites: Vec<SiteId>,
}

/// Appends a group of fields of one object. The caller never names an object of a class twice.
fn group(
    stream: &mut Stream<'_>,
    class: NameId,
    object: u64,
    fields: [NameId; GROUP as usize],
) -> Result<Group, TableFull> {
    let table = &mut stream.interner.tables.locations;
    if table.len() + fields.len() >= u32::MAX as usize {
        return Err(TableFull("locations"));
    }
    let first = table.len() as u32;
    // Bypasses the interner: looking up names that are known to be new would double the generation
    // time.
    table.extend(fields.map(|field| Location::Field { object, class, field }));
    Ok(Group(first))
}

impl Places {
    pub(super) fn new(
        stream: &mut Stream<'_>,
        events: u64,
        tasks: u32,
        sessions: u32,
    ) -> Result<Places, TableFull> {
        let mut fields = [NameId::EMPTY; GROUP as usize];
        for (i, field) in fields.iter_mut().enumerate() {
            *field = stream.interner.name(&format!("field{i}"))?;
        }
        let mut statics = |class: &str, count: u64| -> Result<Vec<LocationId>, TableFull> {
            let class = stream.interner.name(class)?;
            (0..count)
                .map(|i| {
                    let field = stream.interner.name(&format!("static{i}"))?;
                    stream.interner.location(Location::Static { class, field })
                })
                .collect()
        };
        let settings = statics("Settings", 200)?;
        let racy = statics("Cache", (events / 25_000).max(10))?;
        let session_class = stream.interner.name("Session")?;
        let sessions = (0..u64::from(sessions))
            .map(|s| group(stream, session_class, s, fields))
            .collect::<Result<_, _>>()?;
        let guarded_class = stream.interner.name("Account")?;
        let mut locks = Vec::new();
        for lock in 0..u64::from((tasks / 1500).max(4)) {
            let name = stream.interner.name(&format!("account{lock}"))?;
            locks.push((stream.interner.lock(name)?, group(stream, guarded_class, lock, fields)?));
        }
        let local_class = stream.interner.name("Request")?;
        let sites = stream.sites("app.js", 800)?;
        Ok(Places { settings, racy, sessions, locks, local_class, fields, sites })
    }

    /// The locations of a single task or thread.
    pub(super) fn local(&self, stream: &mut Stream<'_>, object: u32) -> Result<Group, TableFull> {
        group(stream, self.local_class, u64::from(object), self.fields)
    }

    /// Draws an access: most go to `own`, some to settings, very few to racy locations.
    #[inline]
    pub(super) fn draw(&self, rng: &mut Rng, own: Group) -> (EventKind, LocationId, SiteId) {
        let bits = rng.bits();
        let (part, kind_bits, which) = (bits % 10_000, bits >> 32 & 7, bits >> 40);
        let write = kind_bits < 2;
        let (location, write) = match part {
            0 | 1 => (self.racy[which as usize % self.racy.len()], write),
            2..1_200 => (self.settings[which as usize % self.settings.len()], false),
            _ => (LocationId(own.0 + which as u32 % GROUP), write),
        };
        let kind = if write { EventKind::Write } else { EventKind::Read };
        (kind, location, self.sites[location.index() * 7 % self.sites.len()])
    }

    /// A write or read of one location of a group.
    pub(super) fn in_group(&self, rng: &mut Rng, group: Group) -> (EventKind, LocationId, SiteId) {
        let kind = if rng.percent(40) { EventKind::Write } else { EventKind::Read };
        let location = LocationId(group.0 + rng.below(u64::from(GROUP)) as u32);
        (kind, location, self.sites[location.index() * 7 % self.sites.len()])
    }
}
