//! Locks that lie in memory, and memory whose size is not known.

use crate::common::{folder, path, run};
use crate::recorded::{findings, result};
use serde_json::Value;

/// The analyses of `predict` for threads.
const ANALYSES: [&str; 3] = ["hb", "wdc", "edc"];

/// Traces with a bug in the memory of a lock: a name, the trace, and the category of the finding.
const BUGS: [(&str, &str, &str); 7] = [
    (
        "freed.std",
        "main|alloc(0x9000+200)|1\nmain|fork(HB)|2\nHB|acq(0x9040)|3\nHB|rel(0x9040)|4\nmain|free(0x9000)|5\n",
        "use_after_free",
    ),
    (
        "used-after.std",
        "main|alloc(0x9000+200)|1\nmain|fork(HB)|2\nmain|free(0x9000)|3\nHB|acq(0x9040)|4\nHB|rel(0x9040)|5\n",
        "use_after_free",
    ),
    (
        "constructed-late.std",
        "main|alloc(0x9000+200)|1\nmain|fork(HB)|2\nmain|w(0x9040+40)|3\nHB|acq(0x9040)|4\nHB|rel(0x9040)|5\n",
        "overwritten_lock",
    ),
    (
        "cleared.std",
        "main|alloc(0x9000+200)|1\nmain|fork(HB)|2\nHB|acq(0x9040)|3\nHB|rel(0x9040)|4\nmain|w(0x9000+200)|5\n",
        "overwritten_lock",
    ),
    (
        "unsized.std",
        "main|fork(HB)|2\nHB|acq(0x9000)|3\nHB|rel(0x9000)|4\nmain|free(0x9000)|5\n",
        "use_after_free",
    ),
    (
        "under-another-lock.std",
        "main|alloc(0x9000+200)|1\nmain|fork(HB)|2\nHB|acq(m)|3\nHB|acq(0x9040)|4\nHB|rel(0x9040)|5\nHB|rel(m)|6\n\
         main|acq(m)|7\nmain|free(0x9000)|8\nmain|rel(m)|9\n",
        "use_after_free",
    ),
    (
        "sized-lock.std",
        "main|alloc(0x9000+200)|1\nmain|fork(HB)|2\nHB|acq(0x9040+40)|3\nHB|rel(0x9040+40)|4\nmain|w(0x9050+8)|5\n",
        "overwritten_lock",
    ),
];

#[test]
fn a_lock_ends_with_the_memory_in_which_it_lies() {
    let folder = folder();
    for (name, text, category) in BUGS {
        for command in ["check", "predict"] {
            let (status, result) = result(&folder, command, name, text);
            assert_eq!(status, 1, "{command} {name}: {result}");
            let found = findings(&result).iter().filter(|one| one["category"] == category);
            let found: Vec<&Value> = found.collect();
            assert!(!found.is_empty(), "{command} {name}: {result}");
            assert_eq!(found[0]["confirmed"], true, "{command} {name}: {}", found[0]);
            assert_eq!(found[0]["severity"], "error", "{command} {name}: {}", found[0]);
            assert!(found[0]["title"].as_str().unwrap().contains("0x90"), "{}", found[0]);
        }
    }
}

#[test]
fn every_analysis_finds_them_in_memory_and_in_a_stream() {
    let folder = folder();
    for (name, text, category) in BUGS {
        let input = crate::common::file(&folder, name, text);
        for analysis in ANALYSES {
            // Happens-before takes the order of the sections of a lock for granted.
            if analysis == "hb" && name == "under-another-lock.std" {
                continue;
            }
            for more in [&[][..], &["--no-confirm"], &["--max-events", "1"]] {
                let options = ["predict", &input, "--analysis", analysis, "--format", "json"];
                let ran = run(&[&options[..], more].concat());
                let value: Value = serde_json::from_str(&ran.stdout).expect("JSON");
                let found = findings(&value).iter().any(|one| one["category"] == category);
                assert!(found, "{analysis} {more:?} {name}: {value}");
            }
        }
    }
}

#[test]
fn their_witnesses_hold_for_both_checkers() {
    let folder = folder();
    for (name, text, _) in BUGS {
        let input = crate::common::file(&folder, name, text);
        let native = path(&folder, "native.trace");
        run(&["convert", &input, &native, "--to", "text"]);
        let witnesses = path(&folder, name.trim_end_matches(".std"));
        let ran = run(&["predict", &native, "--schedules", &witnesses]);
        assert_eq!(ran.status, 1, "{ran:?}");
        for entry in std::fs::read_dir(&witnesses).expect("a folder") {
            let witness = entry.expect("an entry").path().display().to_string();
            let ran = run(&["certify", &native, &witness]);
            assert_eq!(ran.status, 0, "{name}: {ran:?}");
            let script = crate::common::workspace().join("tools/checker/certify.py");
            let checked = std::process::Command::new("python3")
                .args([script.as_os_str(), native.as_ref(), witness.as_ref()])
                .output();
            // A machine without Python has only the other checker.
            if let Ok(checked) = checked {
                assert!(checked.status.success(), "{name}: {checked:?}");
            }
        }
    }
}

