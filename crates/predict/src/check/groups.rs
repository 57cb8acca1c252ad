//! Groups of candidates: each has one cause.

use super::candidate::Candidate;
use super::category::{Category, category};
use super::facts::{Fact, Facts};
use super::objects::object_in_every_run;
use anyorder_trace::{EventKind, HandlerId, SiteId, SourcePosition, Tables};
use std::collections::BTreeMap;

/// The key that one of the two actions shares in all members of a group.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct SiteKey {
    position: SourcePosition,
    kind: EventKind,
    /// The handler, if the source position is unknown.
    handler: Option<HandlerId>,
}

/// A group of candidates.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Group {
    pub(crate) category: Category,
    /// Positions in the list of candidates. Candidates that the analysis left unordered come first;
    /// both parts are sorted by events.
    pub(crate) members: Vec<usize>,
}

/// Groups candidates by category, pair of source positions, and object; what is only numbered is no
/// other object at the same positions. Groups with an unordered candidate come before groups of
/// ordered pairs only. Both are sorted by their first members.
///
/// A candidate whose events have no facts is in no group.
pub(crate) fn groups(tables: &Tables, facts: &Facts, candidates: &[Candidate]) -> Vec<Group> {
    let mut index: BTreeMap<(Category, [SiteKey; 2], String), usize> = BTreeMap::new();
    let mut groups: Vec<Group> = Vec::new();
    for (i, candidate) in candidates.iter().enumerate() {
        let [Some(first), Some(second)] = [facts.get(candidate.first), facts.get(candidate.second)]
        else {
            continue;
        };
        let category = category(tables, first, second, candidate.kind);
        let mut sites = [key(tables, first), key(tables, second)];
        // Either site may come first, because two runs may differ.
        sites.sort_unstable();
        let object = object_in_every_run(tables, second);
        let at = *index.entry((category, sites, object)).or_insert_with(|| {
            groups.push(Group { category, members: Vec::new() });
            groups.len() - 1
        });
        groups[at].members.push(i);
    }
    let rank = |i: usize| (candidates[i].ordered, candidates[i].second, candidates[i].first);
    for group in &mut groups {
        group.members.sort_by_key(|i| rank(*i));
    }
    groups.sort_by_key(|group| rank(group.members[0]));
    groups
}

fn key(tables: &Tables, fact: &Fact) -> SiteKey {
    let handler = (fact.site == SiteId(0)).then_some(fact.handler);
    SiteKey { position: tables.source_position(fact.site), kind: fact.op.kind(), handler }
}
