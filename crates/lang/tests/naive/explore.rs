//! All states of a small model.

use crate::naive::interp::program::{Mutant, Program};
use crate::naive::interp::run::Failure;
use crate::naive::interp::state::State;
use crate::naive::interp::{canon, step};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What a search met.
#[derive(Default, Debug)]
pub struct Explored {
    pub states: usize,
    pub transitions: usize,
    /// States that are reached, by their canonical form.
    pub seen: BTreeMap<String, usize>,
    pub failures: BTreeSet<Failure>,
    pub deadlocks: usize,
    /// Names of invariants that some state breaks.
    pub broken: BTreeSet<String>,
    /// The bound was met.
    pub cut: bool,
}

/// Parses a model that must be right.
pub fn parse(text: &str, mutant: Mutant) -> &'static Program {
    let parsed = anyorder_lang::parse(text);
    assert!(parsed.diagnostics.is_empty(), "{text}\n{:?}", parsed.diagnostics);
    let one_step = anyorder_lang::load(text).program.one_step;
    Program::new(parsed.model, one_step, mutant)
}

/// Searches breadth first up to `bound` states, and looks at each state and transition.
pub fn explore(p: &'static Program, bound: usize) -> Explored {
    let mut found = Explored::default();
    let mut queue: VecDeque<State> = VecDeque::new();
    reach(p, Ok(step::initial(p)), &mut found, &mut queue);
    while let Some(state) = queue.pop_front() {
        if found.states > bound {
            found.cut = true;
            break;
        }
        let transitions = step::successors(p, &state);
        if transitions.is_empty() && !step::is_final(p, &state) {
            found.deadlocks += 1;
        }
        for (name, e) in &p.invariants {
            if !step::holds(p, &state, e) {
                found.broken.insert((*name).to_string());
            }
        }
        found.transitions += transitions.len();
        for transition in transitions {
            reach(p, transition.result, &mut found, &mut queue);
        }
    }
    found
}

fn reach(
    p: &'static Program,
    result: Result<State, Failure>,
    found: &mut Explored,
    queue: &mut VecDeque<State>,
) {
    match result {
        Err(failure) => {
            found.failures.insert(failure);
        }
        Ok(state) => {
            let number = found.seen.len();
            found.seen.entry(canon::canonical(p, &state)).or_insert_with(|| {
                found.states += 1;
                queue.push_back(state);
                number
            });
        }
    }
}

/// Searches a model given as text.
pub fn search(text: &str) -> Explored {
    search_up_to(text, 20_000)
}

/// Searches a model given as text, up to so many states.
pub fn search_up_to(text: &str, bound: usize) -> Explored {
    explore(parse(text, Mutant::None), bound)
}

/// The kinds of the failures met.
pub fn kinds(found: &Explored) -> Vec<&'static str> {
    let kinds: BTreeSet<&'static str> = found.failures.iter().map(|f| f.kind).collect();
    kinds.into_iter().collect()
}