#[test]
fn a_witness_that_takes_a_lock_before_its_memory_is_allocated_does_not_hold() {
    let folder = folder();
    // The acquire cannot come before the allocation, and so not before the write either.
    let text = "main|fork(HB)|1\nmain|alloc(0x9000+200)|2\nmain|w(0x9040+8)|3\nmain|w(p)|4\nHB|r(p)|5\n\
                HB|acq(0x9040)|6\nHB|rel(0x9040)|7\n";
    let (_, result) = result(&folder, "predict", "published.std", text);
    let on_lock = |one: &&Value| one["category"] == "overwritten_lock";
    for finding in findings(&result).iter().filter(on_lock) {
        // `HB` may take it as its last event only behind the allocation.
        let steps = finding["witness"]["inline"]["steps"].to_string();
        let at = |label: &str| steps.find(&format!("\"event\":\"{label}\""));
        assert!(at("2") < at("6"), "{finding}");
    }
}

/// Right programs with locks in memory.
const RIGHT: [(&str, &str); 7] = [
    (
        "joined.std",
        "main|alloc(0x9000+200)|1\nmain|w(0x9040+40)|2\nmain|fork(HB)|3\nHB|acq(0x9040)|4\nHB|rel(0x9040)|5\n\
         main|join(HB)|6\nmain|free(0x9000)|7\n",
    ),
    (
        "destroyed.std",
        "main|alloc(0x9000+200)|1\nmain|fork(HB)|2\nHB|acq(0x9040)|3\nHB|rel(0x9040)|4\nmain|join(HB)|5\n\
         main|destroy(0x9040)|6\nmain|free(0x9000)|7\n",
    ),
    (
        "again.std",
        // The block is used again for another lock at the same place.
        "main|alloc(0x9000+200)|1\nmain|fork(A)|2\nA|acq(0x9040)|3\nA|rel(0x9040)|4\nmain|join(A)|5\n\
         main|free(0x9000)|6\nmain|fork(B)|7\nB|alloc(0x9000+200)|8\nB|w(0x9040+40)|9\nB|acq(0x9040)|10\n\
         B|rel(0x9040)|11\nB|free(0x9000)|12\nmain|w(y)|13\n",
    ),
    (
        "last-user.std",
        // Who gives back the last reference frees the block.
        "main|alloc(0x9000+200)|1\nmain|w(0x9080+8)|2\nmain|fork(HB)|3\nHB|acq(0x9040)|4\nHB|r(0x9080+8)|5\n\
         HB|w(0x9080+8)|6\nHB|rel(0x9040)|7\nmain|join(HB)|8\nmain|acq(0x9040)|9\nmain|r(0x9080+8)|10\n\
         main|rel(0x9040)|11\nmain|free(0x9000)|12\n",
    ),
    (
        "held.std",
        // A lock that writes its own memory while it is held.
        "main|alloc(0x9000+200)|1\nmain|fork(HB)|2\nHB|acq(0x9040)|3\nHB|w(0x9040+8)|4\nHB|rel(0x9040)|5\n\
         main|acq(0x9040)|6\nmain|w(0x9040+8)|7\nmain|rel(0x9040)|8\nmain|join(HB)|9\nmain|free(0x9000)|10\n",
    ),
    (
        "beside.std",
        // Another block, and a write beside the lock.
        "main|alloc(0x9000+64)|1\nmain|alloc(0x9040+64)|2\nmain|fork(HB)|3\nHB|acq(0x9040)|4\nHB|rel(0x9040)|5\n\
         main|w(0x9048+8)|6\nmain|free(0x9000)|7\nmain|join(HB)|8\nmain|free(0x9040)|9\n",
    ),
    (
        "atomic.std",
        // Locks of atomics write their own memory.
        "main|alloc(0x9000+64)|1\nmain|fork(HB)|2\nHB|armw(0x9000+4)|3\nHB|acq(0x9000)|4\nHB|rel(0x9000)|5\n\
         main|armw(0x9000+4)|6\nmain|acq(0x9000)|7\nmain|rel(0x9000)|8\nmain|join(HB)|9\nmain|free(0x9000)|10\n",
    ),
];

