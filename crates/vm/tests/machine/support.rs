//! What the tests share.

use anyorder_system::{StateSystem, Successor};
use anyorder_vm::program::{FunctionBuilder, Op, Program, ProgramBuilder, Reg};
use anyorder_vm::{Action, Machine, State};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) fn machine(program: Program) -> Machine {
    Machine::new(program).expect("valid")
}

/// All that can be reached.
pub(crate) struct Explored {
    pub(crate) states: Vec<State>,
    pub(crate) failures: Vec<String>,
    /// States in which nothing can happen.
    pub(crate) stuck: Vec<State>,
    pub(crate) transitions: usize,
}

pub(crate) fn explore(machine: &Machine, limit: usize) -> Explored {
    let mut seen = BTreeMap::new();
    let mut explored =
        Explored { states: machine.initial(), failures: vec![], stuck: vec![], transitions: 0 };
    let mut failures = BTreeSet::new();
    for state in &explored.states {
        seen.insert(bytes(machine, state), machine.fingerprint(state));
    }
    let mut at = 0;
    while at < explored.states.len() {
        assert!(explored.states.len() <= limit, "more than {limit} states");
        let next = successors(machine, &explored.states[at]);
        if next.is_empty() {
            explored.stuck.push(explored.states[at].clone());
        }
        explored.transitions += next.len();
        for successor in next {
            if let Some(failure) = successor.failure {
                failures.insert(failure.to_string());
                continue;
            }
            let (bytes, hash) =
                (bytes(machine, &successor.state), machine.fingerprint(&successor.state));
            match seen.insert(bytes.clone(), hash) {
                Some(known) => assert_eq!(known, hash, "equal states, two fingerprints"),
                None => {
                    let decoded = machine.decode(&bytes).expect("own bytes");
                    assert_eq!(machine.fingerprint(&decoded), hash, "not what it is computed anew");
                    explored.states.push(successor.state);
                }
            }
        }
        at += 1;
    }
    explored.failures = failures.into_iter().collect();
    explored
}

pub(crate) fn successors(machine: &Machine, state: &State) -> Vec<Successor<State, Action>> {
    let mut out = Vec::new();
    machine.successors(state, &mut out);
    out
}

pub(crate) fn bytes(machine: &Machine, state: &State) -> Vec<u8> {
    let mut bytes = Vec::new();
    machine.encode(state, &mut bytes);
    bytes
}

/// A part of a state in words; "" where there is none.
pub(crate) fn part(machine: &Machine, state: &State, name: &str) -> String {
    let parts = machine.show(state);
    parts.into_iter().find(|(n, _)| n == name).map_or(String::new(), |(_, words)| words)
}

/// The different values that a part has in the states in which nothing can happen.
pub(crate) fn ends(machine: &Machine, explored: &Explored, name: &str) -> BTreeSet<String> {
    explored.stuck.iter().map(|state| part(machine, state, name)).collect()
}

/// Makes a function with a number of parameters.
pub(crate) fn function(
    b: &mut ProgramBuilder,
    name: &str,
    params: u16,
    body: impl FnOnce(&mut FunctionBuilder),
) -> anyorder_vm::program::FuncId {
    let mut f = b.function(name, params);
    body(&mut f);
    f.emit(Op::ReturnNull);
    b.add(f)
}

/// Makes a register with an int.
pub(crate) fn int(f: &mut FunctionBuilder, value: i32) -> Reg {
    let dst = f.reg();
    f.emit(Op::Int { dst, value });
    dst
}
