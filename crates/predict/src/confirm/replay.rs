//! Replays an order of events and collects the rules that it breaks: locks and observations.
//!
//! In the order, all causes and all observed events come before the events that need them. So an
//! event can only observe too much.

use super::answer::Form;
use super::calls::takes;
use super::chains::NONE;
use super::clause::{Atom, Clause};
use super::components::Deliveries;
use super::confirmer::ConfirmStats;
use super::holding::SectionId;
use super::mailboxes::Mailboxes;
use super::openings::EndsCame;
use super::past::Past;
use super::question::Question;
use super::waiting::Counts;
use anyorder_commute::Mode;
use anyorder_stream::Observation;
use anyorder_trace::EventKind;
use std::collections::HashMap;

/// The most clauses from one observation. Also roughly the most clauses from one run.
const FROM_ONE: usize = 32;
const FROM_ALL: usize = 1 << 16;

/// Reused buffers.
#[derive(Clone, Debug, Default)]
pub(super) struct Replay {
    /// The counts of the search so far.
    pub(super) stats: ConfirmStats,
    /// For each cell: the round and the event of its last write.
    written: Vec<(u32, u32)>,
    open: Vec<Vec<SectionId>>,
    mailboxes: Option<Mailboxes>,
    deliveries: Deliveries,
    ends: EndsCame,
    touched: Vec<u32>,
    replayed: Replayed,
    calls: Vec<Vec<u32>>,
    called: Vec<u32>,
    /// For each object, the values that were not taken before the window.
    left: HashMap<u32, Vec<u32>>,
    counts: Counts,
    /// For each condition, its signals and broadcasts, if any wait timed out.
    signalled: HashMap<u32, Vec<u32>>,
}

/// The events replayed so far.
#[derive(Clone, Debug, Default)]
struct Replayed {
    /// The events before it happened as recorded.
    start: u32,
    round: u32,
    /// For each event from `start` on: the round and the position at which it came.
    places: Vec<(u32, u32)>,
}

impl Replayed {
    /// Returns a number that grows with the position of an event, if it was replayed.
    fn place(&self, event: u32) -> Option<u64> {
        let Some(at) = event.checked_sub(self.start) else { return Some(u64::from(event)) };
        let (round, place) = *self.places.get(at as usize)?;
        (round == self.round).then_some(1 << 32 | u64::from(place))
    }

    fn has(&self, event: u32) -> bool {
        self.place(event).is_some()
    }
}

impl Replay {
    pub(super) fn new(past: &Past<'_>) -> Replay {
        let trace = past.trace;
        Replay {
            written: vec![(0, NONE); past.cells.len()],
            open: vec![Vec::new(); trace.tables().locks.len() + trace.tables().handlers.len()],
            mailboxes: past.tasks.then(|| Mailboxes::new(trace)),
            calls: vec![Vec::new(); past.calls.objects()],
            counts: Counts::new(past),
            ..Replay::default()
        }
    }

    /// Replays `order` and then the tail of the question, starting after the events before `start`.
    /// Returns the broken rules, or the first of them.
    pub(super) fn run(
        &mut self,
        past: &Past<'_>,
        question: &Question,
        start: u32,
        order: &[u32],
    ) -> Vec<Clause> {
        self.begin(past, start);
        if let Some(mailboxes) = &mut self.mailboxes {
            mailboxes.begin(past.trace, start);
        }
        if let Some(components) = &past.components {
            self.deliveries.begin(components, start);
        }
        let mut broken = Vec::new();
        let last = order.iter().chain(&question.tail).max().copied().unwrap_or(start);
        if self.replayed.places.len() <= (last - start) as usize {
            self.replayed.places.resize((last - start) as usize + 1, (0, 0));
        }
        for (place, &event) in order.iter().chain(question.ending()).enumerate() {
            self.replayed.places[(event - start) as usize] = (self.replayed.round, place as u32);
            self.locks(past, event, &mut broken);
            if let Some(mailboxes) = &mut self.mailboxes {
                mailboxes.take(past.trace, event, &mut broken);
            }
            if let Some(components) = &past.components {
                let place = |event: u32| self.replayed.place(event);
                self.deliveries.take(components, event, &place, &mut broken);
            }
            if !past.openings.is_empty() {
                let place = |event: u32| self.replayed.place(event);
                self.ends.take(&past.openings, (event, start), &place, &mut broken);
            }
            let must_communicate = place < order.len() || question.requires_communication(event);
            if must_communicate {
                self.observes(past, event, &mut broken);
            } else if let Some(object) = past.calls.object(event) {
                self.invoked(object, event);
            }
            if !past.blocking.is_empty() {
                let has_come = |event: u32| self.replayed.has(event);
                let is_tail = place >= order.len()
                    && !matches!(question.form, Form::Reversed | Form::Overtakes);
                self.counts.take(past, event, is_tail, &has_come, &mut broken);
            }
            if broken.len() >= FROM_ALL {
                break;
            }
        }
        for (first, second) in &question.early {
            if self.replayed.place(*first) > self.replayed.place(*second) {
                broken.push(vec![Atom::Before(*first, *second)]);
            }
        }
        for (call_rule, request) in &question.full {
            let has_come = |event: u32| self.replayed.has(event);
            let is_tail = |event: u32| question.tail.contains(&event);
            let rule = (call_rule, *request);
            broken.extend(self.counts.permit_left(past, rule, &has_come, &is_tail));
        }
        if let Some((signals, gone)) = &question.closed {
            let has_come = |event: u32| self.replayed.has(event);
            let of = (gone, &question.tail[..]);
            for (gives, last) in signals.gives_left(past, of, &has_come) {
                let mut clause = vec![Atom::Before(gives, question.first)];
                if last != NONE {
                    clause.push(Atom::Out(last));
                }
                broken.push(clause);
            }
        }
        if !past.openings.is_empty() {
            let place = |event: u32| self.replayed.place(event);
            let openings = (&past.openings, past.trace);
            self.ends.at_end(openings, question, start, &place, &mut broken);
        }
        broken
    }

