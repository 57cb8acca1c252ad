//! Events that share a name: reports name each by its number, and commands that they show explain
//! the same events.

use crate::common::{file, folder, run};
use crate::recorded::{findings, result};

/// `main` and `T1` write `x` under one name; the race is that of `T1` and `T2`.
const TWO: &str = "anyorder-trace 1
meta labels=name
handler h0 \"main\"
handler h1 \"T1\"
handler h2 \"T2\"
task t0 \"main\" initial h0
task t1 \"T1\" initial h1
task t2 \"T2\" initial h2
location x0 \"x\"
t0 write x0 #\"w\"
t0 fork h1 #\"f\"
t0 fork h2 #\"f\"
t1 write x0 #\"w\"
t2 write x0 #\"v\"
";

#[test]
fn a_race_of_events_that_share_a_name_is_confirmed_as_predicted() {
    let folder = folder();
    for command in ["check", "predict"] {
        let (status, result) = result(&folder, command, "two.trace", TWO);
        assert_eq!(status, 1, "{command}: {result}");
        let [finding] = findings(&result) else { panic!("one finding: {result}") };
        assert_eq!(finding["confirmed"], true, "{command}: {finding}");
        assert_eq!(finding["pairs"], serde_json::json!([["@3", "v"]]), "{command}");
        assert_eq!(finding["sites"][0]["event"], "@3", "{command}: {finding}");
        assert_eq!(finding["sites"][0]["thread"], "T1", "{command}: {finding}");
    }
}

#[test]
fn the_command_that_a_finding_shows_explains_its_own_pair() {
    let folder = folder();
    let (_, result) = result(&folder, "check", "two.trace", TWO);
    let command = findings(&result)[0]["replay"].as_str().expect("a command");
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    assert_eq!(words[0], "why", "{command}");
    let ran = run(&words);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stdout.contains("can happen in either order"), "{}", ran.stdout);
    assert!(ran.stdout.contains("in task `T1` on `T1`"), "{}", ran.stdout);
}

#[test]
fn a_name_of_several_events_is_refused_with_their_numbers() {
    let folder = folder();
    let input = file(&folder, "two.trace", TWO);
    let ran = run(&["why", &input, "w", "v"]);
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.stderr.contains("2 events with the name `w`"), "{}", ran.stderr);
    assert!(ran.stderr.contains("`@0`") && ran.stderr.contains("`@3`"), "{}", ran.stderr);
    // The number of an event always names it.
    let ran = run(&["why", &input, "@4", "@3"]);
    assert_eq!(ran.status, 0, "{ran:?}");
}

#[test]
fn a_witness_of_events_that_share_a_name_certifies() {
    let folder = folder();
    let input = file(&folder, "two.trace", TWO);
    let witnesses = crate::common::path(&folder, "witnesses");
    let ran = run(&["predict", &input, "--schedules", &witnesses]);
    assert_eq!(ran.status, 1, "{ran:?}");
    for entry in std::fs::read_dir(&witnesses).expect("a folder") {
        let witness = entry.expect("an entry").path().display().to_string();
        let ran = run(&["certify", &input, &witness]);
        assert_eq!(ran.status, 0, "{ran:?}");
        let ran = run(&["replay", &input, &witness]);
        assert_eq!(ran.status, 1, "{ran:?}");
    }
}

/// Three threads of the same code: all events of one line have one number.
const LINES: &str = "anyorder-trace 1
meta labels=line
handler h0 \"main\"
handler h1 \"a\"
handler h2 \"b\"
task t0 \"main\" initial h0
task t1 \"a\" initial h1
task t2 \"b\" initial h2
location x0 \"x\"
t0 write x0 #7
t0 fork h1 #1
t0 fork h2 #2
t1 write x0 #7
t2 write x0 #7
";

#[test]
fn numbers_that_repeat_name_events_by_their_place() {
    let folder = folder();
    for command in ["check", "predict"] {
        let (status, result) = result(&folder, command, "lines.trace", LINES);
        assert_eq!(status, 1, "{result}");
        let [finding] = findings(&result) else { panic!("one finding: {result}") };
        assert_eq!(finding["pairs"], serde_json::json!([["@3", "@4"]]), "{command}");
        assert_eq!(finding["confirmed"], true, "{finding}");
    }
}

#[test]
fn a_listing_without_a_search_names_events_as_the_search_does() {
    let folder = folder();
    for text in [TWO, LINES] {
        let input = file(&folder, "names.trace", text);
        let pairs = |options: &[&str]| {
            let all = [&["predict", input.as_str(), "--format", "json"], options].concat();
            let ran = run(&all);
            let value: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
            findings(&value)[0]["pairs"].clone()
        };
        assert_eq!(pairs(&["--no-confirm"]), pairs(&[]));
    }
}

/// An input event posts two tasks that a button's event interleaves; all writes have one name.
const TASKS: &str = "anyorder-trace 1
meta labels=name
handler h0 \"ui\" fifo
handler h1 \"user\" none untracked
task t0 \"main\" initial h0
task t1 \"tap\" burst h1
task t2 \"turn\" burst h1
task t3 \"one\" posted h0
task t4 \"two\" posted h0
location x0 \"view\"
t0 loop h0 #\"l\"
t1 begin #\"b\"
t1 post t3 #\"p\"
t1 exit #\"e\"
t2 begin #\"b\"
t2 post t4 #\"p\"
t2 exit #\"e\"
t3 get h0 #\"g\"
t3 write x0 #\"w\"
t3 end #\"e\"
t4 get h0 #\"g\"
t4 write x0 #\"w\"
t4 end #\"e\"
";

#[test]
fn races_of_tasks_whose_events_share_names_are_explained() {
    let folder = folder();
    let (status, result) = result(&folder, "check", "tasks.trace", TASKS);
    assert_eq!(status, 1, "{result}");
    for finding in findings(&result) {
        let words = finding["replay"].as_str().expect("a command");
        let words: Vec<&str> = words.split(' ').skip(1).collect();
        let ran = run(&words);
        assert_eq!(ran.status, 0, "{ran:?}");
        assert!(ran.stdout.contains("can happen in either order"), "{}", ran.stdout);
        let pair = finding["pairs"][0].as_array().expect("a pair");
        assert_ne!(pair[0], pair[1], "{finding}");
    }
}
