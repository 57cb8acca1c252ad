//! `anyorder run`: programs that `cc -fsanitize=thread` builds, from their start to the report.

mod annotated;
mod cpp20;
mod everything;
mod launchers;
mod library;
mod linked;
mod misuse_objects;
mod packaged;
mod replay;
mod reports;
mod rust;
mod specified;
mod stress;
mod surface;

use crate::common;

use common::{Ran, command, folder, ran, workspace};
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Builds a program.
fn build(source: &Path, program: &Path, options: &[&str]) {
    let mut cc = Command::new("cc");
    cc.args(["-g", "-O1", "-pthread"]).args(options).arg("-o").arg(program).arg(source);
    let output = cc.output().expect("a C compiler");
    assert!(output.status.success(), "{cc:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Returns the folder of a program, which is built once from its source beside this file.
fn built_once(built: &'static OnceLock<tempfile::TempDir>, name: &str) -> &'static Path {
    let built = built.get_or_init(|| {
        let folder = folder();
        let source = workspace().join(format!("crates/cli/tests/native/{name}.c"));
        build(&source, &folder.path().join(name), &["-fsanitize=thread"]);
        folder
    });
    built.path()
}

fn programs() -> &'static Path {
    static BUILT: OnceLock<tempfile::TempDir> = OnceLock::new();
    built_once(&BUILT, "programs")
}

fn in_programs(arguments: &[&str]) -> Ran {
    commands_in(programs(), arguments)
}

fn commands_in(folder: &Path, arguments: &[&str]) -> Ran {
    ran(command(arguments).current_dir(folder))
}

/// Runs one of the programs. Returns the result.
fn result(which: &str, options: &[&str]) -> Value {
    let mut arguments = vec!["run", "--format", "json"];
    arguments.extend(options);
    arguments.extend(["./programs", which]);
    let ran = in_programs(&arguments);
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

/// Returns category and title of each finding that counts.
fn found(result: &Value) -> Vec<(String, String)> {
    let findings = result["findings"].as_array().expect("a list");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let harms = |finding: &&Value| finding["harm"] != "harmless";
    let both = |finding: &Value| (text(&finding["category"]), text(&finding["title"]));
    findings.iter().filter(harms).map(both).collect()
}

/// The program, and the category of what the lucky order hides.
const HIDDEN: [(&str, &str); 4] = [
    ("race", "multi_threaded"),
    ("use-then-section", "use_after_free"),
    ("use-in-section", "use_after_free"),
    ("wait-blindly", "lost_signal"),
];

#[test]
fn what_the_lucky_order_hides_is_found() {
    for (which, category) in HIDDEN {
        let result = result(which, &[]);
        let found = found(&result);
        assert!(found.iter().any(|one| one.0 == category), "{which}: {found:?}");
        assert_eq!(result["verdict"], "findings", "{which}");
        assert_eq!(result["complete"], true, "{which}: {:?}", result["warnings"]);
        for finding in result["findings"].as_array().expect("a list") {
            for site in finding["sites"].as_array().expect("a list") {
                assert!(site["file"].as_str().is_some_and(|file| file.ends_with("programs.c")));
                assert!(site["line"].as_u64().is_some_and(|line| line > 20), "{site}");
            }
            assert!(finding.get("replay").is_none(), "no file has the trace: {finding}");
        }
    }
}

#[test]
fn what_is_ordered_is_not_reported() {
    for which in [
        "race-joined",
        "use-joined",
        "use-counted",
        "use-unless-closed",
        "wait-until-ready",
        "signal-unlocked",
        "idle-worker",
    ] {
        let result = result(which, &[]);
        assert_eq!(found(&result), [], "{which}");
        assert_eq!(result["verdict"], "ok", "{which}: {:?}", result["warnings"]);
    }
}

/// The read that ends the wait is in the recording, however often the thread has read before: the
/// free comes after it, and so after the write.
#[test]
fn what_a_plain_poll_waits_for_comes_before() {
    let result = result("poll-plainly", &[]);
    let findings = result["findings"].as_array().expect("a list");
    let kinds: Vec<_> = findings.iter().map(|one| (&one["kind"], &one["title"])).collect();
    assert!(!kinds.is_empty() && kinds.iter().all(|(kind, _)| *kind == "race"), "{kinds:?}");
}

#[test]
fn two_places_are_one_finding_whichever_comes_first() {
    let found = found(&result("race-both-ways", &[]));
    assert_eq!(found.len(), 1, "{found:?}");
}

/// Each run is another one, so what is asserted is what the runtime itself has seen. On a machine
/// with much else to do, a thread that does not get a processor looks like one that waits: so there
/// are three attempts.
#[test]
fn what_the_lucky_order_hides_is_made_to_happen() {
    let all = [("two-locks", ""), HIDDEN[0], HIDDEN[1], HIDDEN[2], HIDDEN[3]];
    for (which, category) in all {
        let is_shown = |result: &Value| {
            let findings = result["findings"].as_array().expect("a list");
            findings.iter().any(|finding| finding["reproduced"]["class"] == "reproduced")
        };
        let mut attempts = (0..3).map(|_| result(which, &["--confirm"]));
        let result = attempts.find(is_shown).unwrap_or_else(|| panic!("{which}: never"));
        let findings = result["findings"].as_array().expect("a list");
        let is_it = |finding: &&Value| match category {
            "" => finding["kind"] == "deadlock",
            category => finding["category"] == category,
        };
        let finding = findings.iter().find(is_it).unwrap_or_else(|| panic!("{which}: {result}"));
        assert_eq!(finding["reproduced"]["class"], "reproduced", "{which}: {finding}");
        let text = finding["reproduced"]["text"].as_str().expect("words");
        let expected = match category {
            "use_after_free" => "used what was freed",
            "multi_threaded" => "at the same time",
            _ => "wait for ever",
        };
        assert!(text.contains(expected), "{which}: {text}");
        assert!(result["stats"]["reruns"].as_u64() > Some(0));
    }
}

/// Both sections count, so that in the other order one reads another number: no order of the
/// recorded events shows the race, and a second run does.
#[test]
fn what_only_a_second_run_shows_rests_on_it() {
    assert_eq!(found(&result("race-behind-counter", &[])), []);
    let mut attempts = (0..3).map(|_| result("race-behind-counter", &["--confirm"]));
    let result = attempts.find(|result| !found(result).is_empty()).expect("it is shown");
    let finding = &result["findings"][0];
    assert_eq!(
        (&finding["category"], &finding["confirmed"]),
        (&"multi_threaded".into(), &true.into())
    );
    assert_eq!(finding["reproduced"]["class"], "reproduced");
    assert!(finding.get("witness").is_none() && finding.get("form").is_none(), "{finding}");
}

#[test]
fn what_is_ordered_cannot_be_made_to_happen() {
    for which in ["use-joined", "use-counted", "use-unless-closed", "wait-until-ready"] {
        let result = result(which, &["--confirm"]);
        assert_eq!(found(&result), [], "{which}");
    }
}

#[test]
fn locks_in_two_orders_are_a_deadlock() {
    let result = result("two-locks", &[]);
    let findings = result["findings"].as_array().expect("a list");
    let deadlock = findings.iter().find(|finding| finding["kind"] == "deadlock");
    let title = deadlock.and_then(|finding| finding["title"].as_str()).unwrap_or_default();
    assert!(title.contains("`m`") && title.contains("`n`"), "the names of the locks: {findings:?}");
}

#[test]
fn a_finding_names_functions_stacks_and_the_allocation() {
    let text = in_programs(&["run", "./programs", "use-in-section"]);
    assert_eq!((text.status, text.stdout.as_str()), (1, "done\n"), "{}", text.stderr);
    let parts = [
        "(in `use_in_section`)",
        "(in `free_in_section`)",
        "holding `m`",
        "called at",
        "in main",
        "T1 use_in_section",
        "allocated at",
    ];
    let words = text.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in parts {
        assert!(words.contains(part), "{part}: {}", text.stderr);
    }
}

#[test]
fn the_streams_of_the_program_stay_its_own() {
    let run = |options: &[&str]| {
        let mut arguments = vec!["run"];
        arguments.extend(options);
        arguments.extend(["./programs", "echo"]);
        let mut child = command(&arguments);
        child.current_dir(programs()).stdin(Stdio::piped());
        let mut child =
            child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        child.stdin.take().expect("a pipe").write_all(b"one\ntwo\n").expect("it reads");
        child.wait_with_output().expect("it ends")
    };
    let text = run(&[]);
    assert_eq!(text.stdout, b"one\ntwo\ndone\n");
    let stderr = String::from_utf8_lossy(&text.stderr).into_owned();
    assert!(stderr.contains("to stderr\n") && stderr.contains("verdict: ok"), "{stderr}");
    let json = run(&["--format", "json"]);
    let result: Value = serde_json::from_slice(&json.stdout).expect("one object");
    assert_eq!(result["command"], "run");
    let stderr = String::from_utf8_lossy(&json.stderr).into_owned();
    assert!(stderr.contains("one\ntwo\n") && stderr.contains("done\n"), "{stderr}");
    let file = folder();
    let file = file.path().join("result.txt");
    let apart = run(&["--output", file.to_str().expect("a path")]);
    assert_eq!(apart.stdout, b"one\ntwo\ndone\n");
    assert!(fs::read_to_string(file).expect("the result").contains("verdict: ok"));
}

#[test]
fn the_exit_status_is_that_of_the_findings_or_of_the_program() {
    let status = |arguments: &[&str]| in_programs(arguments).status;
    assert_eq!(status(&["run", "./programs", "status", "0"]), 0);
    assert_eq!(status(&["run", "./programs", "status", "7"]), 7);
    assert_eq!(status(&["run", "./programs", "race"]), 1);
    assert_eq!(status(&["run", "--exit-zero", "./programs", "race"]), 0);
    assert_eq!(status(&["run", "--exit-zero", "./programs", "status", "7"]), 7);
    assert_eq!(status(&["run", "--no-predict", "./programs", "crash"]), 128 + 6);
    let crash = in_programs(&["run", "./programs", "crash"]);
    assert_eq!(crash.status, 1, "{}", crash.stderr);
    assert!(crash.stderr.contains("ended by signal 6"), "{}", crash.stderr);
}

#[test]
fn a_hang_is_ended_and_looked_at() {
    let started = Instant::now();
    let result = result("hang", &["--run-time-limit", "500ms"]);
    assert!(started.elapsed() < Duration::from_secs(60));
    assert_eq!(result["limits"], serde_json::json!(["run-time-limit"]));
    assert_eq!(result["complete"], false);
    assert_eq!(result["stats"]["program_signal"], 15);
}

#[cfg(unix)]
#[test]
fn signals_are_passed_on_and_the_run_is_looked_at() {
    let mut child = command(&["run", "--format", "json", "./programs", "hang"]);
    let child = child.current_dir(programs()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = child.spawn().expect("it starts");
    std::thread::sleep(Duration::from_millis(700));
    let kill = Command::new("kill").arg("-TERM").arg(child.id().to_string()).status();
    assert!(kill.expect("kill").success());
    let output = child.wait_with_output().expect("it ends");
    let result: Value = serde_json::from_slice(&output.stdout).expect("one object");
    assert_eq!(result["stats"]["program_signal"], 15);
    assert_eq!(output.status.code(), Some(128 + 15));
}

#[test]
fn a_recorded_trace_is_checked_later() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name).to_str().expect("a path").to_owned();
    for name in ["run.trace", "run.txt"] {
        let file = path(name);
        let options = ["run", "--record", &file, "--no-check", "./programs", "use-in-section"];
        let recorded = in_programs(&options);
        assert_eq!((recorded.status, recorded.stdout.as_str()), (0, "done\n"), "{recorded:?}");
        assert!(recorded.stderr.contains("wrote "), "{}", recorded.stderr);
        let checked = in_programs(&["check", &file]);
        assert_eq!(checked.status, 1, "{}", checked.stdout);
        assert!(checked.stdout.contains("use_after_free"), "{}", checked.stdout);
    }
    assert!(fs::read(path("run.txt")).expect("a text").starts_with(b"anyorder-trace 1"));
    let both = result("race", &["--record", &path("race.trace")]);
    let replay = both["findings"][0]["replay"].as_str().unwrap_or_default();
    assert!(replay.contains("race.trace"), "{replay}");
}

/// The source is shown where it lies below the working folder, or beside the trace.
#[test]
fn findings_of_a_kept_trace_have_lines_of_the_source() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("src")).expect("a folder");
    fs::copy(workspace().join("crates/cli/tests/native/programs.c"), path("src/programs.c"))
        .expect("a copy");
    build(&path("src/programs.c"), &path("programs"), &["-fsanitize=thread"]);
    let run = ["run", "--record", "race.trace", "--no-check", "./programs", "race"];
    assert_eq!(commands_in(folder.path(), &run).status, 0);
    let sources = |folder: &Path, command: &str, trace: &str| -> Vec<Value> {
        let checked = commands_in(folder, &[command, "--format", "json", trace]);
        let result: Value = serde_json::from_str(&checked.stdout).expect("a document");
        let sites = result["findings"][0]["sites"].as_array().expect("a list");
        assert_eq!(sites.len(), 2, "{result}");
        sites.iter().map(|site| site["source"].clone()).collect()
    };
    let of_trace = path("race.trace").display().to_string();
    for command in ["check", "predict"] {
        let here = sources(folder.path(), command, "race.trace");
        assert!(here[0]["lines"].to_string().contains("shared"), "{here:?}");
        assert_eq!(here, sources(&std::env::temp_dir(), command, &of_trace));
    }
    // Elsewhere a file of the name that the trace tells is none of its business.
    fs::rename(path("src"), path("other")).expect("renamed");
    assert_eq!(sources(folder.path(), "check", "race.trace"), [Value::Null, Value::Null]);
}

