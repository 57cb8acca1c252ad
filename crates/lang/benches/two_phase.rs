//! Two-phase commit in the model language, on one core: transitions and unique states a second, searched breadth-first with
//! fingerprints and nothing else around it, so that the time is the machine's.
//!
//! `cargo bench -p anyorder-lang --bench two_phase -- 8` for one number of participants; the default is 5 to 7.

#![expect(clippy::print_stdout, reason = "a bench reports on stdout")]

use anyorder_lang::lower::compile;
use anyorder_system::StateSystem;
use anyorder_vm::Machine;
use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use std::time::Instant;

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

fn main() {
    let asked: Vec<usize> = std::env::args().filter_map(|a| a.parse().ok()).collect();
    let sizes = if asked.is_empty() { vec![5, 6, 7] } else { asked };
    for size in sizes {
        let text = include_str!("../tests/lower/two_phase.any")
            .replace("const N = 3;", &format!("const N = {size};"));
        let Ok(compiled) = compile(&text, "two_phase.any") else {
            println!("the model does not compile");
            return;
        };
        let Ok(machine) = Machine::new(compiled.program) else {
            println!("the program is not valid");
            return;
        };
        let start = Instant::now();
        let (states, transitions) = search(&machine);
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{size} participants: {states} states, {transitions} transitions, {seconds:.3} s: {:.0} transitions/s, {:.0} states/s",
            transitions as f64 / seconds,
            states as f64 / seconds
        );
    }
}

/// All states reachable, and the number of transitions.
fn search(machine: &Machine) -> (usize, u64) {
    let mut seen: HashSet<u128, BuildHasherDefault<AsIs>> = HashSet::default();
    let mut level = machine.initial();
    seen.extend(level.iter().map(|s| machine.fingerprint(s).0));
    let mut transitions = 0;
    let (mut next, mut out) = (Vec::new(), Vec::new());
    while !level.is_empty() {
        for state in level.drain(..) {
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
