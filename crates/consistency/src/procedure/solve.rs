//! The order solver: our counterpart of the paper's Algorithm 2.
//!
//! A message is a chain and a block on its handler; its post is the entry to the handler's queue.
//! Locations whose coherence is open, and open ends, are ignored until a candidate breaks them:
//! each read that would see another write, and each beginning that has ended, adds a clause.

use super::schedule::schedule_once;
use super::{Effort, Outcome};
use crate::answer::{self, Answer, ConsistencyStats, Fact, Limit, Refutation};
use crate::mailbox::{Due, MailboxRule};
use crate::partial::{MessageId, OpenEnds, OpenLocation, PartialTrace, Relation, Slot};
use anyorder_order::sat::Cause;
use anyorder_order::solver::{
    self, Claim, Entry, Limits, Problem, ProblemError, Rank, Solver, Tag, Why,
};
use anyorder_system::{Control, StopReason, Stopped};

/// With more messages than this, one schedule is tried before the solver compares pairs of them.
const FEW_MESSAGES: usize = 512;

/// Decides consistency by the order solver. Linear except for the search; the problem is
/// NP-complete.
pub(super) fn solve(trace: &PartialTrace, effort: Effort, control: &Control<'_>) -> Outcome {
    if trace.messages.len() > FEW_MESSAGES {
        let answer = match schedule_once(trace, control) {
            Ok(Some(order)) => Some(Answer::Consistent(order)),
            Ok(None) => None,
            Err(Stopped(reason)) => Some(Answer::Unknown(Limit::Stopped(reason))),
        };
        if let Some(answer) = answer {
            let stats = ConsistencyStats::of(trace);
            let stats = ConsistencyStats { pairs: stats.pairs_total, candidates: 1, ..stats };
            return Outcome { answer, stats };
        }
    }
    let mut run = match Run::new(trace, effort) {
        Ok(run) => run,
        // A trace has fewer than 2^31 events, so the only cause is too little memory.
        Err(_) => {
            let answer = Answer::Unknown(Limit::Stopped(StopReason::MemoryLimit));
            return Outcome { answer, stats: ConsistencyStats::of(trace) };
        }
    };
    let answer = run.decide(effort, control);
    Outcome { answer, stats: stats(trace, &run.solver.stats()) }
}

/// A trace loaded into a solver.
struct Run<'a> {
    trace: &'a PartialTrace,
    solver: Solver,
    /// For each block, its message.
    message_of: Vec<MessageId>,
    /// For each clause, in the order in which they were added, what it says.
    clauses: Vec<answer::RefutationStep>,
}

