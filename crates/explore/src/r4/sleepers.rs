//! Sleep sets: tasks that need not come next, as what they begin is seen to elsewhere, until
//! something happens that depends on them.

use super::step::Done;
use std::sync::Arc;

/// Takes out of a sleep set what depends on a step just made.
pub(crate) fn wake(asleep: &mut Vec<Arc<Done>>, done: &Done) {
    asleep.retain(|sleeper| !depends(sleeper, done));
}

/// Returns whether the order of two tasks, both enabled before either ran, may make a difference.
pub(crate) fn depends(a: &Done, b: &Done) -> bool {
    let (mut left, mut right) = (a.footprint.iter().peekable(), b.footprint.iter().peekable());
    while let (Some((x, mode)), Some((y, other))) = (left.peek(), right.peek()) {
        match x.cmp(y) {
            std::cmp::Ordering::Less => drop(left.next()),
            std::cmp::Ordering::Greater => drop(right.next()),
            std::cmp::Ordering::Equal if !mode.commutes_with(*other) => return true,
            std::cmp::Ordering::Equal => {
                left.next();
                right.next();
            }
        }
    }
    let touches = |one: &Done, other: &Done| {
        one.cancelled.contains(&other.base)
            || one.posted.iter().any(|(task, _)| *task == other.base)
            || one.flips.as_ref().is_some_and(|flips| {
                flips.closed.contains(&other.base) || flips.opened.contains(&other.base)
            })
    };
    a.base == b.base || touches(a, b) || touches(b, a)
}
