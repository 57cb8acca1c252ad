//! One attempt: a set of events, some of them required, and the order solver.
//!
//! The initial problem has chains, causes and observations. The solver finds an order, and the
//! attempt replays it. Broken rules become clauses, and the solver runs again. This ends when no
//! rule is broken or there is no order.

use super::chains::NONE;
use super::clause::{Atom, Clause};
use super::past::Past;
use super::question::Question;
use super::reach::Reach;
use super::replay::Replay;
use super::window::Window;
use anyorder_order::solver::{Answer, Cause, Limits, Lit, Node, Problem, Solver, Tag};
use anyorder_system::Cancel;
use std::collections::HashSet;

/// The result of an attempt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum End {
    /// An order of events, without the tail, that breaks no rule.
    Found(Vec<u32>),
    /// There is no such order.
    None,
    /// No rule is certainly broken.
    Unclear,
    /// The solver used up the allowed conflicts.
    Conflicts,
    /// The attempt was cancelled.
    Stopped,
}

/// The assumption about events outside the attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum OutsideEvents {
    /// Events before the window happen as recorded, and no others happen. An order found is a
    /// witness.
    Fixed,
    /// Nothing is assumed. If no order is found, there is no witness.
    Open,
}

/// The input of an attempt.
#[derive(Clone, Copy)]
pub(super) struct AttemptInput<'g> {
    pub(super) past: &'g Past<'g>,
    pub(super) question: &'g Question,
    pub(super) window: &'g Window,
    /// The required events.
    pub(super) required: &'g Reach,
    /// The allowed events, including the required ones.
    pub(super) optional: &'g Reach,
    pub(super) outside: OutsideEvents,
}

enum LiteralValue {
    True,
    False,
    Open(Lit),
    Unknown,
}

impl LiteralValue {
    const fn of(is_true: bool) -> LiteralValue {
        if is_true { LiteralValue::True } else { LiteralValue::False }
    }
}

/// The most rounds of one attempt.
const ROUNDS: usize = 10_000;

impl AttemptInput<'_> {
    /// Replays the required events in trace order. Returns them, and the rules that they break.
    pub(super) fn replay(&self, replay: &mut Replay) -> (Vec<u32>, Vec<Clause>) {
        let mut required = self.required.events.clone();
        required.sort_unstable();
        replay.stats.events += required.len() as u64;
        let broken = replay.run(self.past, self.question, self.window.start, &required);
        (required, broken)
    }

    /// Runs an attempt. `broken` has the rules that the order of the trace breaks. `conflicts` is
    /// the remaining budget, which the attempt reduces.
    pub(super) fn attempt(
        &self,
        mut broken: Vec<Clause>,
        replay: &mut Replay,
        conflicts: &mut u64,
        cancel: &Cancel,
    ) -> End {
        let mut nodes = Nodes::new(self);
        replay.stats.events += nodes.events.len() as u64;
        let Some(problem) = nodes.problem(self) else { return End::None };
        let mut solver = Solver::new(problem);
        let mut known: HashSet<Clause> = HashSet::new();
        for _ in 0..ROUNDS {
            if cancel.reason().is_some() {
                return End::Stopped;
            }
            let mut is_new = known.is_empty();
            for clause in broken.drain(..) {
                if known.contains(&clause) {
                    continue;
                }
                match self.literals(&nodes, &mut solver, &clause) {
                    Some(literals) if literals.is_empty() => return End::None,
                    Some(literals) => {
                        solver.clause(&literals);
                        replay.stats.clauses += 1;
                        is_new = true;
                    }
                    None => {}
                }
                known.insert(clause);
            }
            if !is_new {
                return End::Unclear;
            }
            replay.stats.rounds += 1;
            let before = solver.stats().conflicts;
            let mut stop = || cancel.reason().is_some();
            let mut limits =
                Limits { conflicts: Some(*conflicts), memory_bytes: None, stop: Some(&mut stop) };
            let answer = solver.solve(&[], &mut limits);
            let used = solver.stats().conflicts - before;
            replay.stats.conflicts += used;
            *conflicts = conflicts.saturating_sub(used);
            let order = match answer {
                Answer::Ordered(order) => order,
                Answer::Impossible { .. } => return End::None,
                Answer::Unknown(Cause::Stopped) => return End::Stopped,
                Answer::Unknown(_) => return End::Conflicts,
            };
            let inside = order.iter().take_while(|node| **node != nodes.end);
            let order: Vec<u32> = inside.map(|node| nodes.events[*node as usize]).collect();
            replay.stats.events += order.len() as u64;
            broken = replay.run(self.past, self.question, self.window.start, &order);
            if broken.is_empty() {
                return self.accepted(order);
            }
        }
        End::Conflicts
    }

    fn accepted(&self, order: Vec<u32>) -> End {
        if self.outside == OutsideEvents::Fixed { End::Found(order) } else { End::Unclear }
    }

    /// Returns the clause in literals. They are empty if the clause cannot hold. Returns `None` if
    /// it holds or is unknown.
    fn literals(&self, nodes: &Nodes, solver: &mut Solver, clause: &Clause) -> Option<Vec<Lit>> {
        let mut literals = Vec::new();
        for atom in clause {
            match self.truth(nodes, solver, *atom) {
                LiteralValue::True | LiteralValue::Unknown => return None,
                LiteralValue::False => {}
                LiteralValue::Open(lit) => literals.push(lit),
            }
        }
        Some(literals)
    }

    fn truth(&self, nodes: &Nodes, solver: &mut Solver, atom: Atom) -> LiteralValue {
        let before = |solver: &mut Solver, first: Node, second: Node| {
            solver.before(first, second).map_or(LiteralValue::False, LiteralValue::Open)
        };
        match atom {
            Atom::Out(event) => match self.place(nodes, event) {
                Place::Node(node) if !self.required.has(self.past, event) => {
                    before(solver, nodes.end, node)
                }
                Place::Never => LiteralValue::True,
                Place::Unknown => LiteralValue::Unknown,
                Place::Node(_) | Place::End | Place::Earlier => LiteralValue::False,
            },
            Atom::Before(first, second) => {
                if first == NONE {
                    return LiteralValue::False;
                }
                match (self.place(nodes, first), self.place(nodes, second)) {
                    (Place::Never, _) => LiteralValue::False,
                    (Place::Unknown, _) | (_, Place::Unknown) => LiteralValue::Unknown,
                    (_, Place::Never) => LiteralValue::True,
                    (Place::Node(first), Place::Node(second)) => before(solver, first, second),
                    (Place::Node(first), Place::End) => before(solver, first, nodes.end),
                    (Place::End, Place::Node(second)) => before(solver, nodes.end, second),
                    (Place::Earlier, Place::Earlier) => LiteralValue::of(first < second),
                    (Place::End, Place::End) => {
                        let at = |event| self.question.tail.iter().position(|e| *e == event);
                        LiteralValue::of(at(first) < at(second))
                    }
                    (Place::Earlier, _) => LiteralValue::True,
                    (_, Place::Earlier) => LiteralValue::False,
                }
            }
        }
    }

    fn place(&self, nodes: &Nodes, event: u32) -> Place {
        if event == NONE {
            Place::Never
        } else if self.question.tail.contains(&event) {
            Place::End
        } else if event < self.window.start {
            if self.outside == OutsideEvents::Fixed { Place::Earlier } else { Place::Unknown }
        } else if self.optional.has(self.past, event) {
            Place::Node(nodes.of[(event - self.window.start) as usize])
        } else if self.outside == OutsideEvents::Fixed
            || self.question.is_behind(self.past, event)
            || self.window.bars(event)
        {
            Place::Never
        } else {
            Place::Unknown
        }
    }
}

