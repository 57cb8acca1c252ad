//! Traces of other recorders and tools, from the file to the verdict; and files that are none.

use crate::common;

use common::{Ran, file, folder, path, run, run_with_stdin};
use serde_json::Value;

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

/// The events of the findings of a kind that are confirmed.
fn found(result: &Value, kind: &str) -> Vec<Vec<String>> {
    events_of(result, kind, &true.into())
}

/// The events of the findings of a kind, by whether they are confirmed.
fn events_of(result: &Value, kind: &str, confirmed: &Value) -> Vec<Vec<String>> {
    let findings = result["findings"].as_array().expect("a list");
    let is_one = |one: &&Value| one["kind"] == kind && one["confirmed"] == *confirmed;
    let of_kind = findings.iter().filter(is_one);
    let events = |one: &Value| {
        let sites = one["sites"].as_array().expect("sites");
        sites.iter().map(|site| site["event"].as_str().expect("an event").to_owned()).collect()
    };
    of_kind.map(events).collect()
}

/// One small trace in each format, and what is found in it.
const TRACES: [(&str, &str); 6] = [
    ("std", "T1|acq(A)|1\nT2|acq(B)|2\nT1|req(B)|3\nT2|req(A)|4\n"),
    ("speedygo", "1,WR,1,A.java:1:1,1\n2,RD,1,A.java:2:1,1\n"),
    (
        "tsan-log",
        "Thread 0: |Thread Create (Thread 1)|0x7f|\nThread 1: |Write|0x10| at line 1 in file a.c\n\
         Thread 0: |Read|0x10| at line 2 in file a.c\n",
    ),
    (
        "roadrunner",
        "[main: Agent]\n@  Start(0,1)\n@  Wr(1,C.f)  S  A.java:1:1\n@  Rd(0,C.f)  S  A.java:2:1\n",
    ),
    ("rapid-csv", "w(x),\n,r(x)\n"),
    ("rapid-binary", ""),
];

#[test]
fn each_format_is_recognised_converted_and_checked() {
    let folder = folder();
    for (format, text) in TRACES {
        let input = match format {
            "rapid-binary" => "data/rapid-binary/Bensalem.data".to_owned(),
            _ => file(&folder, "a trace", text),
        };
        let info = json(&run(&["info", &input, "--format", "json"]));
        assert_eq!(info["inputs"][0]["format"], format, "{info}");
        let checked = run(&["check", &input, "--format", "json"]);
        assert_eq!(checked.status, 1, "{format}: {checked:?}");
        let result = json(&checked);
        assert_eq!(result["inputs"][0]["format"], format, "{result}");
        for to in ["text", "binary", "std"] {
            let out = path(&folder, &format!("{format}.{to}"));
            let ran = run(&["convert", &input, &out, "--to", to]);
            assert_eq!(ran.status, 0, "{format} to {to}: {ran:?}");
            let again = json(&run(&["check", &out, "--format", "json"]));
            for kind in ["race", "deadlock"] {
                let count = |result: &Value| found(result, kind).len();
                assert_eq!(count(&again), count(&result), "{format} to {to}: {kind}");
            }
        }
        let bytes = std::fs::read(common::workspace().join(&input)).expect("it is there");
        let piped = run_with_stdin(&["check", "-", "--format", "json"], &bytes);
        assert_eq!(piped.status, 1, "{format}: {piped:?}");
    }
}

