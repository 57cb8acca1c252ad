//! A walk through the states of a machine, with everything that is asked of a state.

use anyorder_system::StateSystem;
use anyorder_vm::{Machine, State};

/// Walks at most `steps` steps, taking the successor that `choose` picks among as many as it is told. What is said of a
/// state must be the same twice, and survive its bytes.
///
/// # Panics
///
/// Panics when it is not.
pub fn walk(machine: &Machine, steps: usize, mut choose: impl FnMut(usize) -> usize) -> Vec<u8> {
    let mut last = Vec::new();
    let Some(mut state) = machine.initial().into_iter().next() else { return last };
    for _ in 0..steps {
        last = look(machine, &state);
        let (mut once, mut again) = (Vec::new(), Vec::new());
        machine.successors(&state, &mut once);
        machine.successors(&state, &mut again);
        assert!(once == again, "not deterministic");
        for successor in &once {
            machine.describe(&state, &successor.action);
            _ = machine.fair_class(&successor.action);
            _ = machine.part(&successor.action);
        }
        once.retain(|successor| successor.failure.is_none());
        if once.is_empty() {
            break;
        }
        state = once.swap_remove(choose(once.len()) % once.len()).state;
    }
    last
}

/// Asks everything of a state, and returns its bytes.
///
/// # Panics
///
/// Panics when the state that its bytes give is another.
pub fn look(machine: &Machine, state: &State) -> Vec<u8> {
    let mut bytes = Vec::new();
    machine.encode(state, &mut bytes);
    let decoded = machine.decode(&bytes).expect("own bytes can be read");
    assert!(machine.fingerprint(&decoded) == machine.fingerprint(state), "another fingerprint");
    assert!(&decoded == state, "another state");
    _ = machine.is_final(state);
    for invariant in 0..machine.invariants().len() {
        _ = machine.holds(invariant, state);
    }
    for property in 0..machine.responses().len() {
        _ = machine.response(property, state);
    }
    machine.show(state);
    machine.representative(state);
    bytes
}
