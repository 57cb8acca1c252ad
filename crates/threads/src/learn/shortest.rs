//! The way to a fault with the fewest switches between threads, and of these the shortest, among
//! all executions of what is known.

use super::behaviour::Behaviours;
use super::outcome::{Blocked, Fault};
use super::sabotage::Sabotage;
use super::state::{State, Successor};
use crate::execution::Step;
use crate::ids::ThreadId;
use crate::op::Act;
use crate::races::{Race, Slots};
use anyorder_common::cancel::Cancel;
use anyorder_common::hash::Hash128;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// A state on the way, with the thread that ran last.
struct Place {
    state: State,
    last: Option<ThreadId>,
    /// The place before, and the step from there.
    from: Option<(usize, Step)>,
    switches: u32,
    length: u32,
    /// Whether the last step shows the fault.
    shows: bool,
}

/// Finds the way. `None` if none of at most `places_max` places shows the fault.
///
/// A breadth-first search over states and last threads, in which steps of the same thread cost
/// nothing and each switch costs one. Takes time and memory linear in the places.
pub(super) fn shortest(
    known: &Behaviours,
    fault: &Fault,
    (spins_max, places_max, cancel): (u32, usize, &Cancel),
) -> Option<Vec<Step>> {
    let mut slots = Slots::default();
    let start = State::start(known, Sabotage::None)?;
    let first =
        Place { state: start, last: None, from: None, switches: 0, length: 0, shows: false };
    let mut places = vec![first];
    let mut todo = VecDeque::from([0_usize]);
    let mut best: FxHashMap<(Hash128, Option<ThreadId>), (u32, u32)> = FxHashMap::default();
    let mut ways = Vec::new();
    while let Some(at) = todo.pop_front() {
        let place = &places[at];
        if place.shows {
            return Some(path(&places, at));
        }
        let key = (place.state.key(known, &slots, true, Sabotage::None), place.last);
        let cost = (place.switches, place.length);
        if best.get(&key).is_some_and(|best| *best <= cost) {
            continue;
        }
        best.insert(key, cost);
        if places.len() > places_max || (best.len().is_multiple_of(1024) && cancel.check().is_err())
        {
            return None;
        }
        place.state.ways(known, spins_max, &mut ways);
        if ways.iter().all(|ways| *ways == 0) {
            if is_stuck_as(&place.state, known, fault) {
                return Some(path(&places, at));
            }
            continue;
        }
        for (position, ways) in ways.iter().enumerate() {
            let (thread, node) = places[at].state.live[position];
            for step in (0..*ways).map(|alternative| Step { thread, alternative }) {
                let state = places[at].state.clone();
                let after = state.after(step, known, &mut slots, false);
                // Of a search that was cut, not all is known.
                let Successor::Known(state, races) = after else { continue };
                let shows = match fault {
                    Fault::Failure(number) => known.op(node).act == Act::Fail(*number),
                    Fault::Race(race) => races.iter().any(|other| is_same(race, other)),
                    _ => false,
                };
                let place = &places[at];
                let switches = place.last.is_some_and(|last| last != thread);
                let next = Place {
                    state,
                    last: Some(thread),
                    from: Some((at, step)),
                    switches: place.switches + u32::from(switches),
                    length: place.length + 1,
                    shows,
                };
                places.push(next);
                let number = places.len() - 1;
                if switches { todo.push_back(number) } else { todo.push_front(number) }
            }
        }
    }
    None
}

/// Whether two races are one, whichever access came first.
fn is_same(race: &Race, other: &Race) -> bool {
    race.object == other.object
        && ((race.first, race.second) == (other.first, other.second)
            || (race.first, race.second) == (other.second, other.first))
}

/// Whether a state in which nothing can go on is that of the fault.
fn is_stuck_as(state: &State, known: &Behaviours, fault: &Fault) -> bool {
    let (Fault::Deadlock(blocked) | Fault::Livelock(blocked)) = fault else { return false };
    let is_at = |(live, blocked): (&(ThreadId, _), &Blocked)| {
        live.0 == blocked.thread
            && *known.op(live.1) == blocked.op
            && known.node(live.1).site == blocked.site
    };
    state.live.len() == blocked.len() && state.live.iter().zip(blocked).all(is_at)
}

fn path(places: &[Place], mut at: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    while let Some((before, step)) = places[at].from {
        steps.push(step);
        at = before;
    }
    steps.reverse();
    steps
}
