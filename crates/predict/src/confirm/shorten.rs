//! The shortest witness.
//!
//! Take a subset of a witness's events. Suppose that the witness ends no section that the subset
//! leaves open, and takes nothing more. Then the subset alone is a witness: the omitted events hide
//! nothing and hold nothing. So every witness that extends a set without a witness of its own
//! contains the end of one of its open sections, or the taker of something in it. The search tries
//! sets by size, the smallest first.

use super::answer::Witness;
use super::attempt::{AttemptInput, End, OutsideEvents};
use super::blocking::first_missing;
use super::chains::NONE;
use super::past::Past;
use super::question::Question;
use super::reach::Reach;
use super::replay::Replay;
use super::window::Window;
use anyorder_system::Cancel;
use anyorder_trace::EventId;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// The most events in all sets together. Also the most sets to try.
const EVENTS_MAX: u64 = 1 << 16;
const SETS_MAX: usize = 64;
/// The most conflicts.
const CONFLICTS_MAX: u64 = 1_000;

/// Searches for a shorter witness, or proves that there is none. Leaves the witness unchanged if
/// the search exceeds its limits, or what is `left` of events for all witnesses.
pub(super) fn shorten(
    past: &Past<'_>,
    question: &Question,
    replay: &mut Replay,
    witness: &mut Witness,
    (left, cancel): (&mut u64, &Cancel),
) {
    if witness.prefix > 0 || witness.shortest || *left == 0 {
        return;
    }
    let mut window = Window::default();
    window.bound(0, past.chain.len() as u32);
    let best = witness.order.len() - question.ending().len();
    let mut queue: BinaryHeap<Reverse<(usize, Vec<u32>)>> = BinaryHeap::new();
    queue.push(Reverse((0, Vec::new())));
    let mut known: BTreeSet<Vec<u32>> = BTreeSet::new();
    let mut set = Reach::default();
    let (mut events, mut conflicts) = (0, CONFLICTS_MAX);
    let mut tried = 0;
    while let Some(Reverse((size, added))) = queue.pop() {
        if size >= best {
            witness.shortest = true;
            return;
        }
        if cancel.reason().is_some() {
            return;
        }
        if set.require(past, question, 0, &added).is_err() {
            continue;
        }
        if set.events.len() > size {
            // The size is only known here.
            if known.insert(set.lasts()) {
                queue.push(Reverse((set.events.len(), added)));
            }
            continue;
        }
        events += set.events.len() as u64;
        *left = left.saturating_sub(set.events.len() as u64);
        tried += 1;
        if events > EVENTS_MAX || tried > SETS_MAX {
            return;
        }
        let input = AttemptInput {
            past,
            question,
            window: &window,
            required: &set,
            optional: &set,
            outside: OutsideEvents::Fixed,
        };
        let (order, broken) = input.replay(replay);
        let end = match broken.is_empty() {
            true => End::Found(order),
            false => input.attempt(broken, replay, &mut conflicts, cancel),
        };
        match end {
            End::Found(order) => {
                let whole = order.into_iter().chain(question.ending().iter().copied());
                witness.order = whole.map(EventId).collect();
                witness.shortest = true;
                return;
            }
            End::None => {}
            _ => return,
        }
        for next in helpful(past, question, &set) {
            let mut more = added.clone();
            more.push(next);
            more.sort_unstable();
            queue.push(Reverse((size + 1, more)));
        }
    }
    // All sets except the witness's own were refuted.
    witness.shortest = true;
}

/// Returns the events that a refuted set may lack: ends of its sections, and events that its events
/// wait for.
fn helpful(past: &Past<'_>, question: &Question, set: &Reach) -> Vec<u32> {
    let ends = set.begun.iter().map(|s| past.holding.sections[*s as usize].release);
    let takers = set.events.iter().flat_map(|event| past.takers(*event));
    let opened = question.tail.iter().flat_map(|event| past.openings.opened(*event));
    let waiting = set.events.iter().chain(&question.tail);
    let call_rules = waiting.flat_map(|event| past.blocking.call_rules(*event, true));
    let helpers = call_rules.flat_map(|call_rule| past.blocking.helpers(call_rule));
    let helpers = helpers.map(|of| first_missing(of, |event| set.has(past, event)));
    let takers_of = question.full.iter().flat_map(|(rule, _)| past.blocking.takers(rule));
    let takers_of = takers_of.map(|of| first_missing(of, |event| set.has(past, event)));
    let is_new = |next: &u32| *next != NONE && !set.has(past, *next);
    let all = ends.chain(takers).chain(opened).chain(helpers).chain(takers_of);
    all.filter(|next| is_new(next) && !question.is_behind(past, *next)).collect()
}
