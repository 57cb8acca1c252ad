//! Builds proofs that one event happens before another.
//!
//! **Idea.** The prover works backwards from the goal, guided by the relation that the engine
//! computed. It picks a rule whose premises hold, then proves those premises. Posts order tasks by
//! FIFO, and tasks order posts by FIFO read backwards, so premises can be circular. The prover
//! therefore never uses a goal in its own proof. If that blocks a rule, it tries another.

use super::path::{PathEdge, find_path};
use super::proof::{Proof, ProofStep};
use crate::races::category::CapturedClocks;
use crate::relation::engine::Engine;
use crate::relation::given::Edge;
use crate::relation::over::{Known, Reason};
use crate::relation::rules::Rule;
use crate::relation::strands::StrandId;
use anyorder_order::ChainId;
use anyorder_system::{Cancel, Stopped};
use anyorder_trace::{Action, EventId, EventKind, TaskId};
use rustc_hash::{FxHashMap, FxHashSet};

/// The greatest depth of premises of task orders. A deeper premise makes the proof fail, but not
/// the answer.
const DEPTH_MAX: usize = 400;

/// The number of orders that the prover attempts before it gives up.
const TRIES_MAX: usize = 20_000;

/// The most tasks between two ordered tasks that the prover tries as the task in the middle.
const MIDDLE_TASKS_MAX: usize = 4_000;

/// Builds one proof.
pub(crate) struct Prover<'e, 't> {
    pub(crate) engine: &'e mut Engine<'t>,
    cancel: &'e Cancel,
    captured: CapturedClocks,
    lemmas: Vec<Vec<ProofStep>>,
    known: FxHashMap<(EventId, EventId), u32>,
    /// Edges and task orders whose proof is in progress.
    open: FxHashSet<(EventId, EventId)>,
    depth: usize,
    tries: usize,
}

impl<'e, 't> Prover<'e, 't> {
    pub(crate) fn new(engine: &'e mut Engine<'t>, cancel: &'e Cancel) -> Prover<'e, 't> {
        Prover {
            engine,
            cancel,
            captured: CapturedClocks::default(),
            lemmas: Vec::new(),
            known: FxHashMap::default(),
            open: FxHashSet::default(),
            depth: 0,
            tries: 0,
        }
    }

    /// Returns whether `x` happens before `y`.
    ///
    /// # Errors
    ///
    /// Fails if it was cancelled.
    pub(crate) fn happens_before(&mut self, x: EventId, y: EventId) -> Result<bool, Stopped> {
        self.ensure(&[y])?;
        Ok(self.captured.happens_before(self.engine, x, y))
    }

    /// Returns why `x` cannot come after `y` by the rule *ended*.
    ///
    /// # Errors
    ///
    /// Fails if it was cancelled.
    pub(crate) fn ended(&mut self, x: EventId, y: EventId) -> Result<Option<Reason>, Stopped> {
        let (a, b) = (self.engine.strand_of(x), self.engine.strand_of(y));
        if x >= y || a == b || self.engine.over.is_empty() {
            return Ok(None);
        }
        self.ensure(&[y])?;
        let handler = self.engine.strands.get(a).handler;
        let units = self.engine.last_units(handler, &|chain| self.bound(chain, y));
        let firsts: Vec<EventId> =
            units.into_iter().map(|unit| self.engine.strands.get(unit).first).collect();
        self.ensure(&firsts)?;
        let engine = &*self.engine;
        let known = Known {
            at: &|event| self.captured.reaches(engine, event, y),
            first: &|strand, event| {
                self.captured.reaches(engine, event, engine.strands.get(strand).first)
            },
            bound: &|chain| self.bound(chain, y),
        };
        Ok(engine.ended((x, a), (y, b), known))
    }

    /// Returns the number below which all events of a chain are before an event whose clock is
    /// known, by edges.
    fn bound(&self, chain: ChainId, y: EventId) -> u32 {
        match chain == self.engine.chains.of(self.engine.strand_of(y)) {
            true => y.0,
            false => self.captured.clock(y).map_or(0, |clock| clock.get(chain)),
        }
    }

