//! Predictions of made traces: all analyses, and each witness against the checker.

use anyorder_drive::{
    Analysis, JobControl, Pairs, PredictOptions, StoredWitness, TraceInput, WitnessOptions,
    predict, replay_witness,
};
use anyorder_formats::std::StdReader;
use anyorder_system::Control;
use anyorder_trace::{Problems, Trace};
use std::fmt::Write as _;

/// Bytes that are used: the pairs of longer traces take too long.
const BYTES_MAX: usize = 60;

/// Writes a run of four threads, two bytes an event. Locks exclude one another, threads are forked
/// and joined, so every trace could have happened.
pub fn made(data: &[u8]) -> String {
    let mut text = String::from("T0|fork(T1)|1\nT0|fork(T2)|2\nT0|fork(T3)|3\n");
    let mut owner: [Option<u8>; 3] = [None; 3];
    let mut joined = [false; 4];
    for (line, pair) in data[..data.len().min(BYTES_MAX)].chunks_exact(2).enumerate() {
        let thread = pair[0] & 3;
        let (lock, variable) = (usize::from(pair[1] % 3), pair[1] % 5);
        if joined[usize::from(thread)] {
            continue;
        }
        let event = match pair[0] >> 2 & 15 {
            0..=4 => format!("w(v{variable})"),
            5..=8 => format!("r(v{variable})"),
            9 | 10 if owner[lock].is_none() => {
                owner[lock] = Some(thread);
                format!("acq(l{lock})")
            }
            9..=12 if owner[lock] == Some(thread) => {
                owner[lock] = None;
                format!("rel(l{lock})")
            }
            13 => format!("astore(a{variable})"),
            14 => format!("aload(a{variable})"),
            15 if thread == 0 => {
                let other = 1 + pair[1] % 3;
                if joined[usize::from(other)] || owner.contains(&Some(other)) {
                    continue;
                }
                joined[usize::from(other)] = true;
                format!("join(T{other})")
            }
            _ => continue,
        };
        writeln!(text, "T{thread}|{event}|{}", line + 4).expect("text takes it");
    }
    for (lock, owner) in owner.iter().enumerate() {
        if let Some(thread) = owner {
            writeln!(text, "T{thread}|rel(l{lock})|99").expect("text takes it");
        }
    }
    text
}

/// Reads a STD trace as the input of a job; `None` for one that is none.
pub fn input(text: &str) -> Option<TraceInput> {
    let trace = Trace::read(&mut StdReader::new(text.as_bytes())).ok()?;
    TraceInput::new("fuzz.std", trace, &Problems::default(), &Control::default()).ok()
}

/// Predicts with every analysis. A confirmed finding has a witness that the checker accepts after
/// it was written and read.
///
/// # Panics
///
/// Panics when it has none, or when an analysis that orders less confirms less.
pub fn check(data: &[u8]) {
    let text = made(data);
    let input = input(&text).unwrap_or_else(|| panic!("a run that could happen:\n{text}"));
    let control = JobControl::default();
    let mut confirmed = Vec::new();
    for analysis in [Analysis::Hb, Analysis::Wdc, Analysis::Edc, Analysis::EventDriven] {
        let search =
            WitnessOptions { max_conflicts: 500, max_tries: 200, ..WitnessOptions::DEFAULT };
        let options = PredictOptions {
            analysis: Some(analysis),
            pairs: Pairs::All,
            search,
            ..PredictOptions::default()
        };
        let Ok(found) = predict(&input, &options, &control) else { continue };
        let mut ids = Vec::new();
        for (reported, witness) in found.result.findings.iter().zip(&found.witnesses) {
            let finding = &reported.finding;
            if finding.confirmed != Some(true) {
                continue;
            }
            ids.push(finding.id.clone());
            let witness = witness.as_ref().unwrap_or_else(|| panic!("no witness in\n{text}"));
            let mut stored = Vec::new();
            witness.write(&input.trace, finding, &mut stored).expect("memory takes it");
            let stored = String::from_utf8(stored).expect("JSON is text");
            let read = StoredWitness::read("w.json", &stored, None);
            let read = read.unwrap_or_else(|_| panic!("what was written can be read: {stored}"));
            let replayed = replay_witness(&input, &read, None, &control).expect("the same trace");
            assert!(replayed[0].checked.is_ok(), "{analysis:?}: refused in\n{text}\n{stored}");
        }
        ids.sort();
        confirmed.push((analysis, ids));
    }
    // With all pairs, which of them a witness shows does not depend on the analysis.
    for pair in confirmed.windows(2) {
        assert_eq!(pair[0].1, pair[1].1, "{:?} and {:?} in\n{text}", pair[0].0, pair[1].0);
    }
}
