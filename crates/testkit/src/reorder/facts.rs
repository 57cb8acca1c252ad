//! The conditions that the definitions put on each event of a small trace.

use super::bound_reads::bound_reads;
use super::components::Components;
use super::rules::{Observes, ReorderRule};
use super::sections::{Section, blocking_section, sections};
use crate::naive::ended::{self, Ended};
use crate::naive::{RuleSet, Rules};
use anyorder_trace::{Event, EventId, EventKind, InputFamily, Location, TaskId, TaskKind, Trace};
use std::collections::{BTreeMap, BTreeSet};

/// A byte, or a location without an address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Cell {
    Byte(u32, u64),
    Place(usize),
}

/// The state that distinguishes two sequences of the same events.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Key {
    done: u64,
    last: Vec<Option<usize>>,
    in_order: Vec<usize>,
}

#[derive(Debug)]
pub(super) struct Facts {
    /// By event: what must come before it, by rule.
    needs: Vec<Vec<(ReorderRule, u64)>>,
    sections: Vec<Section>,
    cells: Vec<Vec<Cell>>,
    all_cells: BTreeSet<Cell>,
    reads: Vec<bool>,
    writes: Vec<bool>,
    /// By event: the signal of a wake, and its wait.
    woken: Vec<Option<(usize, Option<usize>)>>,
    /// By wake that timed out: the condition and the wait.
    timeouts: Vec<Option<(u32, usize)>>,
    /// By signal or broadcast: the condition.
    signals: Vec<Option<u32>>,
    /// By failed attempt: the blocking section.
    blocking: Vec<Option<usize>>,
    /// Barriers with unknown participants.
    doubtful: Vec<bool>,
    /// By event: whether it can return in the trace itself, at all and as recorded.
    returns: Vec<[bool; 2]>,
    objects: Vec<Option<u32>>,
    seen: Vec<Option<BTreeMap<u8, BTreeSet<EventId>>>>,
    /// By event of a task that its handler took from a mailbox: the handler, the first post and the
    /// `get` of the task.
    taken: Vec<Option<(u32, usize, usize)>>,
    /// Events that add tasks to mailboxes, or remove them.
    mailboxes: Vec<bool>,
    /// What can be ended.
    ended: Vec<Ended>,
    /// By event, its task.
    tasks: Vec<TaskId>,
    /// Whether sequences differ by the order of all signals.
    pub(super) tells_signals: bool,
    components: Option<Components>,
    /// Events whose order the rules of components constrain.
    component_events: BTreeSet<usize>,
}

impl Facts {
    pub(super) fn new(trace: &Trace, observes: &dyn Observes) -> Facts {
        let events: Vec<Event> = trace.events().collect();
        assert!(events.len() <= 64, "brute force is for small traces");
        let cells: Vec<Vec<Cell>> = events.iter().map(|event| cells_of(trace, event)).collect();
        let objects: Vec<Option<u32>> = events.iter().map(|e| observes.object(e.id)).collect();
        let mut seen = vec![None; events.len()];
        for object in objects.iter().flatten().collect::<BTreeSet<_>>() {
            let of = |event: &&Event| objects[event.id.index()] == Some(*object);
            let run: Vec<EventId> = events.iter().filter(of).map(|event| event.id).collect();
            for (event, observed) in run.iter().zip(observes.observed(&run)) {
                seen[event.index()] = Some(observed);
            }
        }
        let returns = (0..events.len()).map(|at| {
            let of = |e: &&Event| objects[at].is_some() && objects[e.id.index()] == objects[at];
            let run: Vec<EventId> = events[..=at].iter().filter(of).map(|e| e.id).collect();
            [false, true].map(|exact| objects[at].is_none() || observes.can_return(&run, exact))
        });
        let returns = returns.collect();
        let sections = sections(trace, &events, observes.schedules(&[]).is_some());
        let doubtful =
            |e: &Event| e.kind() == EventKind::Barrier && arrivals(trace, &events, e).is_none();
        Facts {
            needs: (0..events.len()).map(|at| needs(trace, &events, &cells, at)).collect(),
            timeouts: events.iter().map(|event| timeout(&events, event)).collect(),
            signals: events
                .iter()
                .map(|e| {
                    let is_signal = matches!(e.kind(), EventKind::Signal | EventKind::Broadcast);
                    is_signal.then_some(e.operand)
                })
                .collect(),
            blocking: events
                .iter()
                .map(|e| {
                    blocking_section(
                        trace,
                        &events,
                        &sections,
                        e,
                        observes.schedules(&[]).is_some(),
                    )
                })
                .collect(),
            doubtful: events.iter().map(doubtful).collect(),
            returns,
            sections,
            all_cells: cells.iter().flatten().copied().collect(),
            reads: bound_reads(trace, &events, &cells, observes.schedules(&[]).is_none()),
            cells,
            writes: events.iter().map(|event| event.kind().writes()).collect(),
            woken: woken(trace, &events),
            objects,
            seen,
            taken: match observes.schedules(&[]) {
                Some(_) => events.iter().map(|event| taken(trace, &events, event)).collect(),
                None => vec![None; events.len()],
            },
            mailboxes: events
                .iter()
                .map(|e| {
                    use EventKind::{Cancel, Disable, Enable, Post};
                    matches!(e.kind(), Post | Cancel | Enable | Disable)
                })
                .collect(),
            ended: match observes.schedules(&[]) {
                Some(_) => ended::list(trace, Rules::all(RuleSet::Mailbox)),
                None => ended::list(trace, Rules::all(RuleSet::Threads)),
            },
            tasks: events.iter().map(|event| event.task).collect(),
            tells_signals: false,
            components: None,
            component_events: BTreeSet::new(),
        }
    }

