//! Transitions a second of the machine on one core: two-phase commit, searched to the end with a
//! table of fingerprints.

#[path = "../tests/machine/two_phase.rs"]
mod two_phase;

use anyorder_system::{StateSystem, Successor};
use anyorder_vm::{Action, Machine, State};
use rustc_hash::FxHashSet;
use std::time::Instant;

fn main() {
    let largest = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(7);
    for count in 3..=largest {
        run(count);
    }
}

#[expect(clippy::print_stdout, reason = "a bench prints")]
fn run(count: u16) {
    let machine = Machine::new(two_phase::two_phase(count)).expect("valid");
    let start = Instant::now();
    let mut seen: FxHashSet<u128> = FxHashSet::default();
    let mut stack: Vec<State> = machine.initial();
    seen.extend(stack.iter().map(|state| machine.fingerprint(state).0));
    let mut transitions = 0u64;
    let mut successors: Vec<Successor<State, Action>> = Vec::new();
    while let Some(state) = stack.pop() {
        machine.successors(&state, &mut successors);
        transitions += successors.len() as u64;
        for successor in successors.drain(..) {
            if seen.insert(machine.fingerprint(&successor.state).0) {
                stack.push(successor.state);
            }
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    let rate = transitions as f64 / seconds / 1e6;
    println!(
        "two_phase {count}: {} states, {transitions} transitions, {seconds:.3} s, {rate:.2} M transitions/s",
        seen.len()
    );
}