/// What SPDOffline and an enumeration of all reorderings find in these traces, of which this search
/// reports one choice of events for each shape.
#[test]
fn the_deadlocks_of_recorded_java_programs_are_found() {
    for (name, expected) in [
        ("Account", &[][..]),
        ("Bensalem", &[&["32", "60"][..]]),
        ("Bensalem_dlf", &[&["32", "44"], &["32", "54"]]),
        ("Deadlock", &[]),
        ("DiningPhil", &[&["65", "108", "151", "194", "237"]]),
        ("StringBuffer", &[&["40", "59"]]),
        ("Transfer", &[]),
    ] {
        let input = format!("data/rapid-binary/{name}.data");
        let result = json(&run(&["check", &input, "--format", "json"]));
        // CalFuzzer forks threads by other numbers than they run under, so that nothing is claimed.
        let confirmed = if name == "Bensalem_dlf" { Value::Null } else { true.into() };
        let mut deadlocks = events_of(&result, "deadlock", &confirmed);
        deadlocks.iter_mut().for_each(|one| one.sort_by_key(|event| event.parse::<u64>().ok()));
        deadlocks.sort();
        assert_eq!(deadlocks, expected, "{name}");
        assert_eq!(result["complete"], name != "Bensalem_dlf", "{name}: {result}");
    }
}

#[test]
fn a_run_that_hung_is_a_deadlock_where_it_hung() {
    let folder = folder();
    let (_, hung) = TRACES[0];
    for (text, expected) in [
        (hung.to_owned(), 1),
        // A recorder marks the ends of all threads, also of those that hang.
        (hung.to_owned() + "T1|end|0\nT2|end|0\n", 1),
        // One of them went on.
        (hung.to_owned() + "T1|w(x)|5\n", 0),
        (hung.replace("req(A)", "req(C)"), 0),
    ] {
        let input = file(&folder, "hung.std", &text);
        let result = json(&run(&["check", &input, "--format", "json"]));
        let deadlocks = found(&result, "deadlock");
        assert_eq!(deadlocks.len(), expected, "{text}{result}");
        if expected > 0 {
            assert_eq!(deadlocks[0], ["3", "4"]);
            let ran = run(&["check", &input]);
            assert!(ran.stdout.contains("request event 3 at 3 of `B`"), "{}", ran.stdout);
        }
    }
}

/// The numbers of races that the authors of these runs expect.
#[test]
fn runs_of_papers_have_races_where_their_authors_say() {
    let notes = std::fs::read_to_string(common::workspace().join("data/speedygo/Notes.txt"));
    let mut checked = 0;
    for line in notes.expect("it is there").lines() {
        let Some((name, rest)) = line.split_once(" = ") else { continue };
        let races: u64 =
            rest.split_whitespace().next().and_then(|n| n.parse().ok()).expect("a number");
        let input = format!("data/speedygo/{name}.log");
        let result = json(&run(&["check", &input, "--format", "json"]));
        assert_eq!(found(&result, "race").is_empty(), races == 0, "{line}: {result}");
        assert_eq!(result["complete"], true, "{line}");
        checked += 1;
    }
    assert_eq!(checked, 28);
}

#[test]
fn blocks_have_a_warning_and_change_nothing_and_branches_are_known() {
    let folder = folder();
    let plain = "T1|w(x)|1\nT1|w(y)|2\nT2|r(y)|3\nT2|w(x)|4\n";
    let branched = plain.replace("T2|w(x)", "T2|branch|3\nT2|w(x)");
    let blocks = "T3|begin|1\nT3|w(z)|1\nT3|end|1\n".repeat(3) + plain;
    let count = |text: &str| {
        let input = file(&folder, "branched.std", text);
        let result = json(&run(&["check", &input, "--format", "json"]));
        let warnings = result["warnings"].to_string();
        (found(&result, "race").len(), result["complete"].clone(), warnings)
    };
    let (races, complete, _) = count(plain);
    let (other, whole, warnings) = count(&blocks);
    assert_eq!((other, &whole), (races, &complete));
    assert!(warnings.contains("atomic blocks"), "{warnings}");
    let (other, whole, warnings) = count(&branched);
    assert_eq!((other, &whole), (races, &complete));
    assert!(!warnings.contains("branch"), "{warnings}");
}

