//! `anyorder run --stress`: runs in random orders.

use super::built_once;
use crate::common::{Ran, command, ran};
use anyorder_testkit::effort;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The program's mistakes, and the kind of the finding that shows each.
const MISTAKES: [(&str, &str); 8] = [
    ("atomicity", "assertion"),
    ("lost-wakeup", "deadlock"),
    ("use-after-free", "assertion"),
    ("deadlock", "deadlock"),
    ("deadlock-three", "deadlock"),
    ("initialisation", "assertion"),
    ("double-free", "order_violation"),
    ("order", "nondeterminism"),
];

fn programs() -> &'static Path {
    static BUILT: OnceLock<tempfile::TempDir> = OnceLock::new();
    built_once(&BUILT, "stress")
}

fn stressed(options: &[&str], program: &[&str]) -> (Ran, Value) {
    let mut arguments = vec!["run", "--no-predict", "--format", "json"];
    arguments.extend(options);
    arguments.push("./stress");
    arguments.extend(program);
    let ran = ran(command(&arguments).current_dir(programs()));
    let result =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    (ran, result)
}

/// Returns the findings of runs in random orders.
fn of_stress(result: &Value) -> Vec<&Value> {
    let findings = result["findings"].as_array().expect("a list");
    findings.iter().filter(|finding| finding["reproduced"].is_object()).collect()
}

fn number(result: &Value, name: &str) -> u64 {
    result["stats"][name].as_u64().unwrap_or_else(|| panic!("{name}: {}", result["stats"]))
}

/// 50 runs in random orders show each mistake, and none shows one in the repaired program. At night
/// it is counted how many of 50 plain runs do: that depends on the machine, so nothing is asked of
/// it.
#[test]
fn random_orders_show_what_plain_runs_do_not() {
    for (which, kind) in MISTAKES {
        let tries = if effort::effort() > 1 { 0..50 } else { 0..0 };
        let plain = tries.filter(|_| {
            let mut program = Command::new("timeout");
            program.args(["-s", "KILL", "5", "./stress", which]).current_dir(programs());
            // What ThreadSanitizer's own runtime says of it is no failure here.
            program.env("TSAN_OPTIONS", "report_bugs=0:exitcode=0");
            !program.output().expect("it runs").status.success()
        });
        let plain = plain.count();
        let (_, result) = stressed(&["--stress", "50"], &[which]);
        let found = of_stress(&result);
        let seeds: Vec<u64> = serde_json::from_value(result["stats"]["stress_seeds"].clone())
            .unwrap_or_else(|_| panic!("{which}: {result}"));
        println!(
            "{which}: first in run {}, {} of 50; {plain} plain runs (tried at night)",
            seeds[0],
            seeds.len()
        );
        assert!(found.iter().any(|one| one["kind"] == kind), "{which}: {found:?}");
        assert_eq!(result["verdict"], "findings", "{which}");
        assert_eq!(number(&result, "stress_runs"), 50, "{which}");
        assert_eq!(number(&result, "stress_failed"), seeds.len() as u64, "{which}");
        assert!(number(&result, "stress_schedules") > 5, "{which}");
        let (_, right) = stressed(&["--stress", "50"], &[which, "fixed"]);
        assert!(of_stress(&right).is_empty(), "{which}: {:?}", of_stress(&right));
        assert_eq!(number(&right, "stress_failed"), 0, "{which}");
    }
}

/// What a run in a random order shows of a prediction is the prediction, by its id; the id is that
/// of the same mistake without predictions, too, where the sites are the same.
#[test]
fn what_was_predicted_has_one_id() {
    for (which, is_lock) in [
        ("deadlock", true),
        ("deadlock-three", true),
        ("lost-wakeup", false),
        ("use-after-free", false),
    ] {
        let of = |options: &[&str]| -> Value {
            let run = [&["run", "--format", "json"], options, &["./stress", which]].concat();
            let ran = ran(command(&run).current_dir(programs()));
            serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
        };
        let ids = |found: Vec<&Value>| -> Vec<String> {
            found.iter().map(|one| one["id"].as_str().expect("an id").to_owned()).collect()
        };
        let plain = of(&[]);
        let predicted = ids(plain["findings"].as_array().expect("a list").iter().collect());
        let shown = of(&["--stress", "50"]);
        let of_runs = of_stress(&shown);
        assert_eq!(of_runs.len(), 1, "{which}: {of_runs:?}");
        assert_eq!(
            (&of_runs[0]["harm"], &of_runs[0]["severity"]),
            (&"harmful".into(), &"error".into())
        );
        assert!(of_runs[0]["replay"].as_str().is_some_and(|text| text.contains("--stress 1")));
        let shown = ids(of_runs);
        assert!(predicted.contains(&shown[0]), "{which}: {shown:?} {predicted:?}");
        let (_, alone) = stressed(&["--stress", "50"], &[which]);
        let alone = ids(of_stress(&alone));
        assert_eq!(alone.contains(&shown[0]), is_lock, "{which}: {alone:?} {shown:?}");
    }
}

/// The command of a finding makes the program fail in the same way again.
#[test]
fn a_failing_order_is_run_again_by_its_seed() {
    for (which, kind) in [MISTAKES[0], MISTAKES[2], MISTAKES[3], MISTAKES[6]] {
        let (_, result) = stressed(&["--stress", "20"], &[which]);
        let found = of_stress(&result);
        let finding = found.iter().find(|one| one["kind"] == kind).expect("it is found");
        let replay = finding["replay"].as_str().expect("a command");
        let words: Vec<&str> = replay.split(' ').collect();
        assert_eq!(words[..3], ["anyorder", "run", "--stress"], "{replay}");
        for _ in 0..3 {
            let (_, again) = stressed(&words[2..words.len() - 2], &[which]);
            let of_again = of_stress(&again);
            assert_eq!(of_again.len(), 1, "{which}: {again}");
            assert_eq!(of_again[0]["kind"], kind, "{which}");
            assert_eq!(of_again[0]["id"], finding["id"], "{which}: the same places");
            assert_eq!(number(&again, "stress_runs"), 1, "{which}");
        }
    }
}

