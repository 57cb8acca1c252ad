//! A job that is stopped early has races and deadlocks: neither search waits for the end of the
//! other.

use anyorder_drive::{JobControl, JobResult, PredictOptions, TraceInput, predict};
use anyorder_finding::Kind;
use anyorder_formats::std::StdReader;
use anyorder_system::{Cancel, Control};
use anyorder_trace::{Problems, Trace};
use std::fmt::Write as _;
use std::sync::Mutex;

/// A race of two plain accesses, sections of one lock that could change places, and a deadlock.
fn text() -> String {
    let mut text = "T0|fork(T1)|1\nT0|fork(T2)|2\nT1|w(x)|3\nT2|w(x)|4\n".to_owned();
    for _ in 0..6 {
        for thread in ["T1", "T2"] {
            let _ = write!(text, "{thread}|acq(L)|5\n{thread}|w(y)|6\n{thread}|rel(L)|7\n");
        }
    }
    for (thread, first, second) in [("T1", "A", "B"), ("T2", "B", "A")] {
        let _ = write!(text, "{thread}|acq({first})|8\n{thread}|acq({second})|9\n");
        let _ = write!(text, "{thread}|rel({second})|10\n{thread}|rel({first})|11\n");
    }
    text
}

/// Whether a result has a confirmed race, and a deadlock.
fn has(result: &JobResult) -> [bool; 2] {
    let findings = || result.findings.iter().map(|one| &one.finding);
    let race = findings().any(|one| one.kind == Kind::Race && one.confirmed == Some(true));
    [race, findings().any(|one| one.kind == Kind::Deadlock)]
}

#[test]
fn a_stopped_prediction_has_races_and_deadlocks() {
    let control: JobControl<'_> = JobControl::default();
    let trace = Trace::read(&mut StdReader::new(text().as_bytes())).expect("a trace");
    let input = TraceInput::new("run.std", trace, &Problems::default(), &control).expect("whole");
    let (mut with_both, mut with_race) = (0, 0);
    for polls in 0..100_000 {
        let heard = Mutex::new(Vec::new());
        let keep = |so_far: JobResult| heard.lock().expect("no panic").push(has(&so_far));
        let cancel = Cancel::after_polls(polls);
        let control = JobControl::new(Control { cancel, ..Control::default() }, &keep);
        let result =
            predict(&input, &PredictOptions::default(), &control).expect("a result").result;
        let [race, deadlock] = has(&result);
        assert!(race || !deadlock, "the race comes first: {polls} polls");
        if control.cancel.reason().is_none() {
            assert!(race && deadlock, "{result:?}");
            assert_eq!(heard.into_inner().expect("no panic").last(), Some(&[true, true]));
            break;
        }
        with_race += usize::from(race && !deadlock);
        with_both += usize::from(race && deadlock);
    }
    println!("stopped with both {with_both} times, with the race alone {with_race} times");
    assert!(with_both > 100 && with_race > 10, "{with_both}, {with_race}");
}
