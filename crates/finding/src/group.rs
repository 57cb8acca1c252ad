//! Groups findings with the same cause.
//!
//! **Missing orders.** A thread that frees, destroys or closes an object that another thread still
//! uses causes as many findings as the object has fields and locks. All these findings miss one
//! order: everything that the using thread does must come before the first end. A finding belongs
//! to the group if its first action is by the using thread, and its second by the ending thread, at
//! that event or after it: the missing order orders these actions too.
//!
//! **Memory.** Where each pair of places is a finding, a variable without a lock causes as many as
//! it has places that use it. Races of one memory that are in no group of a missing order form a
//! group, too ([`assign_groups_of_memory`]).
//!
//! **Guarantee.** No finding is removed from a result. A group says which findings one repair
//! fixes, and reports show one of them in full.

use crate::finding::Finding;
use crate::words::Kind;
use anyorder_common::union_find::UnionFind;
use std::collections::BTreeMap;

/// An event of a pair: its thread, and its position in the trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Placed {
    /// The number of the thread or handler.
    pub lane: u32,
    /// The position of the event in the trace.
    pub position: u64,
}

/// The event that ends a lifetime in a finding.
const ENDS: [&str; 3] = ["free", "destroy", "close"];

/// Groups the findings that miss the same order. `pairs` has the known members of each finding, in
/// trace order. Ids must be set and distinct. The first finding by [`Finding::rank`] represents its
/// group.
pub fn assign_groups(findings: &mut [Finding], pairs: &[Vec<[Placed; 2]>]) {
    let ends = first_ends(findings, pairs);
    let mut groups = UnionFind::new(findings.len());
    // The first finding of each pair of threads; the others join its group.
    let mut of_lanes: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    for (at, members) in pairs.iter().enumerate().take(findings.len()) {
        for [first, second] in members {
            let lanes = (first.lane, second.lane);
            if ends.get(&lanes).is_some_and(|end| *end <= second.position) {
                let other = *of_lanes.entry(lanes).or_insert(at);
                groups.join(at as u32, other as u32);
            }
        }
    }
    for members in classes(groups, 0..findings.len()) {
        name_group(findings, &members);
    }
}

/// Groups the races of one memory: its location, and the place that allocated it. Findings that are
/// in a group stay there. Ids must be set and distinct, and the locations those of one run.
/// O(n log n).
pub fn assign_groups_of_memory(findings: &mut [Finding]) {
    let is_free = |finding: &Finding| finding.kind == Kind::Race && finding.group.is_none();
    let free: Vec<usize> = (0..findings.len()).filter(|at| is_free(&findings[*at])).collect();
    let mut groups = UnionFind::new(findings.len());
    let mut of_memory: BTreeMap<(&str, Option<&str>), usize> = BTreeMap::new();
    for at in &free {
        for site in &findings[*at].sites {
            let Some(location) = site.location.as_deref() else { continue };
            let other = *of_memory.entry((location, site.allocated.as_deref())).or_insert(*at);
            groups.join(*at as u32, other as u32);
        }
    }
    for members in classes(groups, free.into_iter()) {
        name_group(findings, &members);
        members.iter().for_each(|at| findings[*at].group_of_memory = true);
    }
}

/// Returns the classes with two members or more, in the order of their representatives.
fn classes(mut groups: UnionFind, of: impl Iterator<Item = usize>) -> Vec<Vec<usize>> {
    let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for at in of {
        members.entry(groups.find(at as u32) as usize).or_default().push(at);
    }
    members.into_values().filter(|members| members.len() > 1).collect()
}

/// Gives the members of a group the id of the one that represents it.
fn name_group(findings: &mut [Finding], members: &[usize]) {
    let stands = members.iter().copied().min_by(|a, b| findings[*a].rank(&findings[*b]));
    let Some(id) = stands.map(|at| findings[at].id.clone()) else { return };
    for at in members {
        findings[*at].group = Some(id.clone());
    }
}

