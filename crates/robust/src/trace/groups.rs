//! Conflicts of one cause as one group.
//!
//! A group has all conflicts between two source positions on one field, variable or static, of any
//! object; of address ranges, on ranges of one size. Where the trace has no positions, it has all
//! conflicts on the field. So a mistake that occurs a thousand times is one finding, and it is the
//! same finding in the next run.

use super::order::Forced;
use anyorder_trace::{EventId, Location, LocationId, SiteId, Trace};
use std::collections::BTreeMap;

/// What the conflicts of a group have in common: sort and names of the location, and the positions.
pub(super) type Key = ((u8, u32, u32), SiteId, SiteId);

/// The conflicts of one cause.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Group {
    /// What its conflicts have in common.
    pub(super) key: Key,
    /// The accesses of its conflicts, in trace order; cut at the limit.
    pub(super) pairs: Vec<[EventId; 2]>,
    /// The number of its conflicts.
    pub(super) total: u64,
    /// The conflict that stands for the group: the first racing one, else the first.
    pub(super) shown: [EventId; 2],
    /// Whether that conflict is racing; `None` if that is not known.
    pub(super) racing: Option<bool>,
}

/// Groups under construction.
#[derive(Debug)]
pub(super) struct Groups<'t> {
    trace: &'t Trace,
    groups: BTreeMap<Key, Group>,
    pairs_max: usize,
}

/// How many conflicts of a group are compared with the order of every run.
const CLASSED_MAX: usize = 64;

impl<'t> Groups<'t> {
    pub(super) fn new(trace: &'t Trace, pairs_max: usize) -> Groups<'t> {
        Groups { trace, groups: BTreeMap::new(), pairs_max }
    }

    /// Adds a conflict.
    pub(super) fn add(&mut self, before: EventId, after: EventId) {
        let key = key(self.trace, before, after);
        let pair = [before, after];
        let group = self.groups.entry(key).or_insert_with(|| Group {
            key,
            pairs: Vec::new(),
            total: 0,
            shown: pair,
            racing: None,
        });
        group.total += 1;
        if group.pairs.len() < self.pairs_max.max(CLASSED_MAX) {
            group.pairs.push(pair);
        }
    }

    /// Returns whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Returns the groups in the order of their first conflicts, with the conflict that stands for
    /// each.
    pub(super) fn finish(self, forced: Option<&Forced<'_>>) -> Vec<Group> {
        let mut groups: Vec<Group> = self.groups.into_values().collect();
        groups.sort_by_key(|group| group.pairs.first().map(|[before, after]| (*after, *before)));
        for group in &mut groups {
            let Some(forced) = forced else {
                group.pairs.truncate(self.pairs_max);
                continue;
            };
            let racing = |pair: &&[EventId; 2]| !forced.orders(pair[0], pair[1]);
            let found = group.pairs.iter().take(CLASSED_MAX).find(racing);
            group.racing = Some(found.is_some());
            group.shown = *found.unwrap_or(&group.shown);
            group.pairs.truncate(self.pairs_max);
        }
        groups
    }
}

/// Returns the group of a conflict.
pub(super) fn key(trace: &Trace, before: EventId, after: EventId) -> Key {
    let (before, after) = (trace.event(before), trace.event(after));
    let location = before.location().unwrap_or(LocationId::NONE);
    let place = match trace.tables().locations.get(location.index()) {
        Some(Location::Named(name)) => (0, name.0, 0),
        Some(Location::Field { class, field, .. }) => (1, class.0, field.0),
        Some(Location::Static { class, field }) => (2, class.0, field.0),
        Some(Location::Range { size, .. }) => (3, *size, 0),
        None => (4, 0, 0),
    };
    (place, before.site, after.site)
}
