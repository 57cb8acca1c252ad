//! Programs behind a pipe, by the command: the bugs that the defaults must find, what they must
//! name, and random programs against a list of all their orders.

#![expect(clippy::print_stdout, reason = "reports what was skipped, and how often")]

use crate::common;
mod gallery;
mod names;
mod random;

use common::{Ran, file, folder, path, run, workspace};
use serde_json::Value;
use std::process::Command;

const PYTHON: &str = "python3 examples/pipe/python";

/// Returns whether Python is installed; prints a line if it is not.
fn has_python() -> bool {
    let ran = Command::new("python3").arg("--version").output();
    let there = ran.is_ok_and(|ran| ran.status.success());
    if !there {
        println!("skipped: there is no python3");
    }
    there
}

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

fn checked(program: &str, more: &[&str]) -> (i32, Value) {
    explored("check", program, more)
}

fn explored(command: &str, program: &str, more: &[&str]) -> (i32, Value) {
    let common = [command, "--program", program, "-q", "--format", "json"];
    let ran = run(&[&common, more].concat());
    (ran.status, json(&ran))
}

/// The findings that are not harmless.
fn wrong(value: &Value) -> Vec<&Value> {
    let all = value["findings"].as_array().expect("a list");
    all.iter().filter(|one| one["harm"] != "harmless").collect()
}

fn bounds(value: &Value) -> Vec<&str> {
    value["bounds"]
        .as_array()
        .map_or_else(Vec::new, |all| all.iter().filter_map(Value::as_str).collect())
}

/// A program on the event loop of the examples, in a folder of its own.
fn program(folder: &tempfile::TempDir, name: &str, build: &str) -> String {
    let library = workspace().join("examples/pipe/python");
    let text = format!(
        "import sys\nsys.path.insert(0, {:?})\nfrom anyorder_loop import run\n{build}\nrun(\"p\", build)\n",
        library.to_str().expect("UTF-8")
    );
    format!("python3 {}", file(folder, name, &text))
}

#[test]
fn the_defaults_find_bugs_that_need_two_reversals_or_inputs_in_another_order() {
    if !has_python() {
        return;
    }
    for (name, part) in [("two_level_cache", "`stale`"), ("semaphore", "`waits for ever`")] {
        let (status, value) = checked(&format!("{PYTHON}/{name}.py"), &[]);
        let found = wrong(&value);
        assert_eq!((status, value["verdict"].as_str()), (1, Some("findings")), "{value}");
        let title = |one: &&Value| one["title"].as_str().is_some_and(|title| title.contains(part));
        assert!(found.iter().any(title), "{name}: {found:?}");
        assert!(found.iter().all(|one| one["confirmed"] == true), "{name}: {found:?}");
        let (status, value) = checked(&format!("{PYTHON}/{name}.py --fixed"), &[]);
        assert_eq!((status, value["verdict"].as_str()), (0, Some("ok")), "{value}");
        assert_eq!((value["complete"].as_bool(), bounds(&value).len()), (Some(true), 0), "{value}");
    }
}

#[test]
fn what_was_not_tried_is_named() {
    if !has_python() {
        return;
    }
    let cache = format!("{PYTHON}/two_level_cache.py");
    let semaphore = format!("{PYTHON}/semaphore.py");
    let asked = |program: &str, more: &[&str]| {
        let (status, value) = explored("explore", program, more);
        let bounds: Vec<String> = bounds(&value).iter().map(ToString::to_string).collect();
        (status, bounds.join(" "))
    };
    assert_eq!(asked(&cache, &["--budget", "0s"]), (0, "bound budget".to_owned()));
    assert_eq!(asked(&cache, &["--bound", "1"]), (0, "bound".to_owned()));
    assert_eq!(asked(&cache, &["--bound", "2"]).0, 1);
    // All orders with the inputs as recorded, and then in any order.
    let none = ["--bound", "none"];
    assert_eq!(asked(&semaphore, &none), (0, "user-events".to_owned()));
    let free = ["--bound", "none", "--user-events", "any-order"];
    assert_eq!(asked(&semaphore, &free).0, 1);
    assert_eq!(asked(&format!("{semaphore} --fixed"), &free), (0, String::new()));
    let ran = run(&["explore", "--program", &cache, "--budget", "0s"]);
    let all = ran.stdout.split("verdict:").last().unwrap_or_default().replace('\n', " ");
    assert!(all.contains("at most 1 reversal") && all.contains("`--budget`"), "{all}");
}

#[test]
fn without_a_bound_a_right_program_is_ok() {
    if !has_python() {
        return;
    }
    let program = format!("{PYTHON}/two_level_cache.py --fixed");
    let (status, value) = explored("explore", &program, &["--bound", "none"]);
    assert_eq!((status, &value["complete"]), (0, &Value::Bool(true)), "{value}");
    assert_eq!(value["limits"], Value::Array(Vec::new()));
}

