//! Sets of events closed under what comes before them, one number for each chain.
//!
//! **Problem.** Given one list of requests for each thread of a cycle, find one request of each
//! such that the events before them can happen without the requests, in an order in which every
//! lock is taken in its recorded order.
//!
//! **Source.** Tunç, Mathur, Pavlogiannis, Viswanathan, "Sound Dynamic Deadlock Prediction in
//! Linear Time", PLDI 2023: such an order exists exactly if a closure contains none of the
//! requests. Take the first request of each list and all that comes before them. Of the sections
//! of a lock that have begun, one before another that it excludes must end: add its release and
//! what comes before it. If a request is among these events, it is replaced by the next one of its
//! list. The set only grows, so each list is passed once.
//!
//! Shared sections exclude only exclusive ones. A request is an event of its own here, and what a
//! thread waits for may be the end of another thread. The closure [`Rule::Necessary`] asks for
//! less: only sections that a lock held at the requests excludes must end. If that fails, there is
//! no order at all.
//!
//! **Cost.** One pass over the trace makes clocks, one for each event that learns of another chain;
//! with `c` chains, a closure takes `O(c)` for each round, and each round advances a chain; of a
//! chain that has advanced, it visits the lists of sections, and the other lists of those locks of
//! which more sections have begun.

use super::closing::Stuck;
use super::requests::Class;
use super::sabotage::Sabotage;
use super::signals::Signals;
use crate::confirm::chains::NONE;
use crate::confirm::past::Past;
use anyorder_system::Cancel;
use std::cell::Cell;
use std::rc::Rc;

/// The most numbers in all clocks together.
const CLOCKS_MAX: usize = 1 << 26;

/// The clocks of a trace, and its sections by lock and chain.
pub(in crate::confirm) struct Closures {
    pub(in crate::confirm) chains: usize,
    /// By event: its clock, without the event itself.
    clock_of: Vec<u32>,
    /// Clocks one after the other: by chain, the number of the last event plus 1; 0 for none.
    clocks: Vec<u32>,
    /// By lock; empty for those of one thread, and for those that are only read.
    pub(in crate::confirm) locks: Rc<Vec<LockSections>>,
    /// Lists of sections visited so far.
    pub(super) work: Cell<u64>,
    pub(super) signals: Rc<Signals>,
    pub(super) sabotage: Sabotage,
}

/// The sections of one lock, by chain.
#[derive(Clone, Debug, Default)]
pub(in crate::confirm) struct LockSections {
    pub(in crate::confirm) lists: Vec<ChainSections>,
}

/// The sections of one lock in one chain.
#[derive(Clone, Debug)]
pub(in crate::confirm) struct ChainSections {
    pub(in crate::confirm) chain: u32,
    pub(in crate::confirm) all: Vec<u32>,
    pub(in crate::confirm) exclusive: Vec<u32>,
}

/// Which sections must end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rule {
    /// All but the last of those that exclude each other, in recorded order.
    InOrder,
    /// Those that a lock held at the requests excludes.
    Necessary,
}

/// The requests of a cycle: for each thread its list.
pub(super) type Choice<'c> = [(u32, &'c [u32])];

/// A set of events without the chosen requests.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Closed {
    /// By list, the place of the chosen request.
    pub(super) chosen: Vec<usize>,
    /// By chain, the number of the last event plus 1; 0 for none.
    pub(super) tops: Vec<u32>,
}

