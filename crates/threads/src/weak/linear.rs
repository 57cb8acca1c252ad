//! Whether the operations of a graph have a sequentially consistent order: one in which each read
//! reads from the last write of its object before it, given what each reads from, and nothing else.
//!
//! **Problem.** To decide that is NP-complete (P. Gibbons, E. Korach, "Testing shared memories",
//! SIAM Journal on Computing, 1997). An operation with all its events is one step of the order.
//!
//! **Source.** First *saturation*, as in P. Abdulla and others, "Optimal stateless model checking
//! for reads-from equivalence under sequential consistency", OOPSLA 2019: a write that comes before
//! a read of another write comes before that one, and a read comes before what comes after the
//! write that it reads from. A circle means that there is no order. Then a search over how many
//! operations of each thread are done, as in P. Agarwal and others, "Stateless model checking under
//! a reads-value-from equivalence", CAV 2021: that and the sources tell the state, since a write
//! can only come when all reads of the last one are done.
//!
//! **Cost.** Saturation is cubic in the operations, divided by the width of a word, for each of its
//! rounds; few are needed. The search is linear in most cases, and in the worst one exponential in
//! the threads alone.

use super::graph::{Graph, INITIAL, Id, Kind, NOBODY};
use super::sabotage::Sabotage;
use anyorder_common::bits;
use rustc_hash::FxHashSet;

/// The number of an operation.
type Number = u32;

/// No operation: what made an object.
const NOTHING: Number = Number::MAX;

#[derive(Clone, Copy)]
struct Read {
    by: Number,
    object: u32,
    from: Number,
}

/// The operations of a graph.
struct Operations {
    /// By thread, its operations: the position of the first event of each, and of what follows.
    first: Vec<(u32, u32, u32)>,
    /// By thread, the first operation and the number of operations.
    threads: Vec<(Number, u32)>,
    reads: Vec<Read>,
    /// By object, in ascending order.
    writes: Vec<(u32, Number)>,
    /// By operation, those after it.
    later: Vec<u64>,
    width: usize,
}

/// Puts a new event into the graph's order. Returns whether there is an order with it: most go to
/// the end.
pub(super) fn extend(graph: &mut Graph, id: Id, sabotage: Sabotage) -> bool {
    let event = graph.event(id);
    if event.is_blocked {
        return true;
    }
    // An operation is one step.
    let log = &graph.logs[event.thread as usize];
    let is_next =
        event.phase == 0 || graph.witness.last() == log.get((event.index as usize).wrapping_sub(1));
    let is_last = event.kind != Kind::Read || last_write(graph, event.object) == event.source;
    if is_next && is_last {
        graph.witness.push(id);
        return true;
    }
    revise(graph, sabotage)
}

/// Makes a new order of the graph's events. Returns whether there is one.
pub(super) fn revise(graph: &mut Graph, sabotage: Sabotage) -> bool {
    let order = linearize(graph, sabotage);
    order.map(|order| graph.witness = order).is_some()
}

/// The last write of an object in the graph's order.
fn last_write(graph: &Graph, object: u32) -> Id {
    let writes = |id: &&Id| {
        let event = graph.event(**id);
        event.kind == Kind::Write && event.object == object
    };
    graph.witness.iter().rev().find(writes).copied().unwrap_or(INITIAL)
}

/// Returns an order of the events, if there is one. A read in whose state its thread waits is none.
fn linearize(graph: &Graph, sabotage: Sabotage) -> Option<Vec<Id>> {
    let mut all = Operations::of(graph, sabotage)?;
    if !all.saturate() {
        return None;
    }
    let order = all.search(graph)?;
    let events = |number: &Number| {
        let (thread, from, to) = all.first[*number as usize];
        graph.logs[thread as usize][from as usize..to as usize].iter().copied()
    };
    Some(order.iter().flat_map(events).collect())
}

impl Operations {
    fn of(graph: &Graph, sabotage: Sabotage) -> Option<Operations> {
        let mut first: Vec<(u32, u32, u32)> = Vec::with_capacity(graph.events.len());
        let mut threads = Vec::with_capacity(graph.logs.len());
        let mut of_event = vec![NOTHING; graph.events.len()];
        for (thread, log) in graph.logs.iter().enumerate() {
            let from = first.len();
            for (at, id) in log.iter().enumerate() {
                let event = graph.event(*id);
                if event.is_blocked {
                    continue;
                }
                if event.phase == 0 || sabotage == Sabotage::StepsApart {
                    first.push((thread as u32, at as u32, at as u32));
                }
                if let Some(last) = first.last_mut() {
                    last.2 = at as u32 + 1;
                }
                of_event[*id as usize] = first.len() as Number - 1;
            }
            threads.push((from as Number, (first.len() - from) as u32));
        }
        let width = bits::width(first.len());
        let later = vec![0; width * first.len()];
        let (reads, writes) = (Vec::new(), Vec::new());
        let mut all = Operations { first, threads, reads, writes, later, width };
        all.add_events(graph, &of_event).then_some(all)
    }

    /// Adds what the events read and write, and program order, spawns and sources. Returns whether
    /// they have no circle.
    fn add_events(&mut self, graph: &Graph, of_event: &[Number]) -> bool {
        for (thread, log) in graph.logs.iter().enumerate() {
            let spawn = graph.spawns[thread];
            let mut last = if spawn < NOBODY { of_event[spawn as usize] } else { NOTHING };
            for id in log {
                let (own, event) = (of_event[*id as usize], graph.event(*id));
                if own == NOTHING {
                    continue;
                }
                if last != own && last != NOTHING && !self.put(last, own) {
                    return false;
                }
                last = own;
                let from = match event.source {
                    INITIAL => NOTHING,
                    source => of_event[source as usize],
                };
                match event.kind {
                    Kind::Read => self.reads.push(Read { by: own, object: event.object, from }),
                    Kind::Write => self.writes.push((event.object, own)),
                    _ => {}
                }
                let reads = matches!(event.kind, Kind::Read | Kind::Join);
                if reads && from != NOTHING && from != own && !self.put(from, own) {
                    return false;
                }
            }
        }
        self.writes.sort_unstable();
        true
    }

