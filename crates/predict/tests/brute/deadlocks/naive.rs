//! The deadlocks of a small trace, by all its reorderings.

use super::barriers::Rounds;
use super::calls::{self, has_gift, sources, waits_at};
use crate::brute::types::{TraceCalls, Types};
use anyorder_testkit::Reorderings;
use anyorder_trace::{EventId, EventKind, Trace};
use std::collections::{BTreeMap, BTreeSet};

/// What is asked for or held: a lock, a thread or a condition, and whether exclusively.
type Thing = (What, u32, bool);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum What {
    Lock,
    Thread,
    Condition,
    /// What calls of an object give; the number says of which, and what.
    Gift,
    Barrier,
}

/// A request, and whether it waits for a signal or for what a call gives.
pub(super) type Request = (usize, bool);

/// A cycle of requests without its events: what each asks for, and what its thread holds.
pub(super) type Shape = Vec<(Thing, Vec<Thing>)>;

/// The deadlocks of a trace.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Naive {
    pub(super) shapes: BTreeSet<Shape>,
    pub(super) cycles: BTreeSet<Vec<usize>>,
    /// By requests, ascending: the number of events of a shortest run.
    pub(super) lengths: BTreeMap<Vec<usize>, usize>,
}

/// A trace of threads, one lane for each.
pub(super) struct Threads<'t> {
    trace: &'t Trace,
    lanes: Vec<Vec<usize>>,
    /// By event: the section that it begins or ends, and by section whether it is exclusive.
    begins: Vec<Option<usize>>,
    ends: Vec<Option<usize>>,
    sections: Vec<Section>,
    joined: BTreeSet<usize>,
    /// By place: the wait for a signal of a condition.
    waits: BTreeMap<usize, (usize, u32)>,
    rounds: Rounds,
}

#[derive(Clone, Copy, Debug)]
struct Section {
    lane: usize,
    lock: u32,
    acquire: usize,
    exclusive: bool,
}

