//! What kinds of models there were: the engine was wrong where none was like this.

use crate::robust_brute::ast::{Model, Order};
use crate::robust_brute::code::Op;
use crate::robust_brute::states::Outcome;
use crate::robust_brute::truth::Truth;

/// All kinds.
pub(crate) const ALL: [&str; 20] = [
    "init posts",
    "an event may happen again",
    "outcomes beyond the repeats",
    "a task posts",
    "several handlers",
    "a delayed handler",
    "a failure",
    "a failure by concurrency",
    "a deadlock",
    "a deadlock by concurrency",
    "a serial run gets stuck",
    "no serial run ends",
    "states without end",
    "an outcome of memory by concurrency",
    "only some events are deterministic",
    "init is not deterministic",
    "only the start order is violated",
    "a violation without another outcome",
    "another outcome without a violation",
    "a task is cancelled",
];

/// Returns the kinds of a model.
pub(crate) fn of(model: &Model, truth: &Truth) -> Vec<&'static str> {
    let program = &truth.program;
    let posts = |ops: &[Op]| ops.iter().any(|op| matches!(op, Op::Post { .. }));
    let (concurrent, serial) = (&truth.concurrent, &truth.serial);
    let known = concurrent.complete && serial.complete;
    let new = || concurrent.all.difference(&serial.all);
    let answers = || truth.deterministic.values();
    let violated = [truth.all_deterministic(), truth.orders.start_order];
    let all = [
        posts(&program.init.ops),
        model.events.iter().any(|event| !event.once),
        concurrent.more,
        program.codes.iter().any(|body| posts(&body.ops)),
        model.handlers.len() > 1,
        model.handlers.iter().any(|handler| handler.order == Order::Delayed),
        concurrent.all.iter().any(|one| matches!(one, Outcome::Failure(_))),
        known && new().any(|one| matches!(one, Outcome::Failure(_))),
        !concurrent.stuck.is_empty(),
        known && truth.has_added_deadlock(),
        !serial.stuck.is_empty(),
        truth.has_no_end(),
        !concurrent.complete,
        known && new().any(|one| matches!(one, Outcome::Memory(_))),
        answers().any(|one| *one == Some(true)) && answers().any(|one| *one == Some(false)),
        truth.deterministic["init"] == Some(false),
        truth.orders.serializable == Some(true) && truth.orders.start_order == Some(false),
        truth.robust() == Some(true) && violated.contains(&Some(false)),
        truth.robust() == Some(false) && violated == [Some(true); 2],
        concurrent.cancelled,
    ];
    ALL.iter().zip(all).filter(|(_, has)| *has).map(|(name, _)| *name).collect()
}
