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
    let ends = [" (tests/", " (crates/", " tests/", " crates/"];
    let end = ends.iter().filter_map(|end| line.find(end)).min().unwrap_or(line.len());
    line[..end].trim()
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
    let text = summary.to_string();
    let lines = |lines: &mut dyn Iterator<Item = &str>| -> Vec<String> {
        let lines = lines.map(|line| without_position(line).to_owned());
        lines.filter(|line| !line.is_empty()).collect()
    };
    let printed = lines(&mut text.lines());
    let expected = lines(&mut block("txt\n", "deadlock:").into_iter());
    let printed: Vec<&str> = printed.iter().map(|line| one_command(line)).collect();
    let expected: Vec<&str> = expected.iter().map(|line| one_command(line)).collect();
    assert_eq!(printed, expected);
}

/// The command that replays a failure, without the name of the test.
fn one_command(line: &str) -> &str {
    line.split(" cargo test").next().unwrap_or(line)
}
