//! The cost of footprints: expands all states of models, once with `successors`, and once with
//! `ready` and `run` of every task, which also reports what the task touches.
//!
//! `cargo bench -p anyorder-lang --bench reduced`

#![expect(clippy::print_stdout, reason = "a bench reports on stdout")]

use anyorder_lang::lower::compile;
use anyorder_system::{Effects, Reducible, StateSystem};
use anyorder_vm::Machine;
use std::collections::HashSet;
use std::time::Instant;

const PAXOS: &str = include_str!("../../../examples/models/large/paxos.any");
const TWO_PHASE: &str = include_str!("../tests/lower/two_phase.any");

/// Rounds, of which the best counts.
const ROUNDS: usize = 7;

fn main() {
    let mut models: Vec<(String, String)> = Vec::new();
    for (events, seed) in [(12, 1), (12, 2), (12, 3), (12, 4), (16, 5)] {
        if let Some(text) = anyorder_generate::smart_home(events, seed) {
            models.push((format!("smart home {events}, seed {seed}"), text));
        }
    }
    models.push(("paxos".to_owned(), PAXOS.to_owned()));
    models.push(("2pc-5".to_owned(), TWO_PHASE.replace("const N = 3;", "const N = 5;")));
    let mut logs = Vec::new();
    for (name, text) in models {
        let Some(machine) =
            compile(&text, &name).ok().and_then(|compiled| Machine::new(compiled.program).ok())
        else {
            println!("{name} does not compile");
            continue;
        };
        logs.push(compare(&name, &machine).ln());
    }
    let mean = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
    println!("geometric mean: {mean:.2} times");
}

/// Returns how many times longer the second takes.
fn compare(name: &str, machine: &Machine) -> f64 {
    let states = states(machine);
    let (mut plain, mut telling) = (f64::MAX, f64::MAX);
    let (mut counts, mut touched) = ((0, 0), 0);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        counts.0 = successors(machine, &states);
        plain = plain.min(start.elapsed().as_secs_f64());
        let start = Instant::now();
        (counts.1, touched) = run(machine, &states);
        telling = telling.min(start.elapsed().as_secs_f64());
    }
    assert_eq!(counts.0, counts.1, "{name}: transitions");
    let each = |seconds: f64| seconds * 1e9 / counts.0.max(1) as f64;
    println!(
        "{name}: {} states, {} transitions: {:.0} ns each; telling {:.1} places {:.0} ns each: {:.2} times",
        states.len(),
        counts.0,
        each(plain),
        touched as f64 / counts.0.max(1) as f64,
        each(telling),
        telling / plain
    );
    telling / plain
}

type State = <Machine as StateSystem>::State;

fn states(machine: &Machine) -> Vec<State> {
    let mut all = machine.initial();
    let mut seen: HashSet<_> = all.iter().map(|state| machine.fingerprint(state)).collect();
    let (mut at, mut out) = (0, Vec::new());
    while at < all.len() && at < 50_000 {
        machine.successors(&all[at], &mut out);
        at += 1;
        let new = out.drain(..).map(|successor| successor.state);
        all.extend(new.filter(|state| seen.insert(machine.fingerprint(state))));
    }
    all
}

fn successors(machine: &Machine, states: &[State]) -> usize {
    let (mut out, mut count) = (Vec::new(), 0);
    for state in states {
        machine.successors(state, &mut out);
        count += out.len();
        out.clear();
    }
    count
}

fn run(machine: &Machine, states: &[State]) -> (usize, usize) {
    let (mut tasks, mut effects) = (Vec::new(), Effects::default());
    let (mut count, mut touched) = (0, 0);
    for state in states {
        tasks.clear();
        machine.ready(state, &mut tasks);
        for task in &tasks {
            effects.clear();
            machine.run(state, *task, &mut effects);
            count += effects.successors.len();
            touched += effects.touched.len();
        }
    }
    (count, touched)
}
