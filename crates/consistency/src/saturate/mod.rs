//! Saturation: the orders of messages that the given orders and the current decisions force.
//!
//! **Problem.** Given the orders of a trace and decided orders of some pairs of posted messages of
//! one handler, find the other pairs that can be decided in one way only, and detect that no order
//! is possible.
//!
//! **Source.** The saturation rules of "Checking Consistency of Event-driven Traces", section 5.1.
//! With `~>` for "reaches or equals", the three rules are two tests. `x` must run before `y` (two
//! posted messages of one handler) when
//! - `first(x) ~> last(y)` (rules 1 and 2: the opposite order adds an edge from `last(y)` to
//!   `first(x)`), or
//! - `post(x) ~> post(y)`, where the mailbox keeps the order of `x` and `y` (rule 3).
//!
//! "`x` runs before `y`" adds an edge from `last(x)` to `first(y)`. It also adds one from `post(x)`
//! to `post(y)` where the mailbox keeps the order of `y` and `x`: if `y` were posted first, it
//! would run first.
//!
//! **Guarantee.** At the fixpoint, every pair is decided or can be decided in either way without
//! immediately closing a cycle. A conflict means that the decisions cannot all hold; without
//! decisions, that the trace is inconsistent. If all pairs are decided without a conflict, the
//! trace is consistent: the graph with all edges is acyclic.
//!
//! **Naive version.** One search of the graph for every pair, repeated after every edge.
//!
//! **Cost.** For n slots, e given orders and P posted messages: O((n + e) P / 64) for the first
//! closure, O(P) plus O(P / 64) for each row that changes per edge; 4 P² bits, and as many again
//! per level of decisions.

use crate::answer::{Fact, Link};
use crate::full::order_all;
use crate::partial::{MessageId, PartialTrace, Slot};
use anyorder_system::{Cancel, Control, Stopped};
pub(crate) use graph::Graph;
pub use rules::Rules;

mod endpoints;
mod explain;
mod graph;
mod pairs;
mod rules;

use endpoints::{Endpoints, Reached};
use pairs::Pairs;

/// Why an order of two messages holds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reason {
    /// It was decided.
    Decision,
    /// This clause of the search, by its number, forces it.
    Clause(usize),
    /// The opposite would close a cycle with a path between these two slots.
    Path(Slot, Slot),
}

/// An entry of the trail: the first message runs before the second, and the reason.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) first: MessageId,
    pub(crate) second: MessageId,
    pub(crate) reason: Reason,
}

impl Entry {
    pub(crate) fn fact(self) -> Fact {
        Fact::Runs { first: self.first, second: self.second }
    }
}

/// A cycle: a path between two slots that uses the first `limit` entries of the trail only, and a
/// link back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conflict {
    pub(crate) path: (Slot, Slot),
    pub(crate) closing: Fact,
    pub(crate) limit: usize,
}

/// The state of a search over orders of messages.
pub(crate) struct Saturation<'t> {
    pub(crate) graph: Graph<'t>,
    pub(crate) rules: Rules,
    /// After a cancellation, saturation ends early; its caller checks the token too.
    cancel: Cancel,
    endpoints: Endpoints,
    pairs: Pairs,
    /// All orders that hold, in the order in which they were found.
    pub(crate) trail: Vec<Entry>,
    /// For each message, the positions in the trail of the orders that put it first.
    outgoing: Vec<Vec<u32>>,
    /// The edges of the entries before this one are in the closure.
    head: usize,
    /// The open decisions.
    pub(crate) levels: Vec<Level>,
    reached: Vec<Reached>,
}

/// A decision.
pub(crate) struct Level {
    /// Its position in the trail.
    pub(crate) trail: usize,
    mark: usize,
}

/// The result of saturation before any decision.
pub(crate) enum Start<'t> {
    /// The given orders alone have a cycle.
    Cyclic(Vec<Link>),
    /// The state before the first round.
    Ready(Box<Saturation<'t>>),
}