impl Closures {
    /// Makes the clocks of a trace; `None` if there are too many, or once the job is stopped.
    pub(in crate::confirm) fn new(
        past: &Past<'_>,
        signals: Rc<Signals>,
        cancel: &Cancel,
        sabotage: Sabotage,
    ) -> Option<Closures> {
        if sabotage == Sabotage::NoClocks || sabotage == Sabotage::HeldForgotten {
            return None;
        }
        let chains = past.chains;
        let mut closures = Closures {
            chains,
            clock_of: Vec::with_capacity(past.chain.len()),
            clocks: vec![0; chains],
            locks: Rc::clone(&signals.locks),
            work: Cell::new(0),
            signals,
            sabotage,
        };
        let mut of_chain: Vec<u32> = vec![0; chains];
        let mut joined: Vec<u32> = Vec::new();
        for event in 0..past.chain.len() as u32 {
            if event.is_multiple_of(1 << 12) && cancel.reason().is_some() {
                return None;
            }
            let chain = past.chain[event as usize] as usize;
            let mut is_new = false;
            let observed = match sabotage == Sabotage::ObservationsForgotten {
                true => &[][..],
                false => past.observes.row(event),
            };
            for before in past.causes.row(event).iter().chain(observed) {
                let other = past.chain[*before as usize] as usize;
                let known = if is_new { &joined } else { closures.clock(of_chain[chain]) };
                if *before == NONE || other == chain || known[other] > *before {
                    continue;
                }
                if !is_new {
                    joined = known.to_vec();
                    is_new = true;
                }
                let of_other = closures.clock(closures.clock_of[*before as usize]);
                join(&mut joined, of_other);
                joined[other] = joined[other].max(before + 1);
            }
            if is_new {
                if closures.clocks.len() + chains > CLOCKS_MAX {
                    return None;
                }
                of_chain[chain] = (closures.clocks.len() / chains) as u32;
                closures.clocks.extend_from_slice(&joined);
            }
            closures.clock_of.push(of_chain[chain]);
        }
        if closures.locks.is_empty() {
            closures.locks = Rc::new(sections(past, cancel)?);
        }
        Some(closures)
    }

    /// Returns how many lists of sections were visited so far: the cost of all closures.
    pub(super) fn work(&self) -> u64 {
        self.work.get()
    }

    /// Returns what is known to come before an event, by chain: the number of the last event plus
    /// 1.
    pub(in crate::confirm) fn before(&self, event: u32) -> &[u32] {
        self.clock(self.clock_of[event as usize])
    }

    fn clock(&self, number: u32) -> &[u32] {
        let from = number as usize * self.chains;
        &self.clocks[from..from + self.chains]
    }

    /// Adds an event and all that comes before it.
    pub(super) fn add(&self, past: &Past<'_>, event: u32, tops: &mut [u32]) {
        let top = &mut tops[past.chain[event as usize] as usize];
        if *top <= event {
            *top = event + 1;
            join(tops, self.clock(self.clock_of[event as usize]));
        }
    }

    /// Adds what comes before a request.
    fn add_before(&self, past: &Past<'_>, request: u32, tops: &mut [u32]) {
        let previous = past.previous[request as usize];
        if previous != NONE {
            self.add(past, previous, tops);
        }
        if self.sabotage == Sabotage::ForksForgotten {
            return;
        }
        let causes = past.causes.row(request).iter();
        let causes = causes.filter(|cause| past.is_before_request(request, **cause));
        causes.for_each(|cause| self.add(past, *cause, tops));
    }