/// A seed gives the same order, step by step, of each program that depends on nothing else.
#[test]
fn a_seed_gives_one_order() {
    let order = |seed: u64, which: &str| {
        let options = ["--stress", "1", "--stress-seed", &seed.to_string()];
        let (_, result) = stressed(&options, &[which]);
        (result["stats"]["stress_order"].clone(), result["stats"]["stress_steps"].clone())
    };
    for which in ["times", "pipes", "cancels"] {
        let mut all = std::collections::BTreeSet::new();
        for seed in 1..=20 {
            let first = order(seed, which);
            assert!(first.0.is_string(), "{which}: {first:?}");
            assert_eq!(first, order(seed, which), "{which}: seed {seed}");
            all.insert(first.0.to_string());
        }
        assert!(all.len() > 5, "{which}: seeds differ: {all:?}");
    }
}

/// A finding has the places where the program fails, with their stacks.
#[test]
fn a_failing_order_has_places() {
    let (_, result) = stressed(&["--stress", "20"], &["deadlock"]);
    let found = of_stress(&result);
    assert_eq!(found.len(), 1, "{found:?}");
    let sites = found[0]["sites"].as_array().expect("a list");
    let functions: Vec<&str> = sites.iter().filter_map(|site| site["function"].as_str()).collect();
    for function in ["forth", "back"] {
        assert!(functions.contains(&function), "{functions:?}");
    }
    assert!(sites.iter().all(|site| site["stack"].is_array() || site["source"].is_object()));
}

/// What waits in ways that have nothing to do with other threads' locks ends, soon, and keeps its
/// order where nothing outside is asked.
#[test]
fn sleeps_pipes_threads_and_cancellations_do_not_hang() {
    for which in ["sleeps", "pipes", "many", "cancels", "barriers", "times", "spins"] {
        let started = Instant::now();
        let (_, result) = stressed(&["--stress", "12"], &[which]);
        assert_eq!(of_stress(&result), Vec::<&Value>::new(), "{which}");
        assert_eq!(number(&result, "stress_timed_out"), 0, "{which}");
        assert_eq!(number(&result, "stress_runs"), 12, "{which}");
        assert!(number(&result, "stress_schedules") > 1, "{which}");
        // Of the plain run, ten seconds are its own sleeps.
        assert!(started.elapsed() < Duration::from_secs(60), "{which}: {:?}", started.elapsed());
    }
}

/// A run takes no longer than it may, and the result says how many were cut.
#[test]
fn each_run_has_a_limit() {
    let options = ["--stress", "3", "--run-time-limit", "300ms"];
    let (_, result) = stressed(&options, &["for-ever"]);
    assert_eq!(number(&result, "stress_timed_out"), 3, "{result}");
    assert_eq!(result["complete"], false);
}

/// A check of each run finds what only some runs do.
#[test]
fn code_that_seldom_runs_is_checked() {
    let arguments = ["run", "--format", "json", "--stress", "20", "--stress-check"];
    let mut command = command(&arguments);
    command.args(["./stress", "rare"]).current_dir(programs());
    let ran = ran(&mut command);
    let result: Value = serde_json::from_str(&ran.stdout).expect("a result");
    let findings = result["findings"].as_array().expect("a list");
    let is_of_stress = |finding: &&Value| {
        let steps = finding["explanation"].as_array().expect("a list");
        let text = "predicted of the run in the order of seed";
        steps.iter().any(|step| step["text"].as_str().is_some_and(|one| one.starts_with(text)))
    };
    let found: Vec<&Value> = findings.iter().filter(is_of_stress).collect();
    assert!(found.iter().any(|one| one["kind"] == "race"), "{findings:?}");
}

/// The report says how many runs there were, also where none failed.
#[test]
fn a_report_counts_the_runs() {
    let words = ["run", "--no-predict", "--stress", "6", "./stress", "atomicity", "fixed"];
    let ran = ran(command(&words).current_dir(programs()));
    let text = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(" · 6 runs in random orders: "), "{ran:?}");
    assert!(text.contains(" different, 0 failed"), "{ran:?}");
}

/// Runs that Ctrl-C leaves out are no answer: the result says so, and keeps what was found.
#[cfg(unix)]
#[test]
fn runs_that_were_left_out_make_the_result_incomplete() {
    let words = ["run", "--no-predict", "--format", "json", "--stress", "100000"];
    let mut child = command(&[&words[..], &["./stress", "atomicity"]].concat());
    let child = child.current_dir(programs()).stdout(Stdio::piped()).stderr(Stdio::null());
    let child = child.spawn().expect("it starts");
    std::thread::sleep(Duration::from_secs(4));
    let kill = Command::new("kill").arg("-INT").arg(child.id().to_string()).status();
    assert!(kill.expect("kill").success());
    let output = child.wait_with_output().expect("it ends");
    let result: Value = serde_json::from_slice(&output.stdout).expect("one object");
    assert_eq!(result["limits"], serde_json::json!(["interrupt"]), "{result}");
    assert_eq!(result["complete"], false);
    let runs = number(&result, "stress_runs");
    assert!((1..100_000).contains(&runs), "{runs}");
    assert_eq!(number(&result, "stress_failed") > 0, !of_stress(&result).is_empty());
}
