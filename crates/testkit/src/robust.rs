//! Robustness of a trace, straight from the definitions of `docs/robustness.md`.
//!
//! Everything is done by scanning: events by following posts and forks, the reference order by a
//! simulation that looks at all pending invocations at each step, both graphs by all pairs of
//! accesses, and cycles by transitive closure.

use anyorder_trace::{
    EventId, EventKind, Location, LocationId, Mailbox, Position, TaskId, TaskKind, Trace,
};

/// One run of code, with its place in its event.
#[derive(Clone, Debug)]
pub struct NaiveInvocation {
    /// Its task, and which piece of a looper's code it is.
    pub code: (TaskId, usize),
    /// Its first event.
    pub first: EventId,
    /// The post or fork that created it, and the invocation that did.
    pub parent: Option<(EventId, usize)>,
}

/// The robustness of a trace.
#[derive(Clone, Debug)]
pub struct NaiveRobust<'t> {
    trace: &'t Trace,
    /// The invocations, in the order of their first events.
    pub invocations: Vec<NaiveInvocation>,
    /// By invocation: the root of its event.
    pub root: Vec<usize>,
    /// By invocation: its position in depth-first preorder of its event.
    pub preorder: Vec<usize>,
    /// By invocation: its position in the reference order of its event.
    pub position: Vec<usize>,
    /// The invocation of each event of the trace.
    of_row: Vec<usize>,
}

