//! The search: decisions, levels and the proof.

use super::{
    Answer, ConsistencyStats, Control, Effort, Limit, MessageId, Refutation, RefutationStep,
    Saturation, order_all,
};
use crate::answer::Fact;
use crate::saturate::{Conflict, Entry, Reason};
use anyorder_system::StopReason;
use std::collections::BTreeSet;

/// The state of the search.
pub(super) struct Search<'s, 't> {
    pub(super) saturation: Saturation<'t>,
    pub(super) effort: Effort,
    control: &'s Control<'s>,
    pub(super) stats: &'s mut ConsistencyStats,
    /// For each level, the position of the search for undecided pairs, and the number of clauses.
    levels: Vec<((u32, u32), usize)>,
    cursor: (u32, u32),
    /// The current clauses, each the reason of one order of the trail.
    pub(super) clauses: Vec<Vec<Fact>>,
    /// The proof so far, and its cycles by their facts.
    pub(super) steps: Vec<RefutationStep>,
    pub(super) emitted: BTreeSet<Vec<Fact>>,
    /// The number of links in the proof, a measure of its memory.
    pub(super) links: u64,
}

impl<'s, 't> Search<'s, 't> {
    /// Starts with saturation before its first round.
    pub(super) fn new(
        saturation: Saturation<'t>,
        effort: Effort,
        control: &'s Control<'s>,
        stats: &'s mut ConsistencyStats,
    ) -> Search<'s, 't> {
        Search {
            saturation,
            effort,
            control,
            stats,
            levels: Vec::new(),
            cursor: (0, 0),
            clauses: Vec::new(),
            steps: Vec::new(),
            emitted: BTreeSet::new(),
            links: 0,
        }
    }

    /// Runs the search.
    pub(super) fn run(mut self) -> Answer {
        let mut found = self.saturation.first_round();
        self.stats.propagations += self.saturation.trail.len() as u64;
        if found.is_ok() {
            self.stats.pairs = self.stats.pairs_total - self.saturation.trail.len() as u64;
        }
        loop {
            if let Err(reason) = self.stopped() {
                return Answer::Unknown(Limit::Stopped(reason));
            }
            if let Err(conflict) = found {
                if !self.levels.is_empty() {
                    self.stats.conflicts += 1;
                }
                let Some((clause, level)) = self.learn(conflict) else { return self.refuted() };
                if self.effort.conflicts.is_some_and(|limit| self.stats.conflicts > limit) {
                    return Answer::Unknown(Limit::Conflicts);
                }
                found = self.flip(clause, level);
                continue;
            }
            let Some((pair, cursor)) = self.saturation.undecided(self.cursor) else {
                return self.consistent();
            };
            self.cursor = cursor;
            self.levels.push((cursor, self.clauses.len()));
            self.stats.decisions += 1;
            found = self.counted(|saturation| saturation.decide(pair.0, pair.1), 1);
        }
    }

    /// Undoes all levels from one on; the clause excludes the decision of that level.
    fn flip(&mut self, clause: Vec<Fact>, level: usize) -> Result<(), Conflict> {
        let decision = self.saturation.trail[self.saturation.levels[level].trail];
        while self.saturation.levels.len() > level {
            self.saturation.undo();
        }
        let (cursor, clauses) = self.levels[level];
        self.levels.truncate(level);
        self.cursor = cursor;
        for old in self.clauses.drain(clauses..) {
            if self.effort.refute {
                self.steps.push(RefutationStep::Forget(old));
            }
        }
        let reason = Reason::Clause(self.clauses.len());
        self.clauses.push(clause);
        let entry = Entry { first: decision.second, second: decision.first, reason };
        self.counted(|saturation| saturation.imply(entry), 0)
    }

    /// Runs saturation, and counts the orders it finds besides `own` ones.
    fn counted(
        &mut self,
        work: impl FnOnce(&mut Saturation<'t>) -> Result<(), Conflict>,
        own: u64,
    ) -> Result<(), Conflict> {
        let before = self.saturation.trail.len() as u64 + own;
        let result = work(&mut self.saturation);
        self.stats.propagations += self.saturation.trail.len() as u64 - before;
        result
    }

    fn stopped(&self) -> Result<(), StopReason> {
        let used = self.saturation.bytes() + self.links * 32;
        self.control
            .check()
            .and_then(|()| self.control.check_memory(0, used))
            .map_err(|stopped| stopped.0)
    }

    /// The answer "inconsistent"; the recorded steps prove it.
    pub(super) fn refuted(mut self) -> Answer {
        if !self.effort.refute {
            return Answer::Inconsistent(None);
        }
        self.steps.push(RefutationStep::Derived(Vec::new()));
        Answer::Inconsistent(Some(Refutation { steps: self.steps }))
    }

    /// The witness. All pairs are decided without a conflict, so it exists, unless rules were
    /// disabled.
    fn consistent(&self) -> Answer {
        let orders = self.orders();
        match order_all(&self.saturation.graph, &orders, self.saturation.rules) {
            Ok(order) => Answer::Consistent(order),
            Err(_) => Answer::Inconsistent(None),
        }
    }

    /// The orders of the messages of each handler. When all pairs are decided without a cycle they
    /// are total.
    fn orders(&self) -> Vec<Vec<MessageId>> {
        let mut orders = self.saturation.graph.trace.posted();
        for order in &mut orders {
            let all = order.clone();
            let earlier = |message: MessageId| {
                let before = |&&other: &&MessageId| {
                    other != message && self.saturation.runs_before(other, message)
                };
                all.iter().filter(before).count()
            };
            order.sort_by_cached_key(|&message| earlier(message));
        }
        orders
    }
}
