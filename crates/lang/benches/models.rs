//! Models in the model language, on one core: transitions and unique states a second, searched
//! breadth-first with fingerprints and nothing else around it, so that the time is the machine's.
//!
//! `cargo bench -p anyorder-lang --bench models -- paxos-2 abd-2-3` for some of them; the default
//! is all but the large ones.

#![expect(clippy::print_stdout, reason = "a bench reports on stdout")]

use anyorder_lang::lower::compile;
use anyorder_system::StateSystem;
use anyorder_vm::Machine;
use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use std::time::Instant;

const TWO_PHASE: &str = include_str!("../tests/lower/two_phase.any");
const PAXOS: &str = include_str!("../../../examples/models/large/paxos.any");
const ABD: &str = include_str!("../../../examples/models/large/abd.any");

/// Fingerprints are hashes already.
#[derive(Default)]
struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.0 ^= u64::from_le_bytes(word);
        }
    }

    fn write_u128(&mut self, value: u128) {
        self.0 = value as u64;
    }
}

/// Returns the text of a model by its name: `2pc-N` participants, `paxos-CLIENTS`,
/// `abd-SERVERS-CLIENTS`.
fn text(name: &str) -> Option<String> {
    let (kind, numbers) = name.split_once('-')?;
    let numbers: Vec<u32> = numbers.split('-').filter_map(|n| n.parse().ok()).collect();
    match (kind, &numbers[..]) {
        ("2pc", [n]) => Some(with(TWO_PHASE, "N", *n)),
        ("paxos", [clients]) => Some(with(PAXOS, "CLIENTS", *clients)),
        ("abd", [servers, clients]) => {
            Some(with(&with(ABD, "SERVERS", *servers), "CLIENTS", *clients))
        }
        _ => None,
    }
}

/// Sets a constant of a model.
fn with(text: &str, name: &str, value: u32) -> String {
    let begins = format!("const {name} = ");
    let line = |line: &str| match line.strip_prefix(&begins) {
        Some(_) => format!("{begins}{value};\n"),
        None => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let all = ["2pc-6", "2pc-7", "paxos-2", "abd-2-2", "abd-2-3"].map(String::from);
    for name in if asked.is_empty() { all.to_vec() } else { asked } {
        let Some(text) = text(&name) else {
            println!("{name}: no such model");
            continue;
        };
        let Ok(compiled) = compile(&text, &name) else {
            println!("{name} does not compile");
            continue;
        };
        let Ok(machine) = Machine::new(compiled.program) else {
            println!("{name} is not a valid program");
            continue;
        };
        let start = Instant::now();
        let (states, transitions) = search(&machine);
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{name}: {states} states, {transitions} transitions, {seconds:.3} s: {:.0} transitions/s, {:.0} states/s",
            transitions as f64 / seconds,
            states as f64 / seconds
        );
    }
}

/// All states reachable, and the number of transitions. Invariants are asked, and must hold.
fn search(machine: &Machine) -> (usize, u64) {
    let invariants = machine.invariants().len();
    let mut seen: HashSet<u128, BuildHasherDefault<AsIs>> = HashSet::default();
    let mut level = machine.initial();
    seen.extend(level.iter().map(|s| machine.fingerprint(s).0));
    let mut transitions = 0;
    let (mut next, mut out) = (Vec::new(), Vec::new());
    while !level.is_empty() {
        for state in level.drain(..) {
            assert!((0..invariants).all(|i| machine.holds(i, &state)), "an invariant");
            machine.successors(&state, &mut out);
            transitions += out.len() as u64;
            for successor in out.drain(..) {
                if seen.insert(machine.fingerprint(&successor.state).0) {
                    next.push(successor.state);
                }
            }
        }
        std::mem::swap(&mut level, &mut next);
    }
    (seen.len(), transitions)
}
