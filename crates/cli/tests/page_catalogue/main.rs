//! The catalogue of pages in `examples/web`: each page has what `anyorder check` must say of it.
//!
//! A folder has a file `expected.json`: for each page its class, and either what is found (the
//! severity, and words of the title) or nothing, which means that no finding may count. It may
//! name options, the steps of the user, and classes of harmless reversals that must be among the
//! results. A push checks a few pages, another few each day; with `ANYORDER_EFFORT` above 1 all.
//!
//! `ANYORDER_PAGES=WORD` checks the pages with this word in their paths, `ANYORDER_BINARY` another
//! binary, and `ANYORDER_ROUNDS=N` each page so many times:
//!
//! ```text
//! ANYORDER_EFFORT=4 ANYORDER_ROUNDS=10 cargo test -p anyorder-cli --test page_catalogue -- --nocapture
//! ```

#![allow(clippy::print_stdout, reason = "the test prints a table of what it ran")]

mod blind;
mod cases;
#[path = "../common/mod.rs"]
mod common;

use anyorder_testkit::effort::{effort, is_due};
use common::{Ran, command, folder, ran, workspace};
use serde_json::Value;
use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// A push checks one page in so many.
const PARTS: usize = 32;

/// A page of the catalogue.
struct Page {
    /// Its path from the root of the checkout.
    path: String,
    steps: String,
    expected: Value,
}

impl Page {
    fn is_found(&self) -> bool {
        self.expected.get("found").is_some()
    }

