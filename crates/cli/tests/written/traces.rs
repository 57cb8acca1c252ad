//! Certificates about traces: reorderings, proofs of orders, runs and refutations.

use super::python::{self, Case};
use super::{
    Counts, RANDOM, certified, examples, files_in, has_whole_witness, random, result, size,
};
use crate::common::{NOTES, file, folder, path, run};
use anyorder_testkit::effort::seeds;
use serde_json::Value;

/// The families of generated traces, with a size and options.
const FAMILIES: &[(&str, &str, &[&str])] = &[
    ("buyers", "3", &[]),
    ("changroberts", "2", &["--mailbox", "bag"]),
    ("messageloop", "1", &["--mailbox", "bag"]),
    ("sat3", "5", &[]),
    ("knot", "3", &[]),
    ("shuffle", "6", &["--mailbox", "bag"]),
    ("flat", "6", &["--mailbox", "bag"]),
    ("android", "300", &["--to", "text"]),
];

/// What must occur.
const WRITTEN: &[&str] = &[
    "predict reversed",
    "predict last",
    "predict co_enabled",
    "predict overtakes",
    "check reordering",
    "why order-proof",
    "consistency run",
    "consistency refutation",
    "generate run",
    "python reordering",
    "python order-proof",
    "python consistency-witness",
    "python consistency-proof",
];

struct Suite {
    counts: Counts,
    /// For the checker in Python, with the kind of each.
    cases: Vec<(String, Case)>,
}

#[test]
fn every_certificate_about_a_trace_holds_by_both_checkers() {
    let (number, every) = size();
    let top = folder();
    let mut traces = examples("examples/traces", &[".trace", ".std"], every.min(2));
    traces.push(crate::common::workspace().join(NOTES).display().to_string());
    let generated = if every == 1 { number } else { 1 };
    let mut suite = Suite { counts: Counts::default(), cases: Vec::new() };
    for (family, size, options) in FAMILIES {
        for seed in 1..=generated {
            traces.push(suite.generated(&top, (family, size, options), seed));
        }
    }
    for seed in seeds(RANDOM * 2) {
        traces.push(file(&top, &format!("random{seed}.trace"), random::trace(seed)));
    }
    for trace in &traces {
        suite.of(trace);
    }
    let cases: Vec<Case> = suite.cases.iter().map(|(_, case)| case.clone()).collect();
    let Some(verdicts) = python::verdicts(&cases) else {
        eprintln!("skipped: there is no python3");
        return;
    };
    for ((kind, (trace, certificate, rule)), (status, words)) in suite.cases.iter().zip(verdicts) {
        // Status 3: rules that the checker in Python does not know.
        assert!(status == 0 || status == 3, "{kind} {rule:?}: {words}\n{certificate}\n{trace}");
        if status == 0 {
            suite.counts.add(&format!("python {kind}"));
        }
    }
    suite.counts.each_is_there(WRITTEN);
}

impl Suite {
    /// Generates a trace, with its run if it has one.
    fn generated(
        &mut self,
        top: &tempfile::TempDir,
        (family, size, options): (&str, &str, &[&str]),
        seed: u64,
    ) -> String {
        let trace = path(top, &format!("{family}{seed}"));
        let recorded = path(top, &format!("{family}{seed}.run"));
        let seed = seed.to_string();
        let mut words = vec!["generate", family, "--size", size, "--seed", &seed, "-o", &trace];
        words.extend(options);
        let with_run = run(&[&words[..], &["--run", &recorded]].concat());
        if with_run.status != 0 {
            let ran = run(&words);
            assert_eq!(ran.status, 0, "{ran:?}");
            return trace;
        }
        let rule = options.iter().find(|word| ["bag", "fifo"].contains(word)).unwrap_or(&"fifo");
        self.checked(&trace, "consistency-witness", &recorded, Some(rule));
        self.counts.add("generate run");
        trace
    }

