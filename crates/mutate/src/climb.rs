//! A search for costly inputs: mutants are kept when they take much time or memory for their size,
//! and mutated further.
//!
//! For each command there is a small population for time and one for memory. The cost of a case is
//! what it took beyond an idle run, by the bytes of its inputs; so a large input does not win by
//! its size.

use crate::campaign::Bench;
use crate::case::Case;
use crate::change;
use crate::command;
use crate::process::Ran;
use crate::stage::Stage;
use anyorder_common::random::{Random as _, Rng};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::time::{Duration, Instant};

/// Cases of one population.
const POPULATION: usize = 8;

/// The bytes of the inputs of a case that is kept.
const BYTES_MAX: u64 = 400 << 10;

/// Bytes that are added to the size of every input: tiny inputs would win otherwise.
const BYTES_FLOOR: u64 = 2 << 10;

/// What is measured.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Of {
    Time,
    Memory,
}

impl Of {
    const ALL: [Of; 2] = [Of::Time, Of::Memory];

    /// What an idle run takes, which counts for nothing.
    const fn idle(self) -> u64 {
        match self {
            Of::Time => 50_000,
            Of::Memory => 24 << 20,
        }
    }

    const fn of(self, ran: &Ran) -> u64 {
        match self {
            Of::Time => ran.processor.as_micros() as u64,
            Of::Memory => ran.peak_bytes,
        }
    }
}

/// A case and what it cost.
#[derive(Clone, Debug)]
struct Member {
    case: Case,
    /// Microseconds or bytes, beyond those of an idle run, by 1,024 bytes of input.
    cost: u64,
    /// Microseconds or bytes.
    took: u64,
}

/// One line of the answer.
#[derive(Clone, Debug)]
pub struct Costly {
    /// What it costs: `time` or `memory`.
    pub of: &'static str,
    /// The command.
    pub command: String,
    /// Microseconds of processor time, or bytes of memory.
    pub took: u64,
    /// The bytes of its inputs.
    pub input_bytes: u64,
    /// The folder in which the case is.
    pub folder: String,
}

/// Climbs until `until`, and stores the costliest cases below `climb/` of the campaign's folder.
/// The same seed gives another path each time, as costs are measured.
///
/// # Errors
///
/// When files cannot be written or the binary not be started.
pub fn run(bench: &Bench, seed: u64, until: Instant) -> io::Result<Vec<Costly>> {
    let stage = bench.stage(0)?;
    let mut rng = Rng::for_purpose(seed, *b"clmb");
    let mut populations: BTreeMap<(Of, String), Vec<Member>> = BTreeMap::new();
    let mut number = 0;
    while Instant::now() < until {
        number += 1;
        let case = next(&mut rng, bench, &populations, number);
        if case.input_bytes() > BYTES_MAX {
            continue;
        }
        let (ran, _) = stage.once(&case)?;
        for of in Of::ALL {
            let population = populations.entry((of, case.command().to_owned())).or_default();
            enter(population, &case, of, &ran);
        }
    }
    let folder = bench.setup.folder.join("climb");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let mut all = Vec::new();
    for ((of, command), population) in &populations {
        for (place, member) in population.iter().take(3).enumerate() {
            let small = shrunk(&stage, member, *of)?;
            let name = format!("{of:?}-{command}-{place}").to_lowercase();
            let note = json!({"took": small.took, "cost": small.cost, "of": format!("{of:?}")});
            small.case.save(&folder.join(&name), &note)?;
            all.push(Costly {
                of: if *of == Of::Time { "time" } else { "memory" },
                command: command.clone(),
                took: small.took,
                input_bytes: small.case.input_bytes(),
                folder: name,
            });
        }
    }
    Ok(all)
}

/// Returns a new case, or a mutant of a member of a population.
fn next(
    rng: &mut Rng,
    bench: &Bench,
    populations: &BTreeMap<(Of, String), Vec<Member>>,
    number: u64,
) -> Case {
    let alive: Vec<&Vec<Member>> =
        populations.values().filter(|population| !population.is_empty()).collect();
    if alive.is_empty() || rng.percent(40) {
        let mut case = command::case(rng.bits(), number, &bench.seeds, &bench.commands);
        generous(&mut case);
        return case;
    }
    let population = alive[rng.index(alive.len())];
    let mut case = population[rng.index(population.len())].case.clone();
    if !case.inputs.is_empty() {
        let at = rng.index(case.inputs.len());
        let kind = case.inputs[at].kind;
        let other = rng.pick(bench.seeds.of_kind(kind));
        let other = bench.seeds.get(other).bytes.clone();
        case.inputs[at].bytes = change::mutant(rng, kind, &case.inputs[at].bytes, &other);
    }
    case
}

/// Sets limits that let a case show what it costs.
fn generous(case: &mut Case) {
    for (option, value) in [("--time-limit", "5s"), ("--memory-limit", "2G")] {
        let at = case.arguments.iter().position(|argument| argument == option);
        if let Some(slot) = at.and_then(|at| case.arguments.get_mut(at + 1)) {
            value.clone_into(slot);
        }
    }
    case.stated.time_ms = case.stated.time_ms.map(|_| 5_000);
    case.stated.memory_bytes = case.stated.memory_bytes.map(|_| 2 << 30);
}

fn cost(case: &Case, of: Of, took: u64) -> u64 {
    took.saturating_sub(of.idle()) * 1024 / (case.input_bytes() + BYTES_FLOOR)
}

/// Keeps a case if it is costlier than the cheapest of a population.
fn enter(population: &mut Vec<Member>, case: &Case, of: Of, ran: &Ran) {
    let took = of.of(ran);
    let cost = cost(case, of, took);
    if cost == 0 {
        return;
    }
    population.push(Member { case: case.clone(), cost, took });
    population.sort_by_key(|member| std::cmp::Reverse(member.cost));
    population.truncate(POPULATION);
}

/// Cuts lines off the inputs while at least four fifths of the cost stay.
fn shrunk(stage: &Stage<'_>, member: &Member, of: Of) -> io::Result<Member> {
    let mut small = member.clone();
    let end = Instant::now() + Duration::from_secs(30);
    for input in 0..small.case.inputs.len() {
        let mut size = small.case.inputs[input].bytes.len() / 2;
        while size > 8 && Instant::now() < end {
            let mut at = 0;
            while at < small.case.inputs[input].bytes.len() && Instant::now() < end {
                let mut case = small.case.clone();
                let bytes = &mut case.inputs[input].bytes;
                let stop = (at + size).min(bytes.len());
                bytes.drain(at..stop);
                let (ran, _) = stage.once(&case)?;
                let took = of.of(&ran);
                if took * 5 >= member.took * 4 {
                    small = Member { cost: cost(&case, of, took), case, took };
                } else {
                    at += size;
                }
            }
            size /= 2;
        }
    }
    Ok(small)
}
