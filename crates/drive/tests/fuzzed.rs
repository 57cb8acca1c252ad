//! The fuzz targets of files, on mutants of their seeds: a target that is wrong about us is noticed
//! here, and not after a night. `fuzz/README.md` says how they run for longer.

#![allow(unreachable_pub, reason = "the targets are modules of another crate, too")]

use anyorder_common::random::{Random as _, Rng};
use anyorder_drive::model::Model;
use anyorder_drive::{StoredWitness, read_schedules, replay_witness};
use anyorder_mutate::change::mutant;
use anyorder_mutate::kind::Kind;
use anyorder_system::Control;

#[path = "../../../fuzz/src/predictions.rs"]
mod predictions;
#[path = "../../../fuzz/src/settings.rs"]
mod settings;
#[path = "../../../fuzz/src/stored.rs"]
mod stored;

/// Mutants of each target.
const RUNS: u64 = 60;

/// Runs a target on its seeds and on mutants of them.
fn run(target: fn(&[u8]), kind: Kind, seeds: &[Vec<u8>]) {
    seeds.iter().for_each(|seed| target(seed));
    for seed in anyorder_testkit::effort::seeds(RUNS) {
        let mut rng = Rng::new(seed);
        let (seed, other) = (&seeds[rng.index(seeds.len())], &seeds[rng.index(seeds.len())]);
        let mut input = mutant(&mut rng, kind, seed, other);
        input.truncate(64 << 10);
        target(&input);
    }
}

fn bytes(text: &str) -> Vec<Vec<u8>> {
    vec![text.into()]
}

#[test]
fn predictions_are_checked() {
    let mut rng = Rng::new(7);
    let seeds: Vec<Vec<u8>> =
        (0..20).map(|_| (0..100).map(|_| rng.bits() as u8).collect()).collect();
    run(predictions::check, Kind::Checkpoint, &seeds);
}

#[test]
fn witnesses_are_read() {
    let seeds = [bytes(stored::WITNESS), bytes(settings::RESULT)].concat();
    run(stored::witness, Kind::Witness, &seeds);
}

#[test]
fn schedules_are_read() {
    run(stored::schedule, Kind::Schedule, &bytes(stored::SCHEDULE));
}

#[test]
fn checkpoints_are_read() {
    let seeds = stored::checkpoints().expect("checkpoints");
    run(stored::checkpoint, Kind::Checkpoint, &seeds);
}

#[test]
fn results_are_read() {
    run(stored::result, Kind::Result, &bytes(settings::RESULT));
}

#[test]
fn settings_are_read() {
    run(settings::specification, Kind::Specification, &bytes(settings::SPECIFICATION));
    run(settings::baseline, Kind::Baseline, &bytes(settings::BASELINE));
    run(settings::config, Kind::Config, &bytes(settings::CONFIG));
}

/// The seeds get to what the targets check: the witness holds, the schedule and the model are read.
#[test]
fn the_seeds_reach_what_is_checked() {
    let input = predictions::input(stored::OPEN).expect("a trace");
    let read = StoredWitness::read("w.json", stored::WITNESS, None);
    let read = read.unwrap_or_else(|_| panic!("the witness is read"));
    let replayed = replay_witness(&input, &read, None, &Control::default());
    let replayed = replayed.unwrap_or_else(|_| panic!("the trace is whole"));
    assert!(replayed[0].checked.is_ok(), "{:?}", replayed[0].checked);
    assert!(Model::compile("m.any", stored::MODEL).is_ok(), "the model compiles");
    let read = read_schedules("s.json".as_ref(), stored::SCHEDULE, None);
    assert!(read.is_ok_and(|read| read.len() == 1));
}
