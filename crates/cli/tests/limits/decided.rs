//! What was decided before a limit is printed, in every phase: while findings are built, while they
//! are compared with suppressions, while certificates are checked, while a schedule is made
//! smaller.

use super::common::{command, file, folder, path, run};
use super::{ended, is_guarded, json, send, start};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

/// Threads that write one location, each with a stack of its own, the pairs of which all race.
fn stacks(threads: usize, frames: usize) -> String {
    let mut text = String::from("anyorder-trace 1\nhandler h0 \"main\" none\n");
    let lines = |text: &mut String, of: &mut dyn FnMut(&mut String, usize)| {
        (0..threads).for_each(|at| of(text, at));
    };
    lines(&mut text, &mut |text, at| {
        let _ = writeln!(text, "handler h{} \"T{at}\" none", at + 1);
    });
    text.push_str("task t0 \"main\" initial h0\n");
    lines(&mut text, &mut |text, at| {
        let _ = writeln!(text, "task t{0} \"T{at}\" initial h{0}", at + 1);
    });
    text.push_str("location x0 \"x\"\n");
    for site in 1..=frames {
        let _ =
            writeln!(text, "site s{site} function=\"function_{site}\" file=\"f.c\" line={site}");
    }
    lines(&mut text, &mut |text, at| {
        let line = at + 1;
        let _ = writeln!(text, "site s{} file=\"access.c\" line={line}", frames + line);
    });
    lines(&mut text, &mut |text, at| {
        let _ = write!(text, "stack k{at} s{}", frames + 1 + at);
        (1..=frames).for_each(|site| {
            let _ = write!(text, " s{site}");
        });
        text.push('\n');
    });
    lines(&mut text, &mut |text, at| {
        let _ = writeln!(text, "t0 fork h{}", at + 1);
    });
    lines(&mut text, &mut |text, at| {
        let _ = writeln!(text, "t{} write x0 @s{} stack=k{at}", at + 1, frames + 1 + at);
    });
    text
}

fn findings(value: &Value) -> usize {
    value["findings"].as_array().map_or(0, Vec::len)
}

#[test]
fn findings_with_long_stacks_are_reported_at_the_memory_limit() {
    let folder = folder();
    let trace = file(&folder, "d.trace", stacks(450, 64));
    for form in ["json", "sarif"] {
        let limits = ["--memory-limit", "80M", "--max-tries", "300"];
        let words = [&["predict", &trace, "--format", form][..], &limits].concat();
        let ran = ended(start(&mut command(&words)));
        assert_eq!(ran.status, 1, "{form}: {}", ran.stderr);
        match form {
            "json" => {
                let value = json(&ran);
                assert!(findings(&value) > 0, "{value}");
                assert_eq!(value["complete"], false);
                let limits = value["limits"].as_array().expect("limits").clone();
                assert!(limits.contains(&json!("memory-limit")), "{limits:?}");
            }
            "sarif" => {
                let value: Value = serde_json::from_str(&ran.stdout).expect("SARIF");
                assert!(!value["runs"][0]["results"].as_array().expect("results").is_empty());
            }
            _ => assert!(ran.stdout.contains("verdict: findings"), "{}", ran.stdout.len()),
        }
    }
}

/// Patterns without a literal part, each another one; the last ones match everything.
fn suppressions(number: usize) -> String {
    let mut text = String::new();
    for at in 0..number {
        let bits = (0..14).map(|bit| if at >> bit & 1 == 1 { "?*?" } else { "?" });
        let _ = writeln!(text, "[[suppress]]\nlocation=\"*{}*q\"", bits.collect::<String>());
    }
    text.push_str("[[suppress]]\nlocation=\"*\"\n");
    text
}

#[test]
fn suppressions_that_take_long_never_cost_the_document_nor_make_findings_count() {
    let folder = folder();
    let config = file(&folder, "config.toml", suppressions(15_000));
    let mut trace = String::from("T0|fork(T1)|1\n");
    for (thread, first) in [("T0", 2), ("T1", 3)] {
        for at in 0..1_500 {
            let long = "q".repeat(150);
            let _ = writeln!(trace, "{thread}|w(var{at}{long})|{}", 2 * at + first);
        }
    }
    let trace = file(&folder, "many.std", trace);
    for group in ["field", "sites"] {
        let words = ["check", &trace, "--group-by", group, "--config", &config];
        let limit = ["--time-limit", "1500ms", "--format", "json"];
        let ran = ended(start(&mut command(&[&words[..], &limit].concat())));
        let value = json(&ran);
        // All of them are suppressed.
        assert!(ran.status == 3 || value["complete"] == true, "{group}: {ran:?}");
        let counts = |one: &&Value| one.get("suppressed").is_none();
        let left = value["findings"].as_array().expect("findings").iter().filter(counts).count();
        assert_eq!(left, 0, "{group}: a finding that was not compared");
    }
}

/// A model with a step that does not end.
const ENDLESS: &str = "model inf\nsetting steps = 1000000000000;\nvar x = 0;\n\
    event a { x = 1; }\nevent loops { while true { x = 2; } }\n";