impl<'a> Run<'a> {
    fn new(trace: &'a PartialTrace, effort: Effort) -> Result<Run<'a>, ProblemError> {
        let (problem, message_of) = problem(trace)?;
        let mut solver = Solver::new(problem);
        if effort.refute {
            solver.keep_proof_up_to(effort.proof_bytes.unwrap_or(usize::MAX));
        }
        Ok(Run { trace, solver, message_of, clauses: Vec::new() })
    }

    fn decide(&mut self, effort: Effort, control: &Control<'_>) -> Answer {
        loop {
            let spent = self.solver.stats().conflicts;
            let mut stop = || control.check().is_err();
            let mut limits = Limits {
                conflicts: effort.conflicts.map(|most| most.saturating_sub(spent)),
                memory_bytes: control
                    .limits
                    .memory_bytes
                    .map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX)),
                stop: Some(&mut stop),
            };
            let answer = self.solver.solve(&[], &mut limits);
            let order = match answer {
                solver::Answer::Ordered(order) => order,
                solver::Answer::Impossible { .. } => {
                    let refutation = if effort.refute { self.solver.refutation() } else { None };
                    return Answer::Inconsistent(refutation.map(|steps| self.refutation(&steps)));
                }
                solver::Answer::Unknown(cause) => {
                    return Answer::Unknown(match cause {
                        Cause::Conflicts => Limit::Conflicts,
                        Cause::Memory => Limit::Stopped(StopReason::MemoryLimit),
                        Cause::Stopped => Limit::Stopped(
                            control.cancel.reason().unwrap_or(StopReason::Interrupted),
                        ),
                    });
                }
            };
            if !self.add_clauses(&order) {
                return Answer::Consistent(order);
            }
        }
    }

    /// Adds clauses for what a candidate breaks; returns whether there was anything.
    fn add_clauses(&mut self, order: &[Slot]) -> bool {
        if self.trace.open.is_empty() && self.trace.ends.is_empty() {
            return false;
        }
        let mut place = vec![0_u32; order.len()];
        for (at, &slot) in order.iter().enumerate() {
            place[slot as usize] = at as u32;
        }
        let before = self.clauses.len();
        for location in &self.trace.open {
            self.ask_location(location, &place);
        }
        for ends in &self.trace.ends {
            self.ask_ends(ends, &place);
        }
        self.clauses.len() > before
    }

    /// Adds a clause for each beginning that comes after an end of it.
    fn ask_ends(&mut self, open: &OpenEnds, place: &[u32]) {
        let at = |slot: Slot| place[slot as usize];
        let mut ends = open.ends.clone();
        ends.sort_by_key(|&end| at(end));
        for &(begins, opened) in &open.begins {
            let behind = ends.partition_point(|&end| at(end) < at(begins));
            let last = behind.checked_sub(1).map(|last| ends[last]);
            let Some(end) = last.filter(|&end| at(end) > at(opened)) else { continue };
            let mut before =
                |first, second| self.solver.before(first, second).expect("two slots of the trace");
            let clause = [before(end, opened), before(begins, end)];
            self.solver.clause(&clause);
            self.clauses.push(answer::RefutationStep::Ended { begins, end });
        }
    }

    fn ask_location(&mut self, location: &OpenLocation, place: &[u32]) {
        let mut writes = location.writes.clone();
        writes.sort_by_key(|&write| place[write as usize]);
        for &(read, from) in &location.reads {
            // An event that reads and writes sees the value before its own write.
            let at = writes.partition_point(|&write| place[write as usize] < place[read as usize]);
            let seen = at.checked_sub(1).map(|last| writes[last]);
            if seen == from {
                continue;
            }
            // Before the read, but perhaps also before the write that is read.
            let other =
                seen.expect("a read after no write at all is ordered after the one it reads from");
            self.add_read_clause(read, from, other);
        }
    }

    /// Requires that the other write does not come between a read and its write.
    fn add_read_clause(&mut self, read: Slot, from: Option<Slot>, other: Slot) {
        let mut before =
            |first, second| self.solver.before(first, second).expect("two slots of the trace");
        let after = before(read, other);
        let clause = match from {
            Some(from) => (before(other, from), after),
            None => (after, after),
        };
        self.solver.clause(&[clause.0, clause.1]);
        self.clauses.push(answer::RefutationStep::ReadsOpen { read, other });
    }

    /// Translates the solver's proof into facts about messages.
    fn refutation(&self, proof: &solver::Refutation) -> Refutation {
        let mut clauses = self.clauses.iter();
        let steps = proof.steps.iter().map(|step| match step {
            solver::RefutationStep::Input(_) => {
                clauses.next().expect("every clause of the problem came from the trace").clone()
            }
            solver::RefutationStep::Cycle(links) => {
                answer::RefutationStep::Cycle(links.iter().map(|link| self.link(link)).collect())
            }
            solver::RefutationStep::Derived(claims) => {
                answer::RefutationStep::Derived(self.facts(claims))
            }
            solver::RefutationStep::Forget(claims) => {
                answer::RefutationStep::Forget(self.facts(claims))
            }
        });
        Refutation { steps: steps.collect() }
    }

    fn link(&self, link: &solver::Link) -> answer::Link {
        let why = match link.why {
            Why::Chain => answer::Why::Given(Relation::Program),
            Why::Given(tag) => answer::Why::Given(relation(tag)),
            Why::Decided(fact) => answer::Why::Decided(self.fact(fact)),
        };
        answer::Link { from: link.from, to: link.to, why }
    }

    fn facts(&self, claims: &[Claim]) -> Vec<Fact> {
        claims
            .iter()
            .filter_map(|claim| match claim {
                Claim::Fact(fact) => Some(self.fact(*fact)),
                // There are none: this procedure uses no formula and no scope.
                Claim::Free(_) => None,
            })
            .collect()
    }

    fn fact(&self, fact: solver::Fact) -> Fact {
        match fact {
            solver::Fact::Blocks { first, second } => Fact::Runs {
                first: self.message_of[first.index()],
                second: self.message_of[second.index()],
            },
            solver::Fact::Nodes { first, second } => Fact::Before { first, second },
        }
    }
}