    /// Proves what [`ended`](Self::ended) returned.
    ///
    /// # Errors
    ///
    /// Fails if it was cancelled.
    pub(crate) fn prove_ended(
        mut self,
        (x, y): (EventId, EventId),
        reason: Reason,
    ) -> Result<Option<Proof>, Stopped> {
        let Reason { rule, opened, end, since, behind } = reason;
        let mut premises = Vec::new();
        if let Some(behind) = behind {
            let Some(lemma) = self.lemma(end, behind)? else { return Ok(None) };
            premises.push(lemma);
        }
        if let Some(opened) = opened {
            let Some(lemma) = self.lemma(opened, end)? else { return Ok(None) };
            premises.push(lemma);
        }
        let mut path = vec![ProofStep { from: x, to: since, rule, premises }];
        if since < y {
            let Some(rest) = self.path(since, y)? else { return Ok(None) };
            path.extend(rest);
        }
        Ok(Some(Proof { lemmas: self.lemmas, path }))
    }

    /// Proves that `x` happens before `y`; `None` if the proof would be too deep.
    ///
    /// # Errors
    ///
    /// Fails if it was cancelled.
    pub(crate) fn prove(mut self, x: EventId, y: EventId) -> Result<Option<Proof>, Stopped> {
        let path = self.path(x, y)?;
        Ok(path.map(|path| Proof { lemmas: self.lemmas, path }))
    }

    /// Makes sure that the clocks at `events` are known.
    fn ensure(&mut self, events: &[EventId]) -> Result<(), Stopped> {
        let mut missing =
            events.iter().copied().filter(|event| self.captured.clock(*event).is_none()).peekable();
        if missing.peek().is_some() {
            let mut more = CapturedClocks::new(missing);
            self.engine.visit(&mut more, self.cancel, &mut |_| ())?;
            self.captured.merge(more);
        }
        Ok(())
    }

    fn path(&mut self, x: EventId, y: EventId) -> Result<Option<Vec<ProofStep>>, Stopped> {
        let (a, b) = (self.engine.strand_of(x), self.engine.strand_of(y));
        let mut path = Vec::new();
        if a == b {
            po(&mut path, x, y);
            return Ok(Some(path));
        }
        let (from, to) = (*self.engine.strands.get(a), *self.engine.strands.get(b));
        if from.posted && to.posted && from.handler == to.handler {
            po(&mut path, x, from.last);
            let Some(order) = self.order(a, b)? else { return Ok(None) };
            path.extend(order);
            po(&mut path, to.first, y);
            return Ok(Some(path));
        }
        let mut closed = self.open.clone();
        while self.tries < TRIES_MAX {
            self.cancel.check()?;
            let Some(edges) = find_path(self.engine, x, y, &closed) else { return Ok(None) };
            match self.along(x, y, &edges)? {
                Ok(path) => return Ok(Some(path)),
                Err(edge) => closed.insert((edge.from, edge.to)),
            };
        }
        Ok(None)
    }

    /// Proves the edges of a path, or returns the one that it cannot prove.
    fn along(
        &mut self,
        x: EventId,
        y: EventId,
        edges: &[PathEdge],
    ) -> Result<Result<Vec<ProofStep>, PathEdge>, Stopped> {
        let mut path = Vec::new();
        let mut at = x;
        for &edge in edges {
            po(&mut path, at, edge.from);
            let Some(steps) = self.edge(edge)? else { return Ok(Err(edge)) };
            path.extend(steps);
            at = edge.to;
        }
        po(&mut path, at, y);
        Ok(Ok(path))
    }

    fn edge(&mut self, edge: PathEdge) -> Result<Option<Vec<ProofStep>>, Stopped> {
        let (from, to) = (edge.from, edge.to);
        let Some(rule) = edge.rule else {
            return self.order(self.engine.strand_of(from), self.engine.strand_of(to));
        };
        match rule {
            Rule::FifoBackwards => {
                let trace = self.engine.trace;
                let task = |post: EventId| TaskId(trace.event(post).operand);
                let order = (trace.span(task(from)).last, trace.span(task(to)).get);
                self.leaning(edge, rule, order)
            }
            Rule::Component(_) => self.component(edge),
            _ => Ok(Some(vec![ProofStep { from, to, rule, premises: Vec::new() }])),
        }
    }

    /// Proves an edge by a component rule. Several rules may give the same edge, with or without a
    /// condition.
    fn component(&mut self, edge: PathEdge) -> Result<Option<Vec<ProofStep>>, Stopped> {
        let (from, to) = (edge.from, edge.to);
        let edges = &self.engine.given.edges;
        let start = edges.partition_point(|given| given.to < to);
        let into = edges[start..].iter().take_while(|given| given.to == to);
        let same: Vec<Edge> = into.filter(|given| given.from == from).copied().collect();
        for given in same {
            let rule = given.rule;
            let conditionals = &self.engine.given.conditionals;
            let giving = conditionals.iter().filter(|c| c.edges.contains(&given));
            let conditions: Vec<(EventId, EventId)> = giving.map(|c| c.when).collect();
            if conditions.is_empty() {
                return Ok(Some(vec![ProofStep { from, to, rule, premises: Vec::new() }]));
            }
            for (x, y) in conditions {
                if !self.happens_before(x, y)? {
                    continue;
                }
                if let Some(steps) = self.leaning(edge, rule, (x, y))? {
                    return Ok(Some(steps));
                }
            }
        }
        Ok(None)
    }