#[test]
fn each_process_is_an_input() {
    let result = result("fork", &[]);
    let inputs = result["inputs"].as_array().expect("a list");
    assert!(inputs.len() >= 2, "{inputs:?}");
    assert!(found(&result).iter().any(|one| one.0 == "use_after_free"), "{result}");
}

#[test]
fn programs_that_are_not_instrumented() {
    let folder = folder();
    let source = workspace().join("crates/cli/tests/native/programs.c");
    let program = |name: &str| -> PathBuf { folder.path().join(name) };
    build(&source, &program("plain"), &[]);
    let run = |arguments: &[&str]| ran(command(arguments).current_dir(folder.path()));
    // A signal and its wait need no accesses.
    let plain = run(&["run", "./plain", "wait-blindly"]);
    assert!(plain.stderr.contains("its accesses are not"), "{}", plain.stderr);
    assert!(plain.stderr.contains("lost_signal"), "{}", plain.stderr);
    let ordered = run(&["run", "./plain", "status", "0"]);
    assert_eq!(ordered.status, 3, "not everything was seen: {}", ordered.stderr);
    // A script runs as well, and so does what it starts.
    let script = format!("#!/bin/sh\n{} use-in-section\n", programs().join("programs").display());
    fs::write(program("script"), script).expect("written");
    assert!(
        Command::new("chmod").arg("+x").arg(program("script")).status().expect("chmod").success()
    );
    let script = run(&["run", "./script"]);
    assert_eq!(script.stdout, "done\n", "{}", script.stderr);
    assert!(script.stderr.contains("use_after_free"), "{}", script.stderr);
}

