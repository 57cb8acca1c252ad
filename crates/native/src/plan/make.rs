//! From a witness to a plan.

use super::file::{HOLDS_MAX, Plan, Role};
use super::holds::{Goal, GoalEnd, Moment, goal_holds, holds};
use super::names::{Name, Operations};
use anyorder_trace::{EventId, EventKind, Trace};

/// Why there is no plan for a witness.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoPlan {
    /// It is too long.
    #[error("the way there is too long for a second run")]
    TooLong,
    /// One of its actions has no name that a second run knows.
    #[error("one of the two actions has no place in the code at which its thread can be held")]
    NoName,
}

/// A plan, with the places of the goal's events in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Planned {
    /// The plan.
    pub plan: Plan,
    /// The events that the goal is about, and how far a run has to come with each.
    pub goal: Vec<(u32, Moment)>,
}

/// The time that a program waits before its exit for the first action, in milliseconds.
const EXIT_DELAY_MS: u32 = 500;

/// How close a plan keeps to its witness.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Closeness {
    /// All conflicts of its reordered part are in its order.
    Whole,
    /// Only the goal is.
    Goal,
    /// The same, for an earlier time at which the thread of the first action was at its place: it
    /// may come there less often in another run.
    Earlier,
}

impl Closeness {
    /// All of them, the closest first.
    pub const ALL: [Closeness; 3] = [Closeness::Whole, Closeness::Goal, Closeness::Earlier];
}

/// Makes a plan of a witness.
///
/// # Errors
///
/// Fails if the witness is too long, or the goal's events have no names.
pub fn plan(
    trace: &Trace,
    operations: &Operations<'_>,
    goal: &Goal<'_>,
    closeness: Closeness,
) -> Result<Planned, NoPlan> {
    let operation = |event| operations.operation(event);
    let all = match closeness {
        Closeness::Whole => {
            holds(trace, goal, &operation, HOLDS_MAX).map_err(|_| NoPlan::TooLong)?
        }
        _ => goal_holds(trace, goal, &operation),
    };
    let moved = match goal.end {
        GoalEnd::Reversed { first, .. } if closeness == Closeness::Earlier => {
            Some(trace.handler_of(first))
        }
        _ => None,
    };
    let name = |event: EventId| {
        let name = operations.name(event)?;
        let is_moved = moved == Some(trace.handler_of(event));
        Some(Name { number: if is_moved { name.number / 2 } else { name.number }, ..name })
    };
    let mut plan = Plan::default();
    plan.exit_delay_ms = EXIT_DELAY_MS;
    let of_goal: Vec<(EventId, Role)> = match goal.end {
        GoalEnd::Reversed { first, second } | GoalEnd::Together { first, second } => {
            let ends = matches!(trace.event(second).kind(), EventKind::Free | EventKind::Destroy);
            vec![(first, Role::First), (second, if ends { Role::Ends } else { Role::Second })]
        }
        GoalEnd::Deadlock(requests) => {
            requests.iter().map(|request| (*request, Role::Plain)).collect()
        }
    };
    let mut planned = Vec::with_capacity(of_goal.len());
    for (event, role) in of_goal {
        let operation = operations.operation(event).ok_or(NoPlan::NoName)?;
        let name = name(event).ok_or(NoPlan::NoName)?;
        // The first action only has to be reached once the second one has happened: it may crash.
        let needed = match goal.end {
            GoalEnd::Reversed { second, .. } if event == second => operation.moment,
            _ => Moment::Reached,
        };
        planned.push((plan.event(name, role), needed));
    }
    for hold in all {
        let names = (name(hold.event), name(hold.other));
        let (Some(event), Some(other)) = names else { continue };
        let (event, other) = (plan.event(event, Role::Plain), plan.event(other, Role::Plain));
        let hold = (event, other, hold.until);
        if event != other && !plan.holds.contains(&hold) {
            plan.holds.push(hold);
        }
    }
    if plan.fits() { Ok(Planned { plan, goal: planned }) } else { Err(NoPlan::TooLong) }
}
