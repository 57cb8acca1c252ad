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
        let mut short = kept.events.clone();
        short.sort_unstable_by_key(|event| of(*event));
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
