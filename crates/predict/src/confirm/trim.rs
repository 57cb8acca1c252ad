//! Removes unnecessary events from a witness.

use super::answer::{Together, Witness};
use super::chains::NONE;
use super::clause::Atom;
use super::past::Past;
use super::question::Question;
use super::reach::Reach;
use super::replay::Replay;
use anyorder_system::Cancel;
use anyorder_trace::EventId;
use std::ops::Range;

/// Returns the events of a set in the order of a sequence that contains them: the events `before`,
/// then an order. `place` gives the
/// place of an event in it. Sorts them where they are few, else goes through the sequence.
fn in_order(
    past: &Past<'_>,
    set: &Reach,
    (order, before): (&[u32], Range<u32>),
    place: &impl Fn(u32) -> Option<u32>,
) -> Vec<u32> {
    if set.events.len().saturating_mul(FEW) < order.len() + before.len() {
        let mut events = set.events.clone();
        events.sort_unstable_by_key(|event| place(*event));
        return events;
    }
    let events: Vec<u32> =
        before.chain(order.iter().copied()).filter(|event| set.has(past, *event)).collect();
    debug_assert_eq!(events.len(), set.events.len(), "the sequence contains the set");
    events
}

/// So many times as long, a sequence is longer to go through than a part of it to sort.
const FEW: usize = 16;

/// Builds a witness from an order (without the tail) of events from `start` on. Starts with the
/// events that every witness needs, and adds those that the order needs: ends of sections, and
/// takers. If the window begins after `prefix_max`, all events before it stay. Once the job is
/// stopped, returns the whole order.
pub(super) fn trim(
    past: &Past<'_>,
    replay: &mut Replay,
    question: &Question,
    (start, order): (u32, Vec<u32>),
    (prefix_max, cancel): (u32, &Cancel),
) -> Witness {
    let prefix = if start > prefix_max { start } else { 0 };
    let witness = |prefix, mut order: Vec<u32>, shortest| {
        order.extend(question.ending());
        let order = order.into_iter().map(EventId).collect();
        Witness {
            form: question.form,
            order,
            prefix,
            shortest,
            waits: false,
            together: Together::Undecided,
        }
    };
    let last = order.iter().max().copied().unwrap_or(start).max(question.second);
    let mut place = vec![NONE; (last - prefix) as usize + 1];
    for (at, event) in (prefix..start).chain(order.iter().copied()).enumerate() {
        place[(event - prefix) as usize] = at as u32;
    }
    let of = |event: u32| {
        let at = event.checked_sub(prefix)?;
        place.get(at as usize).copied().filter(|at| *at != NONE)
    };
    let mut kept = Reach::default();
    if kept.require(past, question, prefix, &[]).is_err() {
        debug_assert!(false, "a witness holds what is needed");
        return witness(start, order, false);
    }
    let needed = kept.events.len();
    loop {
        let short = in_order(past, &kept, (&order, prefix..start), &of);
        replay.stats.events += short.len() as u64;
        let broken = replay.run(past, question, prefix, &short);
        if broken.is_empty() {
            return witness(prefix, short, prefix == 0 && kept.events.len() == needed);
        }
        let before = kept.events.len();
        if cancel.reason().is_some() {
            return witness(start, order, false);
        }
        for atom in broken.iter().flatten() {
            if let Atom::Before(first, second) = atom
                && *first != NONE
                && let Some(at) = of(*first)
                && (question.tail.contains(second) || of(*second).is_none_or(|then| at < then))
            {
                let _ = kept.add(past, question, *first);
            }
        }
        if kept.events.len() == before {
            debug_assert!(false, "a part of a witness is one");
            return witness(start, order, false);
        }
    }
}
