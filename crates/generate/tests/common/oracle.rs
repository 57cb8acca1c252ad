//! Decides consistency by the definition: tries all orders of the messages of each handler, on the
//! transitive closure of all events. For traces of a few hundred events.

use anyorder_common::bits::{Rows, members};
use anyorder_trace::{Columns, EventId, EventKind, TaskId, Trace};

/// Returns a run of the trace with FIFO mailboxes, if there is one.
pub(crate) fn consistent_run(trace: &Trace) -> Option<Vec<EventId>> {
    let reach = State::given(trace).ok()?.search(trace, pairs(trace))?;
    let mut order: Vec<EventId> = (0..trace.len() as u32).map(EventId).collect();
    order.sort_by_key(|event| std::cmp::Reverse(reach.count(event.index())));
    Some(order)
}

/// Returns how many pairs of messages of one handler stay open after propagation, and how many
/// there are; `None` when propagation finds a contradiction.
pub(crate) fn open_pairs(trace: &Trace) -> Option<(usize, usize)> {
    let mut pairs = pairs(trace);
    let all = pairs.len();
    State::given(trace).ok()?.propagate(trace, &mut pairs).ok()?;
    Some((pairs.len(), all))
}

/// Returns the pairs of messages of one handler, handlers with few messages first: these decide the
/// others more often than conversely.
fn pairs(trace: &Trace) -> Vec<(TaskId, TaskId)> {
    let mut pairs = Vec::new();
    let posted: Vec<TaskId> = trace.task_ids().filter(|t| trace.ran_from_mailbox(*t)).collect();
    for (place, first) in posted.iter().enumerate() {
        for second in &posted[place + 1..] {
            if trace.span(*first).handler == trace.span(*second).handler {
                pairs.push((*first, *second));
            }
        }
    }
    let handler = |pair: &(TaskId, TaskId)| trace.span(pair.0).handler;
    let mut counts = vec![0; trace.tables().handlers.len()];
    pairs.iter().for_each(|pair| counts[handler(pair).index()] += 1);
    pairs.sort_by_key(|pair| (counts[handler(pair).index()], handler(pair)));
    pairs
}

/// Returns whether the trace has a run with FIFO mailboxes; the run is replayed.
pub(crate) fn is_consistent(trace: &Trace) -> bool {
    let run = consistent_run(trace);
    if let Some(run) = &run {
        assert_eq!(super::replay(trace, run, true), Ok(()), "the oracle's own run");
    }
    run.is_some()
}

/// Program order, posts, reads-from, coherence and from-reads.
fn given_edges(trace: &Trace) -> Vec<(usize, usize)> {
    let tables = trace.tables();
    let mut edges = Vec::new();
    let mut last_of_task = vec![None; trace.tasks_count()];
    for event in trace.events() {
        let row = event.id.index();
        if let Some(last) = last_of_task[event.task.index()].replace(row) {
            edges.push((last, row));
        }
        if event.kind() == EventKind::Post {
            edges.push((row, trace.span(TaskId(event.operand)).get.index()));
        }
    }
    for initial in trace.task_ids().filter(|t| !trace.ran_from_mailbox(*t)) {
        let span = trace.span(initial);
        for task in trace.task_ids().filter(|t| trace.ran_from_mailbox(*t)) {
            if trace.span(task).handler == span.handler && !span.last.is_none() {
                edges.push((span.last.index(), trace.span(task).get.index()));
            }
        }
    }
    let mut orders: Vec<Vec<usize>> = vec![Vec::new(); tables.locations.len()];
    for event in trace.events().filter(|event| event.kind() == EventKind::Write) {
        orders[event.operand as usize].push(event.id.index());
    }
    for order in &tables.coherence {
        orders[order.location.index()] = order.writes.iter().map(|w| *w as usize).collect();
    }
    for order in &orders {
        edges.extend(order.windows(2).map(|pair| (pair[0], pair[1])));
    }
    for event in trace.events().filter(|event| event.kind() == EventKind::Read) {
        let from = trace.columns().refers.get(event.id.0).unwrap();
        let order = &orders[event.operand as usize];
        let next = if from == Columns::INITIAL {
            0
        } else {
            edges.push((from as usize, event.id.index()));
            order.iter().position(|write| *write as u64 == from).unwrap() + 1
        };
        if let Some(next) = order.get(next) {
            edges.push((event.id.index(), *next));
        }
    }
    edges
}

/// Orders decided so far.
#[derive(Clone)]
struct State {
    reach: Closure,
}

impl State {
    fn given(trace: &Trace) -> Result<State, Cycle> {
        let mut state = State { reach: Closure::new(trace.len()) };
        given_edges(trace).into_iter().try_for_each(|(from, to)| state.reach.add(from, to))?;
        Ok(state)
    }

    fn decide(&mut self, trace: &Trace, first: TaskId, second: TaskId) -> Result<(), Cycle> {
        let (first, second) = (trace.span(first), trace.span(second));
        self.reach.add(first.last.index(), second.get.index())?;
        self.reach.add(first.post.index(), second.post.index())
    }

    /// Decides the forced pairs, and leaves the others in the list.
    fn propagate(&mut self, trace: &Trace, pairs: &mut Vec<(TaskId, TaskId)>) -> Result<(), Cycle> {
        loop {
            let before = pairs.len();
            let mut left = Vec::new();
            for (a, b) in pairs.drain(..) {
                let forced = |a, b, reach: &Closure| {
                    let (a, b) = (trace.span(a), trace.span(b));
                    reach.has(a.get.index(), b.last.index())
                        || reach.has(a.post.index(), b.post.index())
                };
                if forced(a, b, &self.reach) {
                    self.decide(trace, a, b)?;
                } else if forced(b, a, &self.reach) {
                    self.decide(trace, b, a)?;
                } else {
                    left.push((a, b));
                }
            }
            *pairs = left;
            if pairs.len() == before {
                return Ok(());
            }
        }
    }

    fn search(mut self, trace: &Trace, mut pairs: Vec<(TaskId, TaskId)>) -> Option<Closure> {
        self.propagate(trace, &mut pairs).ok()?;
        if pairs.is_empty() {
            return Some(self.reach);
        }
        let (a, b) = pairs.remove(0);
        for (first, second) in [(a, b), (b, a)] {
            let mut next = self.clone();
            if next.decide(trace, first, second).is_ok()
                && let Some(found) = next.search(trace, pairs.clone())
            {
                return Some(found);
            }
        }
        None
    }
}

/// An edge would close a cycle.
#[derive(Debug)]
struct Cycle;

/// The successors of each event.
#[derive(Clone)]
struct Closure(Rows);

impl Closure {
    fn new(events: usize) -> Closure {
        Closure(Rows::square(events))
    }

    fn has(&self, from: usize, to: usize) -> bool {
        self.0.has(from as u32, to as u32)
    }

    fn count(&self, from: usize) -> usize {
        members(self.0.row(from as u32)).count()
    }

    fn add(&mut self, from: usize, to: usize) -> Result<(), Cycle> {
        if from == to || self.has(to, from) {
            return Err(Cycle);
        }
        if self.has(from, to) {
            return Ok(());
        }
        for event in 0..self.0.len() {
            if event == from || self.has(event, from) {
                self.0.set(event as u32, to as u32);
                self.0.join(event as u32, to as u32);
            }
        }
        Ok(())
    }
}