/// Two tasks that write a variable, each with its own code for the variable.
fn writers(make: &str, first: &str, second: &str) -> String {
    format!(
        "
def build(loop):
    loop.handler('a')
    loop.handler('b')
    seen = loop.var('seen', 0)
    {make}
    def one():
        {first}
    def two():
        {second}
    loop.post('one', one, handler='a')
    loop.post('two', two, handler='b')
    loop.observe(lambda: [(['x'], 'output', str(x.peek() if hasattr(x, 'peek') else x))])
"
    )
}

#[test]
fn state_that_is_not_reported_is_found_by_swaps() {
    if !has_python() {
        return;
    }
    let folder = folder();
    let hidden = writers("x = []", "seen.get(); x.append(1)", "seen.get(); x.append(2)");
    let (status, value) = checked(&program(&folder, "hidden.py", &hidden), &[]);
    let found = wrong(&value);
    assert_eq!((status, found.len()), (1, 1), "{value}");
    assert_eq!(found[0]["category"], "unreported");
    let tasks: Vec<_> = found[0]["sites"].as_array().expect("sites").iter().collect();
    assert_eq!((&tasks[0]["task"], &tasks[1]["task"]), (&"one".into(), &"two".into()));
    assert_eq!(value["warnings"][0]["kind"], "unreported", "{value}");
    assert_eq!(value["stats"]["swaps"], 1);
    // Replays.
    let runs = path(&folder, "runs");
    let program_ = program(&folder, "hidden.py", &hidden);
    run(&["check", "--program", &program_, "-q", "--schedules", &runs]);
    let schedule = format!("{runs}/{}.json", found[0]["id"].as_str().expect("an id"));
    assert_eq!(run(&["replay", "--program", &program_, &schedule]).status, 1);
    // Without swaps nothing is seen. That is why they are the default.
    let (status, _) = explored("explore", &program_, &["--swaps", "0"]);
    assert_eq!(status, 0);
    // Right programs: the order of hidden state does not matter; it is reported; it is private.
    for (name, make, first, second, expected) in [
        ("set.py", "x = set()", "seen.get(); x.add(1)", "seen.get(); x.add(1)", 0),
        ("own.py", "x = []", "seen.get(); x.append(1)", "seen.get(); y = [2]", 0),
        ("var.py", "x = loop.var('x', 0)", "x.set(1)", "seen.get()", 0),
        // Reported, so it is an ordinary race.
        ("race.py", "x = loop.var('x', 0)", "x.set(1)", "x.set(2)", 1),
    ] {
        let text = writers(make, first, second);
        let (status, value) = checked(&program(&folder, name, &text), &[]);
        assert_eq!(status, expected, "{name}: {value}");
        assert!(value["warnings"].is_null(), "{name}: {value}");
        let unreported = wrong(&value).iter().any(|one| one["category"] == "unreported");
        assert!(!unreported, "{name}: {value}");
    }
}

#[test]
fn a_program_that_reports_no_access_is_never_ok_in_silence() {
    if !has_python() {
        return;
    }
    let folder = folder();
    // Nothing is reported, though the program says that it reports all.
    let hidden = writers("x = []", "x.append(1)", "x.append(2)");
    let (status, value) = checked(&program(&folder, "hidden.py", &hidden), &[]);
    assert_eq!((status, wrong(&value).len()), (1, 1), "{value}");
    assert_eq!(value["warnings"][0]["kind"], "unreported");
    let right = writers("x = set()", "x.add(1)", "x.add(2)");
    let (status, value) = checked(&program(&folder, "right.py", &right), &[]);
    assert_eq!((status, bounds(&value).len()), (0, 0), "{value}");
    assert_eq!(value["warnings"][0]["kind"], "unreported", "{value}");
    // The program of the protocol's page says that it reports none.
    let page = std::fs::read_to_string(workspace().join("docs/pipe-protocol.md")).expect("a page");
    let code = page.split("```python\n").nth(1).and_then(|rest| rest.split("```").next());
    let adder = file(&folder, "adder.py", code.expect("a program"));
    let (status, value) = checked(&format!("python3 {adder}"), &[]);
    assert_eq!((status, wrong(&value).len()), (1, 1), "{value}");
    assert_eq!(value["warnings"][0]["kind"], "unreported");
}

#[test]
fn texts_positions_and_the_file_of_the_program_survive() {
    if !has_python() {
        return;
    }
    let cache = "examples/pipe/python/two_level_cache.py";
    let command = format!("python3 {cache}");
    let (_, value) = checked(&command, &[]);
    let found = wrong(&value);
    let source = std::fs::read_to_string(workspace().join(cache)).expect("the program");
    let line =
        |text: &str| source.lines().position(|line| line.trim() == text).expect("a line") + 1;
    let sites = found[0]["sites"].as_array().expect("sites");
    let places: Vec<_> =
        sites.iter().map(|site| (site["file"].as_str(), site["line"].as_u64())).collect();
    let at = |text: &str| (Some("two_level_cache.py"), Some(line(text) as u64));
    assert_eq!(places, [at("remote.set(\"\")"), at("value = remote.get()")]);
    assert_eq!(value["inputs"][0]["file"], cache);
    let text = run(&["check", "--program", &command, "-q"]).stdout;
    assert!(text.contains("memory = \"\"") && text.contains("remote: \"old\" -> \"\""), "{text}");
    assert!(!text.contains("writes memory"), "{text}");
    let sarif = json(&run(&["check", "--program", &command, "-q", "--format", "sarif"]));
    for result in sarif["runs"][0]["results"].as_array().expect("results") {
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], cache, "{place}");
    }
    let place = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(place["region"]["startLine"].as_u64(), places[0].1, "{place}");
}

