//! All states of a model, without any search.

use anyorder_lang::diagnostic::Diagnostic;
use anyorder_lang::load;
use anyorder_lang::lower::{Compiled, compile};
use anyorder_search::{Limit, Property, Search, SearchOptions, Stats};
use anyorder_system::{Control, StateSystem};
use anyorder_vm::{Machine, State};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::num::NonZeroUsize;

pub(crate) fn compiled(text: &str) -> Compiled {
    compile(text, "test.any").unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"))
}

/// The errors of a model.
pub(crate) fn errors(text: &str) -> Vec<Diagnostic> {
    let mut found = load(text).diagnostics;
    found.retain(Diagnostic::is_error);
    found
}

pub(crate) fn bytes(machine: &Machine, state: &State) -> Vec<u8> {
    let mut bytes = Vec::new();
    machine.encode(state, &mut bytes);
    bytes
}

/// Reachable states by their bytes.
#[derive(Default)]
pub(crate) struct States {
    pub(crate) found: BTreeMap<Vec<u8>, State>,
    /// Whether these are all.
    pub(crate) whole: bool,
}

/// The first reachable states, `most` at the most.
pub(crate) fn states(machine: &Machine, most: usize) -> States {
    let mut states = States::default();
    let mut open: VecDeque<State> = machine.initial().into();
    while let Some(state) = open.pop_front() {
        let key = bytes(machine, &state);
        if states.found.contains_key(&key) {
            continue;
        }
        if states.found.len() == most {
            return states;
        }
        let mut next = Vec::new();
        machine.successors(&state, &mut next);
        open.extend(next.into_iter().filter(|one| one.failure.is_none()).map(|one| one.state));
        states.found.insert(key, state);
    }
    states.whole = true;
    states
}

/// What a search says: verdicts with the lengths of their paths, and counts.
pub(crate) type Found = (BTreeSet<(String, usize)>, Stats);

/// Searches a model that has few enough states.
pub(crate) fn searched(machine: &Machine, symmetry: bool, threads: usize) -> Found {
    searched_up_to(machine, symmetry, threads, u64::MAX).expect("no limit")
}

/// Searches a model; `None` if it has more states than so many.
pub(crate) fn searched_up_to(
    machine: &Machine,
    symmetry: bool,
    threads: usize,
    most: u64,
) -> Option<Found> {
    let threads = NonZeroUsize::new(threads).expect("not 0");
    let states_max = (most < u64::MAX).then_some(most);
    let options = SearchOptions { symmetry, threads, states_max, ..SearchOptions::default() };
    let mut search = Search::new(machine, &options).expect("options that fit");
    let outcome = search.run(&Control::default()).expect("representatives are ones");
    if !outcome.complete {
        assert_eq!(outcome.limits, [Limit::States], "nothing else cuts it");
        return None;
    }
    let verdicts = outcome.violations.iter().map(|one| {
        // The path is one of the machine itself: each step is offered by the state before.
        for at in 0..one.path.steps.len() {
            let before = one.path.state(at).expect("a state before each step");
            let step = &one.path.steps[at];
            let mut next = Vec::new();
            machine.successors(before, &mut next);
            let place = step.place.unwrap() as usize;
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
    Some((verdicts.collect(), outcome.stats))
}