impl<'t> Saturation<'t> {
    /// Starts without decisions, and without the first round of saturation.
    ///
    /// # Errors
    ///
    /// Fails when the job was stopped, or when the closure would exceed the memory limit.
    pub(crate) fn start(
        trace: &'t PartialTrace,
        rules: Rules,
        control: &Control<'_>,
    ) -> Result<Start<'t>, Stopped> {
        control.check_memory(0, Graph::bytes(trace))?;
        let graph = Graph::new(trace);
        if let Some(cycle) = graph.backward_cycle() {
            return Ok(Start::Cyclic(cycle));
        }
        let order = match order_all(&graph, &[], rules) {
            Ok(order) => order,
            Err(cycle) => return Ok(Start::Cyclic(cycle)),
        };
        let endpoints = Endpoints::new(&graph, &order, control)?;
        let pairs = Pairs::new(&endpoints, control)?;
        Ok(Start::Ready(Box::new(Saturation {
            rules,
            cancel: control.cancel.clone(),
            endpoints,
            pairs,
            trail: Vec::new(),
            outgoing: vec![Vec::new(); trace.messages.len()],
            head: 0,
            levels: Vec::new(),
            reached: Vec::new(),
            graph,
        })))
    }

    /// Does the first round: compares all pairs with the closure of the given orders, and
    /// propagates. After a cancellation it ends early, without a conflict.
    ///
    /// # Errors
    ///
    /// The conflict, when the trace is inconsistent.
    pub(crate) fn first_round(&mut self) -> Result<(), Conflict> {
        let count = self.endpoints.count();
        for x in 0..count {
            if self.cancel.reason().is_some() {
                return Ok(());
            }
            for y in self.endpoints.places_of_handler(&self.graph, x) {
                for (source, target) in [(x, y), (count + x, count + y)] {
                    if self.endpoints.reaches(source, target) {
                        self.note(&Reached { source, target })?;
                    }
                }
            }
        }
        self.propagate()
    }

    /// The bytes of the growing parts.
    pub(crate) fn bytes(&self) -> u64 {
        self.endpoints.bytes() + self.pairs.bytes() + self.trail.len() as u64 * 24
    }

    /// Whether the first message is known to run before the second; both are posted messages of one
    /// handler.
    pub(crate) fn runs_before(&self, first: MessageId, second: MessageId) -> bool {
        self.pairs.before(self.pairs.place(first), self.pairs.place(second))
    }

    /// The first undecided pair at or after a cursor, and its cursor. The message with the smaller
    /// number comes first.
    pub(crate) fn undecided(
        &self,
        mut cursor: (u32, u32),
    ) -> Option<((MessageId, MessageId), (u32, u32))> {
        while cursor.0 < self.endpoints.count() {
            let end = self.endpoints.places_of_handler(&self.graph, cursor.0).end;
            for other in cursor.1.max(cursor.0 + 1)..end {
                if !self.pairs.before(cursor.0, other) && !self.pairs.before(other, cursor.0) {
                    let message = |place: u32| self.endpoints.messages[place as usize];
                    return Some(((message(cursor.0), message(other)), (cursor.0, other)));
                }
            }
            cursor = (cursor.0 + 1, 0);
        }
        None
    }

    /// Opens a level and decides.
    ///
    /// # Errors
    ///
    /// A conflict; the level stays open.
    pub(crate) fn decide(&mut self, first: MessageId, second: MessageId) -> Result<(), Conflict> {
        self.levels.push(Level { trail: self.trail.len(), mark: self.endpoints.mark() });
        self.assign(first, second, Reason::Decision);
        self.propagate()
    }

    /// Adds an order implied by a clause.
    ///
    /// # Errors
    ///
    /// A conflict.
    pub(crate) fn imply(&mut self, entry: Entry) -> Result<(), Conflict> {
        self.assign(entry.first, entry.second, entry.reason);
        self.propagate()
    }

    /// Undoes the last level.
    pub(crate) fn undo(&mut self) {
        let Some(level) = self.levels.pop() else { return };
        for entry in self.trail.drain(level.trail..).rev() {
            self.outgoing[entry.first as usize].pop();
            self.pairs.clear(self.pairs.place(entry.first), self.pairs.place(entry.second));
        }
        self.head = self.trail.len();
        self.endpoints.undo(level.mark);
    }

    fn assign(&mut self, first: MessageId, second: MessageId, reason: Reason) {
        self.pairs.set(self.pairs.place(first), self.pairs.place(second));
        self.outgoing[first as usize].push(self.trail.len() as u32);
        self.trail.push(Entry { first, second, reason });
    }

    /// Adds the edges of new orders to the closure until nothing new follows.
    fn propagate(&mut self) -> Result<(), Conflict> {
        while let Some(&entry) = self.trail.get(self.head) {
            if self.cancel.reason().is_some() {
                return Ok(());
            }
            let (x, y) = (self.pairs.place(entry.first), self.pairs.place(entry.second));
            let count = self.endpoints.count();
            if self.rules.runs_edges {
                self.add(x, y, entry)?;
            }
            if self.rules.post_edges && self.graph.posts_follow(entry.first, entry.second) {
                self.add(count + x, count + y, entry)?;
            }
            self.head += 1;
        }
        Ok(())
    }

    /// Adds one edge of an entry, from a target to a source.
    fn add(&mut self, target: u32, source: u32, entry: Entry) -> Result<(), Conflict> {
        if self.endpoints.reaches(source, target) {
            let from = self.endpoints.source_slot(&self.graph, source);
            let to = self.endpoints.target_slot(&self.graph, target);
            // Both exist, or their row would be empty.
            let path = (from.unwrap_or_default(), to.unwrap_or_default());
            return Err(Conflict { path, closing: entry.fact(), limit: self.trail.len() });
        }
        let mut reached = std::mem::take(&mut self.reached);
        reached.clear();
        self.endpoints.add(target, source, self.levels.len() as u32, &mut reached);
        let noted = reached.iter().try_for_each(|bit| self.note(bit));
        self.reached = reached;
        noted
    }

    /// Draws the consequences of one bit of the closure.
    fn note(&mut self, bit: &Reached) -> Result<(), Conflict> {
        let count = self.endpoints.count();
        let posts = bit.source >= count;
        if posts != (bit.target >= count)
            || !(if posts { self.rules.posts } else { self.rules.first_last })
        {
            return Ok(());
        }
        let (x, y) =
            if posts { (bit.source - count, bit.target - count) } else { (bit.source, bit.target) };
        if x == y
            || !self.endpoints.places_of_handler(&self.graph, x).contains(&y)
            || self.pairs.before(x, y)
        {
            return Ok(());
        }
        let (first, second) =
            (self.endpoints.messages[x as usize], self.endpoints.messages[y as usize]);
        let ends = (
            self.endpoints.source_slot(&self.graph, bit.source),
            self.endpoints.target_slot(&self.graph, bit.target),
        );
        let (Some(from), Some(to)) = ends else { return Ok(()) };
        if posts && !self.graph.posts_follow(second, first) {
            return Ok(());
        }
        if self.pairs.before(y, x) {
            let closing = Fact::Runs { first: second, second: first };
            return Err(Conflict { path: (from, to), closing, limit: self.trail.len() });
        }
        self.assign(first, second, Reason::Path(from, to));
        Ok(())
    }
}
