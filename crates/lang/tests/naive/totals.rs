//! As many states and transitions on both sides: what the pairing of single steps cannot tell where
//! several processes have one name.

use crate::naive::explore::explore;
use crate::naive::generate;
use crate::naive::interp::program::{Mutant, Program};
use crate::naive::with_stack;
use anyorder_lang::lower::compile;
use anyorder_system::StateSystem;
use anyorder_vm::{Machine, State};
use std::collections::BTreeSet;

/// The states and transitions of a machine, all of them.
fn totals(machine: &Machine) -> (usize, usize) {
    let bytes = |state: &State| {
        let mut bytes = vec![];
        machine.encode(state, &mut bytes);
        bytes
    };
    let mut states = machine.initial();
    let mut seen: BTreeSet<Vec<u8>> = states.iter().map(bytes).collect();
    let (mut at, mut transitions) = (0, 0);
    while at < states.len() && at < 1_000 {
        let mut successors = vec![];
        machine.successors(&states[at], &mut successors);
        transitions += successors.len();
        for successor in successors.into_iter().filter(|s| s.failure.is_none()) {
            if seen.insert(bytes(&successor.state)) {
                states.push(successor.state);
            }
        }
        at += 1;
    }
    (states.len(), transitions)
}

#[test]
fn both_have_as_many_states_and_transitions() {
    with_stack(compare_totals);
}

#[expect(clippy::print_stdout, reason = "how many models were compared is the point of a run")]
fn compare_totals() {
    let (mut same, mut loose, mut wrong) = (0_u64, 0_u64, vec![]);
    let seeds = anyorder_testkit::effort::sampled(200, 800);
    let count = seeds.count();
    for seed in seeds {
        let (text, _) = generate::model(seed);
        let Ok(compiled) = compile(&text, "m.any") else { continue };
        let program =
            Program::new(compiled.model.clone(), compiled.tables.one_step.clone(), Mutant::None);
        let Ok(machine) = Machine::new(compiled.program) else { continue };
        let found = explore(program, 150);
        if found.cut {
            continue;
        }
        loose += u64::from(text.contains("fork ") || text.contains("post any"));
        let expected = (found.states, found.transitions);
        match totals(&machine) {
            actual if actual == expected => same += 1,
            actual => wrong.push((seed, expected, actual)),
        }
    }
    println!("{same} models with equal totals, {loose} with forks or tasks posted to `any`");
    assert!(wrong.is_empty(), "seed, naive, machine: {wrong:?}");
    assert!(same * 2 > count && loose * 16 > count, "{same}, {loose} of {count}");
}
