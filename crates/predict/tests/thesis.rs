//! The examples of the thesis, and the smallest trace for each error in its printed form.

use crate::common;

use anyorder_commute::Document;
use anyorder_predict::{
    CandidateOptions, Candidates, Conditions, EdcAnalysis, HbAnalysis, Internals, MemoryOnly,
    Object, Specification, Specified, Types,
    ViolationKind::{self, NonRacy, Racy},
};
use common::analyse;
use common::naive::{Naive, Order};
use common::script::script;

/// Sets as the built-in type specifies them.
fn sets() -> Specified {
    Specified::new(Types::built_in().expect("the built-in types are right"), Internals::Auto)
}

fn found<S: Specification>(
    text: &str,
    spec: S,
    candidates: Candidates,
) -> Vec<(ViolationKind, u64, u64)> {
    let options = CandidateOptions { candidates, ..CandidateOptions::default() };
    let report = analyse(&script(text), &mut EdcAnalysis::new(spec, options));
    report.violations.iter().map(|v| (v.kind, v.first.event, v.second.event)).collect()
}

fn corrected(text: &str) -> Vec<(ViolationKind, u64, u64)> {
    found(text, MemoryOnly, Candidates::Corrected)
}

fn hb(text: &str) -> usize {
    analyse(&script(text), &mut HbAnalysis::new(MemoryOnly, CandidateOptions::default()))
        .violations
        .len()
}

const FIGURE_3_1: &str = "T1 r x; T1 acq m; T1 s.add(1)=1; T1 rel m
    T2 acq m; T2 s.contains(42)=1; T2 free x; T2 rel m";

#[test]
fn figure_3_1_is_found_with_the_specification_of_sets_only() {
    assert_eq!(found(FIGURE_3_1, sets(), Candidates::Corrected), [(Racy, 0, 6)]);
    assert_eq!(hb(FIGURE_3_1), 0);
    // At the level of reads and writes the set's inside orders the two.
    let inside = FIGURE_3_1.replace("s.add(1)=1", "w s").replace("s.contains(42)=1", "r s");
    assert_eq!(corrected(&inside), []);
    // The same value: not commuting. Read and free are ordered; the search for a witness decides
    // whether the calls can be reversed.
    let same = FIGURE_3_1.replace("42", "1");
    assert_eq!(found(&same, sets(), Candidates::Corrected), [(NonRacy, 2, 5)]);
    // Whether they commute depends on the result: this `add` found the value present.
    let there = same.replace("add(1)=1", "add(1)=0");
    assert_eq!(found(&there, sets(), Candidates::Corrected), [(Racy, 0, 6)]);
}

/// Section 3.2 prints `v1 != v2 || (r1 && r2)`. Then `contains` may come before the `add` that it
/// has seen, and the `free` that depends on it before the read.
#[test]
fn as_printed_add_commutes_with_the_contains_that_sees_it() {
    let printed =
        "spec set { add(v)/r ~ contains(w)/s when v != w || (r && s); contains(_) ~ contains(_); }";
    let document = Document::parse(printed).expect("the text is right");
    let types = Types::with(&document).expect("the texts are right");
    let printed = Specified::new(types, Internals::Auto);
    let same = FIGURE_3_1.replace("42", "1").replace("s.", "set:s.");
    assert_eq!(found(&same, printed, Candidates::Corrected), [(Racy, 0, 6)], "a false alarm");
    assert_eq!(found(&same, sets(), Candidates::Corrected), [(NonRacy, 2, 5)]);
}

/// Example 1: a use and a free under one lock, which no race detector reports.
#[test]
fn example_1_a_use_after_free_without_a_race() {
    let text = "T1 acq m; T1 w x; T1 rel m; T2 acq m; T2 free x; T2 rel m";
    assert_eq!(corrected(text), [(NonRacy, 1, 4)]);
    assert_eq!(hb(text), 0);
}

const FIGURE_3_3: &str = "T1 acq m; T1 r y; T1 w x; T1 rel m
    T2 acq m; T2 free x; T2 w y; T2 rel m";

#[test]
fn figure_3_3_is_dropped_at_the_release() {
    let options = CandidateOptions::default();
    let report = analyse(&script(FIGURE_3_3), &mut EdcAnalysis::new(MemoryOnly, options));
    assert_eq!(report.violations, []);
    assert_eq!((report.counts.ordered, report.counts.non_racy), (2, 0));
    // Without the condition `y` that guards it, the use after free is possible.
    let unguarded = FIGURE_3_3.replace("T1 r y;", "").replace("T2 w y;", "");
    assert_eq!(corrected(&unguarded), [(NonRacy, 1, 4)]);
}

#[test]
fn figure_3_4_a_broadcast_that_nobody_hears() {
    let text = "T1 acq mu; T1 r cycler; T1 wait c; T1 rel mu
        T2 acq mu; T2 r cycler; T2 broadcast c; T2 rel mu
        T1 acq mu; T1 wake c; T1 rel mu";
    let report =
        analyse(&script(text), &mut EdcAnalysis::new(Conditions, CandidateOptions::default()));
    let pairs: Vec<_> =
        report.violations.iter().map(|v| (v.kind, v.first.event, v.second.event)).collect();
    assert_eq!(pairs, [(NonRacy, 2, 6)]);
    assert!(matches!(report.violations[0].object, Object::Own(_)));
    assert_eq!(hb(text), 0);
}