#[derive(Clone, Copy)]
enum Place {
    Node(Node),
    /// The event is in the tail.
    End,
    Earlier,
    Never,
    Unknown,
}

/// Events and nodes.
struct Nodes {
    /// By node.
    events: Vec<u32>,
    /// By event, from the start of the window on. Only events of the set have meaningful values.
    of: Vec<Node>,
    end: Node,
}

impl Nodes {
    fn new(input: &AttemptInput<'_>) -> Nodes {
        let (past, start) = (input.past, input.window.start);
        let mut events = Vec::with_capacity(input.optional.events.len());
        for chain in &input.optional.chains {
            let from = events.len();
            let mut at = input.optional.last(*chain);
            while at != NONE && at >= start {
                events.push(at);
                at = past.previous[at as usize];
            }
            events[from..].reverse();
        }
        let last = events.iter().max().copied().unwrap_or(start);
        let mut of = vec![0; (last - start) as usize + 1];
        for (node, event) in events.iter().enumerate() {
            of[(event - start) as usize] = node as Node;
        }
        let end = events.len() as Node;
        Nodes { events, of, end }
    }

    /// Returns the problem: chains, causes, observations, and the events before the end. `None` if
    /// it is trivially unsolvable.
    fn problem(&mut self, input: &AttemptInput<'_>) -> Option<Problem> {
        let (past, start) = (input.past, input.window.start);
        let mut problem = Problem::new();
        let mut from = 0;
        for at in 1..=self.events.len() {
            let ends = at == self.events.len()
                || past.chain[self.events[at] as usize] != past.chain[self.events[at - 1] as usize];
            if ends {
                problem.chain((at - from) as u32).ok()?;
                from = at;
            }
        }
        problem.chain(1).ok()?;
        let node = |event: u32| self.of[(event - start) as usize];
        for (at, event) in self.events.iter().enumerate() {
            for before in past.causes.row(*event).iter().chain(past.observes.row(*event)) {
                if *before >= start {
                    problem.before(node(*before), at as Node, Tag(0)).ok()?;
                }
            }
        }
        for chain in &input.required.chains {
            problem.before(node(input.required.last(*chain)), self.end, Tag(0)).ok()?;
        }
        // A section that is open at the end comes after all sections that it excludes.
        for section in &input.required.begun {
            let section = &past.holding.sections[*section as usize];
            for (_, held) in input.question.keepers(past, section) {
                let is_node = |event| input.optional.has(past, event);
                if is_node(section.release) && is_node(held.acquire) {
                    problem.before(node(section.release), node(held.acquire), Tag(0)).ok()?;
                }
            }
        }
        for (first, second) in &input.question.early {
            if *first >= start && *second >= start {
                problem.before(node(*first), node(*second), Tag(0)).ok()?;
            }
        }
        let is_required = |event: u32| input.required.has(past, event);
        let length = self.of.len() as u32;
        let mut positions: Vec<u32> = self
            .events
            .iter()
            .map(|event| event - start + if is_required(*event) { 0 } else { length + 1 })
            .collect();
        positions.push(length);
        problem.prefer(positions);
        Some(problem)
    }
}
