//! Runs a model in all ways: the plainest search there is.

use anyorder_lang::lower::compile;
use anyorder_lang::source::Source;
use anyorder_system::{Hash128, StateSystem, Successor};
use anyorder_vm::{Action, Machine, State};
use std::collections::{BTreeSet, HashSet, VecDeque};

/// What a search found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// States without failures, by fingerprint.
    pub(crate) states: usize,
    /// Transitions, failing ones too.
    pub(crate) transitions: usize,
    /// Final states: `name = value` of all globals and what else is shown, joined by `; `.
    pub(crate) ends: BTreeSet<String>,
    /// States in which nothing can happen and that are not final.
    pub(crate) deadlocks: usize,
    /// Failures with their places.
    pub(crate) failures: BTreeSet<String>,
    /// Invariants that some state violates.
    pub(crate) violated: BTreeSet<String>,
}

/// Makes the machine of a model.
pub(crate) fn machine(text: &str) -> Machine {
    let compiled = compile(text, "m.any").unwrap_or_else(|diagnostics| {
        let source = Source::new("m.any", text);
        let lines: Vec<String> = diagnostics
            .iter()
            .map(|d| format!("{:?} {}", source.position(d.primary.span.start), d.message))
            .collect();
        panic!("{text}\n{}", lines.join("\n"))
    });
    Machine::new(compiled.program).expect("the lowering makes valid programs")
}

/// The transitions of a state.
pub(crate) fn successors(machine: &Machine, state: &State) -> Vec<Successor<State, Action>> {
    let mut out = Vec::new();
    machine.successors(state, &mut out);
    out
}

/// Searches all states of a model.
pub(crate) fn explore(text: &str) -> Found {
    let machine = machine(text);
    let mut found = Found::default();
    let mut seen: HashSet<Hash128> = HashSet::new();
    let mut waiting: VecDeque<State> = VecDeque::new();
    for state in machine.initial() {
        seen.insert(machine.fingerprint(&state));
        waiting.push_back(state);
    }
    let invariants = machine.invariants();
    while let Some(state) = waiting.pop_front() {
        for (i, name) in invariants.iter().enumerate() {
            if !machine.holds(i, &state) {
                found.violated.insert(name.clone());
            }
        }
        let next = successors(&machine, &state);
        found.transitions += next.len();
        if next.is_empty() && machine.is_final(&state) {
            found.ends.insert(shown(&machine, &state));
        } else if next.is_empty() {
            found.deadlocks += 1;
        }
        for successor in next {
            if let Some(failure) = successor.failure {
                found.failures.insert(failure.to_string());
            } else if seen.insert(machine.fingerprint(&successor.state)) {
                waiting.push_back(successor.state);
            }
        }
        assert!(seen.len() < 1_000_000, "too large for a test");
    }
    found.states = seen.len();
    found
}

/// A state in words.
pub(crate) fn shown(machine: &Machine, state: &State) -> String {
    let parts: Vec<String> = machine
        .show(state)
        .into_iter()
        .filter(|(name, _)| !name.starts_with("happened(") && !name.starts_with("enabled("))
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    parts.join("; ")
}

/// The value of `out` after a model whose `init` is `body`.
pub(crate) fn run(declarations: &str, body: &str) -> String {
    let text = format!(
        "model m\n{declarations}\nvar out: list<any>;\nhandler h: fifo;\ntask go() on h {{ {body} }}\ninit {{ post go(); }}\n"
    );
    let found = explore(&text);
    assert!(found.failures.is_empty(), "{:?}\n{text}", found.failures);
    let ends: Vec<&String> = found.ends.iter().collect();
    assert_eq!(ends.len(), 1, "one end\n{text}");
    let out = ends[0].split("; ").find_map(|part| part.strip_prefix("out = "));
    out.expect("shown").to_owned()
}

/// The failure of `body`, without its place.
pub(crate) fn failure(declarations: &str, body: &str) -> String {
    let text = format!(
        "model m\n{declarations}\nvar out: list<any>;\nhandler h: fifo;\ntask go() on h {{ {body} }}\ninit {{ post go(); }}\n"
    );
    let found = explore(&text);
    assert_eq!(found.failures.len(), 1, "{found:?}\n{text}");
    let line = found.failures.into_iter().next().unwrap_or_default();
    line.split(" at m.any").next().unwrap_or_default().to_owned()
}
