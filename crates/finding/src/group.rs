//! Findings of one mistake, tied together.
//!
//! **Problem.** Who frees, destroys or closes what another thread still uses makes as many findings
//! as there are fields and locks in it. **Method.** They miss one order: that all the other thread
//! does comes before the first of these ends. A finding belongs to it where its first action is by
//! the thread that uses and its second by the one that ends, at that event or behind it: the order
//! of the two threads at that event orders it, too. **Guarantee.** None is left out of a result: a
//! group says which findings one repair mends, and reports show one of them in full.

use crate::finding::Finding;
use anyorder_common::union_find::UnionFind;
use std::collections::BTreeMap;

/// An event of a pair: who runs it, and where it stands in the trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Placed {
    /// The number of the thread or handler.
    pub lane: u32,
    /// The position of the event in the trace.
    pub position: u64,
}

/// What ends something in a finding of a lifetime.
const ENDS: [&str; 3] = ["free", "destroy", "close"];

/// Ties the findings together that miss the same order. `pairs` has for each finding its members as
/// far as they are known, in trace order. Ids must be set, and different. The one that stands for a
/// group is its first by [`Finding::rank`].
pub fn tie(findings: &mut [Finding], pairs: &[Vec<[Placed; 2]>]) {
    let ends = first_ends(findings, pairs);
    let mut groups = UnionFind::new(findings.len());
    // The first finding of each pair of threads, with which the others go.
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
    let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for at in 0..findings.len() {
        members.entry(groups.find(at as u32) as usize).or_default().push(at);
    }
    for members in members.values().filter(|members| members.len() > 1) {
        let stands = members.iter().copied().min_by(|a, b| findings[*a].rank(&findings[*b]));
        let Some(id) = stands.map(|at| findings[at].id.clone()) else { continue };
        for at in members {
            findings[*at].group = Some(id.clone());
        }
    }
}

/// Returns, by the thread that uses and the one that ends, where the first end stands that can come
/// before a use.
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
    use crate::words::{Kind, Severity};

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
    fn what_one_missing_order_would_mend_is_a_group() {
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
        tie(&mut findings, &pairs);
        let told: Vec<Option<&str>> = findings.iter().map(|f| f.group.as_deref()).collect();
        // Of two of one severity the id decides.
        let group = Some("destroy");
        assert_eq!(told, [group, group, group, None, None, None]);
    }

    #[test]
    fn what_is_not_confirmed_ties_nothing() {
        let mut findings =
            vec![finding("a", "free", Severity::Note), finding("b", "free", Severity::Note)];
        findings.iter_mut().for_each(|finding| finding.form = None);
        tie(&mut findings, &vec![vec![pair((1, 3), (0, 60))]; 2]);
        assert!(findings.iter().all(|finding| finding.group.is_none()));
    }
}
