//! Runs a target without libFuzzer: mutants of its seeds, with knowledge of the format and without
//! coverage. It needs no fuzzer, and finds shallow mistakes only.
//!
//! `cargo run --release --example plain -- TARGET corpus/TARGET SECONDS`

use anyorder_common::random::{Random as _, Rng};
use anyorder_fuzz::{predictions, settings, stored};
use anyorder_mutate::change::mutant;
use anyorder_mutate::kind::Kind;
use std::error::Error;
use std::fs;
use std::time::{Duration, Instant};

type Target = (&'static str, fn(&[u8]), Kind);

const TARGETS: [Target; 8] = [
    ("predict", predictions::check, Kind::Checkpoint),
    ("witness", stored::witness, Kind::Witness),
    ("schedule", stored::schedule, Kind::Schedule),
    ("checkpoint", stored::checkpoint, Kind::Checkpoint),
    ("result", stored::result, Kind::Result),
    ("specification", settings::specification, Kind::Specification),
    ("baseline", settings::baseline, Kind::Baseline),
    ("config", settings::config, Kind::Config),
];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, corpus, seconds] = &arguments[..] else {
        return Err("plain TARGET CORPUS SECONDS".into());
    };
    let target = TARGETS.iter().find(|(known, ..)| known == name).ok_or("an unknown target")?;
    let seeds: Result<Vec<_>, _> =
        fs::read_dir(corpus)?.map(|entry| fs::read(entry?.path())).collect();
    let seeds = seeds?;
    let end = Instant::now() + Duration::from_secs(seconds.parse()?);
    let mut rng = Rng::new(1);
    let mut runs = 0u64;
    let mut slowest = Duration::ZERO;
    while Instant::now() < end {
        let (seed, other) = (&seeds[rng.index(seeds.len())], &seeds[rng.index(seeds.len())]);
        let mut input = mutant(&mut rng, target.2, seed, other);
        input.truncate(64 << 10);
        // The input of a panic is here afterwards.
        fs::write("plain.input", &input)?;
        let start = Instant::now();
        target.1(&input);
        slowest = slowest.max(start.elapsed());
        runs += 1;
    }
    fs::remove_file("plain.input")?;
    println!("{name}: {runs} runs, the slowest {slowest:?}");
    Ok(())
}