    pub(super) fn set_components(&mut self, trace: &Trace, components: Components) {
        self.ended = ended::list(trace, Rules::all(RuleSet::Android));
        for trigger in trace.events().filter(|e| e.kind() == EventKind::Trigger) {
            let family = trace.tables().inputs[trigger.operand as usize].family;
            let plain = [InputFamily::Plain, InputFamily::Ui, InputFamily::Focus];
            if !plain.contains(&family) {
                // The rules of components have their own enabling.
                self.needs[trigger.id.index()].retain(|n| n.0 != ReorderRule::Opened);
            }
        }
        self.component_events = components.ordered_events();
        self.components = Some(components);
    }

    /// For events of two tasks that one handler took from its mailbox: the post and the `get` of
    /// the first one's task, and the `get` of the second one's.
    pub(super) fn overtaking(&self, a: usize, b: usize) -> Option<(usize, usize, usize)> {
        let ((one, post, waits), (two, _, get)) = (self.taken[a]?, self.taken[b]?);
        (one == two && waits != get && post < waits).then_some((post, waits, get))
    }

    /// Whether the task of `b`, taken first, ends that of `a`: the sequence has an end of it, or
    /// the task of `b` will.
    pub(super) fn is_ended_by(&self, run: &[usize], (a, b): (usize, usize)) -> bool {
        let Some((_, waits, _)) = self.overtaking(a, b) else { return false };
        let own = |event: &usize| self.tasks[*event] == self.tasks[b];
        let rest = (0..self.tasks.len()).filter(own).filter(|event| !run.contains(event));
        let run: Vec<usize> = run.iter().copied().chain(rest).collect();
        // As long as what opens it has not come, it can come after the ends.
        let is_open = |of: &&Ended| of.opened.is_none_or(|opened| run.contains(&opened.index()));
        self.ended.iter().filter(is_open).any(|of| is_over(of, &run, waits))
    }

    /// Returns the events that have not happened.
    pub(super) fn missing(&self, done: u64) -> impl Iterator<Item = usize> + use<> {
        (0..self.needs.len()).filter(move |event| done >> event & 1 == 0)
    }

    pub(super) fn key(&self, run: &[usize], done: u64) -> Key {
        let last = self.all_cells.iter().map(|cell| self.last_write(run.iter().copied(), *cell));
        let waits = self.woken.iter().flatten();
        let mut ordered: BTreeSet<usize> =
            waits.flat_map(|(s, w)| [Some(*s), *w]).flatten().collect();
        if self.tells_signals || self.timeouts.iter().any(Option::is_some) {
            ordered.extend(self.timeouts.iter().flatten().map(|(_, wait)| *wait));
            ordered.extend((0..self.signals.len()).filter(|event| self.signals[*event].is_some()));
        }
        ordered.extend(&self.component_events);
        let in_order =
            |e: &&usize| ordered.contains(*e) || self.objects[**e].is_some() || self.mailboxes[**e];
        Key { done, last: last.collect(), in_order: run.iter().filter(in_order).copied().collect() }
    }

    fn last_write(&self, run: impl Iterator<Item = usize>, cell: Cell) -> Option<usize> {
        run.filter(|event| self.writes[*event] && self.cells[*event].contains(&cell)).last()
    }