#[test]
fn programs_that_cannot_be_recorded_are_refused_with_advice() {
    let folder = folder();
    fs::write(folder.path().join("text"), "no program").expect("written");
    let source = workspace().join("crates/cli/tests/native/programs.c");
    build(&source, &folder.path().join("static"), &["-fsanitize=thread", "-static-libtsan"]);
    let run = |program: &str| ran(command(&["run", program]).current_dir(folder.path()));
    for (program, words) in [
        ("./static", "it contains the runtime of ThreadSanitizer"),
        ("./text", "expected a program for Linux"),
        ("./nothing", "no such program"),
        ("no-such-program-anywhere", "no such program"),
    ] {
        let ran = run(program);
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{program}");
        assert!(ran.stderr.contains(words), "{program}: {}", ran.stderr);
    }
    assert!(run("./static").stderr.contains("-shared-libsan"));
}

/// Returns the lines of a page that begin with `$ `, in blocks for a console.
fn commands(page: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut is_console = false;
    for line in page.lines() {
        match line.strip_prefix("```") {
            Some(language) => is_console = language == "console",
            None if is_console => commands.extend(line.strip_prefix("$ ").map(str::to_owned)),
            None => {}
        }
    }
    commands
}

#[test]
fn the_commands_of_the_guide_do_what_it_says() {
    let page = fs::read_to_string(workspace().join("docs/native.md")).expect("the page");
    let folder = folder();
    for name in ["examples", "crates"] {
        std::os::unix::fs::symlink(workspace().join(name), folder.path().join(name))
            .expect("a link");
    }
    let (mut findings, mut clean) = (0, 0);
    for line in commands(&page) {
        let words: Vec<&str> = line.split(' ').collect();
        if words[0] == "anyorder" {
            let ran = ran(command(&words[1..]).current_dir(folder.path()));
            let (lost, freed) =
                (ran.stderr.contains("lost_signal"), ran.stderr.contains("use_after_free"));
            match (words.last(), words[1]) {
                (Some(&"./jobs"), "run") if !line.contains("--no-check") => {
                    assert!(lost && freed && ran.status == 1, "{line}: {ran:?}");
                    findings += 1;
                }
                (Some(&"./fixed"), "run") => {
                    assert!(!lost && !freed && ran.status == 0, "{line}: {ran:?}");
                    clean += 1;
                }
                _ => assert!(ran.status <= 1, "{line}: {ran:?}"),
            }
        } else {
            let mut built = Command::new(words[0]);
            let built =
                built.args(&words[1..]).current_dir(folder.path()).output().expect("it runs");
            assert!(built.status.success(), "{line}");
        }
    }
    assert!(findings >= 1 && clean >= 1, "{findings} {clean}");
}

