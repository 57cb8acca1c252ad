//! Sleep sets: tasks that need not run next, because sequences that begin with them are covered
//! elsewhere. A task leaves the set once a step depends on it.

use super::step::ExecutedStep;
use std::sync::Arc;

/// Removes from a sleep set the tasks that depend on an executed step.
pub(crate) fn wake(asleep: &mut Vec<Arc<ExecutedStep>>, done: &ExecutedStep) {
    asleep.retain(|sleeping| !depends(sleeping, done));
}

/// Returns whether the order of two tasks, both enabled before either ran, may matter.
pub(crate) fn depends(a: &ExecutedStep, b: &ExecutedStep) -> bool {
    let (mut left, mut right) = (a.footprint.iter().peekable(), b.footprint.iter().peekable());
    while let (Some((x, mode)), Some((y, other))) = (left.peek(), right.peek()) {
        match x.cmp(y) {
            std::cmp::Ordering::Less => drop(left.next()),
            std::cmp::Ordering::Greater => drop(right.next()),
            std::cmp::Ordering::Equal if !mode.commutes_with(*other) => return true,
            std::cmp::Ordering::Equal => drop((left.next(), right.next())),
        }
    }
    let touches = |one: &ExecutedStep, other: &ExecutedStep| {
        one.cancelled.contains(&other.base)
            || one.posted.iter().any(|(task, _)| *task == other.base)
            || one.enabled_change.as_ref().is_some_and(|change| {
                change.closed.contains(&other.base) || change.enables.contains(&other.base)
            })
    };
    a.base == b.base || touches(a, b) || touches(b, a)
}
