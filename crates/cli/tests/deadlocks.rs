//! Deadlocks of recorded runs, as `check` and `predict` report them.

use crate::common;

use anyorder_mutate::schema;
use common::{Ran, file, folder, path, run, run_with_stdin};
use serde_json::Value;

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).expect("one JSON object")
}

/// Two threads that take two locks in two orders; `guard` is around both.
fn crossed(guard: &str, between: &str) -> String {
    let section = |t: u32, outer: &str, inner: &str| {
        let around = |what: &str, line: u32| match guard {
            "" => String::new(),
            lock => format!("T{t}|{what}({lock})|{t}{line}\n"),
        };
        format!(
            "{}T{t}|acq({outer})|{t}2\nT{t}|acq({inner})|{t}3\nT{t}|rel({inner})|{t}4\nT{t}|rel({outer})|{t}5\n{}",
            around("acq", 1),
            around("rel", 6)
        )
    };
    section(1, "A", "B") + between + &section(2, "B", "A")
}

#[test]
fn a_deadlock_has_its_cycle_and_the_run_that_leads_there() {
    let top = folder();
    let trace = file(&top, "crossed.std", crossed("", ""));
    for command in ["check", "predict"] {
        let text = run(&[command, &trace]);
        assert_eq!(text.status, 1, "{text:?}");
        for part in [
            "error: `T1` and `T2` can wait for each other: for `B` and `A`",
            "`T1` holds `A` since 12 (event 1), and wants `B` at 13 (event 2), which `T2` holds since 22",
            "=> deadlock: T1 waits for B, held by T2 since 22 (event 5)",
        ] {
            let words = |text: &str| text.split_whitespace().collect::<Vec<&str>>().join(" ");
            assert!(words(&text.stdout).contains(part), "{part}: {}", text.stdout);
        }
        let ran = run(&[command, &trace, "--format", "json"]);
        let value = json(&ran);
        let schema: Value = serde_json::from_str(&run(&["schema"]).stdout).expect("a schema");
        assert_eq!(schema::check(&schema, &value), Vec::<String>::new());
        let finding = &value["findings"][0];
        assert_eq!((&finding["kind"], &finding["form"]), (&"deadlock".into(), &"deadlock".into()));
        assert_eq!(value["stats"]["deadlocks"], 1, "{value}");
        let replayed = run_with_stdin(&["replay", &trace, "-"], ran.stdout.as_bytes());
        assert!(replayed.stdout.contains("the witness holds"), "{replayed:?}");
        for format in ["sarif", "jsonl", "junit"] {
            let report = run(&[command, &trace, "--format", format]);
            assert!(report.stdout.contains("can wait for each other"), "{format}: {report:?}");
        }
    }
}

/// A thread that is forked under another name may be ordered by that fork, so nothing is claimed.
#[test]
fn a_deadlock_of_a_thread_forked_under_another_name_claims_nothing() {
    let top = folder();
    let run_of = |name: &str| {
        let first = format!("T0|fork(T1)|1\n{}", crossed("", "T0|join(T1)|2\nT0|fork(NAME)|3\n"));
        file(&top, name, first.replace("NAME", name))
    };
    for command in ["check", "predict"] {
        let misnamed = json(&run(&[command, &run_of("T9"), "--format", "json"]));
        let finding = &misnamed["findings"][0];
        assert_eq!((&finding["kind"], &finding["severity"]), (&"deadlock".into(), &"note".into()));
        assert!(finding["confirmed"].is_null(), "{finding}");
        assert!(finding.to_string().contains("forked as `T9`"), "{finding}");
        let named = json(&run(&[command, &run_of("T2"), "--format", "json"]));
        assert_eq!(named["verdict"], "ok", "{named}");
    }
}

/// Waits for a signal with a lock that the thread which gives it must take first.
fn monitors(extra: &str, after: &str) -> String {
    format!(
        "T2|acq(A)|21\nT2|rel(A)|22\n{extra}T1|acq(A)|11\nT1|acq(B)|12\nT1|wait(c)|13\n\
        T1|rel(B)|13\n{after}T2|acq(B)|23\nT2|signal(c)|24\nT2|rel(B)|25\nT1|acq(B)|13\n\
        T1|wake(c)|13\nT1|rel(B)|14\nT1|rel(A)|15\n"
    )
}

