//! Threads that wait at a barrier, as members of a deadlock.
//!
//! A thread stands before its event of a regular barrier until all who take part in the round have
//! arrived. It waits for a thread that has an *arrival* of the round: the event before its own
//! event of the round, or the fork of a thread whose first event that is. A thread has to arrive at
//! a barrier as long as its last arrival there has not come: that is for cycles what a held lock is
//! for the request of a lock. Whether it has to arrive in that round is a matter of the events.
//!
//! **Cost.** Linear in the arrivals, and a logarithm for each question.

use super::sabotage::Sabotage;
use crate::confirm::past::Past;
use anyorder_system::Cancel;
use std::collections::{BTreeMap, HashMap};

/// Who has yet to arrive where.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrivals {
    /// By number: the barrier.
    barriers: Vec<u32>,
    /// By number and chain: the arrivals, ascending, each with its round. Rounds ascend as well.
    of: BTreeMap<(u32, u32), Vec<(u32, u32)>>,
    /// By chain: its last arrival at each barrier, the latest first.
    last: HashMap<u32, Vec<(u32, u32)>>,
    sabotage: Sabotage,
}

impl Arrivals {
    /// Finds the arrivals of a trace; not all once the job is stopped.
    pub(super) fn new(past: &Past<'_>, cancel: &Cancel, sabotage: Sabotage) -> Arrivals {
        let mut arrivals = Arrivals { sabotage, ..Arrivals::default() };
        if sabotage == Sabotage::BarriersForgotten {
            return arrivals;
        }
        let mut numbers: BTreeMap<u32, u32> = BTreeMap::new();
        for (round, (barrier, events)) in (0_u32..).zip(&past.barriers.rounds) {
            if round.is_multiple_of(1 << 8) && cancel.reason().is_some() {
                break;
            }
            let next = numbers.len() as u32;
            let number = *numbers.entry(*barrier).or_insert(next);
            if number == next {
                arrivals.barriers.push(*barrier);
            }
            for event in events {
                let list = arrivals.of.entry((number, past.chain[*event as usize])).or_default();
                list.push((*event, round));
            }
        }
        for ((number, chain), list) in &mut arrivals.of {
            list.sort_unstable();
            let last = list.last().map_or(0, |(event, _)| *event);
            arrivals.last.entry(*chain).or_default().push((last, *number));
        }
        arrivals.last.values_mut().for_each(|of| of.sort_unstable_by(|a, b| b.cmp(a)));
        arrivals
    }

    /// Returns the number of barriers.
    pub(super) fn len(&self) -> usize {
        self.barriers.len()
    }

    /// Returns a barrier by its number.
    pub(super) fn barrier(&self, number: u32) -> Option<u32> {
        self.barriers.get(number as usize).copied()
    }

    /// Returns the barriers at which a chain has yet to arrive at an event.
    pub(super) fn ahead(&self, chain: u32, event: u32) -> impl Iterator<Item = u32> + '_ {
        let last = self.last.get(&chain).map_or(&[][..], Vec::as_slice);
        last.iter().take_while(move |(last, _)| *last >= event).map(|(_, number)| *number)
    }

    /// Returns the first round of a barrier, from a round on, in which a chain has yet to arrive if
    /// its events before `top` have come.
    pub(super) fn late(&self, number: u32, (chain, top): (u32, u32), round: u32) -> Option<u32> {
        let list = self.of.get(&(number, chain)).map_or(&[][..], Vec::as_slice);
        if self.sabotage == Sabotage::AnyRound {
            return list.last().map(|_| round);
        }
        let rest = &list[list.partition_point(|(event, _)| *event < top)..];
        rest.get(rest.partition_point(|(_, of)| *of < round)).map(|(_, round)| *round)
    }
}
