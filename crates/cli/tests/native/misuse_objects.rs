//! Wrong uses of locks, conditions, threads and signal handlers.

use super::{built_once, common, found};
use common::{command, ran};
use serde_json::Value;
use std::path::Path;
use std::sync::OnceLock;

fn program() -> &'static Path {
    static BUILT: OnceLock<tempfile::TempDir> = OnceLock::new();
    built_once(&BUILT, "misuse_objects")
}

fn result(which: &str) -> Value {
    let options = ["run", "--format", "json", "--run-time-limit", "3s", "./misuse_objects", which];
    let ran = ran(command(&options).current_dir(program()));
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

/// The part of the program, the category of the finding, a word of its title, and the number of its
/// places.
const WRONG: [(&str, &str, &str, usize); 23] = [
    ("unlock-free", "bad_unlock", "`lock`, which no thread holds", 1),
    ("unlock-of-other", "bad_unlock", "`lock`, which `main` holds", 2),
    ("lock-twice", "double_lock", "`lock`, which it holds itself", 2),
    ("write-over-read", "double_lock", "`shared`", 2),
    ("destroy-held", "destroyed_held", "`made`, held by itself", 2),
    ("destroy-held-by-other", "destroyed_held", "`lock`, held by `T1", 2),
    ("init-held", "initialised_held", "`made`", 2),
    ("use-destroyed", "used_destroyed", "`made`", 2),
    ("wait-unlocked", "wait_unlocked", "`lock`", 1),
    ("init-race", "multi_threaded", "lock made", 2),
    ("destroy-race", "destroyed_lock", "`made`", 2),
    ("semaphore-destroy-race", "use_after_free", "semaphore sem", 2),
    ("semaphore-init-race", "multi_threaded", "semaphore sem", 2),
    ("barrier-init-race", "use_after_free", "barrier", 2),
    ("condition-destroy-race", "use_after_free", "condition made_cond", 2),
    ("read-then-unlocked-as-written", "wrong_mode", "`own`", 2),
    ("written-then-unlocked-as-read", "wrong_mode", "`own`", 2),
    ("one-permit", "deadlock", "for a permit of `semaphore:", 2),
    ("one-permit-at-last", "deadlock", "for a permit of `semaphore:", 2),
    ("thread-leak", "thread_leak", "T1 nothing", 1),
    ("named-leak", "thread_leak", "T1 input-and-outpt", 1),
    ("handler-allocates", "unsafe_in_handler", "an allocation", 1),
    ("handler-errno", "errno_in_handler", "signal 10", 1),
];

#[test]
fn what_no_program_may_do_is_found() {
    for (which, category, words, places) in WRONG {
        let result = result(which);
        let findings = result["findings"].as_array().expect("a list");
        let is_it = |one: &&Value| {
            let title = one["title"].as_str().unwrap_or_default();
            let kind = one["category"].as_str().or(one["kind"].as_str());
            kind == Some(category) && title.contains(words) && one["harm"] != "harmless"
        };
        let one = findings.iter().find(is_it);
        let one = one.unwrap_or_else(|| panic!("{which}: {:?}", found(&result)));
        let sites = one["sites"].as_array().expect("a list");
        assert_eq!(sites.len(), places, "{which}: {sites:?}");
        for site in sites {
            let file = site["file"].as_str().unwrap_or_default();
            assert!(file.ends_with("misuse_objects.c"), "{which}: {site}");
        }
        assert_eq!(findings.len(), 1, "{which}: {:?}", found(&result));
    }
}

#[test]
fn right_uses_are_silent() {
    for which in [
        "right-locks",
        "right-readers",
        "right-heap",
        "right-semaphore",
        "right-barrier",
        "right-condition",
        "right-condition-joined",
        "right-threads",
        "right-handlers",
        "right-raised",
        "right-suspended",
        "right-two-permits",
        "right-more-permits",
        "right-modes",
        "right-robust",
        "right-robust-joined",
        "right-handed-over",
        "right-tried",
        "right-timed-wait",
        "right-signal-thread",
        "right-post-in-handler",
        "right-ignored-free",
        "right-finalizer",
    ] {
        let result = result(which);
        assert_eq!(found(&result), [], "{which}");
        assert_eq!(result["verdict"], "ok", "{which}: {:?}", result["warnings"]);
    }
}
