//! Every certificate that a command writes holds, by `certify` and by the checker in Python, which
//! share no code: over the gallery of models, the example traces, generated traces, random models
//! and random traces.
//!
//! A push takes a sample; `ANYORDER_EFFORT=6` takes all of the gallery.

#![expect(clippy::print_stderr, reason = "tests say what they covered and skipped")]

use crate::common;

mod models;
mod python;
mod random;
mod traces;

use common::{Ran, run};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Random models and traces.
const RANDOM: u64 = 12;

/// Returns the number of random inputs, and of each how many examples one is taken.
fn size() -> (u64, usize) {
    let effort = anyorder_testkit::effort::effort();
    (anyorder_testkit::effort::cases(RANDOM), if effort > 1 { 1 } else { 9 })
}

/// Counts of certificates by command and kind.
#[derive(Default)]
struct Counts(BTreeMap<String, u64>);

impl Counts {
    fn add(&mut self, what: &str) {
        *self.0.entry(what.to_owned()).or_default() += 1;
    }

    /// Fails for a kind that never occurred.
    fn each_is_there(&self, wanted: &[&str]) {
        for (what, count) in &self.0 {
            eprintln!("{what}: {count}");
        }
        let missing: Vec<&&str> = wanted.iter().filter(|one| !self.0.contains_key(**one)).collect();
        assert!(missing.is_empty(), "never written: {missing:?}");
    }
}

/// Runs a command whose result is a JSON document; `None` at status 2.
fn result(arguments: &[&str]) -> Option<Value> {
    let ran = run(arguments);
    assert!(matches!(ran.status, 0..=3), "{arguments:?}: {ran:?}");
    let document = || serde_json::from_str(&ran.stdout);
    (ran.status != 2).then(|| document().unwrap_or_else(|_| panic!("{arguments:?}: {ran:?}")))
}

/// Certifies files about an input, and returns the verdicts of the answer.
fn certified(input: &str, files: &[String], options: &[&str]) -> Vec<Value> {
    let mut words = vec!["certify", input, "--format", "json"];
    words.extend(files.iter().map(String::as_str));
    words.extend(options);
    let ran: Ran = run(&words);
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    let list = answer["certificates"].as_array().expect("certificates").clone();
    for one in &list {
        assert_eq!(one["verdict"], "holds", "{words:?}\n{one}\n{}", text_of(input));
    }
    assert_eq!(ran.status, 0, "{words:?}: {ran:?}");
    list
}

/// The text of an input for a message, if it is short.
fn text_of(input: &str) -> String {
    std::fs::read_to_string(input).ok().filter(|text| text.len() < 4_000).unwrap_or_default()
}

/// The files in a folder.
fn files_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<String> = entries.map(|one| one.path().display().to_string()).collect();
    files.sort();
    files
}

/// Whether a result has an inline certificate that is whole.
fn has_whole_witness(finding: &Value) -> bool {
    let inline = &finding["witness"]["inline"];
    inline.is_object() && inline.get("left_out").is_none()
}

/// The examples in a folder with an ending, a sample of them.
fn examples(folder: &str, endings: &[&str], every: usize) -> Vec<String> {
    let of = common::workspace().join(folder);
    let fits = |file: &String| endings.iter().any(|ending| file.ends_with(ending));
    let all: Vec<String> = files_in(&of).into_iter().filter(fits).collect();
    assert!(all.len() > 10, "{folder}: {all:?}");
    all.into_iter().step_by(every).collect()
}
