//! Requests of a trace, grouped: events that may wait for a lock, for the end of a thread, for a
//! signal or a permit, or at a barrier. The request of a lock that was not granted before the trace
//! ends is an event of its own.
//!
//! A *class* of requests asks for one thing, in one mode, while its threads hold one set of locks.
//! Cycles are looked for among classes; the events of each class stand in lists, one for each
//! thread. Linear in the sections of the trace, times the locks held at once.

use super::sabotage::Sabotage;
use super::signals::{SignalWait, Signals};
use crate::confirm::chains::NONE;
use crate::confirm::past::Past;
use anyorder_system::Cancel;
use anyorder_trace::{EventId, EventKind};
use std::collections::HashMap;

/// What is asked for or held, and how. Numbers after all locks stand for handlers: a thread holds
/// itself until its end, and who joins it asks for that. Numbers after these stand for conditions:
/// a thread holds one as long as it has a signal to give, and who waits for one asks for it. So it
/// is with semaphores, which come among the conditions, and their permits; and with barriers, which
/// come after them, and arrivals.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Thing {
    pub(super) number: u32,
    pub(super) exclusive: bool,
}

impl Thing {
    /// Returns whether one cannot be had while another thread has the other.
    pub(super) fn conflicts(self, other: Thing) -> bool {
        self.number == other.number && (self.exclusive || other.exclusive)
    }
}

/// Requests for one thing with one set of things held.
#[derive(Clone, Debug)]
pub(super) struct Class {
    pub(super) target: Thing,
    /// Ascending.
    pub(super) held: Vec<Thing>,
    /// By chain: its requests in trace order.
    pub(super) members: Vec<(u32, Vec<u32>)>,
}

impl Class {
    /// Returns whether its threads hold what the other class asks for.
    pub(super) fn grants(&self, other: &Class) -> bool {
        self.held.iter().any(|held| held.conflicts(other.target))
    }

    /// Returns whether threads of both classes can hold what they hold at the same time.
    pub(super) fn is_compatible(&self, other: &Class) -> bool {
        let (mut a, mut b) = (self.held.iter().peekable(), other.held.iter().peekable());
        while let (Some(one), Some(two)) = (a.peek(), b.peek()) {
            if one.conflicts(**two) {
                return false;
            }
            if one.number < two.number {
                a.next()
            } else {
                b.next()
            };
        }
        true
    }
}

/// A request before it is grouped.
struct Request {
    event: u32,
    chain: u32,
    target: Thing,
    held: Vec<Thing>,
}

/// Returns the classes of a trace that can lie on a cycle, in the order of their first requests.
/// Not all of them once the job is stopped, or if they hold too much: then also returns that.
pub(super) fn classes(
    past: &Past<'_>,
    signals: &Signals,
    cancel: &Cancel,
    sabotage: Sabotage,
) -> (Vec<Class>, bool) {
    let locks = past.trace.tables().locks.len() as u32;
    let mut asked = asked(past, cancel, sabotage);
    let mut is_joined = vec![false; past.trace.tables().handlers.len()];
    let ends = asked.iter().filter_map(|request| request.target.number.checked_sub(locks));
    ends.for_each(|handler| is_joined[handler as usize] = true);
    let own = Own { locks, is_joined: &is_joined, signals };
    let is_much = own.is_too_much(past, &asked, cancel);
    let is_cut = signals.is_cut || is_much;
    let nothing = Signals::default();
    let own = if is_much { Own { signals: &nothing, ..own } } else { own };
    asked.extend(own.awaited(past));
    asked.extend(own.at_barriers(past));
    asked.sort_by_key(|request| request.event);
    let on_cycle = on_cycles(past, &asked, &own, cancel);
    let mut grouped = Grouped { sabotage, ..Grouped::default() };
    let mut open: Vec<Vec<u32>> = vec![Vec::new(); past.chains];
    let mut later = asked.into_iter().peekable();
    for (number, section) in (0_u32..).zip(&past.holding.sections) {
        if is_over(number, cancel) || grouped.held > HELD_MAX {
            return (grouped.classes, true);
        }
        while let Some(request) = later.next_if(|request| request.event <= section.acquire) {
            add(past, request, &mut open, &mut grouped, &own);
        }
        if section.lock >= locks {
            continue;
        }
        let sections = &past.holding.sections;
        let held = &mut open[section.chain as usize];
        held.retain(|other| sections[*other as usize].release > section.acquire);
        // An attempt does not wait.
        let (op, _) = past.op(section.acquire);
        let waits = op.mode().bits() < 2 || sabotage == Sabotage::AttemptsWait;
        let target = Thing { number: section.lock, exclusive: section.exclusive };
        let of = on_cycle[section.lock as usize];
        let event = section.acquire;
        let is_on = |other: &u32| on_cycle[sections[*other as usize].lock as usize] == of;
        let may_wait = of != NONE
            && (held.iter().any(is_on)
                || own.of(past, event).any(|o| on_cycle[o.number as usize] == of));
        if waits && may_wait {
            let mut held: Vec<Thing> = held.iter().map(|s| thing(past, *s)).collect();
            held.extend(own.of(past, event));
            grouped.add(Request { event, chain: section.chain, target, held });
        }
        open[section.chain as usize].push(number);
    }
    for request in later {
        add(past, request, &mut open, &mut grouped, &own);
    }
    (grouped.classes, is_cut)
}

