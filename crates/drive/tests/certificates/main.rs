//! Two checkers of certificates, written independently, give the same verdict: `certify`, and the
//! one in Python in `tools/checker`. Certificates come from the engines, about random traces; most
//! are then changed in one place.
//!
//! `ANYORDER_CERTIFICATES_BATCH=FILE` writes the cases for `tools/checker/drop_rules.py`. Without
//! Python the test says so and passes.

mod cases;
mod links;
mod mutants;
mod orders;
mod python;
mod traces;
mod walks;

use anyorder_common::random::{Random, Rng};
use anyorder_drive::{CertificateVerdict, CertifyOptions, MailboxRule, TraceCertifier, TraceInput};
use anyorder_system::Control;
use cases::Case;
use std::collections::BTreeMap;

/// The traces of the short run.
const TRACES: u64 = 90;

/// The mutants of each certificate.
const MUTANTS: usize = 5;

/// Reasons of refusals that some certificate must meet: several rules of each kind.
const REASONS: &[(&str, &str)] = &[
    ("order-proof", "does not go forward"),
    ("order-proof", "begins at"),
    ("order-proof", "leads from"),
    ("order-proof", "premises, expected"),
    ("order-proof", "is about other events"),
    ("order-proof", "rule is not in the rule set"),
    ("order-proof", "source is not"),
    ("order-proof", "target is not"),
    ("order-proof", "whole-task orders"),
    ("order-proof", "events of different tasks"),
    ("order-proof", "nothing ends it there"),
    ("order-proof", "target begins no task or piece"),
    ("consistency-proof", "does not follow by unit propagation"),
    ("consistency-proof", "no step gives the empty clause"),
    ("consistency-proof", "but the one before it ends"),
    ("consistency-proof", "does not read from it"),
    ("consistency-proof", "not two messages of one handler"),
    ("consistency-proof", "neither events of the two messages nor their posts"),
    ("consistency-proof", "not earlier in the task"),
    ("consistency-proof", "does not end what the first begins"),
    ("consistency-proof", "the first does not enable the second"),
    ("consistency-proof", "the first does not post what the second cancels"),
    ("consistency-witness", "has ended it"),
    ("consistency-witness", "must come first (cancel)"),
    ("consistency-witness", "must come first (enable)"),
    ("consistency-witness", "must come first"),
    ("consistency-witness", "it comes twice"),
    ("consistency-witness", "it is missing"),
    ("consistency-witness", "must run first"),
    ("consistency-witness", "still has to run"),
    ("consistency-witness", "should read"),
    ("reordering", "must come first"),
    ("reordering", "happens twice"),
    ("reordering", "the two actions are not reversed"),
    ("reordering", "does not stand at the end"),
    ("reordering", "observes"),
    ("reordering", "in the file, and there are"),
    ("reordering", "`lane` is"),
    ("trace-schedule", "must come first (po)"),
    ("trace-schedule", "scheduled twice"),
    ("trace-schedule", "in the middle of something else"),
    ("trace-schedule", "must be taken first"),
    ("trace-schedule", "stands between"),
];

#[test]
fn two_checkers_agree_on_certificates_and_mutants() {
    let mut cases = Vec::new();
    for seed in anyorder_testkit::effort::seeds(TRACES) {
        for case in cases::of(seed) {
            let mut rng = Rng::new(seed ^ 0x5eed);
            for _ in 0..if case.is_mutant { 0 } else { MUTANTS } {
                let text = mutants::changed(&case, &mut rng);
                cases.push(Case { text, is_mutant: true, ..case.clone() });
            }
            cases.push(case);
        }
    }
    let Some(verdicts) = python::verdicts(&cases) else {
        eprintln!("skipped: there is no python3");
        return;
    };
    let mut counts: BTreeMap<(&str, bool, u8), u64> = BTreeMap::new();
    let mut reasons: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    let mut differences = Vec::new();
    for (case, (theirs, words)) in cases.iter().zip(&verdicts) {
        let (ours, reason) = ours(case);
        *counts.entry((case.kind, case.is_mutant, ours)).or_default() += 1;
        for expected in REASONS.iter().filter(|of| of.0 == case.kind && reason.contains(of.1)) {
            *reasons.entry(*expected).or_default() += 1;
        }
        assert!(case.is_mutant || ours == 0, "{reason}\n{}\n{}", case.trace, case.text);
        if ours != *theirs && *theirs != 3 {
            differences.push(format!(
                "{} ({:?}): ours {ours}: {reason}\npython {theirs}: {words}\n{}\n{}",
                case.kind, case.mailbox, case.trace, case.text
            ));
        }
        *counts.entry(("unknown to python", case.is_mutant, *theirs)).or_default() +=
            u64::from(*theirs == 3);
    }
    for ((kind, is_mutant, status), count) in &counts {
        let what = if *is_mutant { "mutants" } else { "certificates" };
        eprintln!("{kind}, {what}, status {status}: {count}");
    }
    for ((kind, reason), count) in &reasons {
        eprintln!("{kind}: {reason}: {count}");
    }
    let shown: Vec<&String> = differences.iter().take(3).collect();
    assert!(differences.is_empty(), "{} differ, such as\n{shown:#?}", differences.len());
    for kind in ["order-proof", "consistency-proof", "consistency-witness", "reordering"] {
        let refused = counts.get(&(kind, true, 1)).copied().unwrap_or_default();
        assert!(refused > 0, "no mutant of a certificate of kind {kind} was refused");
    }
    let missing: Vec<_> = REASONS.iter().filter(|reason| !reasons.contains_key(reason)).collect();
    assert!(missing.is_empty(), "no certificate was refused for {missing:?}");
}

/// The exit status of our checker for one certificate, and the reason or claim.
fn ours(case: &Case) -> (u8, String) {
    let control = Control::default();
    let input = TraceInput::clone(&case.input);
    let mailbox = case.mailbox.map(|rule| match rule {
        "bag" => MailboxRule::Bag,
        "delayed" => MailboxRule::Delayed,
        _ => MailboxRule::Fifo,
    });
    let options = CertifyOptions { mailbox, specifications: None };
    let checked = TraceCertifier::new(&input, options).check(&case.text, &control);
    let certificates = checked.expect("no specifications").certificates;
    match &certificates[0].verdict {
        CertificateVerdict::Holds { claim, .. } => (0, claim.clone()),
        CertificateVerdict::Fails(fault) => (1, fault.reason.clone()),
        CertificateVerdict::Unreadable(fault) => (2, fault.reason.clone()),
        CertificateVerdict::Stopped(_) => panic!("nothing stops it"),
    }
}

/// One of several.
fn one_of<'a, T>(rng: &mut Rng, of: &'a [T]) -> &'a T {
    &of[rng.below(of.len() as u64) as usize]
}