/// Relations as tags of edges.
const RELATIONS: [Relation; 10] = [
    Relation::Program,
    Relation::ReadsFrom,
    Relation::Coherence,
    Relation::FromReads,
    Relation::PostedBy,
    Relation::Fork,
    Relation::Join,
    Relation::Cancel,
    Relation::Enable,
    Relation::Ended,
];

fn tag(relation: Relation) -> Tag {
    Tag(RELATIONS.iter().position(|&other| other == relation).expect("all are listed") as u32)
}

fn relation(tag: Tag) -> Relation {
    RELATIONS[tag.0 as usize]
}

/// Encodes a trace as a problem of orders; also returns the message of each block.
fn problem(trace: &PartialTrace) -> Result<(Problem, Vec<MessageId>), ProblemError> {
    let mut problem = Problem::new();
    for message in &trace.messages {
        problem.chain(message.slots.len() as u32)?;
    }
    for given in trace.backward.iter().chain(&trace.given) {
        problem.before(given.from, given.to, tag(given.relation))?;
    }
    for location in &trace.open {
        // A read of the initial value comes before every write of the location.
        for &(read, from) in &location.reads {
            for &write in location.writes.iter().filter(|&&write| from.is_none() && write != read) {
                problem.before(read, write, tag(Relation::FromReads))?;
            }
        }
    }
    let handlers: Vec<_> = (0..trace.handlers).map(|_| problem.resource()).collect();
    let initial = trace.initial();
    let mut message_of = Vec::new();
    for (id, message) in trace.messages.iter().enumerate() {
        if message.initial {
            continue;
        }
        let (first, last) = (message.slots.start, message.slots.end - 1);
        if let Some(before) = initial[message.handler as usize] {
            let end = trace.messages[before as usize].slots.end - 1;
            problem.before(end, first, tag(Relation::Program))?;
        }
        // A message that posts itself is refuted by its backward edge.
        let post = message.post.filter(|post| !message.slots.contains(post));
        let entry = post.and_then(|post| {
            let rank = match (trace.mailboxes, message.due) {
                (MailboxRule::Fifo, _) => Rank::Level(0),
                (MailboxRule::Bag, _) | (MailboxRule::Delayed, Due::Idle) => return None,
                (MailboxRule::Delayed, Due::After(delay)) => Rank::Level(delay),
                (MailboxRule::Delayed, Due::Front) => Rank::Front,
            };
            Some(Entry { node: post, rank, tag: tag(Relation::PostedBy) })
        });
        problem.block(handlers[message.handler as usize], first, last, entry)?;
        message_of.push(id as MessageId);
    }
    Ok((problem, message_of))
}

fn stats(trace: &PartialTrace, solver: &solver::SolverStats) -> ConsistencyStats {
    ConsistencyStats {
        pairs: solver.undecided,
        decisions: solver.decisions,
        conflicts: solver.conflicts,
        propagations: solver.propagations + solver.forced,
        candidates: solver.candidates,
        variables: solver.variables,
        ..ConsistencyStats::of(trace)
    }
}
