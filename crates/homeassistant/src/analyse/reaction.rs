//! Reactions: what follows from one event, up to where nothing is left to do.

use crate::lower::CALL;
use anyorder_system::{Hash128, StateSystem};
use anyorder_vm::{Action, Machine, State, Write};

/// The most steps of one reaction.
const STEPS_MAX: usize = 300;

/// The most ends of one reaction.
const ENDS_MAX: usize = 24;

/// A way in which a reaction may go.
#[derive(Clone, Debug)]
pub(super) struct Way {
    /// The state at its end.
    pub(super) state: State,
    /// What was set, in order.
    pub(super) writes: Vec<Write>,
    /// Whether it came back to a state within it: it never ends.
    pub(super) endless: bool,
    /// Whether it failed, or was cut.
    pub(super) failed: bool,
    /// Whether something in it was not known.
    pub(super) chosen: bool,
}

/// Keeps what automations ask for, under the name of the state, and what comes from outside.
fn calls(writes: Vec<Write>) -> impl Iterator<Item = Write> {
    writes.into_iter().filter_map(|mut write| match write.attribute.strip_prefix(CALL) {
        Some(key) => {
            let asked = write.value != "null";
            write.attribute = key.to_owned();
            asked.then_some(write)
        }
        None => write.by.is_none().then_some(write),
    })
}

/// Returns the ways of the reaction to an action, and whether there are more.
pub(super) fn react(
    machine: &Machine,
    before: &State,
    action: &Action,
    first: Way,
) -> (Vec<Way>, bool) {
    let mut done = Vec::new();
    let mut cut = false;
    let mut open: Vec<(Way, Vec<Hash128>)> = Vec::new();
    let mut writes = first.writes.clone();
    writes.extend(calls(machine.writes(before, action)));
    open.push((Way { writes, ..first }, Vec::new()));
    while let Some((way, mut path)) = open.pop() {
        if done.len() >= ENDS_MAX {
            cut = true;
            break;
        }
        if way.failed || machine.quiet_memory(&way.state).is_some() {
            done.push(way);
            continue;
        }
        let here = machine.fingerprint(&way.state);
        if path.contains(&here) {
            done.push(Way { endless: true, ..way });
            continue;
        }
        if path.len() > STEPS_MAX {
            cut = true;
            continue;
        }
        path.push(here);
        let mut next = Vec::new();
        machine.successors(&way.state, &mut next);
        let several = next.len() > 1;
        for successor in next {
            let mut writes = way.writes.clone();
            writes.extend(calls(machine.writes(&way.state, &successor.action)));
            let after = Way {
                state: successor.state,
                writes,
                endless: false,
                failed: successor.failure.is_some(),
                chosen: way.chosen || several,
            };
            open.push((after, path.clone()));
        }
    }
    (done, cut)
}
