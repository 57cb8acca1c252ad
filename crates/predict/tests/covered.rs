//! Accesses that cover earlier ones under several locks: information that the engine must keep.

use crate::common;

use anyorder_predict::{CandidateOptions, EdcAnalysis, MemoryOnly, ViolationKind};
use common::analyse;
use common::naive::{Naive, Order};
use common::script::script;
use std::collections::BTreeSet;

/// Compares the candidates with those of the definition and with `more`, for objects with few
/// records and with many.
fn check(text: &str, expected: &[(usize, usize)], more: &[(usize, usize)]) {
    let trace = script(text);
    let defined = Naive::new(&trace, Order::Edc, false).candidates();
    assert_eq!(defined, expected.iter().copied().collect(), "by the definition");
    for records in [0, 2, 8] {
        let mut engine =
            EdcAnalysis::new(MemoryOnly, CandidateOptions::default()).index_above(records);
        let report = analyse(&trace, &mut engine);
        let found: BTreeSet<(usize, usize)> = report
            .violations
            .iter()
            .filter(|v| v.kind == ViolationKind::NonRacy)
            .map(|v| (v.first.event as usize, v.second.event as usize))
            .collect();
        let both: BTreeSet<(usize, usize)> = expected.iter().chain(more).copied().collect();
        assert_eq!(found, both, "kept by lock above {records} records");
    }
}

/// T's write covers U's, but U's section also orders the acquire of T's outer one before V's write.
#[test]
fn a_covered_section_may_order_the_outer_one_of_what_covers_it() {
    check(
        "T acq n; T fork U; U acq m; U w x; U rel m; T acq m; T w x; T rel m; T rel n
         V acq n; V acq m; V w x; V rel m; V rel n",
        &[(3, 6)],
        &[],
    );
    // If U's section was known before, the engine drops its access, and with it the edge that would
    // have ordered the last pair. Only a pair under several locks can be invented this way.
    check(
        "T acq n; T fork U; U acq m; U w x; U rel m; T join U; T acq m; T w x; T rel m; T rel n
         V acq n; V acq m; V w x; V rel m; V rel n",
        &[],
        &[(7, 12)],
    );
    // Without the fork inside, nothing orders the outer sections of T and V.
    check(
        "T fork U; U acq m; U w x; U rel m; T acq n; T acq m; T w x; T rel m; T rel n
         V acq n; V acq m; V w x; V rel m; V rel n",
        &[(2, 6), (6, 11)],
        &[],
    );
}

/// The same by sections of one thread.
#[test]
fn an_earlier_section_may_order_the_outer_one_of_a_later() {
    check(
        "T acq n; T acq m; T w x; T rel m; T acq m; T w x; T rel m; T rel n
         V acq n; V acq m; V w x; V rel m; V rel n",
        &[],
        &[],
    );
    // As above, the engine drops the first sections at the end.
    check(
        "T acq n; T acq m; T w x; T rel m; T acq m; T w x; T rel m; T acq m; T w x; T rel m; T rel n
         V acq n; V acq m; V w x; V rel m; V rel n",
        &[],
        &[(8, 13)],
    );
}
