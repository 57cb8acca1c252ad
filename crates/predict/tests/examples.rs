//! The traces of `examples/traces`: the check finds the bug of each, and nothing in its ordered
//! variant.

use crate::common;

use anyorder_formats::native_text::NativeTextReader;
use anyorder_formats::std::StdReader;
use anyorder_predict::{
    CandidateOptions, EdcAnalysis, HbAnalysis, Internals, Report, Specified, Types,
    ViolationKind::{self, NonRacy, Racy},
};
use anyorder_trace::Trace;
use common::analyse;
use std::fs::{File, read_dir};
use std::io::BufReader;
use std::path::{Path, PathBuf};

type Found = (ViolationKind, u64, u64);

/// The candidates of EDC, and the number of candidates of happens-before.
const EXPECTED: [(&str, &[Found], usize); 21] = [
    ("race1.std", &[(Racy, 2, 9)], 0),
    ("race1-ordered.std", &[], 0),
    ("uaf_pred.std", &[(Racy, 3, 9)], 0),
    ("uaf_pred-ordered.std", &[], 0),
    ("uaf_locked.std", &[(NonRacy, 4, 7)], 0),
    ("uaf_locked-ordered.std", &[], 0),
    ("uaf_locked-checked.std", &[], 0),
    ("condlost.std", &[(NonRacy, 3, 6)], 0),
    ("condlost-ordered.std", &[], 0),
    ("condlost-checked.std", &[], 0),
    ("double-free.std", &[(NonRacy, 4, 7)], 0),
    ("lock-destroyed.std", &[(Racy, 2, 5), (Racy, 3, 6), (Racy, 2, 6)], 3),
    ("lock-destroyed-ordered.std", &[], 0),
    ("thesis-figure-3-1.trace", &[(Racy, 1, 7)], 0),
    ("thesis-figure-3-1-internals.trace", &[(Racy, 1, 11)], 0),
    ("channel.trace", &[(Racy, 1, 2)], 1),
    ("channel-ordered.trace", &[], 0),
    ("context.trace", &[(Racy, 1, 2)], 1),
    ("file.trace", &[(NonRacy, 2, 5)], 0),
    ("lock_order.std", &[(NonRacy, 4, 9)], 0),
    ("lock_order-ordered.std", &[], 0),
];

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/traces")
}

fn read(name: &str) -> Trace {
    let file = BufReader::new(File::open(directory().join(name)).expect("the example is there"));
    if name.ends_with(".std") {
        Trace::read(&mut StdReader::new(file)).expect("the example is right")
    } else {
        Trace::read(&mut NativeTextReader::new(file)).expect("the example is right")
    }
}

fn found(report: &Report) -> Vec<Found> {
    report.violations.iter().map(|v| (v.kind, v.first.event, v.second.event)).collect()
}

#[test]
fn each_example_shows_what_it_says() {
    let types = Types::built_in().expect("the built-in types are right");
    for (name, expected, hb) in EXPECTED {
        let trace = read(name);
        let specified = || Specified::new(types.clone(), Internals::Auto);
        let whole = Specified::for_trace(types.clone(), Internals::Auto, &trace);
        for specified in [whole, specified()] {
            let edc =
                analyse(&trace, &mut EdcAnalysis::new(specified, CandidateOptions::default()));
            assert_eq!(found(&edc), expected, "{name}");
        }
        let report =
            analyse(&trace, &mut HbAnalysis::new(specified(), CandidateOptions::default()));
        assert_eq!(report.violations.len(), hb, "{name}");
    }
}

#[test]
fn there_are_no_other_examples() {
    let names = read_dir(directory()).expect("the directory is there");
    for name in names.map(|entry| entry.expect("an entry").file_name()) {
        let name = name.to_string_lossy().into_owned();
        assert!(name == "README.md" || EXPECTED.iter().any(|(known, ..)| *known == name), "{name}");
    }
}

#[test]
fn the_trace_in_the_documentation_is_one() {
    let page = directory().join("../../docs/prediction.md");
    let page = std::fs::read_to_string(page).expect("the page is there");
    let (_, from) = page.split_once("```text\nanyorder-trace 1\n").expect("the page has a trace");
    let (lines, _) = from.split_once("```").expect("it ends");
    let text = format!("anyorder-trace 1\n{lines}");
    let trace = Trace::read(&mut NativeTextReader::new(text.as_bytes())).expect("it is right");
    let types = Types::built_in().expect("the built-in types are right");
    let specified = Specified::for_trace(types, Internals::Auto, &trace);
    let report = analyse(&trace, &mut EdcAnalysis::new(specified, CandidateOptions::default()));
    assert_eq!(found(&report), [(Racy, 1, 3)]);
}
