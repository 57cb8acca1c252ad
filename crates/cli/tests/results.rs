//! The contents of results: several inputs, source positions, baselines, groups, wrong inputs.

use crate::common;

use anyorder_mutate::schema;
use common::{NOTES, command, file, folder, path, ran, run};
use serde_json::Value;

const LOCKED: &str = "examples/traces/uaf_locked.std";

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("one JSON object")
}

#[test]
fn with_several_inputs_each_finding_names_its_own() {
    let both = [NOTES, LOCKED];
    let sarif = json(&run(&["check", both[0], both[1], "--format", "sarif"]).stdout);
    let uses = sarif["runs"][0]["results"].as_array().unwrap();
    let freed = uses.iter().find(|one| one["ruleId"] == "order_violation/use_after_free").unwrap();
    let place = &freed["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "main.c", "{freed}");
    // A race of the second trace has no source file. Its place is the second trace, not the first.
    let turned = json(&run(&["check", both[1], both[0], "--format", "sarif"]).stdout);
    let races = turned["runs"][0]["results"].as_array().unwrap();
    let race =
        races.iter().find(|one| one["ruleId"].as_str().unwrap().starts_with("race/")).unwrap();
    let text = race["locations"][0].to_string();
    assert!(!text.contains("uaf_locked"), "{text}");
    let result = json(&run(&["check", both[0], both[1], "--format", "json"]).stdout);
    for finding in result["findings"].as_array().unwrap() {
        let wanted = if finding["category"] == "use_after_free" { LOCKED } else { NOTES };
        assert_eq!(finding["input"], wanted, "{finding}");
    }
    let text = run(&["check", both[0], both[1]]).stdout;
    assert!(
        text.contains(&format!("    in {LOCKED}\n")) && text.contains(&format!("    in {NOTES}\n"))
    );
    let junit = run(&["check", both[0], both[1], "--format", "junit"]).stdout;
    assert!(junit.contains(&format!("in {LOCKED}\n")), "{junit}");
    let alone = json(&run(&["check", LOCKED, "--format", "json"]).stdout);
    assert!(alone["findings"][0].get("input").is_none(), "{alone}");
}

#[test]
fn a_position_of_a_std_trace_is_a_region() {
    let sarif = json(&run(&["check", LOCKED, "--format", "sarif"]).stdout);
    let result = &sarif["runs"][0]["results"][0];
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "main.c", "{result}");
    assert_eq!(place["region"]["startLine"], 11, "{result}");
    let other = &result["relatedLocations"][0]["physicalLocation"];
    assert_eq!(other["region"]["startLine"], 21, "{result}");
    let finding = &json(&run(&["check", LOCKED, "--format", "json"]).stdout)["findings"][0];
    assert_eq!(
        (&finding["sites"][0]["file"], &finding["sites"][0]["line"]),
        (&"main.c".into(), &11.into())
    );
    // The id is a hash of the label, as in earlier versions.
    assert_eq!(finding["sites"][0]["label"], "main.c:11");
    assert_eq!(finding["sites"][0]["allocated"], "main.c:30");
    assert!(finding["title"].as_str().unwrap().contains("(allocated at main.c:30)"), "{finding}");
}

#[test]
fn every_json_fits_the_published_schema() {
    let schema = json(&run(&["schema"]).stdout);
    let folder = folder();
    let unknown = file(&folder, "unknown.std", "T1|w(x)|a.c:1\nT1|inv(o)|a.c:2\nT2|w(x)|a.c:3\n");
    let model = "examples/models/check-then-act.any";
    for arguments in [
        &["check", NOTES, LOCKED, "--format", "json"][..],
        &["check", &unknown, "--format", "json"],
        &["check", model, "--format", "json"],
        &["simulate", model, "--runs", "3", "--format", "json"],
        &["predict", LOCKED, "--format", "json"],
        &["robust", NOTES, LOCKED, "--format", "json"],
        &["why", NOTES, "12", "57", "--format", "json"],
        &["why", NOTES, "13", "13", "--format", "json"],
        &["why", &unknown, "1", "3", "--format", "json"],
        &["info", NOTES, "--format", "json"],
        &["info", &unknown, "--format", "json"],
    ] {
        let ran = run(arguments);
        let problems = schema::check(&schema, &json(&ran.stdout));
        assert!(problems.is_empty(), "{arguments:?}: {problems:?}\n{}", ran.stdout);
    }
}