#[test]
fn a_certificate_whose_step_has_no_end_does_not_hide_the_verdicts_on_others() {
    let folder = folder();
    let model = file(&folder, "inf.any", ENDLESS);
    let of = |task: &str, shows: &str| {
        json!({"schedule": 1, "program": {"name": "inf.any"}, "options": {"shows": shows},
            "choices": [{"task": task}]})
        .to_string()
    };
    let bad = file(&folder, "bad.json", of("nobody#1", "deadlock"));
    let inf = file(&folder, "inf.json", of("loops#1", "deadlock"));
    let words = ["certify", &model, &bad, &inf];
    let timed = ended(start(&mut command(&[&words[..], &["--time-limit", "3s"]].concat())));
    assert_eq!(timed.status, 1, "{timed:?}");
    assert!(timed.stdout.contains("bad.json: schedule does not hold"), "{timed:?}");
    assert!(timed.stdout.contains("inf.json: schedule was not checked"), "{timed:?}");
    let verdicts = |ran: &super::common::Ran| {
        let value = json(ran);
        let all = value["certificates"].as_array().expect("certificates").clone();
        let verdicts: Vec<String> = all.iter().map(|one| one["verdict"].to_string()).collect();
        assert_eq!(value["complete"], false);
        (verdicts.join(" "), value["limits"][0].to_string())
    };
    let words = [&words[..], &["--format", "json"]].concat();
    let timed = ended(start(&mut command(&[&words[..], &["--time-limit", "3s"]].concat())));
    let expected = "\"fails\" \"stopped\"".to_owned();
    assert_eq!(verdicts(&timed), (expected.clone(), "\"time-limit\"".to_owned()));
    let child = start(&mut command(&words));
    is_guarded(&child);
    std::thread::sleep(std::time::Duration::from_millis(2_000));
    send("-INT", &child);
    let ran = ended(child);
    assert_eq!((ran.status, verdicts(&ran)), (1, (expected, "\"interrupt\"".to_owned())));
}

#[test]
fn a_certificate_that_cannot_be_read_does_not_hide_the_verdicts_on_others() {
    let folder = folder();
    let model = file(&folder, "inf.any", ENDLESS);
    let missing = path(&folder, "missing.json");
    let good = json!({"schedule": 1, "program": {"name": ""}, "choices": [{"task": "a#1"}]});
    let good = file(&folder, "good.json", good.to_string());
    let ran = run(&["certify", &model, &missing, &good, "--format", "json"]);
    let value = json(&ran);
    assert_eq!((ran.status, &value["stats"]["holds"]), (2, &json!(1)), "{ran:?}");
    assert_eq!(value["certificates"][0]["verdict"], "unreadable", "{value}");
}

/// A counter whose failure needs all the steps before it.
fn counter(steps: usize) -> String {
    format!(
        "model count\nvar n = 0;\nvar other = 0;\nevent tick {{ n += 1; assert n < {steps}; }}\n\
         event idle {{ other = 1; }}\n"
    )
}

/// A schedule of `counter` with idle steps between.
fn long(steps: usize) -> String {
    let mut choices = Vec::new();
    for at in 1..=steps {
        choices.push(json!({"task": format!("idle#{at}")}));
        choices.push(json!({"task": format!("tick#{at}")}));
    }
    json!({"schedule": 1, "program": {"name": "count.any"}, "choices": choices}).to_string()
}

#[test]
fn a_schedule_that_is_made_smaller_at_a_limit_is_written_with_status_3() {
    let folder = folder();
    let model = file(&folder, "count.any", counter(3_000));
    let schedule = file(&folder, "long.json", long(3_000));
    let small = path(&folder, "small.json");
    for limit in [["--max-executions", "6"], ["--time-limit", "3s"], ["--time-limit", "2s"]] {
        let _ = std::fs::remove_file(&small);
        let words = ["shrink", &model, &schedule, "-o", &small, limit[0], limit[1]];
        let ran = ended(start(&mut command(&words)));
        assert_eq!(ran.status, 3, "{limit:?}: {ran:?}");
        if !Path::new(&small).exists() {
            // The limit came before the schedule had been run once.
            assert!(ran.stderr.contains("was not run"), "{limit:?}: {ran:?}");
            assert_eq!(limit[0], "--time-limit");
            continue;
        }
        let certified = run(&["certify", &model, &small]);
        assert_eq!(certified.status, 0, "{limit:?}: {certified:?}");
        let length = |path: &str| {
            let text = std::fs::read_to_string(path).expect("the file");
            let value: Value = serde_json::from_str(&text).expect("JSON");
            value["choices"].as_array().map_or(0, Vec::len)
        };
        assert!(length(&small) <= length(&schedule));
    }
    // A signal, too.
    let child = start(&mut command(&["shrink", &model, &schedule]));
    is_guarded(&child);
    std::thread::sleep(std::time::Duration::from_millis(1_500));
    send("-TERM", &child);
    let ran = ended(child);
    assert_eq!(ran.status, 3, "{ran:?}");
    if !ran.stdout.is_empty() {
        let written = file(&folder, "signal.json", &ran.stdout);
        assert_eq!(run(&["certify", &model, &written]).status, 0);
    }
}
