//! The models in the model language.

use anyorder_lang::lower::compile;
use anyorder_vm::Machine;

const TWO_PHASE: &str = include_str!("../../../../lang/tests/lower/two_phase.any");
const PAXOS: &str = include_str!("../../../../../examples/models/large/paxos.any");
const ABD: &str = include_str!("../../../../../examples/models/large/abd.any");
const SINGLE_COPY: &str = include_str!("../../../../../examples/models/large/single-copy.any");

/// Returns the machine of a model. Prints its errors, if it has any.
pub(crate) fn machine(name: &str, text: &str) -> Option<Machine> {
    let compiled = match compile(text, name) {
        Ok(compiled) => compiled,
        Err(diagnostics) => {
            println!("{name}: {diagnostics:?}");
            return None;
        }
    };
    Machine::new(compiled.program).map_err(|error| println!("{name}: {error}")).ok()
}

/// Sets a constant of a model.
fn with(text: &str, name: &str, value: u32) -> String {
    let begins = format!("const {name} = ");
    let line = |line: &str| match line.strip_prefix(&begins) {
        Some(_) => format!("{begins}{value};\n"),
        None => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

pub(crate) fn two_phase(participants: u32) -> String {
    with(TWO_PHASE, "N", participants)
}

pub(crate) fn paxos(clients: u8) -> String {
    with(PAXOS, "CLIENTS", clients.into())
}

pub(crate) fn abd(servers: u8, clients: u8) -> String {
    with(&with(ABD, "SERVERS", servers.into()), "CLIENTS", clients.into())
}

pub(crate) fn single_copy(servers: u8, clients: u8) -> String {
    with(&with(SINGLE_COPY, "SERVERS", servers.into()), "CLIENTS", clients.into())
}