/// Returns, by using thread and ending thread, the first end that can come before a use.
fn first_ends(findings: &[Finding], pairs: &[Vec<[Placed; 2]>]) -> BTreeMap<(u32, u32), u64> {
    let mut ends: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    for (finding, members) in findings.iter().zip(pairs) {
        let is_end = |access: &String| ENDS.contains(&access.as_str());
        let access = finding.sites.get(1).and_then(|site| site.access.as_ref());
        if finding.confirmed == Some(false) || finding.form.is_none() || !access.is_some_and(is_end)
        {
            continue;
        }
        for [first, second] in members {
            let end = ends.entry((first.lane, second.lane)).or_insert(second.position);
            *end = (*end).min(second.position);
        }
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Site;
    use crate::words::Severity;

    fn finding(id: &str, access: &str, severity: Severity) -> Finding {
        let site = |access: &str| Site { access: Some(access.into()), ..Site::default() };
        Finding {
            id: id.into(),
            severity,
            confirmed: Some(true),
            form: Some("last".into()),
            sites: vec![site("read"), site(access)],
            ..Finding::new(Kind::OrderViolation)
        }
    }

    fn pair(a: (u32, u64), b: (u32, u64)) -> [Placed; 2] {
        [a, b].map(|(lane, position)| Placed { lane, position })
    }

    #[test]
    fn findings_that_one_missing_order_fixes_are_a_group() {
        let mut findings = vec![
            finding("write-after", "write", Severity::Warning),
            finding("free", "free", Severity::Error),
            finding("destroy", "destroy", Severity::Error),
            finding("write-before", "write", Severity::Warning),
            finding("elsewhere", "write", Severity::Warning),
            finding("other-free", "free", Severity::Error),
        ];
        let pairs = vec![
            vec![pair((1, 3), (0, 60))],
            vec![pair((1, 3), (0, 50)), pair((2, 4), (0, 50))],
            vec![pair((2, 5), (0, 40))],
            vec![pair((1, 3), (0, 30))],
            vec![pair((0, 3), (1, 70))],
            vec![pair((3, 3), (4, 70))],
        ];
        assign_groups(&mut findings, &pairs);
        let groups: Vec<Option<&str>> = findings.iter().map(|f| f.group.as_deref()).collect();
        // The severities are equal, so the id decides.
        let group = Some("destroy");
        assert_eq!(groups, [group, group, group, None, None, None]);
    }

    #[test]
    fn races_of_one_memory_are_a_group() {
        let race = |id: &str, locations: [&str; 2], allocated: Option<&str>| {
            let site = |location: &str| Site {
                location: Some(location.into()),
                allocated: allocated.map(str::to_owned),
                ..Site::default()
            };
            Finding { id: id.into(), sites: locations.map(site).into(), ..Finding::new(Kind::Race) }
        };
        let mut findings = vec![
            race("b", ["0x10+8", "0x10+4"], Some("a.c:1")),
            race("a", ["0x10+4", "0x10+4"], Some("a.c:1")),
            race("other-block", ["0x10+4", "0x10+4"], Some("a.c:2")),
            race("elsewhere", ["x", "x"], None),
            race("taken", ["0x10+4", "0x10+4"], Some("a.c:1")),
            Finding { kind: Kind::OrderViolation, ..race("c", ["x", "x"], None) },
        ];
        findings[4].group = Some("free".into());
        assign_groups_of_memory(&mut findings);
        let groups: Vec<Option<&str>> = findings.iter().map(|f| f.group.as_deref()).collect();
        assert_eq!(groups, [Some("a"), Some("a"), None, None, Some("free"), None]);
        let marked: Vec<bool> = findings.iter().map(|f| f.group_of_memory).collect();
        assert_eq!(marked, [true, true, false, false, false, false]);
    }

    #[test]
    fn unconfirmed_findings_form_no_group() {
        let mut findings =
            vec![finding("a", "free", Severity::Note), finding("b", "free", Severity::Note)];
        findings.iter_mut().for_each(|finding| finding.form = None);
        assign_groups(&mut findings, &vec![vec![pair((1, 3), (0, 60))]; 2]);
        assert!(findings.iter().all(|finding| finding.group.is_none()));
    }
}