impl<'t> Threads<'t> {
    pub(super) fn new(trace: &'t Trace) -> Threads<'t> {
        let handlers = trace.tables().handlers.len();
        let mut threads = Threads {
            trace,
            lanes: vec![Vec::new(); handlers],
            begins: vec![None; trace.len()],
            ends: vec![None; trace.len()],
            sections: Vec::new(),
            joined: BTreeSet::new(),
            waits: BTreeMap::new(),
            rounds: Rounds::new(trace),
        };
        let mut open: Vec<(usize, u32, usize, usize)> = Vec::new();
        for event in trace.events() {
            let (id, lane) = (event.id.index(), threads.lane(event.id.index()));
            threads.lanes[lane].push(id);
            let known = open.iter().position(|of| (of.0, of.1) == (lane, event.operand));
            let exclusive = !event.mode().is_shared();
            match (event.kind(), known) {
                (EventKind::Acquire, Some(at)) => {
                    open[at].2 += 1;
                    threads.sections[open[at].3].exclusive |= exclusive;
                }
                (EventKind::Acquire, None) => {
                    let section = threads.sections.len();
                    open.push((lane, event.operand, 1, section));
                    threads.begins[id] = Some(section);
                    let (lock, acquire) = (event.operand, id);
                    threads.sections.push(Section { lane, lock, acquire, exclusive });
                }
                (EventKind::Release, Some(at)) => {
                    open[at].2 -= 1;
                    if open[at].2 == 0 {
                        threads.ends[id] = Some(open.remove(at).3);
                    }
                }
                (EventKind::Join, _) => drop(threads.joined.insert(event.operand as usize)),
                _ => {}
            }
        }
        threads.waits = waits(trace, &threads.lanes);
        threads
    }

    fn lane(&self, event: usize) -> usize {
        self.trace.handler_of(EventId(event as u32)).index()
    }

    /// Returns the sections that are open after some events.
    fn open(&self, done: &dyn Fn(usize) -> bool) -> BTreeSet<usize> {
        let begun = self.begins.iter().enumerate().filter(|(event, _)| done(*event));
        let ended: BTreeSet<usize> = (self.ends.iter().enumerate())
            .filter(|(event, _)| done(*event))
            .filter_map(|(_, section)| *section)
            .collect();
        begun.filter_map(|(_, section)| *section).filter(|s| !ended.contains(s)).collect()
    }

    /// Returns the lanes for which the next event of a lane waits, and whether for a signal or for
    /// what a call gives.
    fn waits_for(&self, lane: usize, done: &dyn Fn(usize) -> bool) -> Vec<(usize, bool)> {
        let mut all: Vec<(usize, bool)> =
            self.waits_to_go_on(lane, done).into_iter().map(|to| (to, false)).collect();
        let next = self.lanes[lane].iter().copied().find(|event| !done(*event));
        let is_forked = |next: usize| {
            let mut forks = self.trace.events().filter(|e| e.kind() == EventKind::Fork);
            forks.all(|e| e.operand as usize != lane || e.id.index() > next || done(e.id.index()))
        };
        if let Some(next) = next.filter(|next| is_forked(*next))
            && let Some((_, condition)) = self.waits.get(&next)
        {
            let others = (0..self.lanes.len()).filter(|other| *other != lane);
            let gives = |other: &usize| {
                let mut events = self.lanes[*other].iter();
                events.any(|event| !done(*event) && self.gives(*event, *condition))
            };
            all.extend(others.filter(gives).map(|to| (to, true)));
        }
        if let Some(next) = next.filter(|next| is_forked(*next))
            && let Some(source) = waits_at(self.trace, next)
        {
            let others = (0..self.lanes.len()).filter(|other| *other != lane);
            let has = |other: &usize| {
                let rest = self.lanes[*other].iter().copied().filter(|event| !done(*event));
                has_gift(self.trace, rest, source)
            };
            all.extend(others.filter(has).map(|to| (to, true)));
        }
        all
    }

    fn gives(&self, event: usize, condition: u32) -> bool {
        let event = self.trace.event(EventId(event as u32));
        matches!(event.kind(), EventKind::Signal | EventKind::Broadcast)
            && event.operand == condition
    }

    /// Returns whether an event comes after one of these by threads, forks, joins and barriers.
    fn needs(&self, event: usize, requests: &[usize]) -> bool {
        let own = self.lane(event);
        let first = |lane: usize, before: usize| {
            self.lanes[lane].iter().any(|e| *e < before && requests.contains(e))
        };
        if requests.contains(&event) || first(own, event) {
            return true;
        }
        // All events up to it in its lane, and what each of them needs by forks and joins.
        let here = self.lanes[own].iter().copied().filter(|e| *e <= event);
        let kind = |e: usize| self.trace.event(EventId(e as u32));
        here.into_iter().any(|e| {
            let at = kind(e);
            (0..e).any(|before| {
                let cause = kind(before);
                let forks = cause.kind() == EventKind::Fork
                    && (cause.operand as usize == own
                        || at.kind() == EventKind::Join && cause.operand == at.operand);
                let ends = at.kind() == EventKind::Join && self.lane(before) == at.operand as usize;
                let arrives = self.rounds.arrivals(e).is_some_and(|all| all.contains(&before));
                (forks || ends || arrives) && self.needs(before, requests)
            })
        })
    }

    /// Returns whether a thread has missed all signals that can come without the requests.
    fn misses(&self, place: usize, requests: &[usize], (run, by_trace): (&[usize], bool)) -> bool {
        if let Some(source) = waits_at(self.trace, place) {
            return self.nothing_comes(source, requests, run);
        }
        let (wait, condition) = self.waits[&place];
        let at = |event: usize| run.iter().position(|other| *other == event);
        let begun = at(wait).expect("it waits");
        (0..self.trace.len()).filter(|event| self.gives(*event, condition)).all(|signal| {
            match at(signal) {
                Some(at) => at < begun && (!by_trace || signal < wait),
                None => self.needs(signal, requests),
            }
        })
    }

    /// Returns whether nothing is left after a run that a request waits for, and each call that
    /// gives it needs a request or is kept: its thread takes before what one waits for, or begins a
    /// section that one excludes which their threads hold.
    fn nothing_comes(&self, source: calls::Source, requests: &[usize], run: &[usize]) -> bool {
        let members: BTreeSet<usize> = requests.iter().map(|event| self.lane(*event)).collect();
        let open = self.open(&|event| run.contains(&event)).into_iter();
        let open = open.map(|s| self.sections[s]).filter(|s| members.contains(&s.lane));
        let open: Vec<Section> = open.collect();
        let is_excluded = |event: usize| {
            self.begins[event].map(|new| self.sections[new]).is_some_and(|new| {
                open.iter().any(|s| s.lock == new.lock && (s.exclusive || new.exclusive))
            })
        };
        let before = |event: usize| {
            let lane = self.lanes[self.lane(event)].iter().copied();
            lane.filter(|other| *other < event).collect()
        };
        let is_stuck = |event: usize| self.needs(event, requests);
        let of_run = (requests, run);
        calls::nothing_comes(self.trace, source, of_run, &before, &is_excluded, &is_stuck)
    }

    fn waits_to_go_on(&self, lane: usize, done: &dyn Fn(usize) -> bool) -> Vec<usize> {
        let Some(next) = self.lanes[lane].iter().copied().find(|event| !done(*event)) else {
            return Vec::new();
        };
        let forks = self.trace.events().filter(|e| e.kind() == EventKind::Fork);
        let mut own = forks.filter(|e| e.operand as usize == lane && e.id.index() < next);
        if !own.all(|fork| done(fork.id.index())) {
            return Vec::new();
        }
        let event = self.trace.event(EventId(next as u32));
        match event.kind() {
            EventKind::Acquire if event.mode().bits() < 2 => {
                let Some(new) = self.begins[next].map(|new| self.sections[new]) else {
                    return Vec::new();
                };
                self.holders(lane, (new.lock, new.exclusive), done)
            }
            EventKind::Request if event.mode().bits() < 2 && self.hangs(lane, next) => {
                let open = self.open(done).into_iter().map(|section| self.sections[section]);
                if open.into_iter().any(|s| s.lane == lane && s.lock == event.operand) {
                    return Vec::new();
                }
                self.holders(lane, (event.operand, !event.mode().is_shared()), done)
            }
            EventKind::Join => {
                let target = event.operand as usize;
                let rest = self.lanes[target].iter().any(|event| *event < next && !done(*event));
                if rest { vec![target] } else { Vec::new() }
            }
            EventKind::Barrier => {
                let arrivals = self.rounds.arrivals(next).into_iter().flatten();
                let mut late: Vec<usize> = arrivals
                    .filter(|event| !done(**event))
                    .map(|event| self.lane(*event))
                    .collect();
                late.sort_unstable();
                late.dedup();
                late.retain(|other| *other != lane);
                late
            }
            _ => Vec::new(),
        }
    }

    /// Returns the lanes of the open sections that exclude a new one.
    fn holders(
        &self,
        lane: usize,
        (lock, exclusive): (u32, bool),
        done: &dyn Fn(usize) -> bool,
    ) -> Vec<usize> {
        let open = self.open(done).into_iter().map(|section| self.sections[section]);
        let others = open.filter(|s| s.lock == lock && s.lane != lane);
        others.filter(|s| s.exclusive || exclusive).map(|s| s.lane).collect()
    }

    /// Returns whether a lane ends with an event.
    fn hangs(&self, lane: usize, event: usize) -> bool {
        let kind = |event: usize| self.trace.event(EventId(event as u32)).kind();
        let mut later = self.lanes[lane].iter().filter(|other| **other > event);
        later.all(|other| kind(*other) == EventKind::Exit)
    }

    fn target(&self, (request, is_signal): Request) -> Thing {
        if let Some(source) = waits_at(self.trace, request) {
            return (What::Gift, number(source), true);
        }
        if is_signal {
            return (What::Condition, self.waits[&request].1, true);
        }
        let event = self.trace.event(EventId(request as u32));
        if event.kind() == EventKind::Barrier {
            return (What::Barrier, event.operand, true);
        }
        if event.kind() == EventKind::Request {
            return (What::Lock, event.operand, !event.mode().is_shared());
        }
        match self.begins[request] {
            Some(section) => {
                let section = self.sections[section];
                (What::Lock, section.lock, section.exclusive)
            }
            None => (What::Thread, event.operand, true),
        }
    }

    /// Returns the shape of a cycle of requests, beginning with its least member.
    pub(super) fn shape(&self, requests: &[Request]) -> Shape {
        let one = |request: &Request| {
            let lane = self.lane(request.0);
            let before = |event: usize| event < request.0 && self.lane(event) == lane;
            let open = self.open(&before).into_iter().map(|section| self.sections[section]);
            let mut held: Vec<Thing> = open.map(|s| (What::Lock, s.lock, s.exclusive)).collect();
            if self.joined.contains(&lane) {
                held.push((What::Thread, lane as u32, false));
            }
            let conditions: BTreeSet<u32> = self.waits.values().map(|of| of.1).collect();
            held.extend(conditions.into_iter().filter_map(|condition| {
                let mut later = self.lanes[lane].iter().filter(|event| **event >= request.0);
                let gives = later.any(|event| self.gives(*event, condition));
                gives.then_some((What::Condition, condition, false))
            }));
            let later = || self.lanes[lane].iter().copied().filter(|event| *event >= request.0);
            let has = |of: &calls::Source| has_gift(self.trace, later(), *of);
            let given = sources(self.trace).into_iter().filter(has);
            held.extend(given.map(|of| (What::Gift, number(of), false)));
            let arrives = self.rounds.ahead(&later().collect());
            let target = self.target(*request);
            let is_other = |of: &u32| (What::Barrier, *of) != (target.0, target.1);
            let arrives = arrives.into_iter().filter(is_other);
            held.extend(arrives.map(|of| (What::Barrier, of, false)));
            held.sort_unstable();
            (self.target(*request), held)
        };
        let mut shape: Shape = requests.iter().map(one).collect();
        let least = (0..shape.len()).min_by_key(|at| shape[*at].clone()).unwrap_or(0);
        shape.rotate_left(least);
        shape
    }

    /// Adds the cycles of requests after some events.
    fn add_cycles(&self, run: (&[usize], bool), found: &mut Naive) {
        let events = run.0.iter().fold(0_u64, |done, event| done | 1 << event);
        let done = &|event: usize| events >> event & 1 == 1;
        let edges: Vec<Vec<(usize, bool)>> =
            (0..self.lanes.len()).map(|lane| self.waits_for(lane, done)).collect();
        let next = |lane: usize| self.lanes[lane].iter().copied().find(|event| !done(*event));
        // By lane of a path: whether it waits for a signal; of the last one nobody knows yet.
        let mut paths: Vec<(Vec<usize>, Vec<bool>)> =
            (0..self.lanes.len()).map(|lane| (vec![lane], Vec::new())).collect();
        while let Some((path, kinds)) = paths.pop() {
            for &(to, is_signal) in &edges[*path.last().expect("not empty")] {
                let kinds = [kinds.as_slice(), &[is_signal]].concat();
                if to == path[0] {
                    let requests: Vec<usize> = path.iter().filter_map(|l| next(*l)).collect();
                    let both: Vec<Request> = requests.iter().copied().zip(kinds).collect();
                    let holds = |(place, is_signal): &Request| {
                        !is_signal || self.misses(*place, &requests, run)
                    };
                    if !both.iter().all(holds) {
                        continue;
                    }
                    let mut targets: Vec<Thing> =
                        both.iter().map(|request| self.target(*request)).collect();
                    targets.sort_unstable_by_key(|target| (target.0, target.1));
                    targets.dedup_by_key(|target| (target.0, target.1));
                    if targets.len() == requests.len() {
                        found.shapes.insert(self.shape(&both));
                        let mut key = requests.clone();
                        key.sort_unstable();
                        let length = found.lengths.entry(key).or_insert(usize::MAX);
                        *length = run.0.len().min(*length);
                        found.cycles.insert(requests);
                    }
                } else if to > path[0] && !path.contains(&to) {
                    paths.push(([path.as_slice(), &[to]].concat(), kinds));
                }
            }
        }
    }

    /// Returns whether an event begins a section after one that comes later in the trace, which it
    /// excludes.
    fn swaps(&self, run: &[usize], event: usize) -> bool {
        let Some(new) = self.begins[event].map(|new| self.sections[new]) else { return false };
        run.iter().filter_map(|other| self.begins[*other]).any(|other| {
            let other = self.sections[other];
            other.lock == new.lock
                && other.lane != new.lane
                && (other.exclusive || new.exclusive)
                && other.acquire > event
        })
    }
}

fn number((object, lack): calls::Source) -> u32 {
    object * 16 + lack as u32
}

/// Returns the waits for a signal, by the events at which their threads stand: the wake, or the
/// first of the acquires and requests before it. Before these stand only releases.
fn waits(trace: &Trace, lanes: &[Vec<usize>]) -> BTreeMap<usize, (usize, u32)> {
    let at = |event: usize| trace.event(EventId(event as u32));
    let mut waits = BTreeMap::new();
    let mut taken: BTreeSet<usize> = BTreeSet::new();
    for wake in (0..trace.len()).filter(|event| at(*event).kind() == EventKind::Wake) {
        let condition = at(wake).operand;
        let lane = lanes.iter().find(|lane| lane.contains(&wake)).expect("all are in lanes");
        let before: Vec<usize> = lane.iter().copied().filter(|event| *event < wake).collect();
        let is_wait =
            |e: &&usize| at(**e).kind() == EventKind::Wait && at(**e).operand == condition;
        let wait = before.iter().rev().find(is_wait).copied();
        // The first one since the wait that woke nobody else; a broadcast may wake several.
        let signal = (wait.map_or(0, |wait| wait + 1)..wake).find(|signal| {
            let kind = at(*signal).kind();
            at(*signal).operand == condition
                && (kind == EventKind::Broadcast
                    || kind == EventKind::Signal && !taken.contains(signal))
        });
        taken.extend(signal);
        let (Some(signal), Some(wait)) = (signal, wait) else { continue };
        assert!(signal > wait);
        let between: Vec<usize> = before.into_iter().filter(|event| *event > wait).collect();
        let is_release = |event: &usize| at(*event).kind() == EventKind::Release;
        let releases = between.iter().take_while(|event| is_release(event)).count();
        let rest = &between[releases..];
        let takes = |e: &usize| matches!(at(*e).kind(), EventKind::Acquire | EventKind::Request);
        if rest.iter().all(takes) {
            waits.insert(rest.first().copied().unwrap_or(wake), (wait, condition));
        }
    }
    waits
}

/// Returns the deadlocks of all reorderings; `None` if there are more than `states_max` states.
pub(super) fn deadlocks(threads: &Threads<'_>, states_max: usize) -> Option<Naive> {
    let types = Types::new();
    let types = TraceCalls::new(&types, threads.trace);
    let mut all = Reorderings::new(threads.trace, &types);
    all.tell_signals();
    let mut found = Naive::default();
    let is_whole = all.visit(&types, states_max, &mut |run| {
        threads.add_cycles((run, false), &mut found);
    });
    is_whole.then_some(found)
}

/// The same, of the reorderings that take each lock in its recorded order.
pub(super) fn in_order(threads: &Threads<'_>, states_max: usize) -> Option<Naive> {
    let mut found = Naive::default();
    let is_whole = visit_in_order(threads, states_max, &mut |run| {
        threads.add_cycles((run, true), &mut found);
    });
    is_whole.then_some(found)
}

/// Visits the reorderings that take each lock in its recorded order, one of those that later events
/// do not distinguish. Returns whether it visited all.
fn visit_in_order(
    threads: &Threads<'_>,
    states_max: usize,
    each: &mut dyn FnMut(&[usize]),
) -> bool {
    let trace = threads.trace;
    let types = Types::new();
    let types = TraceCalls::new(&types, trace);
    let all = Reorderings::new(trace, &types);
    let mut known: BTreeSet<(u64, Vec<usize>)> = BTreeSet::new();
    let mut todo: Vec<Vec<usize>> = vec![Vec::new()];
    while let Some(run) = todo.pop() {
        each(&run);
        let done = run.iter().fold(0_u64, |done, event| done | 1 << event);
        for event in (0..trace.len()).filter(|event| done >> event & 1 == 0) {
            if threads.swaps(&run, event) || !all.all_broken(&types, &run, event, &[]).is_empty() {
                continue;
            }
            let next = [run.as_slice(), &[event]].concat();
            // What later events can distinguish: the writes and what conditions saw.
            let matters = |event: &usize| {
                let kind = trace.event(EventId(*event as u32)).kind();
                let signals =
                    matches!(kind, EventKind::Signal | EventKind::Broadcast | EventKind::Wait);
                kind.writes() || signals
            };
            let order: Vec<usize> = next.iter().copied().filter(matters).collect();
            if known.insert((done | 1 << event, order)) {
                todo.push(next);
            }
        }
        if known.len() > states_max {
            return false;
        }
    }
    true
}

/// The pairs of accesses, waits and signals of two threads, the earlier one first, that a
/// reordering reverses: those that can come next together, and those of which the later one came
/// and the earlier one is next.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct NaiveRaces {
    pub(super) together: BTreeSet<(usize, usize)>,
    pub(super) last: BTreeSet<(usize, usize)>,
}

