//! Bytecode made of bytes: what the validator passes runs without a panic and twice the same; bytes of states that
//! nobody wrote are refused or are a state.
#![no_main]

use anyorder_fuzz::bytecode::{Bytes, program};
use anyorder_fuzz::walk::{look, walk};
use anyorder_system::{Choice, StateSystem, TaskSystem};
use anyorder_vm::{Machine, MachineRun};
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;

fuzz_target!(|data: &[u8]| {
    let mut bytes = Bytes(data);
    let Ok(machine) = Machine::new(program(&mut bytes)) else { return };
    let mut written = walk(&machine, 8, |_| usize::from(bytes.byte()));
    // The last state with some of its bytes changed.
    for _ in 0..bytes.byte() % 4 {
        let at = usize::from(bytes.byte()) % written.len().max(1);
        if let Some(byte) = written.get_mut(at) {
            *byte = bytes.byte();
        }
    }
    if let Some(state) = machine.decode(&written) {
        assert_eq!(look(&machine, &state), written, "one state, two encodings");
        machine.successors(&state, &mut Vec::new());
    }
    let mut run = MachineRun::new(Arc::new(machine));
    for _ in 0..8 {
        let enabled = run.enabled().expect("machines answer");
        run.observe().expect("machines answer");
        let Some(task) = enabled.get(usize::from(bytes.byte()) % enabled.len().max(1)) else {
            break;
        };
        let alternative = u32::from(bytes.byte()) % task.alternatives.max(1);
        let choice = Choice { alternative, ..Choice::of(task.task.clone()) };
        if run.execute(&choice).is_ok_and(|step| !step.failures.is_empty()) {
            break;
        }
    }
});
