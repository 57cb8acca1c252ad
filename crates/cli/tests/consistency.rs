//! `anyorder consistency` and `generate`: verdicts, statuses, files and messages.

use crate::common;

use common::{NOTES, Ran, command, file, folder, path, ran, run, run_with_stdin};
use serde_json::Value;

/// Two messages whose posts are ordered through `x`, so that the first cannot read from the second.
const INCONSISTENT: &str = "edtrace 1
e1 A - post a1
e2 A - w x
e3 B - r x e2
e4 B - post b1
e5 h a1 get
e6 h a1 r y e8
e7 h b1 get
e8 h b1 w y
";

/// The same without the read of `x`.
const CONSISTENT: &str = "edtrace 1
e1 A - post a1
e2 A - w x
e4 B - post b1
e5 h a1 get
e6 h a1 r y e8
e7 h b1 get
e8 h b1 w y
";

fn json(ran: &Ran) -> Value {
    assert!(ran.stdout.ends_with("}\n") && ran.stdout.lines().count() == 1, "{}", ran.stdout);
    serde_json::from_str(&ran.stdout).expect("one JSON object")
}

/// Runs the command on a text, as `t.edt` in a temporary folder. Removes times from the output.
fn told(text: &str, arguments: &[&str]) -> (i32, String) {
    let folder = folder();
    file(&folder, "t.edt", text);
    let all: Vec<&str> = ["consistency", "t.edt"].iter().chain(arguments).copied().collect();
    let ran = ran(command(&all).current_dir(folder.path()));
    assert_eq!(ran.stderr, "", "{arguments:?}");
    let untimed = |line: &str| match line.rsplit_once(" · ") {
        Some((sizes, time)) if time.ends_with(" ms") => format!("{sizes} · TIME"),
        _ => line.to_owned(),
    };
    (ran.status, ran.stdout.lines().map(|line| untimed(line) + "\n").collect())
}

#[test]
fn a_consistent_trace_in_words() {
    let (status, text) = told(CONSISTENT, &[]);
    assert_eq!(status, 0);
    insta::assert_snapshot!("consistent", text);
}

#[test]
fn an_inconsistent_trace_in_words() {
    let (status, text) = told(INCONSISTENT, &[]);
    assert_eq!(status, 1);
    insta::assert_snapshot!("inconsistent", text);
}

#[test]
fn an_inconsistency_that_needs_choices_in_words() {
    let knot = run(&["generate", "knot", "--size", "8"]).stdout;
    let (status, text) = told(&knot, &[]);
    assert_eq!(status, 1);
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("however they are ordered, one of "), "{text}");
    let cycles: Vec<&str> = text.lines().filter(|line| line.starts_with("      - if ")).collect();
    assert!(cycles.len() >= 4, "two choices of two orders have four ways: {text}");
    assert!(cycles.iter().all(|line| line.contains(" runs before ")), "{text}");
    let (_, short) = told(&knot, &["--max-reasons", "1"]);
    let hidden = format!("({} more cycles; the certificate has all of them)", cycles.len() - 1);
    assert!(short.contains(&hidden), "{short}");
}

#[test]
fn what_the_trace_says_alone_can_be_a_cycle() {
    let unwrapped = |text: String| text.replace("\n        ", " ");
    let (status, text) = told("edtrace 1\nr h - r x w\nw h - w x\n", &[]);
    let text = unwrapped(text);
    assert_eq!(status, 1);
    assert!(text.contains("whatever the order of the messages"), "{text}");
    assert!(text.contains("r (read x) -po-> w (write x) -rf-> r\n"), "{text}");
    let (status, text) = told("edtrace 1\ng h m get\np h m post m\n", &[]);
    let text = unwrapped(text);
    assert_eq!(status, 1);
    assert!(text.contains("g (get m) -po-> p (post m) -pb-> g\n"), "{text}");
}