#[test]
fn right_programs_with_locks_in_memory_stay_silent() {
    let folder = folder();
    for (name, text) in RIGHT {
        for command in ["check", "predict"] {
            let (_, result) = result(&folder, command, name, text);
            let bad = |one: &&Value| {
                one["category"] == "use_after_free" || one["category"] == "overwritten_lock"
            };
            let found = findings(&result).iter().find(bad);
            assert!(found.is_none(), "{command} {name}: {found:?}");
            if name != "held.std" {
                assert_ne!(result["verdict"], "findings", "{command} {name}: {result}");
            }
        }
    }
}

#[test]
fn a_use_after_free_is_found_without_sizes() {
    let folder = folder();
    for (name, text) in [
        ("read.std", "T0|w(0x10)|1\nT0|fork(T1)|2\nT1|free(0x10)|3\nT0|r(0x10)|4\n"),
        ("first.std", "T0|fork(T1)|1\nT1|free(0x10)|2\nT0|w(0x10)|3\n"),
        ("sized.std", "T0|w(0x10+8)|1\nT0|fork(T1)|2\nT1|free(0x10)|3\nT0|r(0x10+8)|4\n"),
        ("mixed.std", "T0|w(0x10+8)|1\nT0|fork(T1)|2\nT1|free(0x10)|3\nT0|r(0x10)|4\n"),
        ("allocated.std", "T0|alloc(0x10+8)|1\nT0|fork(T1)|2\nT1|free(0x10)|3\nT0|r(0x14)|4\n"),
    ] {
        for command in ["check", "predict"] {
            let (status, result) = result(&folder, command, name, text);
            assert_eq!(status, 1, "{command} {name}: {result}");
            let used =
                |one: &Value| one["category"] == "use_after_free" && one["confirmed"] == true;
            assert!(findings(&result).iter().any(used), "{command} {name}: {result}");
        }
    }
}

#[test]
fn memory_without_sizes_that_is_freed_last_stays_silent() {
    let folder = folder();
    for text in [
        "T0|w(0x10)|1\nT0|fork(T1)|2\nT1|r(0x10)|3\nT0|join(T1)|4\nT0|free(0x10)|5\n",
        "T0|w(0x10)|1\nT0|fork(T1)|2\nT1|r(0x18)|3\nT0|free(0x10)|4\n",
        // The address is allocated again: other memory.
        "T0|alloc(0x10)|1\nT0|w(0x10)|2\nT0|free(0x10)|3\nT0|fork(T1)|4\nT1|alloc(0x10)|5\nT1|w(0x10)|6\n",
    ] {
        let (status, result) = result(&folder, "check", "right.std", text);
        assert_eq!(status, 0, "{text}: {result}");
    }
}

#[test]
fn happens_before_alone_finds_them_and_right_programs_stay_silent() {
    let folder = folder();
    let checked = |name: &str, text: &str| -> Value {
        let input = crate::common::file(&folder, name, text);
        let ran = run(&["check", &input, "--no-predict", "--format", "json"]);
        serde_json::from_str(&ran.stdout).expect("JSON")
    };
    for (name, text, category) in BUGS {
        // Happens-before takes the order of the sections of a lock for granted.
        let is_found = name != "under-another-lock.std";
        let found = checked(name, text);
        let has = findings(&found).iter().any(|one| one["category"] == category);
        assert_eq!(has, is_found, "{name}: {found}");
    }
    for (name, text) in RIGHT {
        let found = checked(name, text);
        assert!(findings(&found).is_empty(), "{name}: {found}");
    }
}

/// Tasks of two loopers: one ends an object with a lock in it that the other still uses.
const TASKS: &str = "anyorder-trace 1
handler h0 \"ui\" fifo
handler h1 \"net\" fifo
task t0 \"main\" initial h0
task t1 \"send\" posted h1
task t2 \"close\" posted h0
location x0 range 0x9000+64 generation=1
lock l0 \"0x9010\"
t0 alloc x0
t0 post t1
t0 post t2
t0 loop h0
t1 get h1
t1 acquire l0
t1 release l0
t1 end
t2 get h0
t2 free x0
t2 end
";

#[test]
fn tasks_that_end_a_lock_in_use_are_found() {
    let folder = folder();
    for command in ["check", "predict"] {
        let (status, result) = result(&folder, command, "tasks.trace", TASKS);
        assert_eq!(status, 1, "{command}: {result}");
        let used = |one: &Value| one["category"] == "use_after_free";
        assert!(findings(&result).iter().any(used), "{command}: {result}");
        // Closed by the task that used it: nothing is open.
        let right = TASKS.replace("t0 post t2\n", "").replace("t1 end\n", "t1 post t2\nt1 end\n");
        let (status, result) = self::result(&folder, command, "right.trace", &right);
        assert_eq!(status, 0, "{command}: {result}");
    }
}
