//! The candidates of an analysis. Each pair of events occurs once.

use anyorder_stream::{Report, Violation, ViolationKind};
use std::collections::BTreeMap;

/// A pair of actions that do not commute and that the check may try.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Candidate {
    /// The number of the earlier event.
    pub first: u64,
    /// The number of the later one.
    pub second: u64,
    /// Whether the pair is racy, or a common lock protects both actions.
    pub kind: ViolationKind,
    /// Whether the analysis ordered them. Such a pair is tried only if all pairs are.
    pub ordered: bool,
}

/// The candidates of an analysis.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CandidateList {
    /// The listed candidates, sorted by their events, each pair once.
    pub list: Vec<Candidate>,
    /// Racy candidates that the analysis counted but did not list.
    pub unlisted_racy: u64,
    /// Non-racy candidates that the analysis counted but did not list.
    pub unlisted_non_racy: u64,
}

impl CandidateList {
    /// Builds the list of a report's candidates. A pair found on two objects counts once. It is
    /// racy if it is racy on one of them.
    #[must_use]
    pub fn of(report: &Report) -> CandidateList {
        let mut by_events: BTreeMap<(u64, u64), ViolationKind> = BTreeMap::new();
        let mut listed = [0_u64; 2];
        for Violation { kind, first, second, .. } in &report.violations {
            listed[usize::from(*kind == ViolationKind::NonRacy)] += 1;
            let known = by_events.entry((first.event, second.event)).or_insert(*kind);
            *known = (*known).min(*kind);
        }
        let list = by_events
            .into_iter()
            .map(|((first, second), kind)| Candidate { first, second, kind, ordered: false })
            .collect();
        CandidateList {
            list,
            unlisted_racy: report.counts.racy.saturating_sub(listed[0]),
            unlisted_non_racy: report.counts.non_racy.saturating_sub(listed[1]),
        }
    }

    /// Returns the number of candidates that are not listed.
    #[must_use]
    pub const fn unlisted(&self) -> u64 {
        self.unlisted_racy + self.unlisted_non_racy
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_stream::{Object, Side};
    use anyorder_trace::{LocationId, SiteId};

    #[test]
    fn each_pair_is_one_candidate_and_what_is_not_listed_is_counted() {
        let side = |event| Side { event, site: SiteId(0) };
        let one = |kind, first, second| Violation {
            kind,
            object: Object::Location(LocationId(0)),
            first: side(first),
            second: side(second),
        };
        let (racy, non_racy) = (ViolationKind::Racy, ViolationKind::NonRacy);
        let mut report = Report {
            violations: vec![
                one(non_racy, 1, 9),
                one(racy, 0, 3),
                one(racy, 1, 9),
                one(racy, 0, 3),
            ],
            ..Report::default()
        };
        (report.counts.racy, report.counts.non_racy) = (7, 1);
        let list = CandidateList::of(&report);
        let pairs: Vec<_> = list.list.iter().map(|c| (c.first, c.second, c.kind)).collect();
        assert_eq!(pairs, [(0, 3, racy), (1, 9, racy)]);
        assert_eq!((list.unlisted_racy, list.unlisted_non_racy), (4, 0));
    }
}
