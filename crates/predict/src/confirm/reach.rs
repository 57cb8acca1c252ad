//! Sets of events that are closed under required predecessors.

use super::answer::Form;
use super::blocking::{CallRule, CounterId};
use super::chains::NONE;
use super::holding::SectionId;
use super::past::Past;
use super::question::Question;
use anyorder_system::Cancel;
use std::collections::HashSet;

/// A set of events from a position on. In each chain, it contains all events up to one.
#[derive(Clone, Debug, Default)]
pub(super) struct Reach {
    /// The last event in each chain; `NONE` if there is none.
    last: Vec<u32>,
    /// The chains that have events, in insertion order.
    pub(super) chains: Vec<u32>,
    pub(super) events: Vec<u32>,
    /// The sections that are begun.
    pub(super) begun: Vec<SectionId>,
    start: u32,
    todo: Vec<u32>,
}

/// The reason why an event cannot be in the set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Excluded {
    /// It comes after the witness.
    Tail,
    /// It depends on a barrier with unknown arrivals.
    Barrier,
}

impl Reach {
    /// Empties the set, which will then contain events from `start` on.
    pub(super) fn clear(&mut self, past: &Past<'_>, start: u32) {
        for chain in self.chains.drain(..) {
            self.last[chain as usize] = NONE;
        }
        self.last.resize(past.chains, NONE);
        self.events.clear();
        self.begun.clear();
        self.start = start;
    }

    /// Becomes equal to another set.
    pub(super) fn copy_from(&mut self, past: &Past<'_>, other: &Reach) {
        self.clear(past, other.start);
        for chain in &other.chains {
            self.last[*chain as usize] = other.last[*chain as usize];
        }
        self.chains.clone_from(&other.chains);
        self.events.clone_from(&other.events);
        self.begun.clone_from(&other.begun);
    }

    /// Returns whether the set contains an event.
    #[inline]
    pub(super) fn has(&self, past: &Past<'_>, event: u32) -> bool {
        let last = self.last[past.chain[event as usize] as usize];
        last != NONE && event <= last && event >= self.start
    }

    /// Returns the last event in a chain.
    pub(super) fn last(&self, chain: u32) -> u32 {
        self.last[chain as usize]
    }

    /// Returns the last events in all chains, ascending. They identify the set.
    pub(super) fn lasts(&self) -> Vec<u32> {
        let mut lasts: Vec<u32> = self.chains.iter().map(|chain| self.last(*chain)).collect();
        lasts.sort_unstable();
        lasts
    }

    /// Adds an event and all its required predecessors.
    pub(super) fn add(
        &mut self,
        past: &Past<'_>,
        question: &Question,
        event: u32,
    ) -> Result<(), Excluded> {
        self.todo.clear();
        self.todo.push(event);
        while let Some(event) = self.todo.pop() {
            if event < self.start || self.has(past, event) {
                continue;
            }
            if question.is_behind(past, event) {
                return Err(Excluded::Tail);
            }
            if past.is_doubtful(event) {
                return Err(Excluded::Barrier);
            }
            let chain = past.chain[event as usize] as usize;
            let known = self.last[chain];
            if known == NONE {
                self.chains.push(chain as u32);
            }
            self.last[chain] = event;
            let mut at = event;
            while at != known && at != NONE && at >= self.start {
                self.events.push(at);
                self.begun.extend(past.holding.begun(at));
                for before in past.causes.row(at).iter().chain(past.observes.row(at)) {
                    if *before >= self.start {
                        self.todo.push(*before);
                    }
                }
                at = past.previous[at as usize];
            }
        }
        Ok(())
    }

    /// Adds the predecessors of an event, but not the event itself. Adds its observations only on
    /// request.
    pub(super) fn add_before(
        &mut self,
        past: &Past<'_>,
        question: &Question,
        event: u32,
        observed: bool,
    ) -> Result<(), Excluded> {
        let previous = past.previous[event as usize];
        if previous != NONE {
            self.add(past, question, previous)?;
        }
        let mut causes = past.causes.row(event).iter();
        match question.form {
            // A request need not be granted.
            Form::Deadlock => {
                let mut causes = causes.filter(|cause| past.is_before_request(event, **cause));
                causes.try_for_each(|cause| self.add(past, question, *cause))?;
            }
            _ => causes.try_for_each(|cause| self.add(past, question, *cause))?,
        }
        if observed {
            past.observes.row(event).iter().try_for_each(|e| self.add(past, question, *e))?;
        }
        Ok(())
    }

