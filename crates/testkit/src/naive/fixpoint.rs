//! Sections 2 and 3: task orders, the edges they read backwards, and happens-before, by iteration.
//!
//! Every round computes the closure `R` of all edges so far, applies every rule of section 2 to
//! every pair of tasks, and adds the results. It ends when a round adds nothing.

use super::components::Conditional;
use super::ended::AllEnded;
use super::matrix::Matrix;
use super::rules::{RuleName, RuleSet, Rules};
use super::view::{Edge, Edges, View};
use anyorder_trace::{EventId, EventKind, Mailbox, Position, TaskDef, TaskId};

/// `first` ends before `second` begins, by a rule that applied in the round in which the order was
/// new.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TaskOrder {
    /// The task that ends.
    pub first: TaskId,
    /// The task that begins.
    pub second: TaskId,
    /// The rule.
    pub rule: RuleName,
    /// The round of the fixpoint, from 1.
    pub round: usize,
}

/// Happens-before at the fixpoint.
#[derive(Debug)]
pub(super) struct Fixpoint<'t, 'r> {
    pub(super) view: View<'t>,
    pub(super) rules: Rules<'r>,
    /// Edges of section 1 and of the component rules.
    pub(super) base: Vec<Edge>,
    /// Edges of fifo read backwards, with their rounds, and conditional ones of broadcasts.
    pub(super) derived: Vec<(Edge, usize)>,
    /// Edges `end -> get` of section 3.
    pub(super) end_get: Vec<Edge>,
    /// The task orders, one entry a rule.
    pub(super) orders: Vec<TaskOrder>,
    /// `m1 ≺ m2`.
    pub(super) before: Matrix,
    /// `R`.
    pub(super) r: Matrix,
    /// What can be ended.
    pub(super) ended: AllEnded,
    /// The number of rounds that added something.
    pub(super) rounds: usize,
}

/// Finds the least fixpoint.
pub(super) fn solve<'t, 'r>(
    view: View<'t>,
    rules: Rules<'r>,
    base: Vec<Edge>,
    explicit: &[(RuleName, TaskId, TaskId)],
    conditional: &[Conditional],
) -> Fixpoint<'t, 'r> {
    let mut fixpoint = Fixpoint {
        view,
        rules,
        base,
        derived: Vec::new(),
        end_get: Vec::new(),
        orders: Vec::new(),
        before: Matrix::new(view.trace.tasks_count()),
        r: Matrix::new(view.trace.len()),
        ended: match rules.set {
            RuleSet::Threads => AllEnded::default(),
            _ => AllEnded::new(view, rules),
        },
        rounds: 0,
    };
    loop {
        fixpoint.close();
        let round = fixpoint.rounds + 1;
        let mut orders: Vec<(RuleName, TaskId, TaskId)> = explicit.to_vec();
        let mut edges = Edges::new(rules);
        if rules.set != RuleSet::Threads {
            fixpoint.forward(&mut orders);
            fixpoint.backward(&mut edges);
        }
        fixpoint.conditional(conditional, &mut edges);
        if !fixpoint.add(&orders, &edges.list, round) {
            return fixpoint;
        }
        fixpoint.rounds = round;
    }
}

impl Fixpoint<'_, '_> {
    /// Section 3: whether `x` happens before `y`, with the orders found so far.
    pub(super) fn happens_before(&self, x: EventId, y: EventId) -> bool {
        self.ordered_by_edges(x, y) || self.ended(x, y)
    }

    /// The same without the rule *ended*, from which no other order follows.
    pub(super) fn ordered_by_edges(&self, x: EventId, y: EventId) -> bool {
        if x >= y {
            return false;
        }
        if self.rules.set != RuleSet::Threads {
            let tasks = (self.view.posted_task_of(x), self.view.posted_task_of(y));
            if let (Some(m1), Some(m2)) = tasks
                && m1 != m2
                && self.view.handler(m1) == self.view.handler(m2)
            {
                return self.before.has(m1.index(), m2.index());
            }
        }
        self.r.has(x.index(), y.index())
    }

    /// Computes `R`.
    fn close(&mut self) {
        self.r = Matrix::new(self.view.trace.len());
        let derived = self.derived.iter().map(|(edge, _)| edge);
        for edge in self.base.iter().chain(derived).chain(&self.end_get) {
            self.r.set(edge.from.index(), edge.to.index());
        }
        self.r.close();
    }

    /// The rules that give `m1 ≺ m2`.
    fn forward(&self, out: &mut Vec<(RuleName, TaskId, TaskId)>) {
        let tasks = self.view.posted_tasks();
        for &m1 in &tasks {
            for &m2 in tasks.iter().filter(|m2| self.view.begins_before(m1, **m2)) {
                let mut give = |rule, holds: bool| {
                    if holds {
                        out.push((rule, m1, m2));
                    }
                };
                give(RuleName::NoPreemption, self.no_preemption(m1, m2));
                give(RuleName::Fifo, self.fifo(m1, m2));
                give(RuleName::DelayedPoster, self.delayed_poster(m1, m2));
                let has = |a: TaskId, b: TaskId| self.before.has(a.index(), b.index());
                let between = tasks.iter().any(|k| has(m1, *k) && has(*k, m2));
                give(RuleName::Transitivity, between);
            }
        }
    }

