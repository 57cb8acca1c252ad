//! The cost of the search for witnesses on a log of DroidRacer, for all candidates of event-driven
//! EDC.
//!
//! `LOG` is the path of the log; without it, the benchmark uses both logs of `data`.
//! `PAIRS` is the most candidates to try (all), `FROM` the first of them.

#![allow(clippy::print_stdout, reason = "a bench prints")]

mod measure;

use anyorder_formats::droidracer::DroidRacerReader;
use anyorder_hb::RuleSet;
use anyorder_predict::{
    Answer, CandidateOptions, ConfirmOptions, Confirmer, MemoryOnly, NoCommunication, Reorders,
    event_driven,
};
use anyorder_system::{Cancel, Control};
use anyorder_trace::{EventId, Trace};
use measure::{number, print_load, timed};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn main() {
    print_load();
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/droidracer");
    let beside = ["RemindMe", "twitter"].map(|app| beside.join(app).join("trace.txt"));
    let logs = match std::env::var_os("LOG") {
        Some(path) => vec![PathBuf::from(path)],
        None => beside.to_vec(),
    };
    for log in logs {
        match std::fs::read(&log) {
            Ok(text) => measure_log(&log, &text),
            Err(error) => println!("{}: {error}", log.display()),
        }
    }
}

fn measure_log(path: &Path, text: &[u8]) {
    let trace = Trace::read(&mut DroidRacerReader::new(text)).expect("the log is right");
    let (options, control) = (CandidateOptions::default(), Control::default());
    let (seconds, found) =
        timed(|| event_driven(&trace, RuleSet::Android, &mut MemoryOnly, &options, &control));
    let candidates = found.expect("nobody cancels").report.violations;
    println!("{}: {} events", path.display(), trace.len());
    println!("{} candidates in {seconds:.2} s of processor time", candidates.len());

    let mut nothing = NoCommunication;
    let options = ConfirmOptions { reorders: Reorders::Components, ..ConfirmOptions::default() };
    let (seconds, mut confirmer) = timed(|| Confirmer::new(&trace, &mut nothing, options));
    println!("prepared in {seconds:.2} s of processor time");
    let mut answers: BTreeMap<String, u64> = BTreeMap::new();
    let (mut all, mut longest) = (0.0, 0.0_f64);
    let from = number("FROM", 0) as usize;
    for pair in candidates.iter().skip(from).take(number("PAIRS", u64::MAX) as usize) {
        let [first, second] = [pair.first, pair.second].map(|side| EventId(side.event as u32));
        let (seconds, answer) = timed(|| confirmer.confirm(first, second, &Cancel::new()));
        let text = match answer {
            Answer::Confirmed(witness) => format!(
                "{}{}",
                witness.form.word(),
                ["", ", shortest"][usize::from(witness.shortest)]
            ),
            other => format!("{other:?}"),
        };
        (all, longest) = (all + seconds, longest.max(seconds));
        *answers.entry(text).or_default() += 1;
    }
    println!("{answers:#?}\n{:?}", confirmer.stats());
    println!("all in {all:.2} s of processor time, the longest in {longest:.3} s");
}