#[test]
fn a_thread_that_waits_for_a_signal_is_a_member_of_a_deadlock() {
    let top = folder();
    let trace = file(&top, "monitors.std", monitors("", ""));
    for command in ["check", "predict"] {
        let text = run(&[command, &trace]);
        assert_eq!(text.status, 1, "{text:?}");
        for part in [
            "`T1` and `T2` can wait for each other: for a signal of `c` and for `A`",
            "`T2` holds no lock, and wants `A` at 21 (event 1), which `T1` holds since 11 (event 3)",
            "`T1` holds `A` since 11 (event 3), and wants a signal of `c` at 13 (event 5), \
             which `T2` has yet to give at 24 (event 8)",
            "5 no signal of c",
            "T1 waits for a signal of c, which T2 has yet to give at 24 (event 8)",
        ] {
            let words = |text: &str| text.split_whitespace().collect::<Vec<&str>>().join(" ");
            assert!(words(&text.stdout).contains(&words(part)), "{part}: {}", text.stdout);
        }
        let ran = run(&[command, &trace, "--format", "json"]);
        let value = json(&ran);
        let schema: Value = serde_json::from_str(&run(&["schema"]).stdout).expect("a schema");
        assert_eq!(schema::check(&schema, &value), Vec::<String>::new());
        let replayed = run_with_stdin(&["replay", &trace, "-"], ran.stdout.as_bytes());
        assert!(replayed.stdout.contains("the witness holds"), "{replayed:?}");
    }
    // Another thread can give the signal; or T2 writes first what T1 reads; or has no lock before.
    let other = monitors("", "T3|acq(B)|31\nT3|r(p)|32\nT3|signal(c)|33\nT3|rel(B)|34\n");
    let other = other.replace("T1|wait", "T1|w(p)|12\nT1|wait");
    let ordered = monitors("T2|w(p)|22\nT1|r(p)|10\n", "");
    let free = monitors("", "").replace("T2|acq(A)|21\nT2|rel(A)|22\n", "");
    for (name, text) in [("other", other), ("ordered", ordered), ("free", free)] {
        let trace = file(&top, &format!("{name}.std"), text);
        for command in ["check", "predict"] {
            let value = json(&run(&[command, &trace, "--format", "json"]));
            assert_eq!(value["stats"]["deadlocks"], 0, "{name}: {value}");
        }
    }
}

/// Each event: a thread, and a lock that it takes (`+A`) or gives back (`-A`), or a call of
/// the semaphore (`p`, `v`, or `fail`, an attempt that finds no permit).
pub(crate) fn permits(events: &str) -> String {
    let mut text = "anyorder-trace 1\n".to_owned();
    for at in 0..3 {
        text.push_str(&format!("handler h{at} \"T{}\"\n", at + 1));
        text.push_str(&format!("task t{at} \"T{}\" initial h{at}\n", at + 1));
    }
    text.push_str("lock l0 \"A\"\nlock l1 \"B\"\n");
    let mut calls = 0;
    let event = |event: &str| {
        let (thread, what) = event.split_at(1);
        let task = thread.parse::<u8>().expect("a thread") - 1;
        let mut call = |method: &str| {
            calls += 1;
            let at = calls - 1;
            (
                format!("invocation v{at} \"semaphore:slots\" {method}\n"),
                format!("t{task} invoke v{at}\n"),
            )
        };
        let lock = |kind: &str| {
            let number = u8::from(&what[1..] == "B");
            (String::new(), format!("t{task} {kind} l{number}\n"))
        };
        match what {
            "p" => call("\"acquire\""),
            "v" => call("\"release\""),
            "fail" => call("\"try_acquire\" -> 0"),
            _ if what.starts_with('+') => lock("acquire"),
            _ => lock("release"),
        }
    };
    let (calls, events): (Vec<String>, Vec<String>) = events.split_whitespace().map(event).unzip();
    text + &calls.concat() + &events.concat()
}

