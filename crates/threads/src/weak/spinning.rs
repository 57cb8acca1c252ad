//! Whether threads that spin where no other thread can go on do so for ever.
//!
//! The search lets a thread that spins wait for its last read to be revisited. Where nothing does,
//! the loop either goes on for ever, or gives up and does something else. So the threads take turns
//! here, in a copy of the graph, with results that change nothing.

use super::behaviour::Behaviours;
use super::explore::place;
use super::graph::{Event, Graph};
use super::reading::Reading;
use super::states::States;
use crate::learn::Incomplete;
use crate::op::Act;
use crate::program::ThreadProgram;

/// The most operations of one turn.
const TURN_MAX: usize = 1_000;

/// Lets threads spin so often. Returns whether one of them does something that is no spinning.
pub(super) fn gives_up<P: ThreadProgram + ?Sized>(
    graph: &Graph,
    threads: &[u32],
    known: &mut Behaviours<'_, P>,
    states: &mut States,
    spins_max: u32,
) -> Result<bool, Incomplete> {
    let mut copy = Graph::default();
    copy.become_part(graph, |_, _| true);
    for thread in threads.iter().copied().cycle().take(spins_max as usize) {
        for count in 0.. {
            let Some(node) = place(&copy, thread, known, states)? else { break };
            let op = &known.next(node).op;
            let result = match &op.act {
                // Its turn begins, or is over.
                Act::Await(_) if count == 0 => Some(0),
                Act::Await(_) => break,
                Act::Fence(_) => Some(0),
                Act::Store(..) | Act::Alter(_) | Act::Spawn(_) | Act::Fail(_) | Act::Exit(_) => {
                    None
                }
                act => {
                    let object = op.object.0;
                    let last = copy.order(object).last().and_then(|id| copy.written(*id));
                    let value = last.unwrap_or_else(|| states.initial(object));
                    let at = (node, 0);
                    Reading { thread, act, at, object }.idle(value, states)
                }
            };
            let Some(result) = result.filter(|_| count < TURN_MAX) else {
                return Ok(true);
            };
            copy.push(Event { result, ..Event::local(thread, node) });
        }
    }
    Ok(false)
}
