//! Calls of objects that wait or observe something, in `predict` and `check`.

use crate::common::{file, folder, run};
use crate::predict::{balanced, json, predict};
use serde_json::Value;

/// A trace of two threads: each line names the thread, the object, the method with its arguments,
/// and the result.
fn calls(lines: &[&str]) -> String {
    let mut text = tables_of(lines);
    for (at, line) in lines.iter().enumerate() {
        text.push_str(&format!("t{} invoke v{at}\n", usize::from(line.starts_with('B'))));
    }
    text
}

/// The tables of a trace of two threads with these calls.
fn tables_of(lines: &[&str]) -> String {
    let mut text =
        "anyorder-trace 1\nhandler h0 \"A\"\nhandler h1 \"B\"\ntask t0 \"A\" initial h0\n\
                    task t1 \"B\" initial h1\n"
            .to_owned();
    for (at, line) in lines.iter().enumerate() {
        let (_, call) = line.split_once(' ').expect("a thread and a call");
        text.push_str(&format!("invocation v{at} {call}\n"));
    }
    text
}

#[test]
fn right_programs_that_block_raise_no_alarm() {
    let folder = folder();
    let right: [&[&str]; 7] = [
        &["A \"channel:c\" \"send\" 7 -> 1", "B \"channel:c\" \"recv\" -> 7"],
        &[
            "A \"channel:c\" \"send\" 7 -> 1",
            "B \"channel:c\" \"recv\" -> 7",
            "A \"channel:c\" \"close\" -> 1",
            "B \"channel:c\" \"recv\"",
        ],
        &["A \"future:f\" \"set\" 3 -> 1", "B \"future:f\" \"get\" -> 3"],
        &["A \"context:x\" \"cancel\"", "B \"context:x\" \"done\""],
        &["A \"semaphore:s\" \"release\"", "B \"semaphore:s\" \"acquire\""],
        &["A \"waitgroup:w\" \"add\"", "B \"waitgroup:w\" \"done\"", "A \"waitgroup:w\" \"wait\""],
        &[
            "A \"channel:c\" \"send\" 7 -> 1",
            "A \"channel:c\" \"send\" 8 -> 1",
            "B \"channel:c\" \"recv\" -> 7",
            "A \"channel:c\" \"send\" 9 -> 1",
        ],
    ];
    for lines in right {
        let value = predict(&file(&folder, "right.trace", calls(lines)));
        balanced(&value);
        assert_eq!(value["verdict"], "ok", "{lines:?}: {value}");
        let confirmed = |finding: &&Value| finding["confirmed"] == true;
        let findings = value["findings"].as_array().expect("a list");
        assert_eq!(findings.iter().filter(confirmed).count(), 0, "{lines:?}: {value}");
    }
}

/// Each line: a thread with a call of an object, or with a read or write of `x` or `y`.
fn calls_and_accesses(lines: &[&str]) -> String {
    let is_call = |line: &&&str| line.contains('"');
    let calls: Vec<&str> = lines.iter().filter(is_call).copied().collect();
    let mut text = tables_of(&calls);
    text.push_str("location x0 \"x\"\nlocation x1 \"y\"\n");
    let mut call = 0;
    for line in lines {
        let (thread, what) = line.split_once(' ').expect("a thread and what it does");
        let task = u8::from(thread == "B");
        if is_call(&line) {
            text.push_str(&format!("t{task} invoke v{call}\n"));
            call += 1;
        } else {
            let what = what.replace(" x", " x0").replace(" y", " x1");
            text.push_str(&format!("t{task} {what}\n"));
        }
    }
    text
}

