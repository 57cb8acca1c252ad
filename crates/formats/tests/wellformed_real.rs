//! Real traces are well-formed: no errors, and few warnings.

#![expect(clippy::print_stderr, reason = "tests say what they read")]

use anyorder_formats::droidracer::DroidRacerReader;
use anyorder_formats::std::StdReader;
use anyorder_trace::{Trace, TraceSource, wellformed};
use std::path::PathBuf;

/// Reads a recorded trace.
fn real(path: &str) -> Vec<u8> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    std::fs::read(root.join("../../data").join(path)).expect("the trace is there")
}

fn check(path: &str, source: &mut dyn TraceSource, warnings: u64) {
    let trace = Trace::read(source).unwrap();
    let problems = wellformed::check(&trace);
    eprintln!("{path}: {} events, {} warnings", trace.len(), problems.warnings_total);
    for problem in &problems.list {
        eprintln!("  {:?} {}", problem.severity, problem.message);
    }
    assert_eq!(problems.errors_total, 0, "{path}");
    assert_eq!(problems.warnings_total, warnings, "{path}");
}

#[test]
fn android_traces() {
    // These warnings: the recorder writes posts for idle handlers, which run in front of the queue.
    for (path, warnings) in
        [("droidracer/RemindMe/trace.txt", 2), ("droidracer/twitter/trace.txt", 1)]
    {
        let bytes = real(path);
        check(path, &mut DroidRacerReader::new(&bytes[..]), warnings);
    }
}

#[test]
fn native_traces() {
    for (path, warnings) in [("native/pbzip2/trace.std", 0), ("native/memcached/trace.std", 0)] {
        let bytes = real(path);
        check(path, &mut StdReader::new(&bytes[..]), warnings);
    }
}