/// The classes of harm of the signals that may be lost, of a trace in STD.
fn losses(events: &[&str]) -> Vec<Value> {
    let lines = events.iter().zip(1..).map(|(event, line)| format!("{event}|{line}\n"));
    let text: String = lines.collect();
    let ran = common::run_with_stdin(&["check", "-", "--format", "json"], text.as_bytes());
    let result: Value = serde_json::from_str(&ran.stdout).expect("one object");
    let findings = result["findings"].as_array().expect("a list").clone();
    let lost = |finding: &Value| finding["category"] == "lost_signal";
    findings.into_iter().filter(lost).map(|one| one["harm_class"].clone()).collect()
}

#[test]
fn a_signal_before_a_wait_that_ended_is_harmless() {
    // The signal comes after the lock, as is usual in C++; a later one ends the wait.
    let begin = [
        ["M|fork(T)", "M|acq(m)", "M|w(x)", "M|rel(m)", "M|signal(c)"].as_slice(),
        &["T|acq(m)", "T|r(x)", "T|wait(c)", "T|rel(m)"],
        &["M|acq(m)", "M|w(y)", "M|broadcast(c)", "M|rel(m)"],
    ]
    .concat();
    let ended = losses(&[&begin[..], &["T|acq(m)", "T|wake(c)", "T|rel(m)"]].concat());
    assert!(ended.contains(&"woken".into()), "{ended:?}");
    // Of a wait without an end nobody knows that it was woken.
    let open = losses(&begin);
    assert!(!open.is_empty() && !open.contains(&"woken".into()), "{open:?}");
}

