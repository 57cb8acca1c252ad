//! Files that a run writes and another one reads: witnesses, schedules, checkpoints, results.

use super::predictions::input;
use anyorder_drive::model::{Model, replay_model};
use anyorder_drive::{StoredWitness, TraceInput, read_schedules, replay_witness};
use anyorder_finding::Outcome;
use anyorder_lang::lower::compile;
use anyorder_search::{Search, SearchError, SearchOptions, Storage};
use anyorder_system::{Control, Schedule, StateHash};
use anyorder_vm::Machine;
use std::fs;
use std::hash::Hasher as _;
use std::path::Path;
use std::sync::OnceLock;

/// Both writes are in one order in every run, by the fork, the join and program order.
const ORDERED: &str = "T0|w(x)|1\nT0|fork(T1)|2\nT1|w(x)|3\nT0|join(T1)|4\nT0|w(x)|5\n";

/// The lock orders the two writes in this run, and nothing does in general.
pub const OPEN: &str = "T0|fork(T1)|1\nT0|w(x)|2\nT0|acq(l)|3\nT0|rel(l)|4\nT1|acq(l)|5\n\
    T1|rel(l)|6\nT1|w(x)|7\n";

/// A model of a few states.
pub const MODEL: &str = "model m\nvar x = 0;\nvar y = 0;\nevent a { if x < 9 { x = x + 1; } }\n\
    event b { let t = x; y = t; assert(y < 5); }\ninvariant small: x < 9;\n";

/// A witness of the pair of the second trace.
pub const WITNESS: &str = r#"{"reordering":1,"finding":"0","title":"t","form":"reversed","first":"2","second":"7","reorders":"threads","prefix":0,"shortest":true,"events":5,"steps":[{"event":"1"},{"event":"5"},{"event":"6"},{"event":"7"},{"event":"2"}]}"#;

/// A schedule that the model can follow.
pub const SCHEDULE: &str = r##"{"choices":[{"handler":"a","task":"a#1"},{"handler":"a","task":"a#2"},{"handler":"a","task":"a#3"},{"handler":"a","task":"a#4"},{"handler":"a","task":"a#5"},{"handler":"b","task":"b#1"}],"options":{"shows":"failure assertion: (y < 5) at m.any:5:29"},"program":{"name":"m.any"},"schedule":1}"##;

/// The longest text of a message that a file may cause.
const MESSAGE_MAX: usize = 10_000;

/// Witnesses as JSON, about traces that stay the same: none is accepted of an ordered pair.
///
/// # Panics
///
/// Panics when one is.
pub fn witness(data: &[u8]) {
    static TRACES: OnceLock<[TraceInput; 2]> = OnceLock::new();
    let traces = TRACES.get_or_init(|| [ORDERED, OPEN].map(|text| input(text).expect("a trace")));
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(stored) = StoredWitness::read("w.json", text, None) else { return };
    for (ordered, trace) in [true, false].into_iter().zip(traces) {
        let replayed = replay_witness(trace, &stored, None, &Control::default());
        for one in replayed.expect("a whole trace") {
            match one.checked {
                Ok(_) => assert!(!ordered, "a witness of an ordered pair: {text}"),
                Err(why) => assert!(why.len() < MESSAGE_MAX, "{why}"),
            }
        }
    }
}

/// Schedules as JSON, over a model that stays the same: what is read can be written, and a replay
/// gives the same twice.
///
/// # Panics
///
/// Panics when it does not.
pub fn schedule(data: &[u8]) {
    static COMPILED: OnceLock<Model> = OnceLock::new();
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(stored) = read_schedules(Path::new("s.json"), text, None) else { return };
    let model = COMPILED.get_or_init(|| Model::compile("m.any", MODEL).expect("a model"));
    for one in stored.iter().take(10) {
        let written = one.schedule.to_json();
        let again = Schedule::from_json(&written).expect("what was written can be read");
        assert!(again == one.schedule, "{written}");
        let once = replay_model(model, &one.schedule).ok();
        assert!(once == replay_model(model, &again).ok(), "{written}");
    }
}

/// Checkpoints with right checksums around any contents: an error, or a search that ends.
///
/// # Panics
///
/// Panics when the search finds more states than there are.
pub fn checkpoint(data: &[u8]) {
    static COMPILED: OnceLock<(Machine, u64)> = OnceLock::new();
    let (machine, states) = COMPILED.get_or_init(|| {
        let program = compile(MODEL, "m.any").expect("a model").program;
        let machine = Machine::new(program).expect("a program");
        let states = {
            let mut search = Search::new(&machine, &SearchOptions::default()).expect("a search");
            search.run(&Control::default()).expect("a small search").stats.states
        };
        (machine, states)
    });
    let mut bytes = data.to_vec();
    let Some(known) = bytes.len().checked_sub(16) else { return };
    let mut hash = StateHash::new();
    hash.write(&bytes[..known]);
    bytes[known..].copy_from_slice(&hash.finish128().0.to_le_bytes());
    let path = std::env::temp_dir().join(format!("anyorder-fuzz-{}", std::process::id()));
    fs::write(&path, &bytes).expect("a temporary file");
    for storage in [Storage::Fingerprints, Storage::Exact] {
        let options = SearchOptions {
            storage,
            states_max: Some(*states + 1_000),
            ..SearchOptions::default()
        };
        match Search::resume(machine, &options, &path, IDENTITY) {
            Err(error) => assert!(error.to_string().len() < MESSAGE_MAX, "{error}"),
            Ok(mut search) => drop(search.run(&Control::default())),
        }
    }
    // Where another run has removed it, there is nothing left to do.
    let _ = fs::remove_file(&path);
}

/// The identity that the seeds of `checkpoint` carry.
pub const IDENTITY: &str = "m";

/// Returns checkpoints of the model, cut after some states: seeds.
///
/// # Errors
///
/// When the temporary file cannot be written.
pub fn checkpoints() -> Result<Vec<Vec<u8>>, SearchError> {
    let program = compile(MODEL, "m.any").expect("a model").program;
    let machine = Machine::new(program).expect("a program");
    let path = std::env::temp_dir().join(format!("anyorder-seed-{}", std::process::id()));
    let mut all = Vec::new();
    for storage in [Storage::Fingerprints, Storage::Exact] {
        for limit in [1, 3, 8] {
            let options =
                SearchOptions { storage, states_max: Some(limit), ..SearchOptions::default() };
            let mut search = Search::new(&machine, &options)?;
            search.run(&Control::default())?;
            search.save(&path, IDENTITY)?;
            all.push(fs::read(&path)?);
        }
    }
    fs::remove_file(&path)?;
    Ok(all)
}

/// Results read back: what is read can be written, and reads the same.
///
/// # Panics
///
/// Panics when it does not.
pub fn result(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(outcome) = serde_json::from_str::<Outcome>(text) {
        let written = serde_json::to_string(&outcome).expect("a result has a JSON form");
        let again: Outcome = serde_json::from_str(&written).expect("what was written can be read");
        assert!(again == outcome, "{written}");
        for finding in &outcome.findings {
            let _ = anyorder_drive::schedule_of(finding);
        }
    }
    for id in [None, Some("0")] {
        let _ = read_schedules(Path::new("r.json"), text, id);
        let _ = StoredWitness::read("r.json", text, id);
    }
}
