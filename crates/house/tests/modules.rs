//! Within a crate, modules stand on each other in one direction: the order in which they are read.

use crate::files;
use std::collections::BTreeSet;
use std::fs;

/// For each crate that is large enough to get lost in: its modules, from the ground up. A module
/// may use those before it, and no others.
const READING_ORDER: &[(&str, &[&str])] = &[
    ("vm", &["sabotage", "value", "poll", "machine", "state", "step", "transitions", "system"]),
    ("hb", &["relation", "races", "why", "check"]),
];

/// Modules of tests, which may look at everything.
const TESTS: &str = "tests";

#[test]
fn modules_use_those_below_them() {
    for (name, order) in READING_ORDER {
        let root = files::source_folder(name);
        let mut uses = 0;
        let mut wrong = Vec::new();
        for path in files::files(&root, "rs") {
            let inner = path.strip_prefix(&root).expect("below the root").to_string_lossy();
            let Some(module) = module_of(&inner) else { continue };
            let text = fs::read_to_string(&path).expect("a text");
            for (line, used) in used(&text) {
                uses += 1;
                if !is_below(order, &used, module) {
                    wrong.push(format!("{name}/src/{inner}:{line}: `{module}` uses `{used}`"));
                }
            }
        }
        assert!(uses > 20, "{name}: {uses} uses of other modules");
        assert!(wrong.is_empty(), "arrows that run back up:\n{}", wrong.join("\n"));
    }
}

#[test]
fn every_module_has_its_place() {
    for (name, order) in READING_ORDER {
        let root = files::source_folder(name);
        let paths = files::files(&root, "rs");
        let inner = paths.iter().map(|path| {
            path.strip_prefix(&root).expect("below the root").to_string_lossy().into_owned()
        });
        let all: Vec<String> = inner.collect();
        let modules: BTreeSet<&str> = all.iter().filter_map(|inner| module_of(inner)).collect();
        assert_eq!(modules, order.iter().copied().collect(), "{name}");
    }
}

#[test]
fn an_arrow_that_runs_back_is_noticed() {
    let order = ["value", "state", "step"];
    assert!(is_below(&order, "value", "step") && is_below(&order, "state", "state"));
    assert!(!is_below(&order, "step", "state") && !is_below(&order, "new", "step"));
    let text = "use crate::step::Log;\n// crate::value is below\nlet x = crate::state::f();\n";
    assert_eq!(used(text), [(1, "step".to_owned()), (3, "state".to_owned())]);
    assert_eq!(used("use crate::{state, step::Log};\n"), [(1, String::new())]);
    assert!(!is_below(&order, "", "step"), "a list of modules hides what it names");
    assert_eq!(used("use crate::Action;\n"), [(1, "Action".to_owned())]);
    assert!(!is_below(&order, "Action", "step"), "a type of the crate may be of any module");
    assert_eq!(used("#[cfg(test)]\nuse crate::step::Log;\n"), []);
    assert_eq!(used("fn f() {}\n#[cfg(test)]\nmod tests {\n    use crate::step::Log;\n}\n"), []);
    assert_eq!(module_of("step/memo/tree.rs"), Some("step"));
    assert_eq!(module_of("poll.rs"), Some("poll"));
    assert_eq!(module_of("lib.rs"), None);
    assert_eq!(module_of("tests/memory.rs"), None);
}

/// Returns whether a module may be used in another one.
fn is_below(order: &[&str], used: &str, by: &str) -> bool {
    let place = |name: &str| order.iter().position(|module| *module == name);
    // What `lib.rs` takes from elsewhere, and the macros of another crate, lie below all.
    let below_all = ["program"];
    below_all.contains(&used) || place(used).is_some_and(|used| Some(used) <= place(by))
}

/// Returns the module of a file, by its path in `src`; `None` for `lib.rs` and tests.
fn module_of(inner: &str) -> Option<&str> {
    let first = inner.split('/').next()?;
    let module = first.strip_suffix(".rs").unwrap_or(first);
    (module != "lib" && module != TESTS).then_some(module)
}

/// Returns the modules that a source names from the root of its crate, with their lines. Leaves out
/// comments, and what only tests have.
fn used(text: &str) -> Vec<(usize, String)> {
    let mut used = Vec::new();
    let mut is_test = false;
    for (number, line) in (1..).zip(text.lines()) {
        let code = line.trim_start();
        if is_test && code.starts_with("mod ") && code.ends_with('{') {
            break;
        }
        let skipped = is_test || code.starts_with("//");
        is_test = code == "#[cfg(test)]";
        let mut rest = if skipped { "" } else { code };
        while let Some((_, path)) = rest.split_once("crate::") {
            // A list of several modules has no name of its own, and so no place: one line for each.
            let name = path.chars().take_while(|c| c.is_alphanumeric() || *c == '_');
            used.push((number, name.collect()));
            rest = path;
        }
    }
    used
}
