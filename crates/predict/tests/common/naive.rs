//! HB, WDC and EDC from their definitions (`docs/prediction.md`), by closure over all pairs of
//! events.

use anyorder_trace::{EventKind, Location, LocationId, Op, Trace};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    Hb,
    Edc,
}

/// A critical section: positions of its outermost acquire and of its release.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Section {
    pub(crate) lock: u32,
    pub(crate) shared: bool,
    pub(crate) lane: u32,
    pub(crate) acquire: usize,
    pub(crate) release: Option<usize>,
}

/// An edge that is not program order, and the section whose release it starts at, for edges of
/// conflicting sections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) section: Option<usize>,
}

/// The effect of an event, for the definitions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Action {
    pub(crate) kind: EventKind,
    pub(crate) op: Op,
    pub(crate) lane: u32,
    pub(crate) task: u32,
    pub(crate) operand: u32,
}

/// The actions that a specification adds, by event.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extra {
    /// Pairs of events, of any lanes, that do not commute.
    pub(crate) conflicting: BTreeSet<(usize, usize)>,
    /// The object that an event acts on.
    pub(crate) object: Vec<Option<usize>>,
    /// Events that are ignored.
    pub(crate) hidden: Vec<bool>,
}

pub(crate) struct Naive {
    pub(crate) actions: Vec<Action>,
    pub(crate) sections: Vec<Section>,
    /// For each event the sections that it lies in.
    pub(crate) inside: Vec<Vec<usize>>,
    pub(crate) edges: Vec<Edge>,
    /// `before[j][i]`: i is ordered before j, or is j.
    pub(crate) before: Vec<Vec<bool>>,
    locations: Vec<Location>,
    conditions: bool,
    /// The tables that events refer to.
    refers: BTreeMap<usize, u64>,
    extra: Option<Extra>,
}

impl Naive {
    /// Computes an order. `conditions` tells whether waits and signals are actions.
    pub(crate) fn new(trace: &Trace, order: Order, conditions: bool) -> Naive {
        Naive::with(trace, order, conditions, None)
    }

    /// Computes an order of a trace under a specification.
    pub(crate) fn with(
        trace: &Trace,
        order: Order,
        conditions: bool,
        extra: Option<Extra>,
    ) -> Naive {
        let mut actions: Vec<Action> = trace
            .events()
            .map(|e| Action {
                kind: e.kind(),
                op: e.op,
                lane: trace.tables().tasks[e.task.index()].handler.0,
                task: e.task.0,
                operand: e.operand,
            })
            .collect();
        for (action, hidden) in actions.iter_mut().zip(extra.iter().flat_map(|e| &e.hidden)) {
            if *hidden {
                action.kind = EventKind::Other;
            }
        }
        let mut naive = Naive {
            sections: Vec::new(),
            inside: vec![Vec::new(); actions.len()],
            edges: Vec::new(),
            before: Vec::new(),
            locations: trace.tables().locations.clone(),
            actions,
            conditions,
            refers: trace.columns().refers.iter().map(|(row, to)| (row as usize, to)).collect(),
            extra,
        };
        naive.find_sections();
        naive.hard_edges();
        match order {
            Order::Hb => naive.lock_edges(),
            Order::Edc => naive.section_edges(),
        }
        naive.close();
        naive
    }

    fn find_sections(&mut self) {
        let mut open: Vec<(usize, u32)> = Vec::new();
        for at in 0..self.actions.len() {
            let a = self.actions[at];
            let held = open.iter().position(|(s, _)| {
                self.sections[*s].lock == a.operand && self.sections[*s].lane == a.lane
            });
            let inside = |open: &[(usize, u32)], sections: &[Section]| -> Vec<usize> {
                open.iter().map(|(s, _)| *s).filter(|s| sections[*s].lane == a.lane).collect()
            };
            // An acquire does not lie in its own section yet, a release still does.
            let before = inside(&open, &self.sections);
            match (a.kind, held) {
                (EventKind::Acquire, Some(held)) => open[held].1 += 1,
                (EventKind::Acquire, None) => {
                    let (lock, shared) = (a.operand, a.op.mode().is_shared());
                    self.sections.push(Section {
                        lock,
                        shared,
                        lane: a.lane,
                        acquire: at,
                        release: None,
                    });
                    open.push((self.sections.len() - 1, 1));
                }
                (EventKind::Release, Some(held)) => {
                    open[held].1 -= 1;
                    if open[held].1 == 0 {
                        self.sections[open[held].0].release = Some(at);
                        open.remove(held);
                    }
                }
                _ => {}
            }
            let is_lock = matches!(a.kind, EventKind::Acquire | EventKind::Release);
            self.inside[at] = if is_lock { before } else { inside(&open, &self.sections) };
        }
    }

