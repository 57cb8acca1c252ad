//! Groups of races: a report shows each group as one finding.

use crate::races::category::{Categories, RaceCategory};
use crate::races::coverage::Uncovered;
use crate::races::detector::{Races, RunId};
use crate::races::filters::{Filter, Filters};
use anyorder_system::{Cancel, Stopped};
use anyorder_trace::{EventId, Location, LocationId, NameId, SourcePosition, Trace};
use rustc_hash::FxHashMap;

/// How races are grouped.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum GroupBy {
    /// By field: class and field (co-enabled: object and field), or variable. Address ranges are
    /// grouped by pair of sites, and so are variables whose names are only numbers.
    Field,
    /// By pair of source positions, in either order.
    Sites,
}

impl GroupBy {
    /// Returns the word of the grouping.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            GroupBy::Field => "field",
            GroupBy::Sites => "sites",
        }
    }
}

/// The key that the members of a group share, besides the category.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Key {
    /// A field of a class, or of one object.
    Field { class: NameId, field: NameId, object: Option<u64> },
    /// A variable.
    Variable(LocationId),
    /// The source positions of the two accesses, the lesser first: either may come first.
    Sites(SourcePosition, SourcePosition),
}

/// A group of races.
pub(crate) struct Group {
    pub(crate) key: Key,
    pub(crate) category: RaceCategory,
    /// Positions in [`Races::pairs`]: pairs with uncovered races first, then in trace order.
    pub(crate) members: Vec<u32>,
    /// The number of racing pairs of accesses.
    pub(crate) pairs_total: u64,
    /// The number of uncovered pairs among them.
    pub(crate) uncovered: u64,
    /// The patterns that all members fit.
    pub(crate) filters: Vec<Filter>,
}

/// How many pairs are handled between two polls.
const POLL_PAIRS: usize = 4096;

/// Groups races. The order of the groups is that of their first races.
pub(crate) fn group(
    trace: &Trace,
    races: &Races,
    categories: &Categories,
    uncovered: &Uncovered,
    filters: Option<&Filters<'_>>,
    by: GroupBy,
    cancel: &Cancel,
) -> Result<Vec<Group>, Stopped> {
    let mut index: FxHashMap<(RaceCategory, Key, bool), usize> = FxHashMap::default();
    let mut groups: Vec<Group> = Vec::new();
    for (i, &pair) in races.pairs.iter().enumerate() {
        if i % POLL_PAIRS == 0 {
            cancel.check()?;
        }
        let category = categories.pairs[i];
        let key = key(trace, races, pair, category, by);
        let fits = filters.map_or_else(Vec::new, |f| f.of(races.run(pair.0), races.run(pair.1)));
        // What only guards is a finding of its own: the other races of its location are not.
        let guards = fits.contains(&Filter::OnlyGuards);
        let at = *index.entry((category, key, guards)).or_insert_with(|| {
            groups.push(Group {
                key,
                category,
                members: Vec::new(),
                pairs_total: 0,
                uncovered: 0,
                filters: vec![Filter::LateRegistration, Filter::Unload, Filter::OnlyGuards],
            });
            groups.len() - 1
        });
        let group = &mut groups[at];
        group.members.push(i as u32);
        group.pairs_total += races.pairs_in(i);
        group.uncovered += uncovered.in_pair[i];
        group.filters.retain(|filter| fits.contains(filter));
    }
    for (counted, &category) in races.counted.iter().zip(&categories.counted) {
        let pair = (counted.earlier, counted.later);
        let key = key(trace, races, pair, category, by);
        // Some pairs of each group are listed, unless the check was stopped. None of these races
        // fits a pattern.
        if let Some(at) = index.get(&(category, key, false)) {
            groups[*at].pairs_total += races.counted_in(counted);
            groups[*at].filters.clear();
        }
    }
    let key = |i: u32| {
        let (a, b) = races.pairs[i as usize];
        (uncovered.in_pair[i as usize] == 0, races.run(a).first, races.run(b).first)
    };
    for group in &mut groups {
        cancel.check()?;
        let mut keyed: Vec<_> = group.members.iter().map(|i| (key(*i), *i)).collect();
        keyed.sort_unstable();
        group.members = keyed.into_iter().map(|(_, i)| i).collect();
    }
    Ok(groups)
}

/// Returns whether the races of a location are grouped by source position, where that is known,
/// even if those of others are grouped by field.
pub(crate) fn is_grouped_by_sites(trace: &Trace, location: LocationId) -> bool {
    let tables = trace.tables();
    matches!(tables.locations[location.index()], Location::Range { .. })
        || tables.is_numbered(location)
}

fn key(
    trace: &Trace,
    races: &Races,
    pair: (RunId, RunId),
    category: RaceCategory,
    by: GroupBy,
) -> Key {
    let (a, b) = (races.run(pair.0), races.run(pair.1));
    let sites = || {
        let site =
            |event: EventId| trace.tables().source_position(trace.columns().sites[event.index()]);
        let (one, other) = (site(a.last), site(b.first));
        Key::Sites(one.min(other), one.max(other))
    };
    if by == GroupBy::Sites {
        return sites();
    }
    match trace.tables().locations[a.location.index()] {
        Location::Field { object, class, field } => {
            let object = (category == RaceCategory::CoEnabled).then_some(object);
            Key::Field { class, field, object }
        }
        Location::Static { class, field } => Key::Field { class, field, object: None },
        Location::Named(_) if !is_grouped_by_sites(trace, a.location) => Key::Variable(a.location),
        Location::Named(_) => match sites() {
            Key::Sites(one, other) if ![one, other].contains(&SourcePosition::default()) => sites(),
            _ => Key::Variable(a.location),
        },
        Location::Range { .. } => sites(),
    }
}

/// Lists the racing pairs of accesses of a group, uncovered ones first, at most `max` of them.
pub(crate) fn pairs(
    trace: &Trace,
    races: &Races,
    uncovered: &Uncovered,
    group: &Group,
    max: usize,
) -> Vec<(EventId, EventId)> {
    let mut listed = Vec::new();
    if uncovered.edge_only {
        for &i in group.members.iter().filter(|i| uncovered.in_pair[**i as usize] > 0).take(max) {
            let (a, b) = races.pairs[i as usize];
            listed.push((races.run(a).last, races.run(b).first));
        }
    }
    for &i in &group.members {
        if listed.len() >= max {
            break;
        }
        let (a, b) = races.pairs[i as usize];
        let done = uncovered.edge_only && uncovered.in_pair[i as usize] > 0;
        let first = (races.run(a).last, races.run(b).first);
        let later = races.accesses(trace, b);
        for x in races.accesses(trace, a) {
            for y in &later {
                if listed.len() < max && !(done && (x, *y) == first) {
                    listed.push((x, *y));
                }
            }
        }
    }
    listed
}