    /// Returns the rules that an event breaks after a sequence.
    pub(super) fn broken_by(
        &self,
        observes: &dyn Observes,
        (run, loose): (&[usize], Option<usize>),
        event: usize,
        is_exempt: bool,
    ) -> Vec<ReorderRule> {
        if event >= self.needs.len() || run.contains(&event) {
            return vec![ReorderRule::Once];
        }
        let done = run.iter().fold(0_u64, |done, event| done | 1 << event);
        let mut broken: Vec<ReorderRule> = Vec::new();
        broken.extend(self.needs[event].iter().filter(|n| n.1 & !done != 0).map(|n| n.0));
        let whole = run.iter().chain([&event]).map(|event| EventId(*event as u32));
        let schedules = observes.schedules(&whole.collect::<Vec<EventId>>());
        if schedules == Some(false) {
            broken.push(ReorderRule::Schedule);
        }
        if schedules.is_some() {
            broken.retain(|rule| *rule != ReorderRule::Po);
        }
        let lets = |components: &Components| components.let_follow(run, event);
        if !self.components.as_ref().is_none_or(lets) {
            broken.push(ReorderRule::Component);
        }
        if self.ended.iter().any(|of| is_over(of, run, event)) {
            broken.push(ReorderRule::Ended);
        }
        if self.is_locked_out(run, event) {
            broken.push(ReorderRule::Locks);
        }
        if self.doubtful[event] {
            broken.push(ReorderRule::Arrival);
        }
        if self.is_stuck(observes, (run, loose), event, is_exempt) {
            broken.push(ReorderRule::Waiting);
        }
        if let Some((signal, wait)) = self.woken[event] {
            let place = |event: usize| run.iter().position(|other| *other == event);
            if place(signal).is_none() {
                broken.push(ReorderRule::Wake);
            } else if wait.is_some_and(|wait| place(wait) > place(signal)) {
                broken.push(ReorderRule::Wait);
            }
        }
        if is_exempt && !(self.objects[event].is_some() && observes.is_bound(EventId(event as u32)))
        {
            return broken;
        }
        if let Some((condition, wait)) = self.timeouts[event] {
            let since = run.iter().position(|other| *other == wait).map_or(0, |at| at);
            let comes = |signal: &usize| {
                self.signals[*signal] == Some(condition) && !(wait..event).contains(signal)
            };
            if run[since..].iter().any(comes) {
                broken.push(ReorderRule::Timeout);
            }
        }
        if let Some(section) = self.blocking[event].map(|at| self.sections[at]) {
            let is_over = section.release.is_some_and(|release| run.contains(&release));
            if !run.contains(&section.acquire) || is_over {
                broken.push(ReorderRule::Refused);
            }
        }
        let reads_otherwise = |cell: &Cell| {
            self.last_write(run.iter().copied(), *cell) != self.last_write(0..event, *cell)
        };
        if self.reads[event] && self.cells[event].iter().any(reads_otherwise) {
            broken.push(ReorderRule::Read);
        }
        if self.observes_differently(observes, run, event) {
            broken.push(ReorderRule::Invocation);
        }
        broken
    }

    /// Whether an invocation cannot return after the sequence. If the last event of the sequence
    /// may observe something else (`loose`), it must also be unable to return without that event.
    fn is_stuck(
        &self,
        observes: &dyn Observes,
        (run, loose): (&[usize], Option<usize>),
        event: usize,
        is_exempt: bool,
    ) -> bool {
        let Some(object) = self.objects[event] else { return false };
        let as_recorded = !is_exempt;
        if !self.returns[event][usize::from(as_recorded)] {
            return false;
        }
        let returns = |run: &[usize]| {
            let of = run.iter().filter(|other| self.objects[**other] == Some(object));
            let of: Vec<EventId> = of.chain([&event]).map(|e| EventId(*e as u32)).collect();
            observes.can_return(&of, as_recorded)
        };
        let is_free = returns(run) || (loose.is_some() && returns(&run[..run.len() - 1]));
        !is_free
    }

    fn is_locked_out(&self, run: &[usize], event: usize) -> bool {
        let Some(new) = self.sections.iter().find(|s| s.acquire == event) else { return false };
        self.sections.iter().any(|old| {
            let excludes =
                old.lock == new.lock && old.lane != new.lane && (old.exclusive || new.exclusive);
            let is_over = old.release.is_some_and(|release| run.contains(&release));
            excludes && run.contains(&old.acquire) && !is_over
        })
    }

    fn observes_differently(&self, observes: &dyn Observes, run: &[usize], event: usize) -> bool {
        let Some(object) = self.objects[event] else { return false };
        let of = |event: &usize| self.objects[*event] == Some(object);
        let whole = run.iter().copied().filter(of).chain([event]);
        let whole: Vec<EventId> = whole.map(|event| EventId(event as u32)).collect();
        observes.observed(&whole).pop() != self.seen[event]
    }
}

