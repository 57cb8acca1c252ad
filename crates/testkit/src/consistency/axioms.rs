//! The axioms, taken literally: all orders of the messages of each handler are tried.
//!
//! It builds orders message by message. More edges never remove a cycle, so it abandons a partial
//! order with a cycle at once.

use super::problem::{Problem, pairs};
use anyorder_trace::EventId;

/// The relations whose union must be acyclic. `po` is split in two: inside messages, and initial
/// messages first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Relation {
    /// Program order inside a message.
    Po,
    /// Events of the initial message before all others of the handler.
    InitialFirst,
    /// Reads-from.
    Rf,
    /// Coherence.
    Co,
    /// From-read: a read before the writes that follow the one it reads from.
    Fr,
    /// Posted-by: a post before the get.
    Pb,
    /// Execution order, lifted to events.
    Eo,
    /// Message order: the posts, in the order in which the mailboxes received them.
    Mo,
}

impl Relation {
    /// All relations.
    pub const ALL: [Relation; 8] = {
        use Relation::*;
        [Po, InitialFirst, Rf, Co, Fr, Pb, Eo, Mo]
    };
}

/// Returns a witness, if some orders make the union of all relations acyclic.
///
/// Exponential in the numbers of messages of each handler, and of writes whose order is not given.
#[must_use]
pub fn axiomatic(problem: &Problem) -> Option<Vec<EventId>> {
    Enumeration::new(problem, &[]).run()
}

/// Returns whether a trace would count as consistent without the `dropped` relations: a mutated
/// oracle.
#[must_use]
pub fn consistent_without(problem: &Problem, dropped: &[Relation]) -> bool {
    Enumeration::new(problem, dropped).run().is_some()
}

/// The consequences of the given relations, without any decision.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Saturated {
    /// A cycle: the trace is inconsistent without any decision.
    Refuted,
    /// No cycle. This many pairs of messages of one handler are still open.
    Open(usize),
}

/// Orders each pair of messages that has only one possible direction, because the other closes a
/// cycle, until nothing changes. It derives nothing from write orders that are not given.
#[must_use]
pub fn saturate(problem: &Problem) -> Saturated {
    let mut all = Enumeration::new(problem, &[]);
    let mut open = Vec::new();
    for handler in 0..problem.handlers {
        let messages = problem.posted_to(handler);
        for (at, second) in messages.iter().enumerate() {
            open.extend(messages[..at].iter().map(|first| (*first, *second)));
        }
    }
    loop {
        let before = open.len();
        let mut refuted = !all.graph.acyclic();
        open.retain(|(first, second)| {
            match (all.possible(*first, *second), all.possible(*second, *first)) {
                (true, true) => return true,
                (true, false) => all.message_pair(*first, *second),
                (false, true) => all.message_pair(*second, *first),
                (false, false) => refuted = true,
            }
            false
        });
        if refuted {
            return Saturated::Refuted;
        }
        if open.len() == before {
            return Saturated::Open(before);
        }
    }
}

/// A set to be ordered totally.
enum Choice {
    /// The messages of a handler.
    Messages(Vec<usize>),
    /// The writes of a location.
    Writes { location: usize, writes: Vec<usize> },
}

impl Choice {
    fn items(&self) -> &[usize] {
        match self {
            Choice::Messages(items) | Choice::Writes { writes: items, .. } => items,
        }
    }
}

struct Enumeration<'a> {
    problem: &'a Problem,
    dropped: &'a [Relation],
    choices: Vec<Choice>,
    graph: Graph,
}

