//! Releases of locks that their handler does not hold in the trace: the recording began after the
//! acquire, or lost it.

use crate::view::View;
use anyorder_trace::{Action, EventId, HandlerId, LockId};
use std::collections::HashMap;

/// What such a release does, in the trace and in every other order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stray {
    /// It gives back one acquire in the other mode.
    OtherMode,
    /// Nothing.
    NotHeld,
}

/// Finds them in one pass.
pub(crate) fn strays(view: View<'_>) -> HashMap<EventId, Stray> {
    // How often the handler holds the lock, exclusively and shared.
    let mut holds: HashMap<(HandlerId, LockId), [u32; 2]> = HashMap::new();
    let mut strays = HashMap::new();
    for event in view.events() {
        let Some(handler) = view.handler(event.task) else { continue };
        match event.action() {
            Action::Acquire(lock, mode) => {
                holds.entry((handler, lock)).or_default()[usize::from(mode.is_shared())] += 1;
            }
            Action::Release(lock, mode) => {
                let times = holds.entry((handler, lock)).or_default();
                let own = usize::from(mode.is_shared());
                match *times {
                    _ if times[own] > 0 => times[own] -= 1,
                    [0, 0] => drop(strays.insert(event.id, Stray::NotHeld)),
                    _ => {
                        times[1 - own] -= 1;
                        strays.insert(event.id, Stray::OtherMode);
                    }
                }
            }
            _ => {}
        }
    }
    strays
}
