//! Unit propagation over the clauses of a refutation, and the clauses behind a conclusion.

use crate::answer::Fact;
use std::collections::HashMap;

/// A literal: twice the number of a pair, and 1 for the opposite.
pub(super) type Literal = u32;

/// The number of a clause.
pub(super) type ClauseId = u32;

/// Numbers facts: a fact and its opposite are one pair.
#[derive(Default)]
pub(super) struct Facts {
    numbers: HashMap<Fact, Literal>,
    /// By pair: the fact itself.
    list: Vec<Fact>,
}

impl Facts {
    /// Returns the literal of a fact.
    pub(super) fn literal(&mut self, fact: Fact) -> Literal {
        if let Some(literal) = self.numbers.get(&fact) {
            return *literal;
        }
        let literal = 2 * self.list.len() as u32;
        self.list.push(fact);
        self.numbers.insert(fact, literal);
        self.numbers.insert(fact.opposite(), literal + 1);
        literal
    }

    /// Returns the fact of a literal.
    pub(super) fn fact(&self, literal: Literal) -> Fact {
        let fact = self.list[literal as usize / 2];
        if literal.is_multiple_of(2) { fact } else { fact.opposite() }
    }

    /// Returns the number of pairs.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }
}

/// A clause: at least one of its literals holds.
pub(super) struct Clause {
    /// The literals, each once; the first two are watched.
    pub(super) literals: Vec<Literal>,
    /// The number of clauses before the step that forgets this one; [`u32::MAX`] if no step does.
    pub(super) until: u32,
}

/// Unit propagation.
pub(super) struct Propagation {
    pub(super) clauses: Vec<Clause>,
    /// By literal: the clauses that watch it.
    watches: Vec<Vec<ClauseId>>,
    units: Vec<ClauseId>,
    /// By literal: whether it holds.
    holds: Vec<bool>,
    /// By pair: the clause that forced it; [`u32::MAX`] for none.
    pub(super) reasons: Vec<ClauseId>,
    pub(super) trail: Vec<Literal>,
    /// The remaining work; 0 when it was too much.
    pub(super) budget: u64,
}

const NONE: ClauseId = u32::MAX;

impl Propagation {
    pub(super) fn new(pairs: usize, budget: u64) -> Propagation {
        Propagation {
            clauses: Vec::new(),
            watches: vec![Vec::new(); 2 * pairs],
            units: Vec::new(),
            holds: vec![false; 2 * pairs],
            reasons: vec![NONE; pairs],
            trail: Vec::new(),
            budget,
        }
    }

    /// Adds a clause.
    pub(super) fn add(&mut self, literals: Vec<Literal>) {
        let id = self.clauses.len() as ClauseId;
        match literals[..] {
            [] | [_] => self.units.push(id),
            [first, second, ..] => {
                self.watches[first as usize].push(id);
                self.watches[second as usize].push(id);
            }
        }
        self.clauses.push(Clause { literals, until: NONE });
    }

    /// Undoes all propagation.
    pub(super) fn reset(&mut self) {
        for literal in self.trail.drain(..) {
            self.holds[literal as usize] = false;
            self.reasons[literal as usize / 2] = NONE;
        }
    }

    /// Returns whether a literal holds.
    pub(super) fn holds(&self, literal: Literal) -> bool {
        self.holds[literal as usize]
    }

    /// Assumes a literal; returns whether it was not false already.
    pub(super) fn assume(&mut self, literal: Literal) -> bool {
        if self.holds(literal ^ 1) {
            return false;
        }
        if !self.holds(literal) {
            self.set(literal, NONE);
        }
        true
    }

    fn set(&mut self, literal: Literal, reason: ClauseId) {
        self.holds[literal as usize] = true;
        self.reasons[literal as usize / 2] = reason;
        self.trail.push(literal);
    }

    /// Propagates with the clauses before `limit` that are not forgotten by then. Returns a clause
    /// whose literals are all false, if there is one.
    pub(super) fn propagate(&mut self, limit: ClauseId) -> Option<ClauseId> {
        for at in 0..self.units.len() {
            let id = self.units[at];
            if id >= limit {
                break;
            }
            if self.clauses[id as usize].until <= limit {
                continue;
            }
            let Some(&literal) = self.clauses[id as usize].literals.first() else {
                return Some(id);
            };
            if self.holds(literal ^ 1) {
                return Some(id);
            }
            if !self.holds(literal) {
                self.set(literal, id);
            }
        }
        let mut next = 0;
        while let Some(&literal) = self.trail.get(next) {
            next += 1;
            if let Some(conflict) = self.visit(literal ^ 1, limit) {
                return Some(conflict);
            }
            if self.budget == 0 {
                return None;
            }
        }
        None
    }

    /// Finds new watches for the clauses that watch `failed`.
    fn visit(&mut self, failed: Literal, limit: ClauseId) -> Option<ClauseId> {
        let mut watching = std::mem::take(&mut self.watches[failed as usize]);
        let mut conflict = None;
        let mut kept = 0;
        let mut at = 0;
        while at < watching.len() {
            let id = watching[at];
            at += 1;
            self.budget = self.budget.saturating_sub(1);
            watching[kept] = id;
            kept += 1;
            if id >= limit || self.clauses[id as usize].until <= limit {
                continue;
            }
            let holds = &self.holds;
            let literals = &mut self.clauses[id as usize].literals;
            if literals[0] == failed {
                literals.swap(0, 1);
            }
            let other = literals[0];
            if holds[other as usize] {
                continue;
            }
            let free = literals[2..].iter().position(|literal| !holds[(literal ^ 1) as usize]);
            if let Some(free) = free {
                literals.swap(1, free + 2);
                let watch = literals[1];
                self.watches[watch as usize].push(id);
                kept -= 1;
            } else if holds[(other ^ 1) as usize] {
                conflict = Some(id);
                break;
            } else {
                self.set(other, id);
            }
        }
        let rest = watching.len() - at;
        watching.copy_within(at.., kept);
        watching.truncate(kept + rest);
        // No clause starts to watch `failed` meanwhile: it is false.
        self.watches[failed as usize] = watching;
        conflict
    }

    /// Calls `with` for all clauses that a conflict depends on, including the conflict itself.
    pub(super) fn behind(&self, conflict: ClauseId, mut with: impl FnMut(ClauseId)) {
        let mut seen = vec![false; self.reasons.len()];
        let mut stack = vec![conflict];
        while let Some(id) = stack.pop() {
            with(id);
            for literal in &self.clauses[id as usize].literals {
                let pair = *literal as usize / 2;
                if !std::mem::replace(&mut seen[pair], true) && self.reasons[pair] != NONE {
                    stack.push(self.reasons[pair]);
                }
            }
        }
    }
}
