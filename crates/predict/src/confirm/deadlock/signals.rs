//! Threads that wait for a signal or a permit, as members of a deadlock.
//!
//! A wait on a condition ends with a `wake`. Until then the thread stands at the first event after
//! the wait that is no release: its *place*. It waits for ever if each signal of the condition
//! came before the wait, or *needs* a request of the deadlock: it stands at or after one in its
//! thread, or in a thread whose fork does, or behind a join of a thread that does, or a barrier at
//! which an arrival does.
//!
//! A thread has a signal to give as long as its last one has not come. That is for cycles what a
//! held lock is for the request of a lock.
//!
//! A call that waits for a permit of a semaphore is like a wait for a signal whose place it is
//! itself: then all permits must be taken, and nobody may come to a call that gives one
//! (`permits.rs`).
//!
//! **Cost.** One pass over the trace. Forks and joins make clocks, in memory as their number times
//! the threads.

use super::arrivals::Arrivals;
use super::closure::{LockSections, sections};
use super::permits::PermitCalls;
use super::sabotage::Sabotage;
use crate::confirm::blocking::CallRule;
use crate::confirm::chains::NONE;
use crate::confirm::past::Past;
use anyorder_system::Cancel;
use anyorder_trace::{EventId, EventKind, NameId};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// The most numbers in all clocks together; requests together may hold eight times as many
/// conditions, counted at each request.
pub(in crate::confirm) const SIGNALS_MAX: usize = 1 << 24;

/// A wait for a signal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::confirm) struct SignalWait {
    /// The event at which the thread stands while it waits.
    pub(in crate::confirm) place: u32,
    /// The event by which it began to wait; `NONE` for a permit.
    pub(in crate::confirm) wait: u32,
    /// The place of the condition among those that are waited for.
    pub(in crate::confirm) condition: u32,
}

/// A condition that a thread waits for, or a semaphore.
#[derive(Clone, Debug)]
pub(super) struct Condition {
    pub(super) id: u32,
    /// For a semaphore: the method that waits, and when a permit is left. Then `id` is the name of
    /// the object.
    pub(super) of: Option<(NameId, CallRule)>,
    /// By chain: its signals and broadcasts in the order of the trace, each with its clock.
    pub(super) signals: Vec<(u32, Vec<(u32, u32)>)>,
}

/// The waits for signals of a trace.
#[derive(Clone, Debug, Default)]
pub(in crate::confirm) struct Signals {
    /// By place, ascending.
    pub(super) waits: Vec<SignalWait>,
    pub(super) conditions: Vec<Condition>,
    pub(super) permits: PermitCalls,
    /// Who has yet to arrive at barriers.
    pub(super) arrivals: Arrivals,
    /// The sections of each lock, if there are waits for permits.
    pub(super) locks: Rc<Vec<LockSections>>,
    /// By chain: its last signal of each condition, the latest first.
    last: HashMap<u32, Vec<(u32, u32)>>,
    /// Clocks one after the other: by chain, the number of the last event plus 1 that comes before
    /// by threads, forks and joins alone.
    clocks: Vec<u32>,
    chains: usize,
    /// The most numbers in all clocks together.
    pub(super) most: usize,
    /// Whether waits are left out, as the clocks would be too large.
    pub(super) is_cut: bool,
}

impl Signals {
    /// Finds the waits of a trace whose tasks stay in order; none if the clocks take more than
    /// `most` numbers.
    pub(in crate::confirm) fn new(
        past: &Past<'_>,
        most: usize,
        cancel: &Cancel,
        sabotage: Sabotage,
    ) -> Signals {
        let mut signals = Signals { chains: past.chains, most, ..Signals::default() };
        let mut numbers: HashMap<u32, u32> = HashMap::new();
        let is_looked_for = sabotage != Sabotage::SignalsForgotten;
        for wake in past.wakes.wakes.iter().filter(|wake| wake.wait != NONE && is_looked_for) {
            let condition = past.op(wake.wait).1;
            if !is_signal(past, wake.signal) || past.op(wake.signal).1 != condition {
                continue;
            }
            let Some(place) = place(past, (wake.wait, wake.wake), sabotage) else { continue };
            let next = numbers.len() as u32;
            let number = *numbers.entry(condition).or_insert(next);
            if number == next {
                let (of, given) = (None, Vec::new());
                signals.conditions.push(Condition { id: condition, of, signals: given });
            }
            signals.waits.push(SignalWait { place, wait: wake.wait, condition: number });
        }
        signals.add_permits(past, cancel, sabotage);
        if signals.conditions.iter().any(|of| of.of.is_some()) {
            signals.locks = Rc::new(sections(past, cancel).unwrap_or_default());
        }
        signals.waits.sort_unstable_by_key(|wait| wait.place);
        signals.arrivals = Arrivals::new(past, cancel, sabotage);
        if !signals.waits.is_empty() && !signals.collect(past, &numbers, (cancel, sabotage)) {
            let (arrivals, chains) = (signals.arrivals, signals.chains);
            return Signals { is_cut: true, arrivals, chains, most, ..Signals::default() };
        }
        signals
    }

