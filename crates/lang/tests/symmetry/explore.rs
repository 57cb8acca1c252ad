//! All states of a model, without any search.

use anyorder_lang::check::{Symmetries, symmetries};
use anyorder_lang::load;
use anyorder_lang::lower::{Compiled, compile};
use anyorder_search::{Options, Property, Search, Stats};
use anyorder_system::{Control, StateSystem};
use anyorder_vm::{Machine, State};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

pub(crate) fn compiled(text: &str) -> Compiled {
    compile(text, "test.any").unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"))
}

/// What the check says of a model that is well-formed but for its symmetry.
pub(crate) fn checked(text: &str) -> Symmetries {
    let loaded = load(text);
    assert!(loaded.is_sound(), "{:?}\n{text}", loaded.diagnostics);
    let found = symmetries(&loaded.model, &loaded.program);
    assert!(found.diagnostics.is_empty() || found.sets.is_empty());
    let program = compiled(text).program;
    assert_eq!(program.symmetries.len(), found.sets.len(), "a mistake leaves no symmetry\n{text}");
    found
}

pub(crate) fn bytes(machine: &Machine, state: &State) -> Vec<u8> {
    let mut bytes = Vec::new();
    machine.encode(state, &mut bytes);
    bytes
}

/// All reachable states by their bytes; `None` when there are more than `most`.
pub(crate) fn states(machine: &Machine, most: usize) -> Option<BTreeMap<Vec<u8>, State>> {
    let mut found = BTreeMap::new();
    let mut open = machine.initial();
    while let Some(state) = open.pop() {
        let key = bytes(machine, &state);
        if found.contains_key(&key) {
            continue;
        }
        if found.len() == most {
            return None;
        }
        let mut next = Vec::new();
        machine.successors(&state, &mut next);
        open.extend(next.into_iter().filter(|one| one.failure.is_none()).map(|one| one.state));
        found.insert(key, state);
    }
    Some(found)
}

/// What a search says: verdicts with the lengths of their paths, and counts.
pub(crate) fn searched(
    machine: &Machine,
    symmetry: bool,
    threads: usize,
) -> (BTreeSet<(String, usize)>, Stats) {
    let threads = NonZeroUsize::new(threads).expect("not 0");
    let options = Options { symmetry, threads, ..Options::default() };
    let mut search = Search::new(machine, &options).expect("options that fit");
    let outcome = search.run(&Control::default()).expect("representatives are ones");
    assert!(outcome.complete);
    let verdicts = outcome.violations.iter().map(|one| {
        // The path is one of the machine itself: each step is offered by the state before.
        for at in 0..one.path.steps.len() {
            let before = one.path.state(at).expect("a state before each step");
            let step = &one.path.steps[at];
            let mut next = Vec::new();
            machine.successors(before, &mut next);
            let place = step.place as usize;
            assert_eq!(bytes(machine, &next[place].state), bytes(machine, &step.state));
            assert_eq!(next[place].failure.is_some(), step.failure.is_some());
        }
        match &one.property {
            Property::Invariant(index) => assert!(!machine.holds(*index, one.path.last())),
            Property::Failure(message) => {
                let last = one.path.steps.last().expect("a failing step");
                assert_eq!(last.failure.as_ref(), Some(message));
            }
            _ => {}
        }
        (format!("{:?}", one.property), one.path.steps.len())
    });
    (verdicts.collect(), outcome.stats)
}
