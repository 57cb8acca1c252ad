//! The oracle: all rules together, and its queries.

use super::fixpoint::{self, Fixpoint, TaskOrder};
use super::race::{self, RaceView};
use super::rules::{RuleName, RuleSet, Rules};
use super::sections::{Locks, Section, SectionEdge, Sections};
use super::view::{Edge, Edges, View};
use super::{candidates, components, inputs, program_order, synchronisation};
use anyorder_trace::{EventId, TaskId, Trace};

/// Happens-before, races and coverage of one small trace, by definition.
///
/// Memory is quadratic and time cubic in the events, for each round of the fixpoint.
#[derive(Debug)]
pub struct Naive<'t, 'r> {
    trace: &'t Trace,
    fixpoint: Fixpoint<'t, 'r>,
    races: RaceView,
    sections: Sections,
}

impl<'t, 'r> Naive<'t, 'r> {
    /// Computes everything for a well-formed trace.
    ///
    /// # Panics
    ///
    /// May panic on traces whose operands point outside their tables.
    #[must_use]
    pub fn new(trace: &'t Trace, rules: Rules<'r>) -> Naive<'t, 'r> {
        Naive::with_locks(trace, rules, &Locks::HandOver)
    }

    /// Computes everything for a well-formed trace and the orders of some calls, each as two
    /// events. Each is an edge like that of a wake.
    ///
    /// # Panics
    ///
    /// May panic on traces whose operands point outside their tables.
    #[must_use]
    pub fn with_calls(
        trace: &'t Trace,
        rules: Rules<'r>,
        calls: &[(EventId, EventId)],
    ) -> Naive<'t, 'r> {
        Naive::with(trace, rules, &Locks::HandOver, calls)
    }

    /// Computes everything for a well-formed trace, with another order of locks.
    ///
    /// # Panics
    ///
    /// May panic on traces whose operands point outside their tables.
    #[must_use]
    pub fn with_locks(trace: &'t Trace, rules: Rules<'r>, locks: &Locks<'_>) -> Naive<'t, 'r> {
        Naive::with(trace, rules, locks, &[])
    }

    fn with(
        trace: &'t Trace,
        rules: Rules<'r>,
        locks: &Locks<'_>,
        calls: &[(EventId, EventId)],
    ) -> Naive<'t, 'r> {
        let view = View { trace };
        let mut edges = Edges::new(rules);
        program_order::edges(view, &mut edges);
        synchronisation::edges(view, &mut edges);
        calls.iter().for_each(|(from, to)| edges.add(RuleName::WakeRefers, *from, *to));
        let mut sections = Sections::default();
        match locks {
            Locks::HandOver => synchronisation::lock(view, &mut edges),
            Locks::Sections(faults) => {
                sections = Sections::new(view, rules.set, faults);
                sections.edges(&mut edges);
            }
        }
        if rules.set != RuleSet::Threads {
            inputs::edges(view, &mut edges);
        }
        let mut base = edges.list;
        let (mut orders, mut conditional) = (Vec::new(), Vec::new());
        if rules.set == RuleSet::Android {
            let found = components::find(view, rules);
            base.extend(found.edges.list);
            (orders, conditional) = (found.orders, found.conditional);
        }
        let fixpoint = fixpoint::solve(view, rules, base, &orders, &conditional);
        let races = race::find(&fixpoint);
        Naive { trace, fixpoint, races, sections }
    }

    /// Returns the critical sections; none if locks order by release and acquire.
    #[must_use]
    pub fn sections(&self) -> &[Section] {
        &self.sections.list
    }

    /// Returns all edges of sections by their definition, including redundant ones; none if locks
    /// order by release and acquire.
    #[must_use]
    pub fn section_edges(&self) -> &[SectionEdge] {
        &self.sections.edges
    }

    /// Returns the non-racy candidates: pairs of accesses under a common lock that nothing but the
    /// edges between their own blocks orders.
    #[must_use]
    pub fn candidates(&self) -> Vec<(EventId, EventId)> {
        candidates::find(&self.fixpoint, &self.sections)
    }

    /// Returns whether `x` happens before `y`.
    #[must_use]
    pub fn happens_before(&self, x: EventId, y: EventId) -> bool {
        self.fixpoint.happens_before(x, y)
    }

    /// Returns the rule by which *ended* orders two events that nothing else orders.
    #[must_use]
    pub fn ended(&self, x: EventId, y: EventId) -> Option<RuleName> {
        let by_edges = self.fixpoint.ordered_by_edges(x, y);
        if by_edges { None } else { self.fixpoint.ended_rule(x, y) }
    }

    /// Returns whether `x R y`: the closure of all edges, including those from orders between tasks
    /// of one handler.
    #[must_use]
    pub fn reaches(&self, x: EventId, y: EventId) -> bool {
        self.fixpoint.r.has(x.index(), y.index())
    }

    /// Returns whether `m1 ≺ m2`: `m1` ends before `m2` begins, both posted tasks of one handler.
    #[must_use]
    pub fn task_order(&self, m1: TaskId, m2: TaskId) -> bool {
        self.fixpoint.before.has(m1.index(), m2.index())
    }

    /// Returns the races, sorted by their first and then by their second event.
    #[must_use]
    pub fn races(&self) -> Vec<(EventId, EventId)> {
        self.races.races.clone()
    }

    /// Returns whether a race is covered at access level.
    #[must_use]
    pub fn covered_access(&self, race: (EventId, EventId)) -> bool {
        self.races.covered_access(self.trace, race)
    }

    /// Returns whether a race is covered at task level.
    #[must_use]
    pub fn covered_task(&self, race: (EventId, EventId)) -> bool {
        self.races.covered_task(self.trace, race)
    }

    /// Returns whether a race is covered by a single other race (R4, section 4.4).
    #[must_use]
    pub fn covered_single(&self, race: (EventId, EventId)) -> bool {
        self.races.covered_single(&self.fixpoint, race)
    }

    /// Returns the edges of section 1 and of the component rules, one a rule that gives it.
    #[must_use]
    pub fn base_edges(&self) -> &[Edge] {
        &self.fixpoint.base
    }

    /// Returns the edges that the fixpoint added, with their rounds: fifo read backwards, and
    /// broadcasts in the order of their sends.
    #[must_use]
    pub fn derived_edges(&self) -> &[(Edge, usize)] {
        &self.fixpoint.derived
    }

    /// Returns the edges `end -> get` of all task orders.
    #[must_use]
    pub fn end_get_edges(&self) -> &[Edge] {
        &self.fixpoint.end_get
    }

    /// Returns the task orders. A pair occurs once for each rule that gave it in the round in which
    /// it was new.
    #[must_use]
    pub fn task_orders(&self) -> &[TaskOrder] {
        &self.fixpoint.orders
    }

    /// Returns the number of rounds in which the fixpoint grew.
    #[must_use]
    pub fn rounds(&self) -> usize {
        self.fixpoint.rounds
    }

    /// Returns the number of rounds in which fifo read backwards added an edge.
    #[must_use]
    pub fn rounds_backwards(&self) -> usize {
        let edges = self.derived_edges().iter();
        let mut rounds: Vec<usize> = edges
            .filter(|(edge, _)| edge.rule == RuleName::FifoBackwards)
            .map(|(_, round)| *round)
            .collect();
        rounds.sort_unstable();
        rounds.dedup();
        rounds.len()
    }
}