/// Whether an event would begin what the sequence has ended.
fn is_over(of: &Ended, run: &[usize], event: usize) -> bool {
    let place = |event: EventId| run.iter().position(|other| *other == event.index());
    let opened = of.opened.and_then(place);
    let comes_behind = |end: &EventId| place(*end).is_some_and(|end| opened < Some(end));
    of.begins.index() == event && of.ends.iter().any(comes_behind)
}

/// The handler of an event.
pub(super) fn handler(trace: &Trace, event: &Event) -> u32 {
    trace.tables().tasks[event.task.index()].handler.0
}

/// The handler, the first post and the `get` of the task of an event.
fn taken(trace: &Trace, events: &[Event], event: &Event) -> Option<(u32, usize, usize)> {
    let of = |kind: EventKind| {
        let is_it = |e: &&Event| match kind {
            EventKind::Post => e.kind() == kind && e.operand == event.task.0,
            _ => e.kind() == kind && e.task == event.task,
        };
        events.iter().find(is_it).map(|event| event.id.index())
    };
    let is_posted = trace.tables().tasks[event.task.index()].kind == TaskKind::Posted;
    let (post, get) = (of(EventKind::Post)?, of(EventKind::Get)?);
    is_posted.then(|| (handler(trace, event), post, get))
}

/// A burst, or a handler.
pub(super) fn lane(trace: &Trace, event: &Event) -> (bool, u32) {
    let def = &trace.tables().tasks[event.task.index()];
    match def.kind == TaskKind::Burst || def.handler.is_none() {
        true => (true, event.task.0),
        false => (false, def.handler.0),
    }
}

fn needs(
    trace: &Trace,
    events: &[Event],
    cells: &[Vec<Cell>],
    at: usize,
) -> Vec<(ReorderRule, u64)> {
    let this = &events[at];
    let all = |test: &dyn Fn(&Event) -> bool| {
        let earlier = events[..at].iter().filter(|event| test(event));
        earlier.fold(0_u64, |set, event| set | 1 << event.id.index())
    };
    let own = lane(trace, this);
    let mut needs = vec![(ReorderRule::Po, all(&|e| lane(trace, e) == own))];
    let starts = |e: &Event| {
        e.kind() == EventKind::Fork && e.operand == handler(trace, this) && e.operand != u32::MAX
    };
    needs.push((ReorderRule::Fork, all(&starts)));
    match this.kind() {
        EventKind::Join => {
            let joined = |e: &Event| {
                let is_fork = e.kind() == EventKind::Fork && e.operand == this.operand;
                is_fork || handler(trace, e) == this.operand
            };
            needs.push((ReorderRule::Join, all(&joined)));
        }
        EventKind::Get => {
            let posts = |e: &&Event| e.kind() == EventKind::Post && e.operand == this.task.0;
            let first = events.iter().find(posts).map(|event| event.id);
            needs.push((ReorderRule::Post, all(&|e| Some(e.id) == first)));
        }
        EventKind::Cancel => {
            let posts = |e: &&Event| e.kind() == EventKind::Post && e.operand == this.operand;
            let first = events.iter().find(posts).map(|event| event.id);
            needs.push((ReorderRule::Opened, all(&|e| Some(e.id) == first)));
        }
        EventKind::Trigger => {
            let mut switches = events[..at].iter().filter(|e| {
                let is_switch = matches!(e.kind(), EventKind::Enable | EventKind::Disable);
                is_switch && e.operand == this.operand
            });
            let enable = switches.next_back().filter(|e| e.kind() == EventKind::Enable);
            let enable = enable.map(|e| e.id);
            needs.push((ReorderRule::Opened, all(&|e| Some(e.id) == enable)));
        }
        EventKind::Barrier => {
            let same = |e: &Event| e.kind() == EventKind::Barrier && e.operand == this.operand;
            needs.push((ReorderRule::Barrier, all(&same)));
            let arrivals = arrivals(trace, events, this).unwrap_or_default();
            needs.push((ReorderRule::Arrival, all(&|e| arrivals.contains(&e.id.index()))));
        }
        EventKind::Acquire
        | EventKind::Release
        | EventKind::Destroy
        | EventKind::Refused
        | EventKind::Request => {
            let name = trace.tables().locks.get(this.operand as usize);
            let name = name.map_or("", |name| trace.tables().name(*name));
            let around = |e: &&Event| e.kind() == EventKind::Alloc && holds(trace, e, name);
            let last = events[..at].iter().rev().find(around).map(|event| event.id);
            needs.push((ReorderRule::Alloc, all(&|e| Some(e.id) == last)));
        }
        kind if kind.is_access() => {
            let overlaps = |e: &&Event| cells[e.id.index()].iter().any(|c| cells[at].contains(c));
            let allocs = events[..at].iter().filter(|e| e.kind() == EventKind::Alloc);
            let last = allocs.rev().find(overlaps).map(|event| event.id);
            needs.push((ReorderRule::Alloc, all(&|e| Some(e.id) == last)));
        }
        _ => {}
    }
    needs
}