    fn begin(&mut self, past: &Past<'_>, start: u32) {
        for lock in self.touched.drain(..) {
            self.open[lock as usize].clear();
        }
        for object in self.called.drain(..) {
            self.calls[object as usize].clear();
        }
        if self.replayed.round == u32::MAX {
            self.replayed.round = 0;
            self.written.fill((0, NONE));
            self.replayed.places.fill((0, 0));
        }
        self.replayed.round += 1;
        self.counts.begin(self.replayed.round, start);
        self.signalled.clear();
        self.ends.begin();
        if start != self.replayed.start {
            self.left.clear();
            self.replayed.start = start;
        }
        for section in past.holding.open_at(start) {
            let lock = past.holding.sections[*section as usize].lock;
            if let Some(open) = self.open.get_mut(lock as usize) {
                self.touched.push(lock);
                open.push(*section);
            }
        }
    }

    /// Returns whether the first action waits for ever behind the second one, at the end of what
    /// was run last; see [`Counts::is_lost`].
    pub(super) fn is_lost(
        &self,
        past: &Past<'_>,
        first: u32,
        may_come: &dyn Fn(u32) -> bool,
    ) -> bool {
        let has_come = |event: u32| event != first && self.replayed.has(event);
        self.counts.is_lost(past, first, &has_come, may_come)
    }

    fn locks(&mut self, past: &Past<'_>, event: u32, broken: &mut Vec<Clause>) {
        let holding = &past.holding;
        for begun in holding.begun(event) {
            let new = holding.sections[begun as usize];
            let Some(open) = self.open.get_mut(new.lock as usize) else { continue };
            for other in open.iter().map(|other| holding.sections[*other as usize]) {
                if new.excludes(&other) {
                    broken.push(vec![
                        Atom::Before(other.release, new.acquire),
                        Atom::Before(new.release, other.acquire),
                        Atom::Out(other.acquire),
                        Atom::Out(new.acquire),
                    ]);
                }
            }
            self.touched.push(new.lock);
            open.push(begun);
        }
        for ended in holding.ended(event) {
            let lock = holding.sections[ended as usize].lock;
            if let Some(open) = self.open.get_mut(lock as usize) {
                open.retain(|other| *other != ended);
            }
        }
    }

    fn observes(&mut self, past: &Past<'_>, event: u32, broken: &mut Vec<Clause>) {
        let (op, operand) = past.op(event);
        let kind = op.kind();
        if kind.is_access() {
            let cells = past.cells.of(operand);
            if kind.reads() {
                for (cell, &expected) in cells.clone().zip(past.reads.row(event)) {
                    let (round, writer) = self.written[cell as usize];
                    if round == self.replayed.round && writer != expected {
                        // Several cells of one range say the same.
                        let clause = between(expected, writer, event);
                        if broken.last() != Some(&clause) {
                            broken.push(clause);
                        }
                    }
                }
            }
            if kind.writes() {
                self.written[cells.start as usize..cells.end as usize]
                    .fill((self.replayed.round, event));
            }
        } else if kind == EventKind::Wake
            && let Some(wake) = past.wakes.of(event)
            && wake.wait != NONE
            && self.replayed.place(wake.wait) > self.replayed.place(wake.signal)
        {
            broken.push(vec![Atom::Before(wake.wait, wake.signal), Atom::Out(event)]);
        }
        if let Some(section) = past.holding.met(event)
            && self.replayed.has(section.release)
        {
            broken.push(vec![Atom::Before(event, section.release), Atom::Out(event)]);
        }
        if past.wakes.has_timeouts() {
            self.timeouts(past, kind, (event, operand), broken);
        }
        if !past.calls.is_empty()
            && let Some(object) = past.calls.object(event)
        {
            self.call(past, event, object, broken);
            self.invoked(object, event);
        }
    }