#[test]
fn a_thread_that_waits_for_a_permit_is_a_member_of_a_deadlock() {
    let top = folder();
    // T1 takes a lock and then a permit, T2 the other way round.
    let crossed = "1+A 1p 1v 1-A 2p 2+A 2-A 2v";
    let known = "1+A 1p 3fail 1v 1-A 2p 2+A 2-A 2v";
    // T2 gives a permit only after it had the lock with which T1 waits for it.
    let hand_over = "2+A 2-A 2v 1+A 1p 1-A";
    for (name, events, is_known, parts) in [
        (
            "crossed",
            crossed,
            false,
            &[
                "`T1` and `T2` can wait for each other: for a permit of `semaphore:slots` and for `A`",
                "`T1` holds `A` since event 1, and wants a permit of `semaphore:slots` at event 2, \
                 which `T2` has yet to give at event 8",
                "`T2` holds no lock, and wants `A` at event 6, which `T1` holds since event 1",
                "does not say how many permits `semaphore:slots` has in the beginning: this is with 1 \
                 permit",
                "T1 waits for a permit of semaphore:slots, which T2 has yet to give at event 8",
            ][..],
        ),
        ("known", known, true, &[]),
        ("hand_over", hand_over, false, &["this is with 0 permits"]),
    ] {
        let trace = file(&top, &format!("{name}.trace"), permits(events));
        for command in ["check", "predict"] {
            let text = run(&[command, &trace]);
            assert_eq!(text.status, 1, "{text:?}");
            for part in parts {
                let words = |text: &str| text.split_whitespace().collect::<Vec<&str>>().join(" ");
                assert!(words(&text.stdout).contains(&words(part)), "{part}: {}", text.stdout);
            }
            let ran = run(&[command, &trace, "--format", "json"]);
            let value = json(&ran);
            let schema: Value = serde_json::from_str(&run(&["schema"]).stdout).expect("a schema");
            assert_eq!(schema::check(&schema, &value), Vec::<String>::new());
            let severity = if is_known { "error" } else { "warning" };
            let found = value["findings"].as_array().expect("findings").iter();
            let found = found.filter(|one| one["kind"] == "deadlock").collect::<Vec<&Value>>();
            assert_eq!(found.len(), 1, "{name}: {value}");
            assert_eq!(
                (&found[0]["severity"], &found[0]["confirmed"]),
                (&severity.into(), &true.into())
            );
            let replayed = run_with_stdin(&["replay", &trace, "-"], ran.stdout.as_bytes());
            assert!(replayed.stdout.contains("the witness holds"), "{replayed:?}");
        }
    }
    // All take the lock first; the permit is given before the lock is asked for; two permits were
    // taken at a time, so that one is left.
    let ordered = "1+A 1p 1v 1-A 2+A 2p 2v 2-A";
    let early = "2v 2+A 2-A 1+A 1p 1-A";
    let two = "3p 1+A 1p 1v 1-A 2p 2+A 2-A 2v 3v";
    for (name, events) in [("ordered", ordered), ("early", early), ("two", two)] {
        let trace = file(&top, &format!("{name}.trace"), permits(events));
        for command in ["check", "predict"] {
            let value = json(&run(&[command, &trace, "--format", "json"]));
            assert_eq!(value["stats"]["deadlocks"], 0, "{name}: {value}");
        }
    }
}

