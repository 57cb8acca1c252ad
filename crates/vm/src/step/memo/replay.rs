//! Applies the effects of a remembered step.

use crate::machine::DEPTH_MAX;
use crate::machine::Machine;
use crate::state::{Effect, State};
use crate::step::post::insert;
use crate::value::Value;

/// Applies effects to a state. Returns false if one of them would fail. The state is then of no
/// use, and an execution finds out how it fails.
pub(crate) fn replay(machine: &Machine, state: &mut State, effects: &[Effect]) -> bool {
    effects.iter().all(|effect| apply(machine, state, effect))
}

fn apply(machine: &Machine, state: &mut State, effect: &Effect) -> bool {
    let size = machine.program.settings.size;
    match effect {
        Effect::Set { global, value, .. } => {
            state.set_global(usize::from(*global), value.clone());
            true
        }
        Effect::SetAt { global, index, value, .. } => {
            set_at(state, usize::from(*global), (index, value), size)
        }
        Effect::Flag { flag, value } => {
            state.set_flag(*flag, *value);
            true
        }
        Effect::Post { kind, first, message } => {
            let queue = message.queue as usize;
            let message = message.with_uid(state.next_uid);
            state.next_uid += 1;
            state.change_queue(queue, |queue| insert(machine, *kind, *first, queue, message));
            true
        }
    }
}

fn set_at(state: &mut State, global: usize, (index, value): (&Value, &Value), size: u32) -> bool {
    let old = state.global(global).element(index);
    // As in an execution, a write that changes nothing ends here.
    if old.is_some_and(|old| old.is_identical(value)) {
        return true;
    }
    let new = old.is_none();
    if let (Value::List(_), Value::Int(at), false) = (state.global(global), index, new) {
        state.set_element(global, *at as usize, value);
        return true;
    }
    state.change_global(global, |slot| {
        slot.set_element(index, value.clone())
            && (!new || slot.nodes() <= size && slot.depth() <= DEPTH_MAX)
    })
}
