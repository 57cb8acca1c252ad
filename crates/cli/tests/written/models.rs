//! Schedules of models: of every command that writes some.

use super::{Counts, certified, examples, files_in, has_whole_witness, random, result, size};
use crate::common::{file, folder, path, run};

/// The commands that write schedules, with their options.
const COMMANDS: &[&[&str]] = &[
    &["check", "--max-states", "20000"],
    &["check", "--no-reduction", "--max-states", "20000"],
    &["check", "--symmetry", "--max-states", "20000"],
    &["explore", "--algorithm", "paper", "--max-states", "5000"],
    &["explore", "--algorithm", "r4", "--max-executions", "300", "--strict"],
    &["simulate", "--runs", "60", "--max-steps", "200"],
    &["robust"],
];

/// What a schedule can show; each must occur.
const SHOWN: &[&str] = &[
    "check failure",
    "check invariant",
    "check deadlock",
    "check final",
    "check response",
    "check update_conflict",
    "explore failure",
    "explore difference",
    "explore update_conflict",
    "simulate failure",
    "simulate deadlock",
    "shrink failure",
];

#[test]
fn every_schedule_of_a_model_holds() {
    let (number, every) = size();
    let top = folder();
    let mut models = examples("examples/models", &[".any"], every);
    models.extend(examples("crates/lang/tests/programs", &[".any"], every));
    models.extend((0..number).map(|seed| {
        let text = random::model(seed);
        file(&top, &format!("random{seed}.any"), text)
    }));
    models.push(file(&top, "equal.any", random::EQUAL_EFFECTS));
    let mut counts = Counts::default();
    for (at, model) in models.iter().enumerate() {
        for (number, words) in COMMANDS.iter().enumerate() {
            let schedules = top.path().join(format!("{at}-{number}"));
            one(model, words, &schedules, &mut counts);
        }
    }
    counts.each_is_there(SHOWN);
}

/// Runs one command on a model, and certifies what it wrote.
fn one(model: &str, words: &[&str], schedules: &std::path::Path, counts: &mut Counts) {
    let folder = schedules.to_str().expect("UTF-8");
    let mut all = words.to_vec();
    // `robust` has no answer for some models within either limit.
    let limit = if anyorder_testkit::effort::effort() > 1 { "20s" } else { "4s" };
    all.extend([model, "--format", "json", "--time-limit", limit]);
    if words[0] != "robust" {
        all.extend(["--schedules", folder]);
    }
    let Some(result) = result(&all) else { return };
    let findings = result["findings"].as_array().expect("findings");
    let with: Vec<_> = findings.iter().filter(|one| has_whole_witness(one)).collect();
    let files = files_in(schedules);
    if with.is_empty() {
        assert!(files.is_empty(), "{all:?}");
        return;
    }
    let top = crate::common::folder();
    let mut certificates = vec![file(&top, "result.json", result.to_string())];
    certificates.extend(files.clone());
    let verdicts = certified(model, &certificates, &[]);
    assert_eq!(verdicts.len(), with.len() + files.len(), "{all:?}");
    for finding in &with {
        let shows = finding["witness"]["inline"]["options"]["shows"].as_str().unwrap_or("?");
        counts.add(&format!("{} {}", words[0], shows.split(' ').next().unwrap_or_default()));
    }
    // The first schedule, made smaller.
    if let Some(first) = files.first().filter(|_| words.len() > 1) {
        let small = path(&top, "small.json");
        let ran = run(&["shrink", model, first, "-o", &small, "--max-executions", "100", "-q"]);
        if std::path::Path::new(&small).exists() {
            certified(model, &[small], &[]);
            let shows = with.iter().find_map(|one| {
                let is_first = first.contains(one["id"].as_str()?);
                is_first.then(|| one["witness"]["inline"]["options"]["shows"].as_str())?
            });
            let word = shows.and_then(|text| text.split(' ').next()).unwrap_or("?");
            counts.add(&format!("shrink {word}"));
        } else {
            assert_ne!(ran.status, 0, "{ran:?}");
        }
    }
}