    /// Finds the signals of the conditions, and what comes before them. Returns whether it did.
    fn collect(
        &mut self,
        past: &Past<'_>,
        numbers: &HashMap<u32, u32>,
        (cancel, sabotage): (&Cancel, Sabotage),
    ) -> bool {
        self.clocks = vec![0; self.chains];
        let mut of_chain: Vec<u32> = vec![0; self.chains];
        let mut by_place: BTreeMap<(u32, u32), Vec<(u32, u32)>> = BTreeMap::new();
        // By fork, the clock of its thread there.
        let mut of_fork: HashMap<u32, u32> = HashMap::new();
        // By barrier, its last round and the clock of who passes it.
        let mut of_round: HashMap<u32, (u32, u32)> = HashMap::new();
        let mut passes = past.barriers.events().iter().copied().peekable();
        for event in 0..past.chain.len() as u32 {
            if event.is_multiple_of(1 << 12) && cancel.reason().is_some() {
                return false;
            }
            let chain = past.chain[event as usize];
            let (op, operand) = past.op(event);
            for before in past.causes.row(event) {
                let fork = past.op(*before).0.kind() == EventKind::Fork;
                let is_own = fork && past.op(*before).1 == past.trace.handler_of(EventId(event)).0;
                if !is_own && op.kind() != EventKind::Join {
                    continue;
                }
                let other = past.chain[*before as usize];
                let row = match fork {
                    true => of_fork.get(before).copied().unwrap_or_default(),
                    // All that is before it in its chain has been seen, and only that.
                    false => of_chain[other as usize],
                };
                if !self.join(&mut of_chain[chain as usize], row, (other, *before)) {
                    return false;
                }
            }
            if let Some((_, round)) = passes.next_if(|(pass, _)| *pass == event)
                && sabotage != Sabotage::BarriersPassed
            {
                let known = of_round.get(&operand).filter(|known| known.0 == round).copied();
                let clocks = (&of_chain[..], &of_fork);
                let found = known.map(|known| known.1).or_else(|| self.meet(past, round, clocks));
                let Some(row) = found else { return false };
                of_round.insert(operand, (round, row));
                let Some(joined) = self.join_all(of_chain[chain as usize], row) else {
                    return false;
                };
                of_chain[chain as usize] = joined;
            }
            if op.kind() == EventKind::Fork {
                of_fork.insert(event, of_chain[chain as usize]);
            } else if is_signal(past, event)
                && let Some(number) = numbers.get(&operand)
            {
                let signal = (event, of_chain[chain as usize]);
                by_place.entry((*number, chain)).or_default().push(signal);
            } else if op.kind() == EventKind::Invoke {
                self.permits.take(past, event, of_chain[chain as usize]);
            }
        }
        if !self.permits.finish(self.most, sabotage) {
            return false;
        }
        for ((number, chain), list) in by_place {
            let last = list.last().map_or(NONE, |last| last.0);
            self.last.entry(chain).or_default().push((last, number));
            self.conditions[number as usize].signals.push((chain, list));
        }
        self.last.values_mut().for_each(|of| of.sort_unstable_by(|a, b| b.cmp(a)));
        true
    }

    /// Adds to a clock what another one knows, and an event. Returns whether there is room.
    fn join(&mut self, row: &mut u32, other: u32, (chain, event): (u32, u32)) -> bool {
        if self.clock(*row)[chain as usize] > event {
            return true;
        }
        if self.clocks.len() + self.chains > self.most {
            return false;
        }
        let (one, two) = (self.clock(*row), self.clock(other));
        let mut joined: Vec<u32> = one.iter().zip(two).map(|(a, b)| *a.max(b)).collect();
        joined[chain as usize] = joined[chain as usize].max(event + 1);
        *row = (self.clocks.len() / self.chains) as u32;
        self.clocks.extend_from_slice(&joined);
        true
    }

