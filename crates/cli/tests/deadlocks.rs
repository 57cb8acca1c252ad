//! Deadlocks of recorded runs, as `check` and `predict` report them.

use crate::common;

use anyorder_mutate::schema;
use common::{Ran, file, folder, run, run_with_stdin};
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