impl NaiveRaces {
    fn add(&mut self, threads: &Threads<'_>, next: &BTreeSet<usize>, run: &[usize]) {
        let trace = threads.trace;
        let is_action = |event: &usize| is_action(trace, *event);
        for a in next.iter().copied().filter(is_action) {
            let other = |b: &usize| *b > a && threads.lane(*b) != threads.lane(a);
            let later = |b: &usize| is_action(b) && other(b);
            self.together.extend(next.iter().copied().filter(later).map(|b| (a, b)));
            self.last.extend(run.iter().copied().filter(later).map(|b| (a, b)));
        }
    }
}

/// Returns whether an event is an access, a wait or a signal.
pub(super) fn is_action(trace: &Trace, event: usize) -> bool {
    let kind = trace.event(EventId(event as u32)).kind();
    kind.is_access() || matches!(kind, EventKind::Wait | EventKind::Signal | EventKind::Broadcast)
}

/// Returns the pairs that all reorderings reverse, and those that reorderings reverse which take
/// each lock in its recorded order; `None` if there are more than `states_max` states.
pub(super) fn races(threads: &Threads<'_>, states_max: usize) -> Option<[NaiveRaces; 2]> {
    let types = Types::new();
    let types = TraceCalls::new(&types, threads.trace);
    let all = Reorderings::new(threads.trace, &types);
    let enabled = |run: &[usize]| -> BTreeSet<usize> {
        // An access may observe something else.
        let is_next = |event: &usize| {
            !run.contains(event) && all.all_broken(&types, run, *event, &[*event]).is_empty()
        };
        (0..threads.trace.len()).filter(is_next).collect()
    };
    let mut found = [NaiveRaces::default(), NaiveRaces::default()];
    let is_whole = all.visit(&types, states_max, &mut |run| {
        found[0].add(threads, &enabled(run), run);
    });
    if !is_whole {
        return None;
    }
    let is_whole = visit_in_order(threads, states_max, &mut |run| {
        found[1].add(threads, &enabled(run), run);
    });
    is_whole.then_some(found)
}
