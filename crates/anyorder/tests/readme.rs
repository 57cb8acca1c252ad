//! The test of threads that the README shows, and what it prints.

use anyorder::{
    Builder,
    sync::{Arc, Mutex},
    thread,
};

const README: &str = include_str!("../../../README.md");

/// The lines of the block of the README that contains a text, without their indentation.
fn block(fence: &str, containing: &str) -> Vec<&'static str> {
    let blocks = README.split("```").skip(1).step_by(2);
    let mut of_fence = blocks.filter_map(|block| block.strip_prefix(fence));
    let block = of_fence.find(|block| block.contains(containing)).expect("the README has it");
    block.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
}

/// A line up to the position in the source.
fn without_position(line: &str) -> &str {
    line.split(" (").next().unwrap_or(line)
}

#[test]
fn the_readme_shows_what_a_check_prints() {
    let summary = Builder::new().explore(|| {
        let (a, b) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0)));
        let (c, d) = (a.clone(), b.clone());
        let other = thread::spawn(move || {
            let _d = d.lock().unwrap();
            let _c = c.lock().unwrap();
        });
        let _a = a.lock().unwrap();
        let _b = b.lock().unwrap();
        drop((_a, _b));
        other.join().unwrap();
    });
    // The program is the one above.
    let source: Vec<&str> = include_str!("readme.rs").lines().map(str::trim).collect();
    let shown = block("rust\n", "fn two_locks()");
    let body = shown.iter().filter(|line| line.contains("lock") || line.contains("clone"));
    let body: Vec<&&str> = body.filter(|line| !line.contains("fn two_locks")).collect();
    assert!(body.len() >= 5, "{shown:?}");
    for line in body {
        assert!(source.contains(line), "{line}");
    }
    let kind = summary.failures[0].kind.to_string();
    let printed: Vec<&str> = kind.lines().map(|line| without_position(line.trim())).collect();
    let expected = block("txt\n", "deadlock:");
    let expected: Vec<&str> = expected.into_iter().map(without_position).collect();
    assert_eq!(printed, expected);
}
