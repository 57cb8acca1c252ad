//! Latches, semaphores, barriers, waits at atomics, stop tokens and futures of C++20.

use super::annotated::build;
use super::common;
use common::{command, folder, ran};
use serde_json::Value;

#[test]
fn what_the_library_synchronises_is_known() {
    let folder = folder();
    let program = folder.path().join("cpp20");
    if !build("crates/cli/tests/native/cpp20.cc", &program, &["-fsanitize=thread", "-std=c++20"]) {
        return;
    }
    let cases = [
        ("counted", 0),
        ("produced", 0),
        ("rounds", 0),
        ("told", 0),
        ("stopped", 0),
        ("promised", 0),
        ("done", 0),
        ("counted-too-few", 1),
        ("done-too-soon", 1),
        ("told-relaxed", 1),
    ];
    for (part, findings) in cases {
        let ran =
            ran(command(&["run", "--format", "json", "./cpp20", part]).current_dir(folder.path()));
        let result: Value =
            serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
        let found = result["findings"].as_array().expect("a list");
        let counts = found.iter().filter(|finding| finding["harm"] != "harmless");
        let titles = Vec::from_iter(counts.map(|finding| &finding["title"]));
        assert_eq!((ran.status, titles.len()), (findings, findings as usize), "{part}: {titles:?}");
    }
}