    /// Proves an edge that holds if `x` happens before `y`.
    fn leaning(
        &mut self,
        edge: PathEdge,
        rule: Rule,
        (x, y): (EventId, EventId),
    ) -> Result<Option<Vec<ProofStep>>, Stopped> {
        let (from, to) = (edge.from, edge.to);
        self.open.insert((from, to));
        let lemma = self.lemma(x, y);
        self.open.remove(&(from, to));
        let steps = |lemma| vec![ProofStep { from, to, rule, premises: vec![lemma] }];
        Ok(lemma?.map(steps))
    }

    fn lemma(&mut self, x: EventId, y: EventId) -> Result<Option<u32>, Stopped> {
        if let Some(lemma) = self.known.get(&(x, y)) {
            return Ok(Some(*lemma));
        }
        if self.depth >= DEPTH_MAX {
            return Ok(None);
        }
        self.depth += 1;
        let path = self.path(x, y);
        self.depth -= 1;
        let Some(path) = path? else { return Ok(None) };
        Ok(Some(self.add_lemma(x, y, path)))
    }

    fn add_lemma(&mut self, x: EventId, y: EventId, path: Vec<ProofStep>) -> u32 {
        self.lemmas.push(path);
        let lemma = (self.lemmas.len() - 1) as u32;
        self.known.insert((x, y), lemma);
        lemma
    }

    /// Proves that task `a` ends before task `b` begins. Returns the steps from the end of `a` to
    /// the begin of `b`.
    fn order(&mut self, a: StrandId, b: StrandId) -> Result<Option<Vec<ProofStep>>, Stopped> {
        let ends = (self.engine.strands.get(a).last, self.engine.strands.get(b).first);
        self.tries += 1;
        if self.tries > TRIES_MAX || self.depth >= DEPTH_MAX || !self.open.insert(ends) {
            return Ok(None);
        }
        self.depth += 1;
        let steps = self.order_by_any(a, b);
        self.depth -= 1;
        self.open.remove(&ends);
        steps
    }

    fn order_by_any(
        &mut self,
        a: StrandId,
        b: StrandId,
    ) -> Result<Option<Vec<ProofStep>>, Stopped> {
        let middles = self.middles(a, b);
        let mut needed = self.sources(b);
        for middle in &middles {
            needed.extend(self.sources(*middle));
        }
        self.ensure(&needed)?;
        if let Some(step) = self.direct(a, b)? {
            return Ok(Some(vec![step]));
        }
        for middle in middles {
            if !self.engine.task_before(a, middle) {
                continue;
            }
            let Some(last) = self.direct(middle, b)? else { continue };
            let Some(mut path) = self.order(a, middle)? else { continue };
            let at = *self.engine.strands.get(middle);
            po(&mut path, at.first, at.last);
            path.push(last);
            return Ok(Some(path));
        }
        Ok(None)
    }

    /// Returns the tasks of the handler that begin between two tasks, the latest first.
    fn middles(&self, a: StrandId, b: StrandId) -> Vec<StrandId> {
        let engine = &*self.engine;
        let (from, to) = (*engine.strands.get(a), *engine.strands.get(b));
        let mut found: Vec<StrandId> = engine
            .strands
            .iter()
            .filter(|(_, s)| {
                s.posted && s.handler == from.handler && s.first > from.last && s.last < to.first
            })
            .map(|(id, _)| id)
            .filter(|id| engine.task_before(*id, b))
            .collect();
        found.sort_by_key(|id| std::cmp::Reverse(engine.strands.get(*id).first));
        found.truncate(MIDDLE_TASKS_MAX);
        found
    }