/// A trace of events like `T1.acq(L)`: locks, barriers, accesses, forks, and calls of channels
/// (`send`, `recv`, `close`), wait groups (`add`, `done`, `await`) and futures (`set`, `get`).
fn meeting(events: &str) -> String {
    fn number(list: &mut Vec<String>, name: &str) -> usize {
        let at = list.iter().position(|known| known == name);
        at.unwrap_or_else(|| {
            list.push(name.to_owned());
            list.len() - 1
        })
    }
    let [mut threads, mut locks, mut barriers, mut places, mut calls] = [const { Vec::new() }; 5];
    let mut text = String::new();
    for event in events.split_whitespace() {
        let (thread, what) = event.split_once('.').expect("a thread");
        let (what, of) = what.trim_end_matches(')').split_once('(').expect("an operand");
        let task = number(&mut threads, thread);
        let rest = match what {
            "acq" => format!("acquire l{}", number(&mut locks, of)),
            "rel" => format!("release l{}", number(&mut locks, of)),
            "barrier" => format!("barrier c{}", number(&mut barriers, of)),
            "r" => format!("read x{}", number(&mut places, of)),
            "w" => format!("write x{}", number(&mut places, of)),
            "fork" => format!("fork h{}", number(&mut threads, of)),
            _ => {
                let (kind, call) = match what {
                    "send" => ("channel", "\"send\" 7 -> 1"),
                    "recv" => ("channel", "\"recv\" -> 7"),
                    "add" => ("waitgroup", "\"add\""),
                    "done" => ("waitgroup", "\"done\""),
                    "await" => ("waitgroup", "\"wait\""),
                    "set" => ("future", "\"set\" 7 -> 1"),
                    "get" => ("future", "\"get\" -> 7"),
                    other => panic!("unknown operation {other}"),
                };
                calls.push(format!("\"{kind}:{of}\" {call}"));
                format!("invoke v{}", calls.len() - 1)
            }
        };
        text.push_str(&format!("t{task} {rest}\n"));
    }
    let mut head = "anyorder-trace 1\n".to_owned();
    for (at, name) in threads.iter().enumerate() {
        head.push_str(&format!("handler h{at} \"{name}\"\ntask t{at} \"{name}\" initial h{at}\n"));
    }
    let names = [("lock l", &locks), ("condition c", &barriers), ("location x", &places)];
    for (kind, all) in names {
        for (at, name) in all.iter().enumerate() {
            head.push_str(&format!("{kind}{at} \"{name}\"\n"));
        }
    }
    for (at, call) in calls.iter().enumerate() {
        head.push_str(&format!("invocation v{at} {call}\n"));
    }
    head + &text
}

/// Programs with a deadlock, each with the words of its finding.
const MEETINGS: &[(&str, &str, &[&str])] = &[
    (
        "value",
        "T2.acq(L) T2.rel(L) T2.send(c) T1.acq(L) T1.recv(c) T1.rel(L)",
        &[
            "error: `T1` and `T2` can wait for each other: for a value of `channel:c` and for `L`",
            "`T1` holds `L` since event 4, and wants a value of `channel:c` at event 5, which `T2` has \
             yet to give at event 3",
        ],
    ),
    (
        "room",
        "T2.acq(L) T2.rel(L) T1.acq(L) T1.send(c) T2.recv(c) T1.send(c) T1.rel(L) T2.recv(c)",
        &[
            "warning: `T1` and `T2` can wait for each other: for room in `channel:c` and for `L`",
            "the trace does not say how many values `channel:c` has room for: this is with 1 value",
        ],
    ),
    (
        "work",
        "T1.add(w) T2.acq(L) T2.rel(L) T2.done(w) T1.acq(L) T1.await(w) T1.rel(L)",
        &["wants the end of the work of `waitgroup:w` at event 6, which `T2` has yet to give"],
    ),
    (
        "future",
        "T2.acq(L) T2.rel(L) T2.set(f) T1.acq(L) T1.get(f) T1.rel(L)",
        &["for the value of `future:f` and for `L`"],
    ),
    (
        "barrier",
        "T2.acq(L) T2.rel(L) T1.acq(L) T1.barrier(b) T2.barrier(b) T1.rel(L)",
        &[
            "error: `T1` and `T2` can wait for each other: for the others at `b` and for `L`",
            "`T1` holds `L` since event 3, and wants the others at `b` at event 4, where `T2` has yet \
             to arrive: it passes at event 5",
            "T1 waits for the others at b, where T2 has yet to arrive; T2 waits for L",
        ],
    ),
];