/// What waits for a call, or sees it, is ordered with it, though happens-before has no rule for
/// that.
#[test]
fn accesses_that_calls_keep_in_order_are_no_race() {
    let folder = folder();
    let right: [&[&str]; 6] = [
        &[
            "A write x",
            "A \"channel:c\" \"send\" 7 -> 1",
            "B \"channel:c\" \"recv\" -> 7",
            "B read x",
        ],
        &[
            "A write x",
            "A \"semaphore:s\" \"release\"",
            "B \"semaphore:s\" \"acquire\"",
            "B write x",
        ],
        &["A write x", "A \"context:c\" \"cancel\"", "B \"context:c\" \"done\"", "B read x"],
        &["A write x", "A \"future:f\" \"set\" 3 -> 1", "B \"future:f\" \"get\" -> 3", "B read x"],
        &[
            "A \"waitgroup:w\" \"add\"",
            "B write x",
            "B \"waitgroup:w\" \"done\"",
            "A \"waitgroup:w\" \"wait\"",
            "A read x",
        ],
        // There and back: the values alone would keep the two ends in order, too.
        &[
            "A write x",
            "A \"channel:c\" \"send\" 7 -> 1",
            "B \"channel:c\" \"recv\" -> 7",
            "B read x",
            "B write y",
            "B \"channel:d\" \"send\" 8 -> 1",
            "A \"channel:d\" \"recv\" -> 8",
            "A read y",
            "A write x",
        ],
    ];
    // Again and again: many pairs, none of which is a race.
    let mut right: Vec<Vec<&str>> = right.iter().map(|lines| lines.to_vec()).collect();
    let turn = &right[right.len() - 1];
    right.push((0..40).flat_map(|_| turn.iter().copied()).collect());
    for lines in &right {
        let name = file(&folder, "right.trace", calls_and_accesses(lines));
        for options in [&["check"][..], &["check", "--no-predict"]] {
            let ran = run(&[options, &[&name, "--format", "json"]].concat());
            let value = json(&ran);
            assert_eq!(value["findings"].as_array().map(Vec::len), Some(0), "{lines:?}: {value}");
            assert_eq!((ran.status, &value["verdict"]), (0, &Value::from("ok")), "{lines:?}");
            assert_eq!(value["stats"]["races"], 0, "{lines:?}: {value}");
        }
    }
    // Why the two ends of a channel are in order.
    let name = file(&folder, "channel.trace", calls_and_accesses(&right[0]));
    let proof = folder.path().join("order.proof").to_string_lossy().into_owned();
    let why = run(&["why", &name, "1", "4", "--certificate", &proof]);
    assert!(why.status == 0 && why.stdout.contains("[call]"), "{why:?}");
    assert!(why.stderr.contains("which certificates do not have"), "{why:?}");
    // Calls of a type of the user's order events, by its specification.
    let own = ["A write x", "A \"cell:c\" \"put\" 7", "B \"cell:c\" \"take\" -> 7", "B read x"];
    let name = file(&folder, "cell.trace", calls_and_accesses(&own));
    let cell = "spec cell { put(_) ~ put(_) when false; put(_) ~ take() when false;\n\
                take() ~ take() when false; }\nwaits cell { take() until put(_) > take(); }\n";
    let cell = file(&folder, "cell.spec", cell);
    let why = run(&["why", &name, "1", "4", "--spec", &cell]);
    assert!(why.status == 0 && why.stdout.contains("[call]"), "{why:?}");
    let why = run(&["why", &name, "1", "4"]);
    assert!(why.status == 0 && why.stdout.contains("can happen in either order"), "{why:?}");
    // The command that a result names has the specification.
    let untouched = ["A write x", "A \"cell:c\" \"put\" 7", "B \"cell:c\" \"put\" 8", "B read x"];
    let name = file(&folder, "untouched.trace", calls_and_accesses(&untouched));
    let value = json(&run(&["check", &name, "--spec", &cell, "--no-predict", "--format", "json"]));
    let replay = value["findings"][0]["replay"].as_str().unwrap_or_default();
    assert_eq!(replay, format!("anyorder why {name} 1 4 --spec {cell}"), "{value}");
    // Without the calls, and with calls that say nothing of the order, each is a race.
    let wrong: [&[&str]; 5] = [
        // Who finds a value has not waited for it.
        &["A write x", "A \"map:m\" \"put\" 1 5", "B \"map:m\" \"get\" 1 -> 5", "B read x"],
        &["A write x", "B read x"],
        &["A write x", "A \"counter:c\" \"inc\"", "B \"counter:c\" \"inc\"", "B read x"],
        // It keeps its order only because of what was read.
        &["A write x", "A write y", "A \"counter:c\" \"inc\"", "B read y", "B read x"],
        // The work is announced by who does it: the wait may come first.
        &[
            "B \"waitgroup:w\" \"add\"",
            "B write x",
            "B \"waitgroup:w\" \"done\"",
            "A \"waitgroup:w\" \"wait\"",
            "A read x",
        ],
    ];
    for lines in wrong {
        let name = file(&folder, "wrong.trace", calls_and_accesses(lines));
        let ran = run(&["check", &name, "--format", "json"]);
        let of_x = ran.stdout.contains("of `x`");
        assert!(ran.status == 1 && of_x, "{lines:?}: {ran:?}");
    }
}

#[test]
fn a_call_that_may_wait_for_ever_is_a_lost_wake_up() {
    let folder = folder();
    let lines = [
        "A \"semaphore:s\" \"release\"",
        "A \"semaphore:s\" \"acquire\"",
        "B \"semaphore:s\" \"try_acquire\" -> 0",
    ];
    let name = file(&folder, "lost.trace", calls(&lines));
    let value = predict(&name);
    balanced(&value);
    let findings = value["findings"].as_array().expect("a list");
    let lost = findings.iter().find(|finding| finding["category"] == "lost_wakeup");
    let lost = lost.unwrap_or_else(|| panic!("{value}"));
    let title = lost["title"].as_str().expect("a title");
    let stated = "lost wake-up: `acquire` on `semaphore:s` may wait for ever";
    assert!(title.starts_with(stated), "{title}");
    assert_eq!(lost["confirmed"], true);
    let result = file(&folder, "lost.json", value.to_string());
    let id = lost["id"].as_str().expect("an id");
    let again = run(&["replay", &name, &result, "--finding", id]);
    assert!(again.stdout.contains("replay: the witness holds"), "{again:?}");
    assert!(run(&["explain", "lost_wakeup"]).stdout.starts_with("lost_wakeup: "));
}