    fn invoked(&mut self, object: u32, event: u32) {
        let calls = &mut self.calls[object as usize];
        if calls.is_empty() {
            self.called.push(object);
        }
        calls.push(event);
    }

    /// Finds signals that would have come in time.
    fn timeouts(
        &mut self,
        past: &Past<'_>,
        kind: EventKind,
        (event, condition): (u32, u32),
        broken: &mut Vec<Clause>,
    ) {
        if matches!(kind, EventKind::Signal | EventKind::Broadcast) {
            self.signalled.entry(condition).or_default().push(event);
        }
        let Some(wait) = past.wakes.timed_out(event) else { return };
        let after_wait = |signal: &u32| self.replayed.place(*signal) > self.replayed.place(wait);
        let was_there = |signal: &u32| (wait..event).contains(signal);
        let signals = self.signalled.get(&condition).into_iter().flatten().copied();
        for signal in signals.filter(after_wait).filter(|signal| !was_there(signal)) {
            broken.push(vec![
                Atom::Before(event, signal),
                Atom::Before(signal, wait),
                Atom::Out(event),
            ]);
        }
    }

    /// Compares the observations of an invocation.
    fn call(&mut self, past: &Past<'_>, event: u32, object: u32, broken: &mut Vec<Clause>) {
        let observed = past.calls.observed(event);
        let free = |mode| !matches!(mode, Mode::All | Mode::Last);
        if observed.iter().any(|o| free(o.mode)) && !self.left.contains_key(&object) {
            let of = past.calls.before(object, self.replayed.start).iter().copied();
            let left = of.filter(|e| past.calls.taker(*e) >= self.replayed.start).collect();
            self.left.insert(object, left);
        }
        let (tables, later) = (past.trace.tables(), past.op(event));
        for observation in observed {
            let mode = observation.mode;
            let matches = |e: &u32| past.communication.matches(tables, mode, past.op(*e), later);
            let expected = observation.sources.first().map_or(NONE, |e| *e as u32);
            let came = self.calls[object as usize].iter().copied();
            match mode {
                Mode::Last => {
                    if let Some(found) = came.rev().find(matches)
                        && found != expected
                    {
                        broken.push(between(expected, found, event));
                    }
                }
                Mode::All => {
                    let sources = &observation.sources;
                    let is_extra = |e: &u32| sources.binary_search(&u64::from(*e)).is_err();
                    for extra in came.filter(is_extra).filter(matches).take(FROM_ONE) {
                        broken.push(vec![Atom::Before(event, extra), Atom::Out(event)]);
                    }
                }
                _ => {
                    self.hidden((past, observation), (event, object), matches, broken);
                }
            }
        }
    }

    /// Finds the invocations that hide the expected first or last invocation.
    fn hidden(
        &self,
        (past, observation): (&Past<'_>, &Observation),
        (event, object): (u32, u32),
        matches: impl Fn(&u32) -> bool,
        broken: &mut Vec<Clause>,
    ) {
        let mode = observation.mode;
        let expected = observation.sources.first().map_or(NONE, |e| *e as u32);
        let left = self.left.get(&object).map_or(&[][..], Vec::as_slice);
        let all = left.iter().chain(&self.calls[object as usize]).copied();
        let is_first = matches!(mode, Mode::First | Mode::TakeFirst);
        let hides = |e: &u32| !self.replayed.has(past.calls.taker(*e)) && matches(e);
        // Invocations beyond the expected one hide nothing.
        let near = |e: &u32| *e != expected;
        let hiding: Vec<u32> = if is_first {
            all.take_while(near).filter(hides).take(FROM_ONE).collect()
        } else {
            all.rev().take_while(near).filter(hides).take(FROM_ONE).collect()
        };
        for other in hiding {
            let taker = past.calls.taker(other);
            let mut clause = vec![Atom::Before(taker, event), Atom::Out(event)];
            if expected == NONE || !is_first {
                clause.push(Atom::Before(event, other));
            }
            if expected != NONE {
                clause.push(match is_first {
                    true => Atom::Before(expected, other),
                    false => Atom::Before(other, expected),
                });
            }
            broken.push(clause);
        }
        let taker = past.calls.taker(expected);
        if expected != NONE && !takes(mode) && self.replayed.has(taker) {
            broken.push(vec![Atom::Before(event, taker), Atom::Out(event)]);
        }
    }
}

/// A write comes neither between another one and the event that observes that, nor before an event
/// that observes none.
pub(super) fn between(source: u32, other: u32, observer: u32) -> Clause {
    let mut clause = vec![Atom::Before(observer, other), Atom::Out(observer)];
    if source != NONE {
        clause.push(Atom::Before(other, source));
    }
    clause
}