    fn no_preemption(&self, m1: TaskId, m2: TaskId) -> bool {
        let (Some(get1), Some(get2)) = (self.view.get(m1), self.view.get(m2)) else { return false };
        self.base
            .iter()
            .filter(|edge| {
                let inside = self.view.task_of(edge.to) == m2 && self.view.task_of(edge.from) != m2;
                let cancels = edge.rule == RuleName::Cancel && inside && edge.from < get2;
                edge.to == get2 || cancels
            })
            .any(|edge| {
                self.view.task_of(edge.from) == m1 || self.ordered_by_edges(get1, edge.from)
            })
    }

    fn fifo(&self, m1: TaskId, m2: TaskId) -> bool {
        let (d1, d2) = (self.def(m1), self.def(m2));
        !self.is_bag(m1)
            && self.posts_ordered(m1, m2)
            && d2.position == Position::Back
            && (d1.delay == 0 || (d2.delay != 0 && d1.delay <= d2.delay))
    }

    fn delayed_poster(&self, m1: TaskId, m2: TaskId) -> bool {
        let poster = self.view.post(m2).and_then(|post| self.view.posted_task_of(post));
        !self.is_bag(m1)
            && self.posts_ordered(m1, m2)
            && self.def(m1).delay != 0
            && poster.is_some_and(|m| {
                self.view.handler(m) == self.view.handler(m2)
                    && self.before.has(m1.index(), m.index())
            })
    }

    /// Fifo, read backwards.
    fn backward(&self, edges: &mut Edges<'_>) {
        let tasks = self.view.posted_tasks();
        for &m1 in &tasks {
            for &m2 in &tasks {
                let known = self.before.has(m1.index(), m2.index());
                let in_order = self.view.post(m1) < self.view.post(m2);
                let back = self.def(m1).position == Position::Back
                    && self.def(m2).position == Position::Back;
                if !known || !in_order || !back || self.is_bag(m1) || self.def(m2).delay != 0 {
                    continue;
                }
                let (Some(post1), Some(post2)) = (self.view.post(m1), self.view.post(m2)) else {
                    continue;
                };
                let posters = (self.view.task_of(post1), self.view.task_of(post2));
                let in_one_loop = self.view.trace.ran_from_mailbox(posters.0)
                    && self.view.trace.ran_from_mailbox(posters.1)
                    && self.view.handler(posters.0) == self.view.handler(posters.1);
                if !in_one_loop {
                    edges.add(RuleName::FifoBackwards, post1, post2);
                }
            }
        }
    }

    /// Receipts of broadcasts whose causes are ordered.
    fn conditional(&self, conditional: &[Conditional], edges: &mut Edges<'_>) {
        for condition in conditional {
            let (c1, c2) = condition.causes;
            if self.ordered_by_edges(c1, c2) {
                let (t1, t2) = condition.receipts;
                edges.add(condition.rule, t1, t2);
                let post = |t| self.view.posted_task_of(t).and_then(|task| self.view.post(task));
                edges.add(condition.rule, post(t1), post(t2));
            }
        }
    }

    /// Adds new edges. Returns whether any was new.
    fn add(&mut self, orders: &[(RuleName, TaskId, TaskId)], edges: &[Edge], round: usize) -> bool {
        let known = self.before.clone();
        let mut changed = false;
        for &(rule, first, second) in orders {
            let new = !known.has(first.index(), second.index());
            if !new || !self.rules.has(rule) {
                continue;
            }
            self.orders.push(TaskOrder { first, second, rule, round });
            changed = true;
            if !self.before.has(first.index(), second.index()) {
                self.before.set(first.index(), second.index());
                let mut end_get = Edges::new(self.rules);
                end_get.add(RuleName::EndGet, self.view.end(first), self.view.get(second));
                self.end_get.extend(end_get.list);
            }
        }
        for &edge in edges {
            if !self.derived.iter().any(|(known, _)| *known == edge) {
                self.derived.push((edge, round));
                changed = true;
            }
        }
        changed
    }

    fn def(&self, task: TaskId) -> TaskDef {
        self.view.trace.tables().tasks[task.index()]
    }

    fn is_bag(&self, task: TaskId) -> bool {
        let handler = self.view.handler(task);
        self.view.trace.tables().handlers[handler.index()].mailbox == Mailbox::Bag
    }

    fn posts_ordered(&self, m1: TaskId, m2: TaskId) -> bool {
        match (self.view.post(m1), self.view.post(m2)) {
            (Some(post1), Some(post2)) => {
                debug_assert_eq!(self.view.trace.event(post1).kind(), EventKind::Post);
                self.ordered_by_edges(post1, post2)
            }
            _ => false,
        }
    }
}
