//! Threads that spin where nothing else can go on.

use crate::execution::{Execution, Step};
use crate::op::Act;
use crate::program::ThreadProgram;
use crate::spinning::LongLoop;

/// Lets threads that spin take turns until they have had as many in vain as allowed. If they do
/// something else, they stop there, and one of the loops is returned.
pub(super) fn spins_in_vain<P: ThreadProgram + ?Sized>(
    execution: &mut Execution<'_, P>,
    ready: &mut Vec<Step>,
    spins_max: u32,
) -> Option<LongLoop> {
    let spins = |act: &Act| matches!(act, Act::Await(_));
    let first = execution.pending().find(|pending| spins(&pending.1.op.act));
    let (thread, site) = first.map(|(thread, next)| (thread, next.site))?;
    let long = LongLoop { thread, site, before: site, turns: spins_max };
    while let Some(step) = ready.first().copied() {
        if ready.len() > 1 {
            return Some(long);
        }
        let result = execution.perform(step)?;
        let event = execution.events().last()?;
        if event.op.act.changes(result) {
            return Some(long);
        }
        execution.ready(ready);
    }
    None
}
