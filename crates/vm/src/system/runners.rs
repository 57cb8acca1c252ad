//! Who takes a step: a handler, an event without one, a declared thread, a dynamic thread.
//!
//! The numbers of dynamic threads depend on the state. All others are those of the program.

use crate::machine::Machine;
use crate::state::{Origin, State, StepId};

const THREAD: u64 = 1 << 32;
const DYNAMIC: u64 = 2 << 32;

/// Returns the runner of a step, by its number in the state before it. A task posted to `any` has
/// none before it runs.
pub(super) fn before(machine: &Machine, state: &State, step: StepId) -> Option<u64> {
    let slot = |slot: u32| 1 + u64::from(slot);
    match step {
        StepId::Init => Some(0),
        StepId::Event(member) => Some(slot(machine.layout.member_slot[member as usize])),
        StepId::Message { queue, .. } if queue as usize == machine.layout.pool() => None,
        StepId::Message { queue, .. } => Some(slot(queue)),
        StepId::Thread { origin: Origin::Declared(member), .. } => Some(THREAD + u64::from(member)),
        StepId::Thread { origin: Origin::Slot(number), .. } => Some(slot(number)),
        StepId::Thread { origin: Origin::Dynamic, .. } => {
            step.position_in(state).map(|at| DYNAMIC + at as u64)
        }
    }
}

/// Returns the runner of a step, by its number in the state after it; `None` if it is gone.
pub(super) fn after(machine: &Machine, state: &State, step: StepId, after: &State) -> Option<u64> {
    let uid = match step {
        StepId::Message { queue, .. } if queue as usize == machine.layout.pool() => {
            step.message(state)?.uid
        }
        StepId::Thread { origin: Origin::Dynamic, .. } => step.thread(state)?.uid,
        _ => return before(machine, state, step),
    };
    let dynamic = |at: &usize| after.threads()[*at].origin == Origin::Dynamic;
    let found = after.threads().iter().position(|thread| thread.uid == uid).filter(dynamic);
    found.map(|at| DYNAMIC + at as u64)
}