    fn texts(&self, pointer: &str) -> Vec<&str> {
        let list = self.expected.pointer(pointer).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    fn class(&self) -> &str {
        self.expected["class"].as_str().unwrap_or_default()
    }
}

/// All pages, in the order of their paths.
fn catalogue() -> Vec<Page> {
    let root = workspace().join("examples/web");
    let mut pages = Vec::new();
    for name in names(&root) {
        let Ok(text) = fs::read_to_string(root.join(&name).join("expected.json")) else { continue };
        let expected: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        for (page, expected) in expected.as_object().expect("an object") {
            let steps = expected["steps"].as_str().unwrap_or("actions.json");
            pages.push(Page {
                path: format!("examples/web/{name}/{page}"),
                steps: format!("examples/web/{name}/{steps}"),
                expected: expected.clone(),
            });
        }
    }
    pages
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).expect("a folder").filter_map(Result::ok);
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Returns whether there is a browser; says so if not.
fn has_browser() -> bool {
    let there = ["chromium", "google-chrome-stable", "google-chrome"].iter().any(|name| {
        Command::new(name).arg("--version").output().is_ok_and(|ran| ran.status.success())
    });
    if !there {
        println!("skipped: there is no browser");
    }
    there
}

/// Runs the binary that is tested.
fn run(arguments: &[&str]) -> Ran {
    let mut usual = command(arguments);
    match env::var("ANYORDER_BINARY") {
        Ok(binary) => {
            let mut other = Command::new(binary);
            other.args(arguments).current_dir(workspace());
            ran(&mut other)
        }
        Err(_) => ran(&mut usual),
    }
}

/// Checks a page. Returns what is wrong with the answer.
fn check(page: &Page, seen: &mut BTreeSet<String>) -> Vec<String> {
    let schedules = folder();
    let kept = schedules.path().to_string_lossy().into_owned();
    let mut arguments = vec!["check", &page.path, "--actions", &page.steps, "--budget", "0s"];
    arguments.extend(["--format", "json", "--schedules", &kept]);
    arguments.extend(page.texts("/options"));
    let ran = run(&arguments);
    let Ok(result) = serde_json::from_str::<Value>(&ran.stdout) else {
        return vec![format!("no result: {}", ran.stderr)];
    };
    let findings = result["findings"].as_array().cloned().unwrap_or_default();
    let harmless = |one: &&Value| one["harm"] == "harmless";
    let class = |one: &Value| one["harm_class"].as_str().unwrap_or_default().to_owned();
    let classes: BTreeSet<String> = findings.iter().filter(harmless).map(class).collect();
    let wrong: Vec<&Value> = findings.iter().filter(|one| !harmless(one)).collect();
    let mut faults = Vec::new();
    for wanted in page.texts("/harmless") {
        if !classes.contains(wanted) {
            faults.push(format!("no reversal of the class `{wanted}`"));
        }
    }
    seen.extend(classes);
    if result["complete"] != true {
        faults.push(format!("not complete: {}", result["limits"]));
    }
    if ran.status != i32::from(page.is_found()) {
        faults.push(format!("status {}", ran.status));
    }
    if !page.is_found() {
        faults.extend(wrong.iter().map(|one| format!("spurious: {}", one["title"])));
        return faults;
    }
    match wrong.iter().find(|one| is_expected(page, one)) {
        Some(found) => faults.extend(replay(page, found, &kept)),
        None => {
            faults.push("missed".to_owned());
            let others = wrong.iter().map(|one| format!("  {}: {}", one["severity"], one["title"]));
            faults.extend(others);
        }
    }
    faults
}

fn is_expected(page: &Page, found: &Value) -> bool {
    let title = found["title"].as_str().unwrap_or_default();
    found["severity"] == page.expected["found"]["severity"]
        // A failure of the recorded run has nothing to be compared with.
        && found["confirmed"] != false
        && page.texts("/found/title").iter().all(|words| title.contains(words))
}

/// Replays a finding; returns a fault if it does not occur again.
fn replay(page: &Page, found: &Value, kept: &str) -> Option<String> {
    let schedule = format!("{kept}/{}.json", found["id"].as_str().unwrap_or_default());
    let mut arguments = vec!["replay", &page.path, "--actions", &page.steps, &schedule];
    arguments.extend(page.texts("/options"));
    let ran = run(&arguments);
    (ran.status != 1).then(|| format!("the replay ends with {}: {}", ran.status, ran.stderr))
}

#[test]
fn what_the_catalogue_expects_of_each_page_is_said() {
    if !has_browser() {
        return;
    }
    let wanted = env::var("ANYORDER_PAGES").ok();
    let rounds = env::var("ANYORDER_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let (mut faults, mut seen, mut runs) = (Vec::new(), BTreeSet::new(), 0);
    for (index, page) in catalogue().iter().enumerate() {
        let due = match &wanted {
            Some(word) => page.path.contains(word.as_str()),
            None => is_due(index, PARTS),
        };
        for _ in 0..if due { rounds } else { 0 } {
            let begun = Instant::now();
            let wrong = check(page, &mut seen);
            let expected = if page.is_found() { "found" } else { "silent" };
            let answer = if wrong.is_empty() { "as expected" } else { "WRONG" };
            let time = begun.elapsed().as_secs_f32();
            println!("{} | {} | {expected} | {answer} | {time:.1}", page.path, page.class());
            runs += 1;
            faults.extend(wrong.into_iter().map(|fault| format!("{}: {fault}", page.path)));
        }
    }
    println!("{runs} checks, {} faults", faults.len());
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
    if wanted.is_none() && effort() > 1 {
        for class in ["equivalent", "equivalent_but_for_timers", "refused_input"] {
            assert!(seen.contains(class), "no page has a reversal of the class `{class}`");
        }
    }
}

#[test]
fn the_catalogue_has_each_class_with_its_repairs_and_each_rule() {
    let pages = catalogue();
    let listed: BTreeSet<&str> = pages.iter().map(|page| page.path.as_str()).collect();
    for page in &pages {
        assert!(workspace().join(&page.path).is_file(), "{} is not there", page.path);
        assert!(!page.class().is_empty(), "{} has no class", page.path);
        let found = page.is_found();
        assert!(!found || !page.texts("/found/title").is_empty(), "{} has no words", page.path);
    }
    let of = |class: &str, found: bool| {
        pages.iter().filter(|page| page.class() == class && page.is_found() == found).count()
    };
    let harmful: BTreeSet<&str> =
        pages.iter().filter(|page| page.is_found()).map(Page::class).collect();
    assert!(harmful.len() >= 26, "{} classes", harmful.len());
    for class in harmful {
        assert!(of(class, false) >= 1, "{class}: no repair");
    }
    for class in ["stale response", "double submit", "late handler", "late input", "definition"] {
        assert!(of(class, false) >= 3, "{class}: {} repairs", of(class, false));
    }
    for rule in 1..=19 {
        let path = format!("examples/web/rule_{rule:02}/index.html");
        assert!(listed.contains(path.as_str()), "no page for rule {rule}");
    }
}