#[test]
fn every_run_of_the_program_counts_and_the_limit_holds() {
    if !has_python() {
        return;
    }
    let program = format!("{PYTHON}/double_submit.py");
    let (_, value) = explored("explore", &program, &["--bound", "2"]);
    let number = |name: &str| value["stats"][name].as_u64().expect("a number");
    let repeated = number("confirmations") + number("swaps") + number("retries");
    assert!(number("confirmations") > 0 && number("swaps") > 0, "{value}");
    assert_eq!(number("shown"), 0, "runs are drawn from what they did: {value}");
    assert!(number("executions") > repeated, "{value}");
    for most in [1_u64, 2, 5, 12, 30] {
        let limit = most.to_string();
        for bound in [&["--bound", "2"][..], &[]] {
            let more = [&["--max-executions", &limit], bound].concat();
            let (status, value) = explored("explore", &program, &more);
            let made = value["stats"]["executions"].as_u64().expect("a number");
            assert!(made <= most, "{made} of {most}: {value}");
            assert!(matches!(status, 1 | 3), "{value}");
        }
    }
}

/// Stands between anyorder and a program, and notes which runs and tasks the program made.
const PROXY: &str = r#"
import json, subprocess, sys
log = open(sys.argv[1], "a")
child = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for line in iter(sys.stdin.buffer.readline, b""):
    child.stdin.write(line)
    child.stdin.flush()
    reply = child.stdout.readline()
    op = json.loads(line)["op"]
    if op in ("reset", "execute") and "ok" in json.loads(reply):
        log.write(op + "\n")
        log.flush()
    sys.stdout.buffer.write(reply)
    sys.stdout.buffer.flush()
"#;

#[test]
fn what_is_reported_is_what_the_child_saw() {
    if !has_python() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let proxy = file(&folder, "proxy.py", PROXY);
    let mut compared = 0;
    for name in ["double_submit", "two_level_cache", "semaphore"] {
        for more in [&["--bound", "1"][..], &["--bound", "2", "--max-executions", "7"], &[]] {
            let log = file(&folder, "log", "");
            let program = format!("python3 {proxy} {log} {PYTHON}/{name}.py");
            let (_, value) = explored("explore", &program, more);
            let number = |name: &str| value["stats"][name].as_u64().expect("a number");
            let log = std::fs::read_to_string(&log).expect("a log");
            let saw = |op: &str| log.lines().filter(|line| *line == op).count() as u64;
            assert_eq!(number("executions"), saw("reset"), "{name} {more:?}: {value}");
            let executed = number("executed_tasks") + number("repeated_tasks");
            assert_eq!(executed, saw("execute"), "{name} {more:?}: {value}");
            compared += usize::from(saw("execute") > 0);
        }
    }
    assert_eq!(compared, 9);
}

#[test]
fn schedules_of_a_program_are_certified_on_it() {
    if !has_python() {
        return;
    }
    let program = format!("{PYTHON}/double_submit.py");
    let (_, value) = explored("explore", &program, &["--bound", "1"]);
    let folder = tempfile::tempdir().expect("a folder");
    let result = file(&folder, "result.json", value.to_string());
    let certified = |program: &str, certificate: &str| {
        let ran = run(&["certify", "--program", program, "--format", "json", "-q", certificate]);
        let value = json(&ran);
        let verdicts: Vec<String> = value["certificates"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|one| one["verdict"].as_str().expect("a word").to_owned())
            .collect();
        (ran.status, verdicts)
    };
    let (status, verdicts) = certified(&program, &result);
    assert!(!verdicts.is_empty() && verdicts.iter().all(|one| one == "holds"), "{verdicts:?}");
    assert_eq!(status, 0);
    // The repaired program does not do what these runs show.
    let (status, verdicts) = certified(&format!("{program} --fixed"), &result);
    assert_eq!(status, 1, "{verdicts:?}");
    assert!(verdicts.iter().any(|one| one == "fails"), "{verdicts:?}");
    let found = value["findings"].as_array().expect("a list");
    let mut schedule = found
        .iter()
        .find_map(|one| one["witness"].get("inline").cloned())
        .expect("a finding has a schedule");
    schedule["options"] = serde_json::json!({ "shows": "deadlock" });
    let other = file(&folder, "other.json", schedule.to_string());
    assert_eq!(certified(&program, &other), (2, vec!["unreadable".to_owned()]));
}