#[test]
fn known_findings_are_counted_and_not_told_again() {
    let folder = folder();
    let known = path(&folder, "known.json");
    run(&["check", LOCKED, "--write-baseline", &known]);
    let ran = run(&["check", LOCKED, "--baseline", &known]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(!ran.stdout.contains("after it is freed"), "{}", ran.stdout);
    assert!(ran.stdout.contains("not shown: 1 finding in the baseline"), "{}", ran.stdout);
    let all = json(&run(&["check", LOCKED, "--baseline", &known, "--format", "json"]).stdout);
    assert_eq!(all["findings"][0]["baseline"], true);
    let both = run(&["check", LOCKED, NOTES, "--baseline", &known]).stdout;
    assert!(both.contains("not shown: 1 finding in the baseline"), "{both}");
    assert!(!both.contains("after it is freed") && both.contains(" 1. "), "{both}");
}

#[test]
fn an_event_has_no_order_with_itself() {
    let ran = run(&["why", NOTES, "13", "13"]);
    assert_eq!(ran.status, 0);
    assert!(ran.stdout.contains("is one event; it has no order with itself"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("different handlers"), "{}", ran.stdout);
    assert_eq!(ran.stdout.lines().count(), 1, "{}", ran.stdout);
}

#[test]
fn a_wrong_file_beside_a_trace_is_the_one_that_is_blamed() {
    let folder = folder();
    let wrong = file(&folder, "notes.txt", "these are notes\n");
    let ran = run(&["replay", LOCKED, &wrong]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("notes.txt: no witness and no result, expected JSON"), "{ran:?}");
    assert!(!ran.stderr.contains("uaf_locked.std:"), "{ran:?}");
    let alone = run(&["replay", LOCKED]);
    assert!(alone.stderr.contains("expected a witness or a result beside it"), "{alone:?}");
    let traces = run(&["replay", LOCKED, NOTES]);
    assert!(traces.stderr.contains("notes-app.trace: no witness"), "{traces:?}");
}

#[test]
fn a_witness_that_does_not_hold_is_not_drawn() {
    let folder = folder();
    let result = run(&["check", LOCKED, "--format", "json"]).stdout;
    // The free comes before the fork of its thread.
    let mut value = json(&result);
    let steps = value["findings"][0]["witness"]["inline"]["steps"].as_array_mut().unwrap();
    let last = steps.len() - 1;
    steps.swap(0, last);
    let wrong = file(&folder, "wrong.json", value.to_string());
    let ran = run(&["replay", LOCKED, &wrong]);
    assert_eq!(ran.status, 3, "{ran:?}");
    assert!(ran.stdout.contains("replay: the witness does not hold: step "), "{}", ran.stdout);
    assert_eq!(ran.stdout.lines().count(), 2, "a title and a verdict: {}", ran.stdout);
}

#[test]
fn no_runs_are_no_answer() {
    let folder = folder();
    let model = file(&folder, "m.any", "model m\nvar n = 0;\nonce event e { n += 1; }\n");
    let ran = run(&["simulate", &model, "--runs", "0"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran:?}");
    assert!(ran.stderr.contains("--runs"), "{ran:?}");
}

#[test]
fn commands_for_models_say_what_a_trace_is() {
    for arguments in [
        &["simulate", LOCKED][..],
        &["graph", LOCKED],
        &["explore", LOCKED],
        &["simulate", NOTES],
        &["diff", LOCKED, LOCKED, LOCKED],
        &["shrink", LOCKED, LOCKED],
    ] {
        let ran = run(arguments);
        assert_eq!(ran.status, 2, "{arguments:?}");
        assert!(ran.stderr.contains("a trace ("), "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("hint: `anyorder check`"), "{arguments:?}: {}", ran.stderr);
        assert!(!ran.stderr.contains("model NAME`, found"), "{arguments:?}: {}", ran.stderr);
    }
}

#[test]
fn the_output_of_other_tools_is_named_with_what_to_do() {
    let folder = folder();
    for (name, content, what, hint) in [
        (
            "tsan.log",
            "==================\nWARNING: ThreadSanitizer: data race (pid=1)\n",
            "ThreadSanitizer",
            "record the events",
        ),
        (
            "chrome.json",
            "{\"traceEvents\": [{\"ph\": \"B\"}]}\n",
            "Chrome's format",
            "native text format",
        ),
        ("rapid.csv", "T1,acq,m,7\nT1,w,x,8\n", "comma-separated values", "`T1|acq(m)|7`"),
    ] {
        let input = file(&folder, name, content);
        for command in ["check", "predict", "info", "simulate"] {
            let ran = run(&[command, &input]);
            assert_eq!(ran.status, 2, "{command} {name}");
            assert!(ran.stderr.contains(what), "{command} {name}: {}", ran.stderr);
            assert!(
                ran.stderr.contains("hint: ") && ran.stderr.contains(hint),
                "{command} {name}: {}",
                ran.stderr
            );
            assert!(!ran.stderr.contains("--input-format"), "{command} {name}: {}", ran.stderr);
        }
    }
}

/// One cause: the main thread frees and destroys objects that a worker may still use. The four
/// findings miss one order.
const TEARDOWN: &str = "main|alloc(0x100+64)|q.c:1\nmain|fork(T1)|q.c:2\nT1|acq(0x120)|q.c:10\nT1|w(0x108+8)|q.c:11\n\
    T1|w(0x110+8)|q.c:12\nT1|rel(0x120)|q.c:13\nT1|r(flag)|q.c:14\nmain|destroy(0x120)|q.c:20\nmain|free(0x100)|q.c:21\n\
    main|w(flag)|q.c:22\n";

#[test]
fn findings_of_one_missing_order_are_one_group() {
    let folder = folder();
    let input = file(&folder, "teardown.std", TEARDOWN);
    for command in ["check", "predict"] {
        let result = json(&run(&[command, &input, "--format", "json"]).stdout);
        let findings = result["findings"].as_array().unwrap();
        assert!(findings.len() >= 4, "{result}");
        let lead = &findings[0];
        assert_eq!(lead["group"], lead["id"], "{lead}");
        assert!(findings.iter().all(|one| one["group"] == lead["id"]), "{command}: {result}");
        let text = run(&[command, &input]).stdout;
        let more = findings.len() - 1;
        assert!(
            text.contains(&format!("the same missing order makes {more} findings more:")),
            "{text}"
        );
        assert!(text.contains(" 1. error") && !text.contains(" 2. "), "{text}");
        for finding in findings {
            assert!(text.contains(finding["id"].as_str().unwrap()), "{text}");
        }
    }
    let alone = json(&run(&["check", LOCKED, "--format", "json"]).stdout);
    assert!(alone["findings"][0].get("group").is_none(), "{alone}");
}

#[test]
fn the_group_of_several_inputs_names_the_final_ids() {
    let folder = folder();
    let one = file(&folder, "one.std", TEARDOWN);
    let two = file(&folder, "two.std", TEARDOWN);
    let result = json(&run(&["check", &one, &two, "--format", "json"]).stdout);
    let findings = result["findings"].as_array().unwrap();
    for finding in findings {
        let lead =
            findings.iter().find(|other| other["id"] == finding["group"]).expect("the group");
        assert_eq!(lead["input"], finding["input"]);
    }
}

#[test]
fn names_of_functions_and_allocations_stand_beside_positions() {
    let folder = folder();
    let input = file(
        &folder,
        "trace.std",
        "main|alloc(0x10+8)|1\nmain|fork(T1)|2\nT1|w(0x10+8)|3\nmain|free(0x10)|4\n",
    );
    file(
        &folder,
        "sites.tsv",
        "1\tmake\tq.c:1\n2\tmain\tq.c:2\n3\tworker\tq.c:10\n4\tmain\tq.c:20\n",
    );
    let text = run(&["check", &input]).stdout;
    assert!(text.contains("at q.c:10 (in `worker`) of"), "{text}");
    assert!(text.contains("allocated at q.c:1 in make"), "{text}");
    let finding = &json(&run(&["check", &input, "--format", "json"]).stdout)["findings"][0];
    assert_eq!(finding["sites"][0]["function"], "worker", "{finding}");
    assert_eq!(finding["sites"][0]["allocated"], "q.c:1 in make", "{finding}");
}

#[test]
fn a_terminal_is_asked_for_input_and_left_at_the_first_interrupt() {
    // `script` runs the command in a pseudo-terminal.
    let anyorder = assert_cmd::cargo::cargo_bin("anyorder");
    let inner = format!("'{}' check -", anyorder.display());
    let mut script = std::process::Command::new("script");
    script.args(["-qefc", &inner, "/dev/null"]);
    script.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let Ok(mut child) = script.spawn() else {
        eprintln!("skipped: there is no `script` here to make a terminal");
        return;
    };
    let mut keyboard = child.stdin.take().expect("a pipe");
    let mut screen = child.stdout.take().expect("a pipe");
    let (sent, lines) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(n @ 1..) = std::io::Read::read(&mut screen, &mut buffer) {
            let _ = sent.send(String::from_utf8_lossy(&buffer[..n]).into_owned());
        }
    });
    let mut seen = String::new();
    let timeout = std::time::Duration::from_secs(60);
    while !seen.contains("Ctrl-D ends the input") {
        seen.push_str(&lines.recv_timeout(timeout).expect("a note on the terminal"));
    }
    std::io::Write::write_all(&mut keyboard, b"\x03").expect("the key is taken");
    let begun = std::time::Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("the child can be waited for") {
            assert_eq!(status.code(), Some(130), "{seen}");
            break;
        }
        assert!(begun.elapsed() < timeout, "the first Ctrl-C did not end it: {seen}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn standard_input_from_a_pipe_is_read_without_a_word() {
    let ran = ran(command(&["check", "-"]).stdin(std::process::Stdio::null()));
    assert!(!ran.stderr.contains("Ctrl-D"), "{ran:?}");
}
