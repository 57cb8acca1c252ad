//! The programs by which tools for threads are compared, as models: executions and verdicts.

use super::{checked, ids};
use anyorder_drive::JobControl;
use anyorder_drive::model::{Model, check_model};
use anyorder_drive::states::{Algorithm, CheckOptions};
use anyorder_finding::Stat;
use std::path::PathBuf;
use std::{fs, io};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/models/threads")
}

fn text(name: &str) -> io::Result<String> {
    fs::read_to_string(folder().join(format!("{name}.any")))
}

/// A model with another number of threads.
fn sized(name: &str, count: u64) -> Model {
    let text = text(name).expect("a model");
    let line = text.lines().find(|line| line.starts_with("const N = ")).expect("a size");
    let text = text.replace(line, &format!("const N = {count};"));
    Model::compile(&format!("{name}.any"), &text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn executions(name: &str, count: u64) -> u64 {
    let model = sized(name, count);
    let result = checked(&model, Algorithm::Threads, None).expect("it fits");
    assert!(result.limits.is_empty(), "{name} {count}");
    let expected = usize::from(name == "fkp");
    assert_eq!(result.findings.len(), expected, "{name} {count}");
    match result.stats.get("executions") {
        Some(Stat::Integer(executions)) => *executions,
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn executions_are_few() {
    for count in [2, 4, 16] {
        for name in ["counter", "mxread", "rwread", "atread", "disjoint", "demo"] {
            assert_eq!(executions(name, count), 1, "{name} {count}");
        }
        for name in ["readers", "samewrite"] {
            assert_eq!(executions(name, count), 2, "{name} {count}");
        }
        assert!(executions("mxreaders", count) <= count + 1, "mxreaders {count}");
    }
    for count in [2, 4, 8] {
        assert_eq!(executions("set", count), 1, "set {count}");
        assert!(executions("fkp", count) <= count * count, "fkp {count}");
    }
    assert_eq!(executions("indexer", 11), 1);
    assert_eq!(executions("filesystem", 13), 1);
    assert!(executions("lastzero", 5) <= 112, "by reads-from");
    assert!(executions("hashtable", 7) <= 1_000);
}

#[test]
fn the_states_say_the_same() {
    for entry in fs::read_dir(folder()).expect("a folder") {
        let path = entry.expect("an entry").path();
        let Some(name) = path.file_stem().and_then(|name| name.to_str()) else { continue };
        if path.extension().is_none_or(|extension| extension != "any") {
            continue;
        }
        let model = sized(name, 3);
        let threads = checked(&model, Algorithm::Threads, None).expect("it fits");
        let states = checked(&model, Algorithm::Full, None).expect("states");
        assert_eq!(ids(&threads), ids(&states), "{name}");
        let text = text(name).expect("a model");
        assert_eq!(anyorder_drive::model::format_model(name, &text).ok(), Some(text), "{name}");
        assert!(
            fs::read_to_string(folder().join("README.md"))
                .is_ok_and(|readme| readme.contains(&format!("[{name}]({name}.any)"))),
            "{name} is not in the README"
        );
    }
}

#[test]
fn specifications_choose_the_search() {
    let algorithm = |model: &Model| {
        let checked = check_model(model, &CheckOptions::default(), &JobControl::default());
        let result = checked.expect("a result").result;
        assert!(result.limits.is_empty());
        match result.stats.get("algorithm") {
            Some(Stat::Text(word)) => (word.clone(), result.remarks.len(), result.findings.len()),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(algorithm(&sized("counter", 4)), ("threads".to_owned(), 1, 0));
    assert_eq!(algorithm(&sized("mxread", 4)), ("stateful".to_owned(), 0, 0));
    assert_eq!(algorithm(&sized("fkp", 4)), ("threads".to_owned(), 1, 1));
    // A wrong specification is noticed: additions and looks do not commute.
    let wrong = text("fkp").expect("a model").replace("get() ~ get();", "add() ~ get();");
    let wrong = Model::compile("wrong.any", &wrong).expect("a model");
    assert_eq!(algorithm(&wrong), ("stateful".to_owned(), 1, 1));
    let asked = checked(&wrong, Algorithm::Threads, None).expect_err("a wrong specification");
    assert!(asked.to_string().contains("`add` and `get` do not commute"), "{asked}");
}