    /// Certifies a file about a trace, and keeps it for the other checker.
    fn checked(&mut self, trace: &str, kind: &str, certificate: &str, rule: Option<&str>) {
        let options: Vec<&str> = rule.map_or(Vec::new(), |rule| vec!["--mailbox", rule]);
        certified(trace, &[certificate.to_owned()], &options);
        let text = std::fs::read_to_string(certificate).expect("the certificate");
        self.other(trace, kind, text, rule);
    }

    fn other(&mut self, trace: &str, kind: &str, certificate: String, rule: Option<&str>) {
        let text = std::fs::read_to_string(trace).expect("the trace");
        let text = match text.starts_with("edtrace") || text.starts_with("anyorder-trace") {
            true => text,
            false => run(&["convert", trace, "-", "--to", "text"]).stdout,
        };
        self.cases.push((kind.to_owned(), (text, certificate, rule.map(str::to_owned))));
    }

    /// Runs all commands on a trace.
    fn of(&mut self, trace: &str) {
        self.predicted(trace);
        self.explained(trace);
        self.decided(trace);
    }

    fn predicted(&mut self, trace: &str) {
        let top = folder();
        let whole = top.path().join("whole");
        let words = ["--format", "json", "--schedules", whole.to_str().expect("UTF-8")];
        let limit = ["--time-limit", "30s"];
        if let Some(result) = result(&[&["predict", trace][..], &words, &limit].concat()) {
            let files = files_in(&whole);
            let found = self.in_result(trace, &result, &top);
            for one in found.iter().filter_map(|one| one["form"].as_str()) {
                self.counts.add(&format!("predict {one}"));
            }
            if !files.is_empty() {
                certified(trace, &files, &[]);
            }
            for file in files {
                let text = std::fs::read_to_string(file).expect("a witness");
                self.other(trace, "reordering", text, None);
            }
        }
        if let Some(result) = result(&[&["check", trace, "--format", "json"][..], &limit].concat())
        {
            for _ in self.in_result(trace, &result, &top) {
                self.counts.add("check reordering");
            }
        }
    }

    /// Certifies the witnesses in a result, and returns their findings.
    fn in_result(&self, trace: &str, result: &Value, top: &tempfile::TempDir) -> Vec<Value> {
        let findings = result["findings"].as_array().expect("findings").iter();
        let found: Vec<Value> = findings.filter(|one| has_whole_witness(one)).cloned().collect();
        if !found.is_empty() {
            let mut result = result.clone();
            result["findings"] = found.clone().into();
            let verdicts = certified(trace, &[file(top, "r.json", result.to_string())], &[]);
            assert_eq!(verdicts.len(), found.len(), "{trace}");
        }
        found
    }

    /// Proofs of the orders of some pairs.
    fn explained(&mut self, trace: &str) {
        let top = folder();
        for (at, pair) in [("1", "4"), ("1", "9"), ("2", "12"), ("3", "20")].iter().enumerate() {
            let proof = path(&top, &format!("proof{at}"));
            let ran = run(&["why", trace, pair.0, pair.1, "--certificate", &proof, "-q"]);
            if ran.status == 0 && std::path::Path::new(&proof).exists() {
                self.checked(trace, "order-proof", &proof, None);
                self.counts.add("why order-proof");
            }
        }
    }

    /// Runs and refutations, by two rules of mailboxes.
    fn decided(&mut self, trace: &str) {
        for rule in ["fifo", "bag", "delayed"] {
            let top = folder();
            let (witness, proof) = (path(&top, "witness"), path(&top, "proof"));
            let words = ["consistency", trace, "--mailbox", rule, "--time-limit", "30s", "-q"];
            let files = ["--witness", &witness, "--certificate", &proof, "--format", "json"];
            let ran = run(&[&words[..], &files].concat());
            assert!(matches!(ran.status, 0..=3), "{ran:?}");
            for (file, kind, what) in [
                (&witness, "consistency-witness", "consistency run"),
                (&proof, "consistency-proof", "consistency refutation"),
            ] {
                if std::path::Path::new(file).exists() {
                    self.checked(trace, kind, file, Some(rule));
                    self.counts.add(what);
                }
            }
        }
    }
}