/// Right programs: the lock is given back first, the other thread comes first by its fork or by
/// what is read, or a third one ends the wait.
const RIGHT: &[(&str, &str)] = &[
    ("value after", "T2.acq(L) T2.rel(L) T2.send(c) T1.recv(c) T1.acq(L) T1.rel(L)"),
    ("value forked", "T2.acq(L) T2.rel(L) T2.fork(T1) T2.send(c) T1.acq(L) T1.recv(c) T1.rel(L)"),
    ("value flag", "T2.acq(L) T2.w(x) T2.rel(L) T2.send(c) T1.r(x) T1.acq(L) T1.recv(c) T1.rel(L)"),
    (
        "value third",
        "T2.acq(L) T2.rel(L) T2.send(c) T3.send(c) T1.acq(L) T1.recv(c) T1.rel(L) T1.recv(c)",
    ),
    (
        "room after",
        "T2.acq(L) T2.rel(L) T1.acq(L) T1.rel(L) T1.send(c) T2.recv(c) T1.send(c) T2.recv(c)",
    ),
    (
        "room first",
        "T1.send(c) T2.recv(c) T2.acq(L) T2.rel(L) T1.acq(L) T1.send(c) T1.rel(L) T3.recv(c)",
    ),
    (
        "room enough",
        "T1.acq(L) T1.send(c) T1.send(c) T1.rel(L) T2.acq(L) T2.rel(L) T2.recv(c) T2.recv(c)",
    ),
    ("work after", "T1.add(w) T2.acq(L) T2.rel(L) T2.done(w) T1.await(w) T1.acq(L) T1.rel(L)"),
    ("work before", "T1.add(w) T2.done(w) T2.acq(L) T2.rel(L) T1.acq(L) T1.await(w) T1.rel(L)"),
    (
        "work forked",
        "T2.add(w) T2.acq(L) T2.rel(L) T2.fork(T1) T2.done(w) T1.acq(L) T1.await(w) T1.rel(L)",
    ),
    ("future after", "T2.acq(L) T2.rel(L) T2.set(f) T1.get(f) T1.acq(L) T1.rel(L)"),
    ("future before", "T2.set(f) T2.acq(L) T2.rel(L) T1.acq(L) T1.get(f) T1.rel(L)"),
    ("future flag", "T2.acq(L) T2.w(x) T2.rel(L) T2.set(f) T1.r(x) T1.acq(L) T1.get(f) T1.rel(L)"),
    ("barrier after", "T2.acq(L) T2.rel(L) T1.acq(L) T1.rel(L) T1.barrier(b) T2.barrier(b)"),
    (
        "barrier behind",
        "T2.w(x) T1.acq(L) T1.barrier(b) T2.barrier(b) T1.rel(L) T2.acq(L) T2.rel(L)",
    ),
    (
        "barrier flag",
        "T2.acq(L) T2.w(x) T2.rel(L) T1.r(x) T1.acq(L) T1.barrier(b) T2.barrier(b) T1.rel(L)",
    ),
];

#[test]
fn a_thread_that_waits_at_an_object_or_a_barrier_is_a_member_of_a_deadlock() {
    let top = folder();
    let words = |text: &str| text.split_whitespace().collect::<Vec<&str>>().join(" ");
    for (name, events, parts) in MEETINGS {
        let trace = file(&top, &format!("{name}.trace"), meeting(events));
        for command in ["check", "predict"] {
            let text = run(&[command, &trace]);
            assert_eq!(text.status, 1, "{text:?}");
            for part in *parts {
                assert!(words(&text.stdout).contains(&words(part)), "{part}: {}", text.stdout);
            }
            let ran = run(&[command, &trace, "--format", "json"]);
            assert_eq!(json(&ran)["stats"]["deadlocks"], 1, "{name}: {ran:?}");
            let replayed = run_with_stdin(&["replay", &trace, "-"], ran.stdout.as_bytes());
            assert!(replayed.stdout.contains("the witness holds"), "{replayed:?}");
        }
    }
    for (name, events) in RIGHT {
        let trace = file(&top, &format!("{}.trace", name.replace(' ', "_")), meeting(events));
        for command in ["check", "predict"] {
            let value = json(&run(&[command, &trace, "--format", "json"]));
            assert_eq!(value["stats"]["deadlocks"], 0, "{name}: {value}");
            assert_eq!(value["stats"]["lock_cycles_open"], 0, "{name}: {value}");
        }
    }
}