    /// Fills the set, from `start` on, with the events that every witness containing `more` has,
    /// without the tail. Fails if there is no such witness.
    pub(super) fn require(
        &mut self,
        past: &Past<'_>,
        question: &Question,
        start: u32,
        more: &[u32],
    ) -> Result<(), Excluded> {
        self.clear(past, start);
        if !question.holds_together(past) {
            return Err(Excluded::Tail);
        }
        for last in &question.tail {
            if past.is_unknown(*last) {
                return Err(Excluded::Barrier);
            }
            self.add_before(past, question, *last, question.requires_communication(*last))?;
        }
        question.needs.iter().try_for_each(|event| self.add(past, question, *event))?;
        more.iter().try_for_each(|event| self.add(past, question, *event))?;
        let mut next = 0;
        while let Some(section) = self.begun.get(next) {
            next += 1;
            let is_held = question.holds(past, *section);
            let section = &past.holding.sections[*section as usize];
            // The sections held at the end have already been compared with one another.
            if !is_held && question.keepers(past, section).next().is_some() {
                if section.release == NONE {
                    return Err(Excluded::Tail);
                }
                self.add(past, question, section.release)?;
            }
        }
        Ok(())
    }

    /// Adds the end of each begun section and the taker of each taken event, as far as `allowed`
    /// permits.
    pub(super) fn complete(
        &mut self,
        past: &Past<'_>,
        question: &Question,
        cancel: &Cancel,
        allowed: &dyn Fn(u32) -> bool,
    ) {
        let mut open_before: Vec<SectionId> = past.holding.open_at(self.start).to_vec();
        let (mut next, mut next_event) = (0, 0);
        let mut done = HashSet::new();
        // Of a semaphore of which nothing may be left: all that take a permit.
        for takers in question.full.iter().flat_map(|(rule, _)| past.blocking.takers(rule)) {
            if let Some(last) = takers.iter().rfind(|taker| allowed(**taker)) {
                let _ = self.add(past, question, *last);
            }
        }
        for last in &question.tail {
            self.add_helpers(past, question, *last, &mut done, allowed);
            // What opens it may have to come again, after an end.
            for opened in past.openings.opened(*last) {
                if opened >= self.start && allowed(opened) {
                    let _ = self.add(past, question, opened);
                }
            }
        }
        loop {
            if let Some(section) = self.begun.get(next) {
                next += 1;
                let section = past.holding.sections[*section as usize];
                if section.release != NONE && allowed(section.release) {
                    // Allowed events do not come after the witness.
                    let _ = self.add(past, question, section.release);
                }
                let mut at = 0;
                while at < open_before.len() {
                    let other = past.holding.sections[open_before[at] as usize];
                    if other.lock != section.lock {
                        at += 1;
                        continue;
                    }
                    open_before.swap_remove(at);
                    if other.release != NONE && allowed(other.release) {
                        let _ = self.add(past, question, other.release);
                    }
                }
            } else if past.has_takers() && next_event < self.events.len() {
                let event = self.events[next_event];
                next_event += 1;
                self.add_helpers(past, question, event, &mut done, allowed);
                for taker in past.takers(event) {
                    if taker >= self.start && allowed(taker) {
                        let _ = self.add(past, question, taker);
                    }
                }
            } else {
                return;
            }
            if cancel.reason().is_some() {
                return;
            }
        }
    }

    /// Adds the calls that could make a waiting call return: all allowed ones, once for each
    /// counter.
    fn add_helpers(
        &mut self,
        past: &Past<'_>,
        question: &Question,
        event: u32,
        done: &mut HashSet<CounterId>,
        allowed: &dyn Fn(u32) -> bool,
    ) {
        for counter in past.blocking.call_rules(event, true).flat_map(CallRule::helpers) {
            if !done.insert(counter) {
                continue;
            }
            for helpers in past.blocking.chains(counter) {
                if let Some(last) = helpers.iter().rfind(|helper| allowed(**helper)) {
                    let _ = self.add(past, question, *last);
                }
            }
        }
    }
}