/// Whether a lock with this name lies in the memory of an event: its name is an address there.
fn holds(trace: &Trace, event: &Event, lock: &str) -> bool {
    let Some(digits) = lock.strip_prefix("0x") else { return false };
    let digits = digits.split('+').next().unwrap_or(digits);
    let Ok(at) = u64::from_str_radix(digits, 16) else { return false };
    match trace.tables().locations[event.operand as usize] {
        Location::Range { address, size, .. } => {
            (0..u64::from(size.max(1))).any(|i| address + i == at)
        }
        _ => false,
    }
}

fn cells_of(trace: &Trace, event: &Event) -> Vec<Cell> {
    let Some(location) = event.location() else { return Vec::new() };
    let locations = &trace.tables().locations;
    match locations[location.index()] {
        Location::Range { address, size, generation } => {
            let bytes = 0..u64::from(size.max(1));
            bytes.map(|byte| Cell::Byte(generation, address + byte)).collect()
        }
        other => {
            let first = locations.iter().position(|location| *location == other);
            vec![Cell::Place(first.expect("it is in the list"))]
        }
    }
}

fn woken(trace: &Trace, events: &[Event]) -> Vec<Option<(usize, Option<usize>)>> {
    let mut woken: Vec<Option<(usize, Option<usize>)>> = Vec::new();
    for wake in events {
        let earlier = &events[..wake.id.index()];
        if wake.kind() != EventKind::Wake || wake.op.is_timeout() {
            woken.push(None);
            continue;
        }
        let wait = earlier.iter().rposition(|e| {
            e.kind() == EventKind::Wait && e.operand == wake.operand && e.task == wake.task
        });
        let is_matched = |at: usize| woken.iter().flatten().any(|found| found.0 == at);
        let is_candidate = |at: &usize| {
            let e = &earlier[*at];
            let signals = e.kind() == EventKind::Broadcast
                || (e.kind() == EventKind::Signal && !is_matched(*at));
            signals && e.operand == wake.operand && wait.is_none_or(|wait| *at > wait)
        };
        let source = match trace.columns().refers.get(wake.id.0) {
            Some(number) => (0..earlier.len()).find(|at| *at as u64 == number),
            None => (0..earlier.len()).find(is_candidate),
        };
        woken.push(source.map(|source| (source, wait.filter(|wait| *wait < source))));
    }
    woken
}

/// The events that must come before an event of a barrier; `None` if unknown.
fn arrivals(trace: &Trace, events: &[Event], this: &Event) -> Option<BTreeSet<usize>> {
    let passes = |e: &&Event| e.kind() == EventKind::Barrier && e.operand == this.operand;
    let round = |e: &Event| {
        events[..e.id.index()].iter().filter(passes).filter(|other| other.task == e.task).count()
    };
    let arrives = |e: &Event| -> Vec<usize> {
        let earlier = &events[..e.id.index()];
        if let Some(last) = earlier.iter().rfind(|other| other.task == e.task) {
            return vec![last.id.index()];
        }
        let own = handler(trace, e);
        let starts =
            |f: &&Event| f.kind() == EventKind::Fork && f.operand == own && own != u32::MAX;
        earlier.iter().filter(starts).map(|fork| fork.id.index()).collect()
    };
    let all: Vec<&Event> = events.iter().filter(passes).collect();
    let is_regular = all.iter().all(|x| {
        all.iter().all(|y| {
            let rounds_ascend = round(x) <= round(y) || x.id > y.id;
            rounds_ascend
                && (round(x) != round(y) || arrives(x).iter().all(|event| *event < y.id.index()))
        })
    });
    let of_round = all.iter().filter(|e| round(e) == round(this));
    is_regular.then(|| of_round.flat_map(|e| arrives(e)).collect())
}

/// The condition and the wait of a wake that timed out.
fn timeout(events: &[Event], this: &Event) -> Option<(u32, usize)> {
    let is_wait =
        |e: &Event| e.kind() == EventKind::Wait && e.task == this.task && e.operand == this.operand;
    let wait = events[..this.id.index()].iter().rposition(is_wait)?;
    this.op.is_timeout().then_some((this.operand, wait))
}