/// What users of detectors of lock orders complain of most: cycles that cannot happen.
#[test]
fn cycles_of_locks_that_cannot_happen_are_silent() {
    let top = folder();
    let alone = crossed("", "").replace("T2|", "T1|");
    let flag = crossed("", "T1|w(done)|17\nT2|r(done)|18\n");
    let forked = format!("T1|w(x)|1\n{}", crossed("", "T1|fork(T2)|17\n"));
    let joined = format!("T0|fork(T1)|1\n{}", crossed("", "T0|join(T1)|2\nT0|fork(T2)|3\n"));
    for (name, text) in [
        ("alone", alone),
        ("gate", crossed("G", "")),
        ("flag", flag),
        ("forked", forked),
        ("joined", joined),
    ] {
        let trace = file(&top, &format!("{name}.std"), text);
        for command in ["check", "predict"] {
            let value = json(&run(&[command, &trace, "--format", "json"]));
            let found = value["findings"].as_array().expect("findings").iter();
            assert!(found.clone().all(|one| one["kind"] != "deadlock"), "{name}: {value}");
            assert_eq!(value["stats"]["deadlocks"], 0, "{name}");
        }
    }
}

#[test]
fn a_known_deadlock_is_not_reported_again() {
    let top = folder();
    let trace = file(&top, "crossed.std", crossed("", ""));
    let known = path(&top, "known.json");
    for command in ["check", "predict"] {
        assert_eq!(run(&[command, &trace, "--write-baseline", &known]).status, 1, "{command}");
        let ran = run(&[command, &trace, "--baseline", &known, "--format", "json"]);
        assert_eq!(ran.status, 0, "{command}: {ran:?}");
        let value = json(&ran);
        assert_eq!(value["findings"][0]["kind"], "deadlock", "{command}: {value}");
        assert_eq!(value["findings"][0]["baseline"], true, "{command}: {value}");
        // Of other locks it is another one.
        let other = crossed("", "").replace("(A)", "(C)").replace("|13", "|113");
        let other = file(&top, "other.std", other);
        let ran = run(&[command, &other, "--baseline", &known]);
        assert_eq!(ran.status, 1, "{command}: {ran:?}");
    }
}

/// Only another order of the sections of `G` leads there, so the solver has to find it.
#[test]
fn a_deadlock_that_a_limit_leaves_open_is_unconfirmed() {
    let top = folder();
    let text = "T2|acq(G)|1\nT2|acq(B)|2\nT2|acq(A)|3\nT2|rel(A)|4\nT2|rel(B)|5\nT2|rel(G)|6\n\
        T1|acq(G)|7\nT1|rel(G)|8\nT1|acq(A)|9\nT1|acq(B)|10\nT1|rel(B)|11\nT1|rel(A)|12\n";
    let trace = file(&top, "gate.std", text);
    for (option, confirmed) in
        [("--max-tries=200", true), ("--max-tries=0", false), ("--max-conflicts=0", false)]
    {
        let ran = run(&["predict", &trace, option, "--format", "json"]);
        let value = json(&ran);
        let finding = &value["findings"][0];
        assert_eq!(finding["kind"], "deadlock", "{option}: {value}");
        assert_eq!(finding["confirmed"], confirmed, "{option}: {value}");
        let verdict = if confirmed { "findings" } else { "incomplete" };
        assert_eq!(value["verdict"], verdict, "{option}: {value}");
        assert_eq!(value["stats"]["lock_cycles_open"], u64::from(!confirmed), "{option}");
    }
    let ran = run(&["predict", &trace, "--max-findings", "0"]);
    assert!(ran.stdout.contains("and 1 more"), "{ran:?}");
    assert_eq!(ran.status, 1, "what is not printed counts: {ran:?}");
}