/// Algorithm 2, line 13, joins what line 25 then looks for.
#[test]
fn as_printed_no_non_racy_violation_is_ever_reported() {
    let text = "T1 acq m; T1 w x; T1 rel m; T2 acq m; T2 w x; T2 rel m";
    assert_eq!(found(text, MemoryOnly, Candidates::AsPrinted), []);
    assert_eq!(corrected(text), [(NonRacy, 1, 4)]);
    // Two events under a common lock are ordered by their own edge.
    assert!(Naive::new(&script(text), Order::Edc, false).before[4][1]);
}

/// Line 9 tests before line 13 joins.
#[test]
fn as_printed_a_pair_is_tested_before_it_is_ordered() {
    let text = "T1 w x; T1 acq m; T1 r x; T1 rel m; T2 acq m; T2 w x; T2 rel m";
    assert_eq!(found(text, MemoryOnly, Candidates::AsPrinted), [(Racy, 0, 5)]);
    assert!(!corrected(text).iter().any(|v| v.0 == Racy));
    assert!(Naive::new(&script(text), Order::Edc, false).before[5][0]);
}

/// A read cannot come before the write that it reads from.
#[test]
fn communication_is_kept() {
    assert_eq!(corrected("T1 acq m; T1 w x; T1 rel m; T2 acq m; T2 r x; T2 rel m"), []);
    // Nor can a section that goes on to read it.
    assert_eq!(
        corrected("T1 acq m; T1 w x; T1 rel m; T2 acq m; T2 w y; T2 r x; T2 w x; T2 rel m"),
        []
    );
    // A read before a write may observe something else, as the last action of a witness.
    assert_eq!(
        corrected("T1 acq m; T1 r x; T1 rel m; T2 acq m; T2 w x; T2 rel m"),
        [(NonRacy, 1, 4)]
    );
}

/// A thread that one starts and another joins orders the two, even without events of its own.
#[test]
fn a_thread_without_events_is_joined_behind_its_fork() {
    let text = "S w x; S fork E; T join E; T w x";
    assert_eq!((hb(text), corrected(text)), (0, vec![]));
    assert_eq!(corrected("S fork E; S w x; T join E; T w x"), [(Racy, 1, 3)]);
}

/// Only the acquire of the first section decides whether the section can come second.
#[test]
fn a_fork_inside_a_critical_section_orders_the_sections() {
    let text = "T1 acq m; T1 fork T2; T1 w x; T1 rel m; T2 acq m; T2 w x; T2 rel m";
    assert_eq!(corrected(text), []);
    let outside = "T1 fork T2; T1 acq m; T1 w x; T1 rel m; T2 acq m; T2 w x; T2 rel m";
    assert_eq!(corrected(outside), [(NonRacy, 2, 5)]);
}

/// All common locks count, not only the one released last.
#[test]
fn one_ordered_lock_of_two_is_enough() {
    let text = "T1 acq n; T1 fork T2; T1 acq m; T1 w x; T1 rel m; T1 rel n
        T2 acq n; T2 acq m; T2 w x; T2 rel m; T2 rel n";
    assert_eq!(corrected(text), []);
    let outside = "T1 fork T2; T1 acq n; T1 acq m; T1 w x; T1 rel m; T1 rel n
        T2 acq n; T2 acq m; T2 w x; T2 rel m; T2 rel n";
    assert_eq!(corrected(outside), [(NonRacy, 3, 8)]);
}

/// Events after the release of one common lock are no evidence about that lock.
#[test]
fn each_lock_counts_until_its_own_release() {
    let text = "T1 acq m; T1 signal c; T1 acq n; T1 w x; T1 rel n; T1 rel m
        T2 acq m; T2 acq n; T2 w x; T2 rel m; T2 wake c; T2 rel n";
    assert_eq!(corrected(text), [(NonRacy, 3, 8)]);
    let before = text.replace("T2 rel m; T2 wake c", "T2 wake c; T2 rel m");
    assert_eq!(corrected(&before), []);
}

#[test]
fn sections_may_be_entered_again_and_shared() {
    let again = "T1 acq m; T1 acq m; T1 rel m; T1 w x; T1 rel m; T2 acq m; T2 w x; T2 rel m";
    assert_eq!(corrected(again), [(NonRacy, 3, 6)]);
    let readers = "T1 racq m; T1 w x; T1 rrel m; T2 racq m; T2 w x; T2 rrel m";
    assert_eq!(corrected(readers), [(Racy, 1, 4)]);
    assert_eq!(hb(readers), 1);
    let writer = "T1 racq m; T1 w x; T1 rrel m; T2 acq m; T2 w x; T2 rel m";
    assert_eq!(corrected(writer), [(NonRacy, 1, 4)]);
}

/// The race of the introduction of predictive analyses: hidden by a lock hand-over.
#[test]
fn a_race_behind_empty_sections_is_predicted() {
    let text = "T1 w x; T1 acq m; T1 rel m; T2 acq m; T2 rel m; T2 w x";
    assert_eq!(hb(text), 0);
    assert_eq!(corrected(text), [(Racy, 0, 5)]);
}
