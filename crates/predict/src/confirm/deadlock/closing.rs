//! What closures do about permits of semaphores.
//!
//! A call that gives a permit for which a request waits must come unless it needs a request or is
//! kept (`permits.rs`): the next such call of a thread is added, and the thread goes on. What must
//! come only grows, so this is a closure like that of sections. At the end no permit may be left.
//! Which call takes one that is left is a choice: here it is the first one of the trace that can.
//! If that leads nowhere, the choice is left to the solver.

use super::closure::{Choice, Closed, Closures, is_signal, locks};
use super::permits::Gone;
use super::requests::Class;
use super::sabotage::Sabotage;
use super::signals::Signals;
use crate::confirm::blocking::{CallRule, CounterId};
use crate::confirm::past::Past;
use std::collections::BTreeMap;

/// What nobody gets any more, and the chains that this is about.
pub(super) struct Stuck {
    gone: Gone,
    /// The chains with calls of the awaited semaphores, without those of the cycle.
    others: Vec<u32>,
}

impl Stuck {
    pub(super) fn new(
        past: &Past<'_>,
        signals: &Signals,
        (choice, classes): (&Choice<'_>, &[&Class]),
        sabotage: Sabotage,
    ) -> Stuck {
        let waiting =
            choice.iter().zip(classes).filter(|(_, class)| is_signal((past, signals), class));
        let firsts: Vec<u32> = waiting.filter_map(|((_, list), _)| list.first().copied()).collect();
        let semaphores = signals.awaited(&firsts, &vec![true; firsts.len()]);
        let mut others = signals.callers(&semaphores);
        others.retain(|chain| choice.iter().all(|(member, _)| member != chain));
        Stuck { gone: Gone { semaphores, locks: locks(past, classes, sabotage) }, others }
    }
}

impl Closures {
    /// Adds the calls that give permits to the requests and that their threads can come to. Returns
    /// whether there were some.
    pub(super) fn add_given(
        &self,
        past: &Past<'_>,
        (choice, stuck): (&Choice<'_>, &Stuck),
        closed: &mut Closed,
    ) -> bool {
        if stuck.gone.semaphores.is_empty() || self.sabotage == Sabotage::PermitsGiven {
            return false;
        }
        let chosen = choice.iter().zip(&closed.chosen);
        let requests: Vec<u32> =
            chosen.filter_map(|((_, list), at)| list.get(*at).copied()).collect();
        let mut has_grown = false;
        self.work.set(self.work.get() + stuck.others.len() as u64);
        for chain in &stuck.others {
            let of = (&stuck.gone, &requests[..]);
            let top = (*chain, closed.tops[*chain as usize]);
            if let Some(given) = self.signals.gives_next(past, of, top) {
                self.add(past, given, &mut closed.tops);
                has_grown = true;
            }
        }
        has_grown
    }

    /// Lets the next call that takes a permit come where one is left at the end: the first one of
    /// the trace that can. Returns whether one was left; `None` if no call can take it.
    pub(super) fn take_permits(
        &self,
        past: &Past<'_>,
        (choice, stuck): (&Choice<'_>, &Stuck),
        closed: &mut Closed,
    ) -> Option<bool> {
        let chosen = choice.iter().zip(&closed.chosen);
        let requests: Vec<u32> =
            chosen.filter_map(|((_, list), at)| list.get(*at).copied()).collect();
        for number in &stuck.gone.semaphores {
            let chains = self.signals.permits.chains(*number);
            let Some(rule) = self.signals.rule(*number) else { continue };
            self.work.set(self.work.get() + chains.len() as u64);
            let come = |calls: &[u32]| {
                let top = calls
                    .first()
                    .map_or(0, |first| closed.tops[past.chain[*first as usize] as usize]);
                calls.partition_point(|call| *call < top) as i64
            };
            if !rule.holds(|counter| past.blocking.chains(counter).map(come).sum()) {
                continue;
            }
            // The call, and the list that goes on to its next request.
            let takers = chains.iter().filter_map(|of| {
                let call = of.next_take(closed.tops[of.chain as usize])?;
                let clock = (call.event, call.row);
                let own = choice.iter().position(|(chain, _)| *chain == of.chain);
                let can_come = match own {
                    Some(own) => choice[own].1.last().is_some_and(|last| *last > call.event),
                    None => !self.signals.needs(past, (of.chain, clock), &requests),
                };
                can_come.then_some((call.event, own))
            });
            match takers.min()? {
                (call, None) => self.add(past, call, &mut closed.tops),
                (call, Some(own)) => {
                    let at = &mut closed.chosen[own];
                    *at += choice[own].1[*at..].partition_point(|request| *request <= call);
                }
            }
            return Some(true);
        }
        Some(false)
    }

    /// Returns calls that give what calls lack which waited too long in the order of the trace: all
    /// that came before the last of these. Without those that have come.
    pub(super) fn lacking(past: &Past<'_>, waiting: &[u32], tops: &[u32]) -> Vec<u32> {
        let mut last: BTreeMap<CounterId, u32> = BTreeMap::new();
        for call in waiting {
            for counter in past.blocking.call_rules(*call, true).flat_map(CallRule::helpers) {
                let last = last.entry(counter).or_default();
                *last = (*call).max(*last);
            }
        }
        let of_chains = |(counter, call): (CounterId, u32)| {
            let before = move |calls: &[u32]| {
                let before = calls.partition_point(|other| *other < call);
                before.checked_sub(1).map(|at| calls[at])
            };
            past.blocking.chains(counter).filter_map(before)
        };
        let given = last.into_iter().flat_map(of_chains);
        given.filter(|call| *call >= tops[past.chain[*call as usize] as usize]).collect()
    }
}