    /// Returns the events with base edges into the begin of a task.
    fn sources(&self, b: StrandId) -> Vec<EventId> {
        let engine = &*self.engine;
        let at = engine.strands.get(b);
        let mut sources: Vec<EventId> =
            engine.trace.span(at.task).post.some().into_iter().collect();
        let edges = &engine.given.edges;
        let start = edges.partition_point(|edge| edge.to < at.first);
        let into = edges[start..].iter().take_while(|edge| edge.to == at.first);
        sources.extend(into.map(|edge| edge.from));
        let point = engine.strands.loop_points[at.handler.index()];
        if !point.is_none() && point < at.first {
            sources.push(point);
        }
        let cancelled = engine.cancels_in(b).iter().map(|(task, _)| engine.trace.span(*task).post);
        sources.extend(cancelled);
        // Forks after the last event of the handler before this one.
        let events = (0..at.first.0).rev().map(|row| engine.trace.event(EventId(row)));
        let idle =
            events.take_while(|e| engine.strands.get(engine.strand_of(e.id)).handler != at.handler);
        sources.extend(idle.filter(|e| e.action() == Action::Fork(at.handler)).map(|e| e.id));
        sources
    }

    /// Returns the rules by which one task is directly before another, with the events that they
    /// use.
    fn reasons(&self, a: StrandId, b: StrandId) -> Vec<(Rule, EventId)> {
        let engine = &*self.engine;
        let (from, to) = (*engine.strands.get(a), *engine.strands.get(b));
        let orders = &engine.given.orders;
        let given = orders.iter().find(|(x, y, _)| *x == from.task && *y == to.task);
        if let Some((_, _, rule)) = given {
            return vec![(*rule, EventId::NONE)];
        }
        let mut reasons = Vec::new();
        for source in self.sources(b) {
            let inside = engine.strand_of(source) == a;
            if inside || self.captured.happens_before(engine, from.first, source) {
                reasons.push((Rule::NoPreemption, source));
            }
        }
        let (p, q) = (engine.trace.span(from.task).post, engine.trace.span(to.task).post);
        if !p.is_none()
            && !q.is_none()
            && engine.fifo_applies(from.task, to.task)
            && self.captured.happens_before(engine, p, q)
        {
            reasons.push((Rule::Fifo, q));
        }
        reasons
    }

    /// Proves that one task is directly before another. The clocks at the sources of `b` must be
    /// known.
    fn direct(&mut self, a: StrandId, b: StrandId) -> Result<Option<ProofStep>, Stopped> {
        for (rule, source) in self.reasons(a, b) {
            if let Some(step) = self.direct_by(a, b, rule, source)? {
                return Ok(Some(step));
            }
        }
        Ok(None)
    }

    fn direct_by(
        &mut self,
        a: StrandId,
        b: StrandId,
        rule: Rule,
        source: EventId,
    ) -> Result<Option<ProofStep>, Stopped> {
        let (from, to) = (*self.engine.strands.get(a), *self.engine.strands.get(b));
        let mut premises = Vec::new();
        match rule {
            Rule::NoPreemption => {
                let inside = self.engine.strand_of(source) == a;
                let start = if inside { source } else { from.first };
                let Some(mut path) = self.path(start, source)? else { return Ok(None) };
                let step = self.base_step(source, to.first, b);
                let end = step.to;
                path.push(step);
                premises.push(self.add_lemma(start, end, path));
            }
            Rule::Fifo => {
                let post = self.engine.trace.span(from.task).post;
                let Some(lemma) = self.lemma(post, source)? else { return Ok(None) };
                premises.push(lemma);
            }
            _ => {}
        }
        Ok(Some(ProofStep { from: from.last, to: to.first, rule, premises }))
    }

    /// Returns the base edge from a source into the begin of a task.
    fn base_step(&self, source: EventId, to: EventId, b: StrandId) -> ProofStep {
        let engine = &*self.engine;
        let cancels = engine.cancels_in(b).iter();
        let post = |task: TaskId| engine.trace.span(task).post;
        let cancel = cancels.into_iter().find(|(task, _)| post(*task) == source);
        if let Some((_, cancel)) = cancel {
            let (rule, premises) = (Rule::Cancel, Vec::new());
            return ProofStep { from: source, to: *cancel, rule, premises };
        }
        let given = engine.given.edges.iter().find(|edge| edge.from == source && edge.to == to);
        let post = engine.trace.span(engine.trace.event(to).task).post;
        let rule = match given {
            _ if post == source => Rule::Post,
            Some(edge) => edge.rule,
            None if engine.trace.event(source).kind() == EventKind::Fork => Rule::Fork,
            None => Rule::Loop,
        };
        ProofStep { from: source, to, rule, premises: Vec::new() }
    }
}

/// Adds a step of program order, unless it would be a self-loop.
fn po(path: &mut Vec<ProofStep>, from: EventId, to: EventId) {
    if from < to {
        path.push(ProofStep { from, to, rule: Rule::Po, premises: Vec::new() });
    }
}