    fn row(&self, number: Number) -> &[u64] {
        &self.later[number as usize * self.width..(number as usize + 1) * self.width]
    }

    #[inline]
    fn is_before(&self, a: Number, b: Number) -> bool {
        bits::has(self.row(a), b)
    }

    /// Puts one before another one. Returns whether there is no circle.
    fn put(&mut self, a: Number, b: Number) -> bool {
        if a == b || self.is_before(b, a) {
            return false;
        }
        if self.is_before(a, b) {
            return true;
        }
        let mut added = self.row(b).to_vec();
        bits::set(&mut added, b);
        for (number, row) in self.later.chunks_exact_mut(self.width).enumerate() {
            if number as Number == a || bits::has(row, a) {
                bits::join(row, &added);
            }
        }
        true
    }

    fn writes_of(&self, object: u32) -> std::ops::Range<usize> {
        let from = self.writes.partition_point(|write| write.0 < object);
        let count = self.writes[from..].iter().take_while(|write| write.0 == object).count();
        from..from + count
    }

    /// Adds what follows from the order so far. Returns whether there is no circle.
    fn saturate(&mut self) -> bool {
        loop {
            let mut is_new = false;
            for at in 0..self.reads.len() {
                let Read { by, object, from } = self.reads[at];
                for at in self.writes_of(object) {
                    let other = self.writes[at].1;
                    if other == by || other == from {
                        continue;
                    }
                    let is_after = from == NOTHING || self.is_before(from, other);
                    if is_after && !self.is_before(by, other) {
                        is_new = true;
                        if !self.put(by, other) {
                            return false;
                        }
                    }
                    if from != NOTHING && self.is_before(other, by) && !self.is_before(other, from)
                    {
                        is_new = true;
                        if !self.put(other, from) {
                            return false;
                        }
                    }
                }
            }
            if !is_new {
                return true;
            }
        }
    }

    fn search(&self, graph: &Graph) -> Option<Vec<Number>> {
        let last = vec![NOTHING; graph.objects.len()];
        let done = vec![0; self.width];
        let counts = vec![0; self.threads.len()];
        let mut state = State { done, counts, last, order: Vec::new() };
        let mut failed = FxHashSet::default();
        self.complete(&mut state, &mut failed).then_some(state.order)
    }

    /// Goes on to the end, if that is possible.
    fn complete(&self, state: &mut State, failed: &mut FxHashSet<Vec<u32>>) -> bool {
        let mut writers = Vec::new();
        loop {
            writers.clear();
            let mut has_moved = false;
            for thread in 0..self.threads.len() {
                while let Some(next) = self.next(thread, state) {
                    match self.step(next, state) {
                        // Whatever is possible later, is possible after it, too.
                        Some(false) => self.perform(thread, next, state),
                        Some(true) => {
                            writers.push((thread, next));
                            break;
                        }
                        None => break,
                    }
                    has_moved = true;
                }
            }
            if has_moved {
                continue;
            }
            if state.order.len() == self.first.len() {
                return true;
            }
            match writers.as_slice() {
                [] => return false,
                [(thread, only)] => self.perform(*thread, *only, state),
                _ => break,
            }
        }
        if failed.contains(&state.counts) {
            return false;
        }
        for (thread, writer) in writers {
            let mut next = state.clone();
            self.perform(thread, writer, &mut next);
            if self.complete(&mut next, failed) {
                *state = next;
                return true;
            }
        }
        failed.insert(state.counts.clone());
        false
    }

    /// The next operation of a thread, if all that has to come before it is done.
    fn next(&self, thread: usize, state: &State) -> Option<Number> {
        let (first, count) = self.threads[thread];
        let done = state.counts[thread];
        let next = (done < count).then_some(first + done)?;
        let is_open = |other: Number| {
            !bits::has(&state.done, other) && other != next && self.is_before(other, next)
        };
        (!(0..self.first.len() as Number).any(is_open)).then_some(next)
    }

    /// Whether an operation that comes next writes; `None` if it cannot come yet.
    fn step(&self, next: Number, state: &State) -> Option<bool> {
        let reads = self.reads.iter();
        let is_wrong =
            |read: &Read| read.by == next && state.last[read.object as usize] != read.from;
        if reads.clone().any(is_wrong) {
            return None;
        }
        let mut writes = false;
        for (object, _) in self.writes.iter().filter(|write| write.1 == next) {
            writes = true;
            let is_open = |read: &Read| {
                read.object == *object
                    && read.by != next
                    && read.from == state.last[*object as usize]
                    && !bits::has(&state.done, read.by)
            };
            if reads.clone().any(is_open) {
                return None;
            }
        }
        Some(writes)
    }

    fn perform(&self, thread: usize, next: Number, state: &mut State) {
        for (object, _) in self.writes.iter().filter(|write| write.1 == next) {
            state.last[*object as usize] = next;
        }
        state.counts[thread] += 1;
        bits::set(&mut state.done, next);
        state.order.push(next);
    }
}

#[derive(Clone)]
struct State {
    done: Vec<u64>,
    /// By thread, the operations that are done.
    counts: Vec<u32>,
    /// By object, the operation that wrote last.
    last: Vec<Number>,
    order: Vec<Number>,
}
