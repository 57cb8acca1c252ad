//! A project with tests for loom, under anyorder.

use crate::commands::{anyorder, outcome, temporary};
use std::fs;
use std::path::Path;

/// What is optimised for others.
const UNOPTIMISED: [&str; 5] =
    ["anyorder", "anyorder-threads", "anyorder-common", "rustc-hash", "corosensei"];

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder of the tests");
    for entry in fs::read_dir(from).expect("the fixture") {
        let path = entry.expect("an entry of the fixture").path();
        let to = to.join(path.file_name().expect("it has a name"));
        if path.is_dir() {
            copy(&path, &to);
        } else {
            fs::write(to, fs::read(path).expect("a file of the fixture")).expect("a copy");
        }
    }
}

/// Without a network: what the shims need was fetched for this workspace.
#[test]
fn tests_of_loom_run_unchanged() {
    let folder = temporary("fixture");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixture"), &folder);
    let lock = fs::read(folder.join("Cargo.lock")).expect("the lock file");
    let run = |arguments: &[&str], limit: (&str, &str)| {
        let output = anyorder(&folder)
            .args(["anyorder", "test", "--offline", "--report=pages"])
            // The tests are small: optimising would take longer than it saves.
            .args(
                UNOPTIMISED
                    .map(|package| format!("--config=profile.dev.package.{package}.opt-level=0")),
            )
            .args(["--", "--test-threads=1"])
            .args(arguments)
            .env("RUSTFLAGS", "--cfg loom")
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            .env(limit.0, limit.1)
            .env("LOOM_LOG", "1")
            .output()
            .expect("the binary runs");
        outcome(&output)
    };
    let (status, text) = run(&[], ("LOOM_MAX_PREEMPTIONS", "2"));
    assert_eq!(status, Some(101), "cargo's status, as tests fail: {text}");
    for (test, result) in
        [("released", "ok"), ("not_released", "FAILED"), ("leaked", "FAILED"), ("surface", "ok")]
    {
        // The log of a test that runs alone may stand between its name and its result.
        let start = format!("test tests::{test} ... ");
        let after = text.split(&*start).nth(1).unwrap_or_else(|| panic!("{test}: {text}"));
        let after: String = after.split("test tests::").next().unwrap_or_default().to_owned();
        assert!(after.lines().any(|line| line.ends_with(result)), "{test}: {text}");
    }
    for said in [
        "in place of loom 0.7.2",
        "LOOM_MAX_PREEMPTIONS is not used",
        "data race: a write and a read of cell 1",
        "leak: what was made at src/tests.rs:",
        "executions, ",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    let pages = folder.join("pages");
    let count = format!("2 checks failed: {}", pages.join("index.html").display());
    assert!(text.contains(&count), "{count}: {text}");
    let index = fs::read_to_string(pages.join("index.html")).expect("the page");
    for test in ["leaked", "not_released"] {
        let line = index.lines().find(|line| line.contains(&format!("tests::{test}: 1 failure")));
        let file = line.unwrap_or_else(|| panic!("{index}")).split('"').nth(1).expect("a link");
        let page = fs::read_to_string(pages.join(file)).expect("a page");
        assert!(page.ends_with("</html>\n"), "{file}");
    }
    assert_eq!(text.matches("LOOM_MAX_PREEMPTIONS").count(), 1, "once: {text}");
    let after = fs::read(folder.join("Cargo.lock")).expect("the lock file");
    assert_eq!(after, lock, "the lock file is as it was");

    // A limit that is asked for cuts a model, which passes, and is named.
    let (status, text) = run(&["--exact", "tests::released"], ("LOOM_MAX_PERMUTATIONS", "1"));
    assert_eq!(status, Some(0), "{text}");
    let listed = "1 model is not complete: a limit cut it\n  tests::released: 1 execution";
    assert!(text.contains("NOT COMPLETE: 1 executions") && text.contains(listed), "{text}");
}