#[test]
fn a_signal_that_says_nothing_new_is_harmless() {
    // `U` takes the item of `M` before `T` looks. Whether the signal for it comes before or after
    // the wait of `T` changes nothing.
    let put = ["M|acq(m)", "M|w(q)", "M|rel(m)"].as_slice();
    let take = ["U|acq(m)", "U|r(q)", "U|w(q)", "U|rel(m)"].as_slice();
    let wait = ["T|acq(m)", "T|r(q)", "T|wait(c)", "T|rel(m)"].as_slice();
    let signal = ["M|signal(c)"].as_slice();
    let end = ["T|acq(m)", "T|wake(c)", "T|rel(m)"].as_slice();
    let of = |parts: &[&[&'static str]]| {
        let mut events = vec!["M|fork(T)", "M|fork(U)"];
        events.extend(parts.concat());
        losses(&events)
    };
    let informed = |classes: &[Value]| classes.contains(&"informed".into());
    let queue = of(&[put, take, wait, signal, end]);
    assert!(informed(&queue), "{queue:?}");
    // It does not look at the queue before it waits.
    let blind = ["T|acq(m)", "T|r(z)", "T|wait(c)", "T|rel(m)"].as_slice();
    // It looked, but without the lock.
    let early = ["T|r(q)", "T|acq(m)", "T|wait(c)", "T|rel(m)"].as_slice();
    // The queue is changed without the lock, or the signal is given inside of the section.
    let bare = ["M|w(q)"].as_slice();
    let inside = ["M|acq(m)", "M|signal(c)", "M|rel(m)"].as_slice();
    for parts in [
        [put, take, blind, signal, end].as_slice(),
        &[put, take, early, signal, end],
        &[bare, take, wait, signal, end],
        &[put, take, wait, inside, end],
        // The change is new to the waiting thread.
        &[put, take, wait, bare, signal, end],
    ] {
        let classes = of(parts);
        assert!(!classes.is_empty() && !informed(&classes), "{parts:?}: {classes:?}");
    }
}

#[test]
fn the_help_has_examples() {
    let ran = common::run(&["run", "--help"]);
    insta::assert_snapshot!("help_run", ran.stdout);
}
