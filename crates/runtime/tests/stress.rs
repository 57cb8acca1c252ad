//! Many runs of a program that does everything that is hard for a recorder.

use crate::reader::kind;
use crate::run::{compile, has_cpp, recorded};
use anyorder_testkit::effort::cases;

#[test]
fn hard_programs_run_as_without_us() {
    if !has_cpp() {
        println!("skipped: there is no g++");
        return;
    }
    let program = compile("stress.cc", "g++", &["-O2"]);
    let mut interrupted = 0;
    for run in 0..cases(20) {
        let run_result = recorded(&program, &[], &[]);
        assert_eq!(run_result.status, 4, "run {run}: {}", run_result.output);
        assert_eq!(run_result.output, "10000 10000 1\n", "run {run}");
        assert_eq!(run_result.recordings.len(), 6, "run {run}");
        let recording = &run_result.recordings[0];
        assert_eq!(recording.flags, 2, "run {run}");
        // The main one, those that work, those that are cancelled, those left alone.
        assert_eq!(recording.threads, 1 + 1000 + 10 + 3, "run {run}");
        assert_eq!(recording.count(kind::THREAD_END), 1010, "run {run}");
        let begins = recording.count(80);
        assert_eq!(begins, recording.count(81), "run {run}");
        interrupted += begins;
    }
    assert!(interrupted > 100, "{interrupted} handlers ran");
}

#[test]
fn threads_can_be_cancelled_at_any_instruction() {
    let program = compile("cancel.c", "gcc", &["-O1"]);
    for run in 0..cases(4) {
        let run_result = recorded(&program, &[], &[]);
        assert_eq!((run_result.output.as_str(), run_result.status), ("100\n", 5), "run {run}");
        assert_eq!(run_result.recordings[0].threads, 101, "run {run}");
    }
}