impl<'t> NaiveRobust<'t> {
    /// Finds the events of a trace and their reference orders.
    #[must_use]
    pub fn new(trace: &'t Trace) -> NaiveRobust<'t> {
        let codes: Vec<(TaskId, usize)> = trace.events().map(|e| code_of(trace, e.id)).collect();
        let mut invocations: Vec<NaiveInvocation> = Vec::new();
        let mut of_row = Vec::new();
        for (row, code) in codes.iter().enumerate() {
            let known = invocations.iter().position(|one| one.code == *code);
            of_row.push(known.unwrap_or(invocations.len()));
            if known.is_none() {
                let first = EventId(row as u32);
                invocations.push(NaiveInvocation { code: *code, first, parent: None });
            }
        }
        for at in 0..invocations.len() {
            invocations[at].parent =
                creator(trace, &invocations, at).map(|e| (e, of_row[e.index()]));
        }
        let root = (0..invocations.len())
            .map(|mut at| {
                while let Some((_, parent)) = invocations[at].parent {
                    at = parent;
                }
                at
            })
            .collect();
        let (preorder, position) = (vec![0; invocations.len()], vec![0; invocations.len()]);
        let mut naive = NaiveRobust { trace, invocations, root, preorder, position, of_row };
        for at in 0..naive.invocations.len() {
            if naive.root[at] == at {
                naive.number(at, &mut 0);
                naive.run(at);
            }
        }
        naive
    }

    /// Returns the event, by its root invocation, of an event of the trace.
    #[must_use]
    pub fn event_of(&self, event: EventId) -> usize {
        self.root[self.of_row[event.index()]]
    }

    /// Returns whether two accesses conflict.
    #[must_use]
    pub fn conflict(&self, a: EventId, b: EventId) -> bool {
        let (a, b) = (self.trace.event(a), self.trace.event(b));
        let accesses = a.kind().is_access() && b.kind().is_access();
        let writes = a.kind().writes() || b.kind().writes();
        accesses && writes && overlap(self.trace, LocationId(a.operand), LocationId(b.operand))
    }

    /// Returns the edges of the conflict-event graph: for each pair of root invocations, whether
    /// some access of the first precedes a conflicting one of the second.
    #[must_use]
    pub fn event_graph(&self) -> Vec<Vec<bool>> {
        let count = self.invocations.len();
        let mut edges = vec![vec![false; count]; count];
        for (a, b) in self.pairs() {
            let (from, to) = (self.event_of(a), self.event_of(b));
            edges[from][to] |= from != to;
        }
        edges
    }

    /// Returns the components of the conflict-event graph with several events: sorted root
    /// invocations.
    #[must_use]
    pub fn components(&self) -> Vec<Vec<usize>> {
        let mut reach = self.event_graph();
        let count = reach.len();
        for via in 0..count {
            for from in 0..count {
                for to in 0..count {
                    let path = reach[from][via] && reach[via][to];
                    reach[from][to] |= path;
                }
            }
        }
        let together = |a: usize, b: usize| reach[a][b] && reach[b][a];
        let members = |a: usize| (0..count).filter(|b| together(a, *b)).collect::<Vec<usize>>();
        // Each component once, at its first member.
        let mut found: Vec<Vec<usize>> = (0..count).map(members).collect();
        found.retain(|members| members.len() > 1);
        found.sort();
        found.dedup();
        found
    }

    /// Returns the length of a shortest cycle of events through an edge of the graph.
    #[must_use]
    pub fn cycle_length(&self, from: usize, to: usize) -> Option<usize> {
        let edges = self.event_graph();
        let mut reached = vec![to];
        for length in 1..=edges.len() {
            if reached.contains(&from) {
                return Some(length);
            }
            for a in reached.clone() {
                reached.extend((0..edges.len()).filter(|b| edges[a][*b]));
            }
            reached.sort_unstable();
            reached.dedup();
        }
        None
    }

    /// Returns the conflicts against the reference order, as pairs of root and pivot: of each pivot
    /// the root of the latest invocation, and its first access.
    #[must_use]
    pub fn violations(&self) -> Vec<(EventId, EventId)> {
        let position = |event: EventId| self.position[self.of_row[event.index()]];
        let mut found: Vec<(EventId, EventId)> = Vec::new();
        for (a, b) in self.pairs() {
            if self.event_of(a) != self.event_of(b) || position(a) <= position(b) {
                continue;
            }
            match found.iter_mut().find(|(_, pivot)| *pivot == b) {
                Some((root, _)) if position(a) > position(*root) => *root = a,
                Some(_) => {}
                None => found.push((a, b)),
            }
        }
        found.sort_by_key(|(_, pivot)| *pivot);
        found
    }

    /// Returns all conflicting pairs of accesses in trace order.
    fn pairs(&self) -> Vec<(EventId, EventId)> {
        let rows = || (0..self.trace.len() as u32).map(EventId);
        rows()
            .flat_map(|b| rows().take_while(move |a| *a < b).map(move |a| (a, b)))
            .filter(|(a, b)| self.conflict(*a, *b))
            .collect()
    }

    /// Returns what an invocation created, in the order of creation.
    fn children(&self, parent: usize) -> Vec<usize> {
        let created = |at: &usize| self.invocations[*at].parent.map(|(event, _)| event);
        let mut children: Vec<usize> = (0..self.invocations.len())
            .filter(|at| self.invocations[*at].parent.is_some_and(|(_, by)| by == parent))
            .collect();
        children.sort_by_key(created);
        children
    }

    fn number(&mut self, at: usize, next: &mut usize) {
        self.preorder[at] = *next;
        *next += 1;
        for child in self.children(at) {
            self.number(child, next);
        }
    }

    /// Runs an event on one thread.
    fn run(&mut self, root: usize) {
        let mut pending = vec![Pending { at: root, queue: None, due: 0, place: 0 }];
        let (mut now, mut posts, mut done) = (0_u64, 0_i64, 0);
        while !pending.is_empty() {
            let heads: Vec<usize> = (0..pending.len())
                .filter(|one| {
                    let own = &pending[*one];
                    !pending.iter().any(|other| {
                        let before = (other.due, other.place) < (own.due, own.place);
                        own.queue.is_some() && other.queue == own.queue && before
                    })
                })
                .collect();
            let due = heads.iter().filter(|one| pending[**one].due <= now);
            let Some(next) = due.min_by_key(|one| self.preorder[pending[**one].at]).copied() else {
                now = heads.iter().map(|one| pending[*one].due).min().unwrap_or(now);
                continue;
            };
            let at = pending.remove(next).at;
            self.position[at] = done;
            done += 1;
            for child in self.children(at) {
                posts += 1;
                pending.push(self.post(child, now, posts));
            }
        }
    }

    fn post(&self, at: usize, now: u64, posts: i64) -> Pending {
        let tables = self.trace.tables();
        let task = self.invocations[at].code.0;
        let (def, handler) = (tables.tasks[task.index()], self.trace.span(task).handler);
        let mailbox = tables.handlers[handler.index()].mailbox;
        let ordered =
            def.kind == TaskKind::Posted && matches!(mailbox, Mailbox::Fifo | Mailbox::Delayed);
        let queue = ordered.then_some(handler.0);
        if ordered && def.position == Position::Front {
            return Pending { at, queue, due: 0, place: -posts };
        }
        let delayed = ordered && mailbox == Mailbox::Delayed;
        Pending { at, queue, due: if delayed { now + def.delay } else { 0 }, place: posts }
    }
}

/// A pending invocation: those of a queue run by due time, then by place.
struct Pending {
    at: usize,
    queue: Option<u32>,
    due: u64,
    place: i64,
}

/// Returns the task of an event, and which piece of a looper's code it is in: 0 up to the loop
/// point, and from then on one more than the tasks that began before it.
fn code_of(trace: &Trace, id: EventId) -> (TaskId, usize) {
    let event = trace.event(id);
    if trace.tables().tasks[event.task.index()].kind != TaskKind::Initial {
        return (event.task, 0);
    }
    let handler = trace.span(event.task).handler;
    let gets: Vec<EventId> = trace
        .events()
        .filter(|e| e.kind() == EventKind::Get && trace.span(e.task).handler == handler)
        .map(|e| e.id)
        .collect();
    let Some(first_get) = gets.first() else { return (event.task, 0) };
    let own = || {
        trace.events().filter(|e| {
            trace.tables().tasks[e.task.index()].kind == TaskKind::Initial
                && trace.span(e.task).handler == handler
        })
    };
    let looped = own().find(|e| e.kind() == EventKind::Loop).map(|e| e.id);
    let point = looped.or_else(|| own().map(|e| e.id).filter(|e| e < first_get).max());
    if point.is_some_and(|point| id <= point) {
        return (event.task, 0);
    }
    (event.task, 1 + gets.iter().filter(|get| **get < id).count())
}

/// Returns the post or fork that created an invocation, unless the environment did.
fn creator(trace: &Trace, invocations: &[NaiveInvocation], at: usize) -> Option<EventId> {
    let own = &invocations[at];
    let task = own.code.0;
    let first_piece = invocations.iter().position(|one| one.code.0 == task) == Some(at);
    let initial = trace.tables().tasks[task.index()].kind == TaskKind::Initial;
    let handler = trace.span(task).handler;
    let by = trace.events().find(|event| {
        let creates = match event.kind() {
            EventKind::Post => event.operand == task.0,
            EventKind::Fork => initial && event.operand == handler.0,
            _ => false,
        };
        let tables = trace.tables();
        let tracked = !tables.handlers[trace.span(event.task).handler.index()].untracked;
        let burst = tables.tasks[event.task.index()].kind == TaskKind::Burst;
        creates && tracked && !burst && event.id < own.first
    })?;
    first_piece.then_some(by.id)
}

/// Returns whether two locations share memory.
fn overlap(trace: &Trace, a: LocationId, b: LocationId) -> bool {
    let locations = &trace.tables().locations;
    match (locations[a.index()], locations[b.index()]) {
        (
            Location::Range { address: a, size: n, generation: g },
            Location::Range { address: b, size: m, generation: h },
        ) => {
            let end = |address: u64, size: u32| u128::from(address) + u128::from(size.max(1));
            g == h && u128::from(a) < end(b, m) && u128::from(b) < end(a, n)
        }
        _ => a == b,
    }
}