    fn edge(&mut self, from: usize, to: usize) {
        assert!(from < to);
        self.edges.push(Edge { from, to, section: None });
    }

    /// Returns whether an event is before each later join of a handler: its own ones, and its
    /// forks.
    fn joins(&self, event: usize, handler: u32) -> bool {
        let action = self.actions[event];
        action.lane == handler || (action.kind == EventKind::Fork && action.operand == handler)
    }

    fn hard_edges(&mut self) {
        let mut matched = BTreeSet::new();
        for at in 0..self.actions.len() {
            let a = self.actions[at];
            match a.kind {
                EventKind::Fork => {
                    if let Some(to) =
                        (at + 1..self.actions.len()).find(|j| self.actions[*j].lane == a.operand)
                    {
                        self.edge(at, to);
                    }
                }
                EventKind::Join => {
                    let of: Vec<usize> = (0..at).filter(|i| self.joins(*i, a.operand)).collect();
                    of.into_iter().for_each(|i| self.edge(i, at));
                }
                EventKind::Get => {
                    let post = (0..at).find(|i| {
                        self.actions[*i].kind == EventKind::Post
                            && self.actions[*i].operand == a.task
                    });
                    if let Some(post) = post {
                        self.edge(post, at);
                    }
                }
                EventKind::Wake if !a.op.is_timeout() => {
                    let wait = (0..at).rev().find(|i| {
                        self.actions[*i].kind == EventKind::Wait
                            && self.actions[*i].task == a.task
                            && self.actions[*i].operand == a.operand
                    });
                    let referred =
                        self.refers.get(&at).map(|to| (0..at).find(|i| *i as u64 == *to));
                    let found = referred.unwrap_or_else(|| {
                        (wait.map_or(0, |w| w + 1)..at).find(|i| {
                            let s = self.actions[*i];
                            s.operand == a.operand
                                && (s.kind == EventKind::Broadcast
                                    || (s.kind == EventKind::Signal && !matched.contains(i)))
                        })
                    });
                    if let Some(from) = found {
                        matched.insert(from);
                        self.edge(from, at);
                    }
                }
                EventKind::Barrier => {
                    let of: Vec<usize> = (0..at)
                        .filter(|i| {
                            self.actions[*i].kind == EventKind::Barrier
                                && self.actions[*i].operand == a.operand
                        })
                        .collect();
                    of.into_iter().for_each(|i| self.edge(i, at));
                }
                EventKind::Read | EventKind::Rmw if a.op.mode().acquires() => {
                    let writes = (0..at).rev().filter(|i| {
                        self.actions[*i].kind.writes() && self.actions[*i].operand == a.operand
                    });
                    for write in Vec::from_iter(writes) {
                        let (kind, mode) =
                            (self.actions[write].kind, self.actions[write].op.mode());
                        if mode.releases() {
                            self.edge(write, at);
                        }
                        if kind != EventKind::Rmw || !mode.is_atomic() {
                            break;
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn lock_edges(&mut self) {
        for at in 0..self.actions.len() {
            for i in 0..at {
                let (r, a) = (self.actions[i], self.actions[at]);
                let hands_over = r.kind == EventKind::Release && a.kind == EventKind::Acquire;
                let both_shared = r.op.mode().is_shared() && a.op.mode().is_shared();
                if hands_over && r.operand == a.operand && r.lane != a.lane && !both_shared {
                    self.edge(i, at);
                }
            }
        }
    }

    fn section_edges(&mut self) {
        for at in 0..self.actions.len() {
            let sources: BTreeSet<usize> = (0..at)
                .filter(|i| self.conflict(*i, at))
                .flat_map(|i| self.common(i, at).into_iter().map(|(first, _)| first))
                .collect();
            for section in sources {
                let from = self.sections[section].release.expect("common sections are closed");
                self.edges.push(Edge { from, to: at, section: Some(section) });
            }
        }
    }

    fn close(&mut self) {
        for at in 0..self.actions.len() {
            let mut row = vec![false; self.actions.len()];
            row[at] = true;
            let lane = self.actions[at].lane;
            let previous = (0..at).rev().find(|i| self.actions[*i].lane == lane);
            let edges = self.edges.iter().filter(|e| e.to == at).map(|e| e.from);
            for from in edges.chain(previous) {
                for (known, there) in row.iter_mut().zip(&self.before[from]) {
                    *known |= there;
                }
            }
            self.before.push(row);
        }
    }

    /// Returns whether two events touch the same memory.
    fn overlap(&self, a: u32, b: u32) -> bool {
        let at = |i: u32| self.locations[LocationId(i).index()];
        match (at(a), at(b)) {
            (
                Location::Range { address: a, size: n, generation: g },
                Location::Range { address: b, size: m, generation: h },
            ) => g == h && a < b + u64::from(m) && b < a + u64::from(n),
            _ => a == b,
        }
    }

    /// Returns whether two events of different lanes do not commute.
    pub(crate) fn conflict(&self, i: usize, j: usize) -> bool {
        let (a, b) = (self.actions[i], self.actions[j]);
        if a.lane == b.lane {
            return false;
        }
        if a.kind.is_access() && b.kind.is_access() {
            return (a.kind.writes() || b.kind.writes()) && self.overlap(a.operand, b.operand);
        }
        if self.extra.as_ref().is_some_and(|extra| extra.conflicting.contains(&(i, j))) {
            return true;
        }
        let waits = |x: Action| x.kind == EventKind::Wait;
        let signals = |x: Action| matches!(x.kind, EventKind::Signal | EventKind::Broadcast);
        self.conditions
            && a.operand == b.operand
            && ((waits(a) && signals(b)) || (signals(a) && waits(b)))
    }

    /// Returns whether a violation by two conflicting events is reported.
    pub(crate) fn reported(&self, i: usize, j: usize) -> bool {
        let (a, b) = (self.actions[i], self.actions[j]);
        !(a.kind.is_access() && a.op.mode().is_atomic() && b.op.mode().is_atomic())
    }

    /// Returns the pairs of sections of two events that exclude each other, the first one closed.
    pub(crate) fn common(&self, i: usize, j: usize) -> Vec<(usize, usize)> {
        let mut common = Vec::new();
        for &s in &self.inside[i] {
            for &t in &self.inside[j] {
                let (a, b) = (self.sections[s], self.sections[t]);
                let closed = a.release.is_some_and(|release| release < j);
                if a.lock == b.lock && !(a.shared && b.shared) && closed {
                    common.push((s, t));
                }
            }
        }
        common
    }

    /// Returns the racy pairs.
    pub(crate) fn races(&self) -> BTreeSet<(usize, usize)> {
        self.pairs().filter(|(i, j)| self.reported(*i, *j) && !self.before[*j][*i]).collect()
    }

    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.actions.len())
            .flat_map(|j| (0..j).map(move |i| (i, j)))
            .filter(|(i, j)| self.conflict(*i, *j))
    }

    /// Returns whether `f` communicates with an action in a section: it reads what was written
    /// there.
    pub(crate) fn communicates(&self, section: usize, f: usize) -> bool {
        if !self.actions[f].kind.is_access() || !self.actions[f].kind.reads() {
            return false;
        }
        let writes = |i: &usize| {
            let a = self.actions[*i];
            a.kind.is_access()
                && a.kind.writes()
                && self.overlap(a.operand, self.actions[f].operand)
        };
        (0..f).rev().find(writes).is_some_and(|w| self.inside[w].contains(&section))
    }

    /// Returns the non-racy candidates that survive.
    pub(crate) fn candidates(&self) -> BTreeSet<(usize, usize)> {
        self.pairs().filter(|(i, j)| self.reported(*i, *j) && self.is_candidate(*i, *j)).collect()
    }

    fn is_candidate(&self, i: usize, j: usize) -> bool {
        let common = self.common(i, j);
        if common.is_empty() || common.iter().any(|(_, t)| self.sections[*t].release.is_none()) {
            return false;
        }
        common.iter().all(|(s, t)| {
            let (acquire, release) =
                (self.sections[*s].acquire, self.sections[*t].release.expect("checked"));
            !self.edges.iter().any(|edge| {
                self.actions[edge.to].lane == self.actions[j].lane
                    && edge.to <= release
                    && self.before[edge.from][acquire]
                    && !self.is_own(edge, &common, j)
            })
        })
    }

    /// Returns whether an edge is a pair's own, given these sections.
    pub(crate) fn is_own(&self, edge: &Edge, common: &[(usize, usize)], j: usize) -> bool {
        let same = |f: usize| {
            let (a, b) = (self.actions[f], self.actions[j]);
            match (a.kind.is_access(), b.kind.is_access()) {
                (true, true) => self.overlap(a.operand, b.operand),
                (false, false) => match &self.extra {
                    Some(extra) => extra.object[f].is_some() && extra.object[f] == extra.object[j],
                    None => a.operand == b.operand,
                },
                _ => false,
            }
        };
        edge.section.is_some_and(|section| {
            edge.to >= j
                && same(edge.to)
                && common.iter().any(|(s, _)| *s == section)
                && !self.communicates(section, edge.to)
        })
    }
}