#[test]
fn coherence_can_be_looked_for() {
    let open = "edtrace 1\nw1 A - w x\nw2 B - w x\nr1 C - r x w1\nr2 C - r x w2\n";
    let (status, text) = told(open, &["--infer-co"]);
    assert_eq!(status, 0, "{text}");
    assert!(text.contains("1 variable without coherence order"), "{text}");
    let folder = folder();
    let input = file(&folder, "t.edt", open);
    let refused = run(&["consistency", &input]);
    assert_eq!((refused.status, refused.stdout.as_str()), (2, ""));
    // Two readers that disagree on the order of two writes.
    let (status, text) = told(&format!("{open}s1 D - r x w2\ns2 D - r x w1\n"), &["--infer-co"]);
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("must not read from"), "{text}");
    let flat = run(&["consistency", &input, "--infer-co", "--procedure", "flat"]);
    assert_eq!(flat.status, 2);
    assert!(flat.stderr.contains("hint: `--procedure solver`"), "{}", flat.stderr);
}

#[test]
fn json_has_the_verdict_and_the_counts() {
    let folder = folder();
    let input = file(&folder, "t.edt", INCONSISTENT);
    let ran = run(&["consistency", &input, "--format", "json"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (1, ""));
    let value = json(&ran);
    assert_eq!(value["command"], "consistency");
    assert_eq!(value["verdict"], "inconsistent");
    assert_eq!(value["complete"], true);
    assert_eq!(value["inputs"][0]["format"], "edtrace");
    assert_eq!(value["options"]["mailbox"], "fifo");
    assert_eq!(value["options"]["procedure"], "solver");
    for (name, number) in [("events", 8), ("messages", 4), ("handlers", 3), ("pairs_total", 1)] {
        assert_eq!(value["stats"][name], number, "{name}");
    }
    for name in ["pairs", "decisions", "conflicts", "propagations", "solve_ms", "elapsed_ms"] {
        assert!(value["stats"][name].is_u64(), "{name}: {}", value["stats"]);
    }
    let finding = &value["findings"][0];
    assert_eq!(finding["kind"], "inconsistency");
    assert_eq!(finding["confirmed"], true);
    let steps = finding["explanation"].as_array().unwrap();
    assert_eq!(steps.len(), 2);
    assert_eq!(steps[1]["events"], serde_json::json!(["e6", "e7", "e8"]));

    let input = file(&folder, "t.edt", CONSISTENT);
    let ran = run(&["consistency", &input, "--format", "json"]);
    assert_eq!(ran.status, 0);
    let value = json(&ran);
    assert_eq!(value["verdict"], "consistent");
    assert_eq!(value["findings"].as_array().map(Vec::len), Some(0));
}

#[test]
fn the_other_forms() {
    let folder = folder();
    let input = file(&folder, "t.edt", INCONSISTENT);
    let lines = run(&["consistency", &input, "--format", "jsonl"]).stdout;
    assert_eq!(lines.lines().count(), 1);
    let sarif = run(&["consistency", &input, "--format", "sarif"]);
    let sarif: Value = serde_json::from_str(&sarif.stdout).expect("valid JSON");
    assert_eq!(sarif["runs"][0]["results"].as_array().map(Vec::len), Some(1));
    let junit = run(&["consistency", &input, "--format", "junit"]).stdout;
    assert!(junit.contains("<failure"), "{junit}");
    let report = path(&folder, "report");
    let output = path(&folder, "out.txt");
    let ran = run(&["consistency", &input, "--report", &report, "-o", &output]);
    assert_eq!((ran.status, ran.stdout.as_str()), (1, ""));
    assert!(std::fs::read_to_string(&output).unwrap().contains("verdict: inconsistent"));
    let page = std::fs::read_to_string(format!("{report}/index.html")).unwrap();
    assert!(page.contains("no order of the messages"), "the page tells the finding");
}

#[test]
fn the_witness_is_a_run() {
    let folder = folder();
    let input = file(&folder, "t.edt", CONSISTENT);
    let witness = path(&folder, "run.txt");
    let ran = run(&["consistency", &input, "--witness", &witness]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    let lines = std::fs::read_to_string(&witness).unwrap();
    let order: Vec<&str> = lines.lines().collect();
    let at = |event| order.iter().position(|one| *one == event).expect("all events are there");
    for (first, second) in [("e4", "e1"), ("e7", "e8"), ("e8", "e5"), ("e5", "e6"), ("e1", "e5")] {
        assert!(at(first) < at(second), "{first} before {second}: {order:?}");
    }
    assert_eq!(order.len(), 7);
}

#[test]
fn files_are_written_for_their_verdict_only() {
    let folder = folder();
    let input = file(&folder, "t.edt", INCONSISTENT);
    let (witness, certificate) = (path(&folder, "run.txt"), path(&folder, "proof.txt"));
    let files = ["--witness", &witness, "--certificate", &certificate];
    let ran = run(&[&["consistency", &input][..], &files].concat());
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.contains("an inconsistent trace has no witness"), "{}", ran.stderr);
    assert!(!std::path::Path::new(&witness).exists());
    let proof = std::fs::read_to_string(&certificate).unwrap();
    assert!(proof.starts_with("consistency-proof 1\n") && proof.contains("e4 e1 runs b1 a1"));
    std::fs::remove_file(&certificate).unwrap();
    let input = file(&folder, "t.edt", CONSISTENT);
    let ran = run(&[&["consistency", "--quiet", &input][..], &files].concat());
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    assert!(!std::path::Path::new(&certificate).exists());
    assert!(std::path::Path::new(&witness).exists());
}

#[test]
fn limits_end_in_unknown() {
    let hard = run(&["generate", "sat3", "--size", "150"]).stdout;
    let ran = run_with_stdin(
        &["consistency", "-", "--format", "json", "--max-conflicts", "3"],
        hard.as_bytes(),
    );
    assert_eq!(ran.status, 3, "{ran:?}");
    let value = json(&ran);
    assert_eq!(value["verdict"], "unknown");
    assert_eq!(value["complete"], false);
    assert_eq!(value["limits"], serde_json::json!(["max-conflicts"]));
    let ran = run_with_stdin(&["consistency", "-", "--time-limit", "0s"], hard.as_bytes());
    assert_eq!(ran.status, 3, "{ran:?}");
    assert!(ran.stdout.contains("verdict: unknown; the search was cut by --time-limit"), "{ran:?}");
}

#[test]
fn other_procedures_answer_without_proof() {
    let folder = folder();
    for (text, status, verdict) in
        [(INCONSISTENT, 1, "inconsistent"), (CONSISTENT, 0, "consistent")]
    {
        let input = file(&folder, "t.edt", text);
        for procedure in ["solver", "enumerate", "flat", "auto"] {
            let ran = run(&["consistency", &input, "--procedure", procedure, "--format", "json"]);
            assert_eq!(ran.status, status, "{procedure}: {ran:?}");
            assert_eq!(json(&ran)["verdict"], verdict, "{procedure}");
        }
    }
    let nested = "edtrace 1\np A - post m\ng A m get\nq A m post n\nh A n get\n";
    let input = file(&folder, "t.edt", nested);
    let ran = run(&["consistency", &input, "--procedure", "flat"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("a posted message posts another one"), "{}", ran.stderr);
}

#[test]
fn mailboxes_decide() {
    let folder = folder();
    let input = file(&folder, "t.edt", INCONSISTENT);
    for (rule, status) in [("fifo", 1), ("delayed", 1), ("bag", 0)] {
        assert_eq!(run(&["consistency", &input, "--mailbox", rule]).status, status, "{rule}");
    }
}

#[test]
fn recorded_runs_are_asked_too() {
    let ran = run(&["consistency", NOTES]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stdout.contains("recorded is such a run, too"), "{}", ran.stdout);
}

#[test]
fn check_asks_partial_traces_for_consistency() {
    let folder = folder();
    let good = file(&folder, "good.edt", CONSISTENT);
    let bad = file(&folder, "bad.edt", INCONSISTENT);
    let ran = run(&["check", &good, "--format", "json"]);
    assert_eq!((ran.status, json(&ran)["verdict"].as_str()), (0, Some("ok")));
    let ran = run(&["check", &bad, NOTES, "--format", "json"]);
    assert_eq!(ran.status, 1);
    let value = json(&ran);
    assert_eq!(value["verdict"], "findings");
    assert_eq!(value["options"]["rules"], "consistency+mailbox");
    let kinds = value["findings"].as_array().unwrap().iter().map(|f| f["kind"].as_str());
    assert_eq!(kinds.filter(|kind| *kind == Some("inconsistency")).count(), 1);
    let id = json(&run(&["check", &bad, "--format", "json"]))["findings"][0]["id"].clone();
    let baseline = file(&folder, "known.json", serde_json::json!([{"id": id}]).to_string());
    assert_eq!(run(&["check", &bad, "--baseline", &baseline]).status, 0);
}

#[test]
fn names_are_shown_escaped() {
    let text = "edtrace 1\nr\u{1b}[2J h - r x w\nw h - w x\n";
    let (status, shown) = told(text, &[]);
    assert_eq!(status, 1);
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
    assert!(shown.contains("\\u{1b}"), "{shown}");
}

#[test]
fn generate_is_deterministic_and_says_what_is_wrong() {
    let one = run(&["generate", "counting", "--size", "3", "--seed", "5"]);
    assert_eq!((one.status, one.stderr.as_str()), (0, ""));
    assert!(one.stdout.starts_with("edtrace 1\n"));
    assert_eq!(run(&["generate", "counting", "--size", "3", "--seed", "5"]).stdout, one.stdout);
    assert_ne!(run(&["generate", "counting", "--size", "3", "--seed", "6"]).stdout, one.stdout);
    let folder = folder();
    let (output, order) = (path(&folder, "a.edt"), path(&folder, "run.txt"));
    let ran =
        run(&["generate", "flat", "--size", "5", "-o", &output, "--run", &order, "--ordered"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, ""));
    assert_eq!(run(&["consistency", &output]).status, 0);
    let events = std::fs::read_to_string(&order).unwrap().lines().count();
    assert_eq!(events, 100);
    let binary = path(&folder, "a.bin");
    assert_eq!(
        run(&["generate", "flat", "--size", "5", "-o", &binary, "--to", "binary"]).status,
        0
    );
    assert_eq!(run(&["consistency", &binary]).status, 0);
    for (arguments, said) in [
        (&["generate", "counting", "--size", "0"][..], "at least"),
        (&["generate", "counting", "--size", "99999999999"], "is too large"),
        (&["generate", "counting", "--size", "3", "--ratio", "2"], "has no"),
        (&["generate", "sat3", "--size", "5", "--run", &order], "has no recorded run"),
        (&["generate", "nothing", "--size", "3"], "possible values"),
    ] {
        let ran = run(arguments);
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(ran.stderr.contains(said), "{arguments:?}: {}", ran.stderr);
    }
}

#[test]
fn a_recorded_run_that_is_generated_in_order_is_one_for_other_commands() {
    let folder = folder();
    for (family, robust, check) in [("consensus", 1, 1), ("sparsemat", 0, 1), ("buyers", 0, 0)] {
        let options = ["--size", "5", "--ordered", "--to", "text"];
        let trace = run(&[&["generate", family], &options[..]].concat()).stdout;
        let path = file(&folder, &format!("{family}.trace"), trace);
        for (command, status) in [("robust", robust), ("check", check), ("consistency", 0)] {
            let output = run(&[command, &path]);
            assert_eq!(output.status, status, "{command} {family}: {}", output.stderr);
        }
    }
    // A family without a run, and the format without an order, stay partial.
    for options in [["sat3", "--to", "text"], ["consensus", "--to", "edtrace"]] {
        let sizes = ["--size", "5", "--ordered"];
        let trace = run(&[&["generate"], &options[..], &sizes[..]].concat()).stdout;
        let path = file(&folder, &format!("{}.part", options[0]), trace);
        let output = run(&["robust", &path]);
        assert_eq!(output.status, 2, "{}", output.stdout);
    }
}