    /// Returns the first requests of the lists that the closure does not contain, from those at
    /// `from` on; `None` if a list has no more.
    pub(super) fn close(
        &self,
        past: &Past<'_>,
        of: (&Choice<'_>, &[&Class]),
        from: &[usize],
        rule: Rule,
    ) -> Option<Closed> {
        let closed = Closed { chosen: from.to_vec(), tops: vec![0; self.chains] };
        self.close_with(past, of, (closed, &[]), rule)
    }

    /// The same, of a set and more events.
    pub(super) fn close_with(
        &self,
        past: &Past<'_>,
        (choice, classes): (&Choice<'_>, &[&Class]),
        (mut closed, more): (Closed, &[u32]),
        rule: Rule,
    ) -> Option<Closed> {
        more.iter().for_each(|event| self.add(past, *event, &mut closed.tops));
        let rule = match self.sabotage == Sabotage::OrderIsNecessary {
            true => Rule::InOrder,
            false => rule,
        };
        let matters: Vec<&LockSections> = match rule {
            Rule::InOrder => self.locks.iter().filter(|lock| !lock.lists.is_empty()).collect(),
            Rule::Necessary => {
                let held = classes.iter().flat_map(|class| &class.held);
                let mut held: Vec<u32> = held.map(|held| held.number).collect();
                held.sort_unstable();
                held.dedup();
                held.iter().filter_map(|lock| self.locks.get(*lock as usize)).collect()
            }
        };
        let mut begun = Begun::new(matters, self.chains);
        let stuck = Stuck::new(past, &self.signals, (choice, classes), self.sabotage);
        loop {
            for ((_, list), at) in choice.iter().zip(&closed.chosen) {
                self.add_before(past, *list.get(*at)?, &mut closed.tops);
            }
            let late = self.add_signals(past, (choice, classes), &mut closed, rule);
            loop {
                let (tops, begun) = (&mut closed.tops, &mut begun);
                let has_grown = self.end_sections(past, (choice, classes), rule, (tops, begun))?;
                if !has_grown && !self.add_given(past, (choice, &stuck), &mut closed) {
                    break;
                }
            }
            let mut is_open = false;
            for ((chain, list), at) in choice.iter().zip(&mut closed.chosen) {
                let top = closed.tops[*chain as usize];
                let passed = list[*at..].partition_point(|request| *request < top);
                *at += passed;
                is_open |= passed > 0;
            }
            is_open |= self.pass_barriers(past, (choice, classes), &mut closed)?;
            if let Some(late) = late.filter(|_| !is_open) {
                closed.chosen[late] += 1;
                is_open = true;
            }
            if !is_open && rule == Rule::InOrder {
                is_open = self.take_permits(past, (choice, &stuck), &mut closed)?;
            }
            if !is_open {
                return Some(closed);
            }
            if self.sabotage == Sabotage::RequestsStay {
                return None;
            }
        }
    }

    /// Replaces requests at barriers for which the next thread has arrived. Returns whether there
    /// were some; `None` if it will not have to arrive again.
    fn pass_barriers(
        &self,
        past: &Past<'_>,
        (choice, classes): (&Choice<'_>, &[&Class]),
        closed: &mut Closed,
    ) -> Option<bool> {
        let mut has_passed = false;
        for (at, class) in classes.iter().enumerate() {
            let Some(number) = barrier((past, &self.signals), class) else { continue };
            let list = choice[at].1;
            let Some(request) = list.get(closed.chosen[at]) else { continue };
            let chain = choice[(at + 1) % choice.len()].0;
            let next = (chain, closed.tops[chain as usize]);
            let round = past.barriers.round(*request)?;
            let late = self.signals.arrivals.late(number, next, round)?;
            if late != round {
                let is_over = |of: &u32| past.barriers.round(*of) < Some(late);
                closed.chosen[at] += list[closed.chosen[at]..].partition_point(is_over);
                has_passed = true;
            }
        }
        Some(has_passed)
    }

    /// Adds the signals that must be over before waits of the choice begin. Returns a list whose
    /// request began to wait before one of them, if the order of the trace is asked for.
    fn add_signals(
        &self,
        past: &Past<'_>,
        (choice, classes): (&Choice<'_>, &[&Class]),
        closed: &mut Closed,
        rule: Rule,
    ) -> Option<usize> {
        if !classes.iter().any(|class| is_signal((past, &self.signals), class)) {
            return None;
        }
        let chosen = choice.iter().zip(&closed.chosen);
        let requests: Vec<u32> =
            chosen.filter_map(|((_, list), at)| list.get(*at).copied()).collect();
        let mut late = None;
        for (at, request) in requests.iter().enumerate() {
            let Some(wait) = self.signals.wait_at(*request) else { continue };
            if !is_signal((past, &self.signals), classes[at])
                || self.signals.rule(wait.condition).is_some()
            {
                continue;
            }
            for signal in self.signals.free(past, wait.condition, &requests) {
                self.work.set(self.work.get() + 1);
                if self.sabotage != Sabotage::FreeSignals {
                    self.add(past, signal, &mut closed.tops);
                }
                let is_late = signal > wait.wait && rule == Rule::InOrder;
                if is_late && self.sabotage != Sabotage::SignalsLate {
                    late = Some(at);
                }
            }
        }
        late
    }

    /// Adds the releases of sections that must end. Returns whether the set has grown; `None` if
    /// such a section never ends.
    fn end_sections(
        &self,
        past: &Past<'_>,
        (choice, classes): (&Choice<'_>, &[&Class]),
        rule: Rule,
        (tops, begun): (&mut [u32], &mut Begun<'_>),
    ) -> Option<bool> {
        let mut has_grown = false;
        self.work.set(self.work.get() + begun.advance(past, tops));
        while let Some(at) = begun.changed.pop() {
            begun.is_changed[at] = false;
            let (lock, cursors) = (begun.locks[at], &begun.cursors[at]);
            self.work.set(self.work.get() + cursors.len() as u64);
            let mut later = [Later::default(); 2];
            for (list, cursors) in lock.lists.iter().zip(cursors) {
                let of_list = [&list.all, &list.exclusive].into_iter().zip(cursors);
                for (later, (sections, cursor)) in later.iter_mut().zip(of_list) {
                    if let Some(last) = cursor.checked_sub(1) {
                        later.put(acquire(past, sections[last]) + 1, list.chain);
                    }
                }
            }
            for (list, [all, _]) in lock.lists.iter().zip(cursors) {
                let Some(last) = all.checked_sub(1) else { continue };
                let section = past.holding.sections[list.all[last] as usize];
                let must_end = match rule {
                    Rule::InOrder => {
                        let all = section.exclusive || self.sabotage == Sabotage::ReadersExclude;
                        let of = if all { 0 } else { 1 };
                        later[of].besides(list.chain) > section.acquire
                    }
                    Rule::Necessary => {
                        let held = choice.iter().zip(classes);
                        let mut held = held.filter(|((chain, _), _)| *chain != list.chain);
                        held.any(|(_, class)| {
                            class.held.iter().any(|held| {
                                held.number == section.lock && (held.exclusive || section.exclusive)
                            })
                        })
                    }
                };
                if !must_end || self.sabotage == Sabotage::SectionsNeverEnd {
                    continue;
                }
                if section.release == NONE {
                    return None;
                }
                if section.release >= tops[past.chain[section.release as usize] as usize] {
                    self.add(past, section.release, tops);
                    has_grown = true;
                }
            }
        }
        Some(has_grown)
    }

    /// Returns the events of a set in the order of the trace, after those that begin it: the number
    /// of these, which is at most `prefix_max`.
    pub(super) fn events(past: &Past<'_>, tops: &[u32], prefix_max: u32) -> (u32, Vec<u32>) {
        let end = tops.iter().max().copied().unwrap_or(0);
        let is_in = |event: &u32| *event < tops[past.chain[*event as usize] as usize];
        let prefix = (0..end.min(prefix_max)).find(|event| !is_in(event));
        let prefix = prefix.unwrap_or(end.min(prefix_max));
        (prefix, (prefix..end).filter(is_in).collect())
    }
}

/// The sections of some locks that a set has begun.
struct Begun<'l> {
    locks: Vec<&'l LockSections>,
    /// By lock and list: the number of sections begun, and that of exclusive ones.
    cursors: Vec<Vec<[usize; 2]>>,
    /// By chain: the places of its lists, as lock and list.
    of_chain: Vec<Vec<(u32, u32)>>,
    /// By chain, what the set had of it when its lists were visited last.
    seen: Vec<u32>,
    /// The locks of which more sections have begun since they were looked at.
    changed: Vec<usize>,
    is_changed: Vec<bool>,
}

impl<'l> Begun<'l> {
    fn new(locks: Vec<&'l LockSections>, chains: usize) -> Begun<'l> {
        let mut of_chain = vec![Vec::new(); chains];
        for (at, lock) in (0_u32..).zip(&locks) {
            for (list, of) in (0_u32..).zip(&lock.lists) {
                of_chain[of.chain as usize].push((at, list));
            }
        }
        let cursors = locks.iter().map(|lock| vec![[0; 2]; lock.lists.len()]).collect();
        let is_changed = vec![false; locks.len()];
        Begun { locks, cursors, of_chain, seen: vec![0; chains], changed: Vec::new(), is_changed }
    }

    /// Moves the cursors of the chains that have grown. Returns how many lists were visited.
    fn advance(&mut self, past: &Past<'_>, tops: &[u32]) -> u64 {
        let mut visited = 0;
        for (chain, (&top, seen)) in tops.iter().zip(&mut self.seen).enumerate() {
            if *seen == top {
                continue;
            }
            *seen = top;
            visited += self.of_chain[chain].len() as u64;
            for &(lock, list) in &self.of_chain[chain] {
                let (lock, list) = (lock as usize, list as usize);
                let of = &self.locks[lock].lists[list];
                let mut has_more = false;
                for (sections, cursor) in
                    [&of.all, &of.exclusive].into_iter().zip(&mut self.cursors[lock][list])
                {
                    let more = begun_before(past, &sections[*cursor..], top) as usize;
                    *cursor += more;
                    has_more |= more > 0;
                }
                if has_more && !std::mem::replace(&mut self.is_changed[lock], true) {
                    self.changed.push(lock);
                }
            }
        }
        visited
    }
}

/// Returns how many sections of a list begin before a position. Logarithmic in the answer.
pub(in crate::confirm) fn begun_before(past: &Past<'_>, sections: &[u32], top: u32) -> u32 {
    let is_begun = |section: &u32| acquire(past, *section) < top;
    let mut end = 1;
    while end < sections.len() && is_begun(&sections[end - 1]) {
        end *= 2;
    }
    let end = end.min(sections.len());
    sections[..end].partition_point(is_begun) as u32
}

/// Returns the locks that the requests of some classes hold, ascending.
pub(super) fn locks(past: &Past<'_>, classes: &[&Class], sabotage: Sabotage) -> Vec<(u32, bool)> {
    let count = past.trace.tables().locks.len() as u32;
    let held = classes.iter().flat_map(|class| &class.held);
    let held = held.filter(|held| held.number < count && sabotage != Sabotage::KeptForgotten);
    let mut locks: Vec<(u32, bool)> = held.map(|held| (held.number, held.exclusive)).collect();
    locks.sort_unstable();
    locks.dedup();
    locks
}

/// Returns whether requests of a class wait for a signal or a permit.
pub(super) fn is_signal((past, signals): (&Past<'_>, &Signals), class: &Class) -> bool {
    let tables = past.trace.tables();
    let first = tables.locks.len() + tables.handlers.len();
    (first..first + signals.conditions()).contains(&(class.target.number as usize))
}

/// Returns the number of the barrier at which requests of a class wait.
pub(super) fn barrier((past, signals): (&Past<'_>, &Signals), class: &Class) -> Option<u32> {
    let tables = past.trace.tables();
    let first = tables.locks.len() + tables.handlers.len() + signals.conditions();
    class.target.number.checked_sub(first as u32)
}

/// Returns the acquire of a section.
pub(in crate::confirm) fn acquire(past: &Past<'_>, section: u32) -> u32 {
    past.holding.sections[section as usize].acquire
}

fn join(clock: &mut [u32], other: &[u32]) {
    for (one, other) in clock.iter_mut().zip(other) {
        *one = (*one).max(*other);
    }
}

/// The greatest number of one chain, and the greatest of all others.
#[derive(Clone, Copy, Default)]
pub(in crate::confirm) struct Later {
    most: u32,
    chain: u32,
    second: u32,
}

impl Later {
    pub(in crate::confirm) fn put(&mut self, number: u32, chain: u32) {
        if number > self.most {
            *self = Later { most: number, chain, second: self.most };
        } else {
            self.second = self.second.max(number);
        }
    }

    pub(in crate::confirm) fn besides(self, chain: u32) -> u32 {
        if self.chain == chain { self.second } else { self.most }
    }
}

/// Returns the sections of each lock, if several chains take it, one of them exclusively. `None`
/// once the job is stopped.
pub(super) fn sections(past: &Past<'_>, cancel: &Cancel) -> Option<Vec<LockSections>> {
    let is_over = |at: u32| at.is_multiple_of(1 << 12) && cancel.reason().is_some();
    let mut by_lock: Vec<Vec<(u32, u32)>> = vec![Vec::new(); past.trace.tables().locks.len()];
    for (number, section) in (0_u32..).zip(&past.holding.sections) {
        if is_over(number) {
            return None;
        }
        if let Some(list) = by_lock.get_mut(section.lock as usize) {
            list.push((section.chain, number));
        }
    }
    let mut locks = Vec::new();
    for (number, mut list) in (0_u32..).zip(by_lock) {
        if is_over(number) {
            return None;
        }
        list.sort_unstable();
        let is_exclusive = |section: u32| past.holding.sections[section as usize].exclusive;
        let has_one_chain = list.first().map(|first| first.0) == list.last().map(|last| last.0);
        if has_one_chain || !list.iter().any(|(_, section)| is_exclusive(*section)) {
            locks.push(LockSections::default());
            continue;
        }
        let lists = list.chunk_by(|a, b| a.0 == b.0).map(|of| {
            let all: Vec<u32> = of.iter().map(|(_, section)| *section).collect();
            let exclusive = all.iter().copied().filter(|section| is_exclusive(*section)).collect();
            ChainSections { chain: of[0].0, all, exclusive }
        });
        locks.push(LockSections { lists: lists.collect() });
    }
    Some(locks)
}
