//! Programs whose names and messages read like words of our own: each is what the program means.

use super::{checked, has_python, program, wrong};
use crate::common::{file, folder, run};

/// One task sets a variable, another task of another handler fails where it is not set.
fn waits_for(variable: &str, message: &str, part: &str) -> String {
    format!(
        "
def build(loop):
    loop.handler('a')
    loop.handler('b')
    done = loop.var('{variable}', 0)
    def first():
        done.set(1)
    def second():
        if done.get() == 0:
            loop.fail('{message}')
    loop.post('first', first, handler='a')
    loop.post('second', second, handler='b')
    loop.observe(lambda: [(['{part}'], 'output', str(done.peek()))])
"
    )
}

#[test]
fn a_variable_with_the_name_of_a_status_is_a_variable() {
    if !has_python() {
        return;
    }
    let folder = folder();
    let plain = program(&folder, "plain.py", &waits_for("done", "not done", "x"));
    let odd = program(&folder, "odd.py", &waits_for("task.first", "not done", "x"));
    let [(_, plain_value), (status, value)] = [&plain, &odd].map(|one| checked(one, &[]));
    assert_eq!((status, wrong(&value).len()), (1, 1), "{value}");
    assert!(value["warnings"].is_null(), "the program reports its accesses: {value}");
    assert_eq!(value["stats"]["sequences"], plain_value["stats"]["sequences"], "{value}");
    let text = run(&["check", "--program", &odd]).stdout;
    assert!(text.contains("task.first: 0 -> 1"), "{text}");
}

#[test]
fn a_message_that_reads_like_a_verdict_is_a_message() {
    if !has_python() {
        return;
    }
    let folder = folder();
    for message in ["final", "deadlock", "invariant safe", "update_conflict x a b", "no at all"] {
        // A part of the observation may be called like the end of a run of a model.
        let program = program(&folder, "odd.py", &waits_for("done", message, "end"));
        let (status, value) = checked(&program, &[]);
        let found = wrong(&value);
        assert_eq!((status, found.len()), (1, 1), "{value}");
        let finding = found[0];
        assert_eq!(finding["kind"], "assertion", "{value}");
        let shows = &finding["witness"]["inline"]["options"]["shows"];
        assert_eq!(*shows, format!("failure {message}"), "{value}");
        let stored = file(&folder, "found.json", value.to_string());
        let ran = run(&["replay", "--program", &program, &stored]);
        assert!(ran.status == 1 && ran.stdout.contains("it occurs again"), "{ran:?}");
        // A schedule without a claim: whatever goes wrong is kept.
        let mut schedule = finding["witness"]["inline"].clone();
        schedule["options"] = serde_json::json!({});
        let stored = file(&folder, "schedule.json", schedule.to_string());
        let ran = run(&["shrink", "--program", &program, &stored]);
        let shrunk: serde_json::Value = serde_json::from_str(&ran.stdout).expect("a schedule");
        assert_eq!(shrunk["options"]["shows"], format!("failure {message}"), "{ran:?}");
    }
}

#[test]
fn a_failure_is_the_same_in_a_folder_whose_name_speaks_of_a_place() {
    let text = "model late\nvar script = false;\nonce event loaded { script = true; }\n\
                once event click { assert script; }\n";
    let folder = folder();
    let inner = folder.path().join("look at this");
    std::fs::create_dir(&inner).expect("a folder");
    let here = file(&folder, "late at night.any", text);
    let there = inner.join("late at night.any");
    std::fs::copy(&here, &there).expect("a copy");
    let ran = run(&["check", &here, "--format", "json"]);
    let stored = file(&folder, "found.json", &ran.stdout);
    let there = there.to_str().expect("UTF-8");
    for model in [here.as_str(), there] {
        let ran = run(&["certify", model, &stored]);
        assert!(ran.status == 0 && ran.stdout.contains("1 certificate: 1 holds"), "{ran:?}");
    }
}