    /// Makes the clock of those who pass a barrier in a round, after all arrivals. `None` if there
    /// is no room.
    fn meet(
        &mut self,
        past: &Past<'_>,
        round: u32,
        (of_chain, of_fork): (&[u32], &HashMap<u32, u32>),
    ) -> Option<u32> {
        let mut all = vec![0; self.chains];
        for event in &past.barriers.rounds[round as usize].1 {
            let chain = past.chain[*event as usize] as usize;
            let row = of_fork.get(event).copied().unwrap_or(of_chain[chain]);
            all.iter_mut().zip(self.clock(row)).for_each(|(one, other)| *one = *other.max(one));
            all[chain] = all[chain].max(event + 1);
        }
        self.add_clock(&all)
    }

    /// Joins two clocks, one of which mostly has all of the other. `None` if there is no room.
    fn join_all(&mut self, one: u32, other: u32) -> Option<u32> {
        let (a, b) = (self.clock(one), self.clock(other));
        let joined: Vec<u32> = a.iter().zip(b).map(|(a, b)| *a.max(b)).collect();
        if joined == b { Some(other) } else { self.add_clock(&joined) }
    }

    fn add_clock(&mut self, clock: &[u32]) -> Option<u32> {
        if self.clocks.len() + self.chains > self.most {
            return None;
        }
        self.clocks.extend_from_slice(clock);
        Some((self.clocks.len() / self.chains) as u32 - 1)
    }

    pub(super) fn clock(&self, row: u32) -> &[u32] {
        let from = row as usize * self.chains;
        &self.clocks[from..from + self.chains]
    }

    /// Returns the waits, by their places.
    pub(super) fn waits(&self) -> &[SignalWait] {
        &self.waits
    }

    /// Returns the number of conditions that are waited for.
    pub(super) fn conditions(&self) -> usize {
        self.conditions.len()
    }

    /// Returns the wait at a place.
    pub(in crate::confirm) fn wait_at(&self, place: u32) -> Option<SignalWait> {
        let at = self.waits.binary_search_by_key(&place, |wait| wait.place).ok()?;
        Some(self.waits[at])
    }

    /// Returns the conditions of which a chain gives a signal at or after an event.
    pub(super) fn ahead(&self, chain: u32, event: u32) -> impl Iterator<Item = u32> + '_ {
        let last = self.last.get(&chain).map_or(&[][..], Vec::as_slice);
        last.iter().take_while(move |(last, _)| *last >= event).map(|(_, number)| *number)
    }

    /// Returns whether an event of a chain, with its clock, needs a request.
    pub(super) fn needs(
        &self,
        past: &Past<'_>,
        (chain, (event, row)): (u32, (u32, u32)),
        requests: &[u32],
    ) -> bool {
        requests.iter().any(|request| {
            let of = past.chain[*request as usize];
            of == chain && event >= *request || self.clock(row)[of as usize] > *request
        })
    }

    /// Returns, for each chain, the last signal of a condition that needs none of the requests.
    /// Those before it in its chain need none either.
    pub(in crate::confirm) fn free(
        &self,
        past: &Past<'_>,
        condition: u32,
        requests: &[u32],
    ) -> Vec<u32> {
        let needs = |chain, signal| self.needs(past, (chain, signal), requests);
        let lists = self.conditions[condition as usize].signals.iter();
        let last = |(chain, list): &(u32, Vec<(u32, u32)>)| {
            let free = list.partition_point(|signal| !needs(*chain, *signal));
            free.checked_sub(1).map(|last| list[last].0)
        };
        lists.filter_map(last).collect()
    }
}

fn is_signal(past: &Past<'_>, event: u32) -> bool {
    matches!(past.op(event).0.kind(), EventKind::Signal | EventKind::Broadcast)
}

/// Returns where a thread stands between a wait and its wake; `None` if it does something else in
/// between than to give back locks and to take them again.
fn place(past: &Past<'_>, (wait, wake): (u32, u32), sabotage: Sabotage) -> Option<u32> {
    let (mut place, mut at) = (wake, past.previous[wake as usize]);
    let kind = |event: u32| past.op(event).0.kind();
    while at != NONE && at > wait && matches!(kind(at), EventKind::Acquire | EventKind::Request) {
        (place, at) = (at, past.previous[at as usize]);
    }
    while at != NONE && at > wait && kind(at) == EventKind::Release {
        at = past.previous[at as usize];
    }
    let place = if sabotage == Sabotage::WaitsAtWake { wake } else { place };
    (at == wait).then_some(place)
}