/// What threads hold that is no lock.
struct Own<'s> {
    locks: u32,
    /// By handler: whether another thread waits for its end.
    is_joined: &'s [bool],
    signals: &'s Signals,
}

impl Own<'_> {
    /// Returns what a thread holds at an event besides locks: itself, if another thread joins it,
    /// and the conditions of which it has signals to give.
    fn of(&self, past: &Past<'_>, event: u32) -> impl Iterator<Item = Thing> + '_ {
        let handler = past.trace.handler_of(EventId(event)).0;
        let is_joined = self.is_joined.get(handler as usize).copied().unwrap_or_default();
        let thread = is_joined.then_some(self.locks + handler);
        let chain = past.chain[event as usize];
        let conditions = self.signals.ahead(chain, event);
        let conditions = conditions.chain(self.signals.permits_ahead(chain, event));
        let conditions = conditions.map(|condition| self.first_condition() + condition);
        let barriers = self.signals.arrivals.ahead(chain, event);
        let barriers = barriers.map(|barrier| self.first_barrier() + barrier);
        let all = thread.into_iter().chain(conditions).chain(barriers);
        all.map(|number| Thing { number, exclusive: false })
    }

    fn first_condition(&self) -> u32 {
        self.locks + self.is_joined.len() as u32
    }

    fn first_barrier(&self) -> u32 {
        self.first_condition() + self.signals.conditions() as u32
    }

    /// Returns the number of things.
    fn things(&self) -> usize {
        self.first_barrier() as usize + self.signals.arrivals.len()
    }

    /// Returns the requests at barriers, without what their threads hold.
    fn at_barriers(&self, past: &Past<'_>) -> Vec<Request> {
        let mut numbers: HashMap<u32, u32> = HashMap::new();
        for number in 0..self.signals.arrivals.len() as u32 {
            numbers.extend(self.signals.arrivals.barrier(number).map(|of| (of, number)));
        }
        let request = |(event, _): &(u32, u32)| {
            let number = self.first_barrier() + numbers.get(&past.op(*event).1)?;
            let (chain, target) = (past.chain[*event as usize], Thing { number, exclusive: true });
            Some(Request { event: *event, chain, target, held: Vec::new() })
        };
        past.barriers.events().iter().filter_map(request).collect()
    }

    /// Returns the requests of signals, without what their threads hold.
    fn awaited(&self, past: &Past<'_>) -> impl Iterator<Item = Request> + '_ {
        let chain = &past.chain;
        let first = self.first_condition();
        let request = move |wait: &SignalWait| Request {
            event: wait.place,
            chain: chain[wait.place as usize],
            target: Thing { number: first + wait.condition, exclusive: true },
            held: Vec::new(),
        };
        self.signals.waits().iter().map(request).collect::<Vec<_>>().into_iter()
    }

    /// Returns whether all requests together hold too many conditions; also once the job is
    /// stopped.
    fn is_too_much(&self, past: &Past<'_>, asked: &[Request], cancel: &Cancel) -> bool {
        if self.signals.waits().is_empty() && self.signals.arrivals.len() == 0 {
            return false;
        }
        let sections = past.holding.sections.iter().map(|section| section.acquire);
        let events = sections.chain(asked.iter().map(|request| request.event));
        let events = events.chain(self.signals.waits().iter().map(|wait| wait.place));
        let events = events.chain(past.barriers.events().iter().map(|(event, _)| *event));
        // This takes time only: few of them are in classes, and these have a limit of their own.
        let (mut sum, most) = (0, self.signals.most.saturating_mul(8));
        for (at, event) in (0_u32..).zip(events) {
            if is_over(at, cancel) {
                return true;
            }
            let chain = past.chain[event as usize];
            sum += self.signals.ahead(chain, event).count();
            sum += self.signals.permits_ahead(chain, event).count();
            sum += self.signals.arrivals.ahead(chain, event).count();
            if sum > most {
                return true;
            }
        }
        false
    }
}

fn thing(past: &Past<'_>, section: u32) -> Thing {
    let section = &past.holding.sections[section as usize];
    Thing { number: section.lock, exclusive: section.exclusive }
}

/// Returns the requests of a trace that begin no section, without what their threads hold: joins,
/// and locks that a thread asks for with its last event. None once the job is stopped.
fn asked(past: &Past<'_>, cancel: &Cancel, sabotage: Sabotage) -> Vec<Request> {
    let locks = past.trace.tables().locks.len() as u32;
    let columns = past.trace.columns();
    let handlers = past.trace.tables().handlers.len() as u32;
    // By chain, from the end: whether all that was seen of it are exits.
    let mut is_last = vec![true; past.chains];
    let mut asked = Vec::new();
    for event in (0..columns.ops.len() as u32).rev() {
        if event.is_multiple_of(1 << 12) && cancel.reason().is_some() {
            return Vec::new();
        }
        let op = columns.ops[event as usize];
        let chain = past.chain[event as usize];
        let operand = columns.operands[event as usize];
        let is_last = &mut is_last[chain as usize];
        let number = match op.kind() {
            EventKind::Exit => continue,
            EventKind::Join if operand < handlers && sabotage != Sabotage::EndsForgotten => {
                Some(locks + operand)
            }
            EventKind::Request if operand < locks && op.mode().bits() < 2 => {
                let counts = *is_last || sabotage == Sabotage::RequestsAnywhere;
                (counts && sabotage != Sabotage::RequestsForgotten).then_some(operand)
            }
            _ => None,
        };
        *is_last = false;
        if let Some(number) = number {
            let exclusive = number >= locks || !op.mode().is_shared();
            let target = Thing { number, exclusive };
            asked.push(Request { event, chain, target, held: Vec::new() });
        }
    }
    asked.reverse();
    asked
}

/// Adds a request that begins no section.
fn add(
    past: &Past<'_>,
    mut request: Request,
    open: &mut [Vec<u32>],
    grouped: &mut Grouped,
    own: &Own<'_>,
) {
    let held = &mut open[request.chain as usize];
    held.retain(|other| past.holding.sections[*other as usize].release > request.event);
    request.held = held.iter().map(|section| thing(past, *section)).collect();
    request.held.extend(own.of(past, request.event));
    if request.target.number >= own.first_barrier() {
        // Whether there are later rounds makes no other deadlock.
        request.held.retain(|held| held.number != request.target.number);
    }
    // Who waits for a signal may have others to give.
    let is_lock = request.target.number < own.first_condition();
    let is_own = is_lock && request.held.iter().any(|held| held.number == request.target.number);
    if !request.held.is_empty() && !is_own {
        grouped.add(request);
    }
}

/// Returns for each thing the number of its component in the graph "held while another one is asked
/// for"; `NONE` for one that is alone. A cycle lies within one component.
fn on_cycles(past: &Past<'_>, asked: &[Request], own: &Own<'_>, cancel: &Cancel) -> Vec<u32> {
    let sections = &past.holding.sections;
    let (things, locks) = (own.things(), own.locks);
    let mut edges: Vec<(u32, u32)> = Vec::new();
    let mut open: Vec<Vec<u32>> = vec![Vec::new(); past.chains];
    let mut later = asked.iter().peekable();
    let mut most = EDGES_MIN;
    let mut asks = |event: u32, chain: u32, target: u32, open: &mut [Vec<u32>]| {
        let held = &mut open[chain as usize];
        held.retain(|other| sections[*other as usize].release > event);
        edges.extend(held.iter().map(|held| (sections[*held as usize].lock, target)));
        edges.extend(own.of(past, event).map(|own| (own.number, target)));
        if edges.len() >= most {
            edges.sort_unstable();
            edges.dedup();
            most = EDGES_MIN.max(2 * edges.len());
        }
    };
    for (number, section) in (0_u32..).zip(sections).filter(|(_, section)| section.lock < locks) {
        if is_over(number, cancel) {
            break;
        }
        while let Some(request) = later.next_if(|request| request.event <= section.acquire) {
            asks(request.event, request.chain, request.target.number, &mut open);
        }
        asks(section.acquire, section.chain, section.lock, &mut open);
        open[section.chain as usize].push(number);
    }
    later.for_each(|request| {
        asks(request.event, request.chain, request.target.number, &mut open);
    });
    edges.sort_unstable();
    edges.dedup();
    let mut component = vec![NONE; things];
    let mut count = 0;
    let successors = |node: u32| {
        let from = edges.partition_point(|(held, _)| *held < node);
        edges[from..].iter().take_while(move |(held, _)| *held == node).map(|(_, to)| *to)
    };
    anyorder_common::scc::components(things, 0..things as u32, successors, |found| {
        if found.members.len() > 1 {
            found.members.iter().for_each(|member| component[*member as usize] = count);
            count += 1;
        }
    });
    component
}

/// How much all classes may hold.
const HELD_MAX: usize = 1 << 23;

/// Whether the job was stopped. Sections may be deep in others, so that each takes some time.
fn is_over(section: u32, cancel: &Cancel) -> bool {
    section.is_multiple_of(64) && cancel.reason().is_some()
}

/// Edges are sorted, and repeated ones dropped, once there are so many, and then whenever there
/// are twice as many as were left.
const EDGES_MIN: usize = 1 << 20;

/// Classes, found by what they ask for and hold.
#[derive(Default)]
struct Grouped {
    classes: Vec<Class>,
    /// How much all classes hold.
    held: usize,
    of: HashMap<(Thing, Vec<Thing>), usize>,
    /// By class and chain: the place of the list.
    lists: HashMap<(usize, u32), usize>,
    sabotage: Sabotage,
}

impl Grouped {
    fn add(&mut self, request: Request) {
        let Request { event, chain, mut target, mut held } = request;
        let all_exclusive = self.sabotage == Sabotage::AllExclusive;
        if all_exclusive || self.sabotage == Sabotage::AllShared {
            target.exclusive = all_exclusive;
            held.iter_mut().for_each(|held| held.exclusive = all_exclusive);
        }
        held.sort_unstable();
        let class = *self.of.entry((target, held.clone())).or_insert_with(|| {
            self.held += held.len();
            self.classes.push(Class { target, held, members: Vec::new() });
            self.classes.len() - 1
        });
        let members = &mut self.classes[class].members;
        let at = *self.lists.entry((class, chain)).or_insert_with(|| {
            members.push((chain, Vec::new()));
            members.len() - 1
        });
        members[at].1.push(event);
    }
}