impl<'a> Enumeration<'a> {
    fn new(problem: &'a Problem, dropped: &'a [Relation]) -> Enumeration<'a> {
        let graph = Graph::new(problem.len());
        let mut all = Enumeration { problem, dropped, choices: Vec::new(), graph };
        all.add(Relation::Po, problem.po());
        all.add(Relation::InitialFirst, problem.initial_first());
        all.add(Relation::Rf, problem.rf());
        all.add(Relation::Pb, problem.pb());
        for (location, writes) in problem.writes.iter().enumerate() {
            let first = problem.readers(location, None);
            all.add(Relation::Fr, pairs(&first, writes));
            if problem.coherent[location] {
                for (at, later) in writes.iter().enumerate() {
                    writes[..at]
                        .iter()
                        .for_each(|earlier| all.write_pair(location, *earlier, *later));
                }
            } else {
                all.choices.push(Choice::Writes { location, writes: writes.clone() });
            }
        }
        let handlers = 0..problem.handlers;
        all.choices.extend(handlers.map(|handler| Choice::Messages(problem.posted_to(handler))));
        all
    }

    fn run(mut self) -> Option<Vec<EventId>> {
        if self.graph.acyclic() && self.choose(0, &mut Vec::new()) {
            let order = self.graph.topological().expect("the graph was found to have no cycle");
            return Some(Problem::ids(&order));
        }
        None
    }

    /// Continues with the choice of this number, where the `placed` items are already ordered. The
    /// graph is acyclic.
    fn choose(&mut self, number: usize, placed: &mut Vec<usize>) -> bool {
        let Some(choice) = self.choices.get(number) else { return true };
        let items = choice.items().to_vec();
        if placed.len() == items.len() {
            return self.choose(number + 1, &mut Vec::new());
        }
        for item in items {
            if placed.contains(&item) {
                continue;
            }
            let edges = self.graph.edges.len();
            for earlier in placed.iter() {
                match self.choices[number] {
                    Choice::Messages(_) => self.message_pair(*earlier, item),
                    Choice::Writes { location, .. } => self.write_pair(location, *earlier, item),
                }
            }
            placed.push(item);
            if self.graph.acyclic() && self.choose(number, placed) {
                return true;
            }
            placed.pop();
            self.graph.edges.truncate(edges);
        }
        false
    }

    /// Returns whether the graph stays acyclic with `earlier` eo `later`.
    fn possible(&mut self, earlier: usize, later: usize) -> bool {
        let edges = self.graph.edges.len();
        self.message_pair(earlier, later);
        let possible = self.graph.acyclic();
        self.graph.edges.truncate(edges);
        possible
    }

    /// Adds the consequences of `earlier` eo `later`.
    fn message_pair(&mut self, earlier: usize, later: usize) {
        let messages = &self.problem.messages;
        self.add(Relation::Eo, pairs(&messages[earlier].events, &messages[later].events));
        // If the mailbox keeps the order of posts and `later` were posted first, it would run
        // first.
        if self.problem.keeps_order(later, earlier)
            && let (Some(first), Some(second)) = (messages[earlier].post, messages[later].post)
        {
            self.add(Relation::Mo, vec![(first, second)]);
        }
    }

    /// Adds the consequences of `earlier` co `later`.
    fn write_pair(&mut self, location: usize, earlier: usize, later: usize) {
        self.add(Relation::Co, vec![(earlier, later)]);
        let readers = self.problem.readers(location, Some(earlier));
        self.add(Relation::Fr, pairs(&readers, &[later]));
    }

    fn add(&mut self, relation: Relation, edges: Vec<(usize, usize)>) {
        if !self.dropped.contains(&relation) {
            // An update reads just before it writes, so it is not from-read before itself.
            let own = |edge: &(usize, usize)| relation == Relation::Fr && edge.0 == edge.1;
            self.graph.edges.extend(edges.into_iter().filter(|edge| !own(edge)));
        }
    }
}

/// Edges between events.
struct Graph {
    nodes: usize,
    edges: Vec<(usize, usize)>,
}

impl Graph {
    fn new(nodes: usize) -> Graph {
        Graph { nodes, edges: Vec::new() }
    }

    fn acyclic(&self) -> bool {
        self.topological().is_some()
    }

    /// Returns an order that respects all edges, if one exists: repeatedly removes an element
    /// without predecessors.
    fn topological(&self) -> Option<Vec<usize>> {
        let mut waits_for = vec![0_u32; self.nodes];
        let mut after = vec![Vec::new(); self.nodes];
        for (from, to) in &self.edges {
            waits_for[*to] += 1;
            after[*from].push(*to);
        }
        let mut order: Vec<usize> = (0..self.nodes).filter(|node| waits_for[*node] == 0).collect();
        let mut next = 0;
        while let Some(node) = order.get(next).copied() {
            next += 1;
            for to in &after[node] {
                waits_for[*to] -= 1;
                if waits_for[*to] == 0 {
                    order.push(*to);
                }
            }
        }
        (order.len() == self.nodes).then_some(order)
    }
}