/// Files of other tools, each with a part of the message and of the advice.
const NO_TRACES: [(&[u8], &str, &str); 21] = [
    (b"go 1.22 trace\0\0\0\x01\x02\x03\0\xff", "execution trace of Go", "T1|acq(m)"),
    (b"PERFILE2\x68\0\0\0\0\0\0\0", "`perf`", "T1|acq(m)"),
    (b"\x10\0\x04\x46\x78\x54\x16\0\x01", "Fuchsia", "T1|acq(m)"),
    (b"\x0a\x03\x08\x01\0\x0a\x04\x08\x01\x10\0", "Perfetto", "T1|acq(m)"),
    (b"{\"traceEvents\":[{\"ph\":\"X\"}]}", "Chrome", "native-text.md"),
    (b"{\"resourceSpans\":[{\"scopeSpans\":[]}]}", "OpenTelemetry", "native-text.md"),
    (b"{\"data\":[{\"traceID\":\"1a\",\"spans\":[]}]}", "Jaeger", "native-text.md"),
    (b"# tracer: nop\n#\n bash-12 [001] d..1 104.25: sched_switch: x\n", "ftrace", "T1|acq(m)"),
    (b"execve(\"/bin/ls\", [\"ls\"], 0x7ff) = 0\nbrk(NULL)   = 0x55\n", "strace", "T1|acq(m)"),
    (b"Full thread dump OpenJDK\n", "thread dump of Java", "T1|acq(m)"),
    (b"Found one Java-level deadlock:\n====\n", "a deadlock that has happened", "record the locks"),
    (b"WARNING: possible circular locking dependency detected\n", "lockdep", "mend the order"),
    (b"WARNING: inconsistent lock state\n", "lockdep", "mend the order"),
    (b"= Invalid execution results =\n| Thread 1 |\n", "Lincheck", "replay it in Lincheck"),
    (b"send\nalpha {\"alpha\":1}\n", "ShiViz", "native-text.md"),
    (b"Error: Invariant I is violated.\nState 1: <Initial predicate>\n", "TLC", "language.md"),
    (
        b"{\"#meta\":{},\"vars\":[\"x\"],\"states\":[{\"x\":1}]}",
        "Informal Trace Format",
        "language.md",
    ),
    (b"Acq 1 l_0 0\nWrite 1 X_0 5\n", "focs-lab", "awk"),
    (
        b"M,7,8,12,-,L,t,main.go:10;C,9,0,13,R,f,0,0,main.go:12\nG,1,2,main.go:3\n",
        "ADVOCATE",
        "main.go:10",
    ),
    (b"T1,acq,m,7\nT1,w,x,8\n", "comma-separated", "awk"),
    (b"{\"schema\":1,\"tool\":\"anyorder\"}", "result or a schedule of anyorder", "replay"),
];

#[test]
fn files_of_other_tools_are_named_with_advice() {
    let folder = folder();
    for (bytes, what, advice) in NO_TRACES {
        let input = file(&folder, "no trace", bytes);
        let out = path(&folder, "out");
        let shown = String::from_utf8_lossy(bytes);
        for arguments in
            [&["check", &input][..], &["info", &input], &["convert", &input, &out, "--to", "text"]]
        {
            let ran = run(arguments);
            assert_eq!((ran.status, &*ran.stdout), (2, ""), "{shown}: {ran:?}");
            let message = ran.stderr.split_whitespace().collect::<Vec<&str>>().join(" ");
            assert!(message.contains(what), "{shown}: {message}");
            assert!(message.contains("hint: ") && message.contains(advice), "{shown}: {message}");
            assert!(std::fs::metadata(&out).is_err(), "nothing is written");
        }
    }
}

#[test]
fn only_some_formats_can_be_written() {
    let folder = folder();
    let out = path(&folder, "out");
    for format in ["rapid-binary", "rapid-csv", "speedygo", "tsan-log", "roadrunner", "droidracer"]
    {
        let ran = run(&["convert", "data/rapid-binary/Deadlock.data", &out, "--to", format]);
        assert_eq!(ran.status, 2, "{ran:?}");
        assert!(ran.stderr.contains("possible values: binary, text, edtrace, std"), "{ran:?}");
    }
}
