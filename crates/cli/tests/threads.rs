//! Models of threads by the binary: both searches say the same, and the default says which ran.

use crate::common::{run, workspace};
use serde_json::Value;
use std::collections::BTreeSet;

fn result(arguments: &[&str]) -> (i32, Value, String) {
    let ran = run(&[&["check", "--format", "json"], arguments].concat());
    let value = serde_json::from_str(&ran.stdout).unwrap_or(Value::Null);
    (ran.status, value, ran.stderr)
}

fn ids(value: &Value) -> BTreeSet<String> {
    let findings = value["findings"].as_array().expect("findings");
    findings.iter().map(|one| one["id"].as_str().expect("an id").to_owned()).collect()
}

#[test]
fn both_searches_say_the_same() {
    let gallery = ["lost-wake-up", "lost-wake-up-fixed", "stale-cache", "pool-leak"];
    let threads = ["counter", "fkp", "hashtable", "mxread", "rwread", "lastzero"];
    let gallery = gallery.map(|name| format!("examples/models/{name}.any"));
    let models = gallery
        .into_iter()
        .chain(threads.map(|name| format!("examples/models/threads/{name}.any")));
    for model in models {
        assert!(workspace().join(&model).exists(), "{model}");
        let (status, states, _) = result(&[&model, "--algorithm", "stateful"]);
        let (other, threads, _) = result(&[&model, "--algorithm", "threads"]);
        assert_eq!((status, ids(&states)), (other, ids(&threads)), "{model}");
        assert_eq!(states["verdict"], threads["verdict"], "{model}");
        assert_eq!(threads["stats"]["algorithm"], "threads", "{model}");
        assert_eq!(threads["options"]["algorithm"], "threads", "{model}");
    }
}

#[test]
fn the_default_says_which_search_ran() {
    let (_, value, errors) = result(&["examples/models/threads/counter.any"]);
    assert_eq!(value["stats"]["algorithm"], "threads");
    assert!(errors.contains("explored by what each thread can see"), "{errors}");
    let (_, value, errors) = result(&["examples/models/threads/mxread.any"]);
    assert_eq!(value["stats"]["algorithm"], "stateful");
    assert!(!errors.contains("each thread"), "{errors}");
}

#[test]
fn what_does_not_fit_is_an_error_that_says_why() {
    let ran = run(&["check", "examples/models/crawler.any", "--algorithm", "threads"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("invariants look at all variables at once"), "{}", ran.stderr);
}
