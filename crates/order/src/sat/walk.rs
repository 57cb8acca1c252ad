//! Local search over full assignments (ProbSAT), which often finds a model if there is one.
//!
//! Between some restarts, a bounded walk starts from the saved phases. Each step takes a false
//! clause and flips one of its variables; a variable that breaks few other clauses is more probable
//! (A. Balint, U. Schöning, *Choosing Probability Distributions for Stochastic Local Search and the
//! Role of Make versus Break*, SAT 2012). If the walk satisfies all permanent clauses, its values
//! become the phases: the search then decides them without a conflict, and the theory has the last
//! word. Otherwise nothing changes.

use super::core::Core;
use super::lit::Lit;
use crate::rows::Rows;
use anyorder_common::random::{Random, XorShift64};

/// Conflicts before the first walk.
pub(super) const FIRST: u64 = 2_000;
/// Flips per conflict since the last walk; a flip is some hundred times cheaper than a conflict.
const FLIPS_PER_CONFLICT: u64 = 25;
/// The interval between walks grows by this factor, in percent.
const GROWTH: u64 = 150;
/// The base and the exponent of the distribution, as the paper gives them for clauses of three
/// literals.
const EPSILON: f64 = 0.9;
const EXPONENT: f64 = -2.06;

/// Clauses over full assignments.
struct Walk {
    /// The literals of all clauses, and where each clause begins.
    lits: Vec<Lit>,
    start: Vec<u32>,
    /// For each literal, the clauses with it.
    occurs: Rows<u32>,
    /// By variable.
    values: Vec<bool>,
    /// For each clause, how many of its literals are true, and the exclusive or of their variables:
    /// the variable itself if there is one.
    holding: Vec<(u32, u32)>,
    /// For each variable, how many clauses are satisfied by its literal alone.
    breaks: Vec<u32>,
    /// The false clauses, and the position of each among them.
    broken: Vec<u32>,
    place: Vec<u32>,
    random: XorShift64,
}

impl Core {
    /// Walks if a walk is due. Call it at level 0.
    pub(super) fn walk(&mut self) {
        if self.counters.conflicts < self.walk_at {
            return;
        }
        let since = self.counters.conflicts.saturating_sub(self.walked_at).max(FIRST);
        self.walked_at = self.counters.conflicts;
        self.walk_at = self.counters.conflicts.saturating_add(since.saturating_mul(GROWTH) / 100);
        let mut walk = self.walk_from_phases();
        if walk.run(since.saturating_mul(FLIPS_PER_CONFLICT)) {
            self.phases.copy_from_slice(&walk.values);
        }
    }

    /// Collects the permanent clauses, simplified at level 0.
    fn walk_from_phases(&self) -> Walk {
        let mut values = self.phases.clone();
        for &lit in &self.values.trail {
            values[lit.var().index()] = lit.is_positive();
        }
        let (mut lits, mut start) = (Vec::new(), vec![0]);
        for &clause in &self.clauses {
            if self.arena.lits(clause).any(|lit| self.values.is_true(lit)) {
                continue;
            }
            lits.extend(self.arena.lits(clause).filter(|&lit| !self.values.is_false(lit)));
            start.push(lits.len() as u32);
        }
        Walk::new(lits, start, values, self.counters.conflicts)
    }
}

impl Walk {
    fn new(lits: Vec<Lit>, start: Vec<u32>, values: Vec<bool>, seed: u64) -> Walk {
        let clauses = start.len() - 1;
        let of = |clause: usize| &lits[start[clause] as usize..start[clause + 1] as usize];
        let occurs = (0..clauses)
            .flat_map(|clause| of(clause).iter().map(move |lit| (lit.0, clause as u32)));
        let occurs = Rows::new(2 * values.len(), occurs);
        let mut walk = Walk {
            holding: vec![(0, 0); clauses],
            breaks: vec![0; values.len()],
            broken: Vec::new(),
            place: vec![0; clauses],
            random: XorShift64(seed ^ 0x9e37_79b9_7f4a_7c15),
            lits,
            start,
            occurs,
            values,
        };
        for clause in 0..clauses {
            for lit in &walk.lits[walk.start[clause] as usize..walk.start[clause + 1] as usize] {
                if walk.values[lit.var().index()] == lit.is_positive() {
                    walk.holding[clause].0 += 1;
                    walk.holding[clause].1 ^= lit.var().0;
                }
            }
            match walk.holding[clause] {
                (0, _) => walk.break_clause(clause as u32),
                (1, var) => walk.breaks[var as usize] += 1,
                _ => {}
            }
        }
        walk
    }

    /// Flips until all clauses hold, at most `flips` times; returns whether they do.
    fn run(&mut self, flips: u64) -> bool {
        let weights: Vec<f64> =
            (0..64).map(|count| (EPSILON + f64::from(count)).powf(EXPONENT)).collect();
        let mut chances = Vec::new();
        for _ in 0..flips {
            if self.broken.is_empty() {
                break;
            }
            let drawn = self.random.index(self.broken.len());
            let clause = self.broken[drawn] as usize;
            let lits = self.start[clause] as usize..self.start[clause + 1] as usize;
            chances.clear();
            let mut sum = 0.0;
            for lit in &self.lits[lits.clone()] {
                sum += weights[self.breaks[lit.var().index()].min(63) as usize];
                chances.push(sum);
            }
            let drawn = sum * (self.random.below(1 << 53) as f64 / (1_u64 << 53) as f64);
            let chosen = chances.iter().position(|&chance| drawn < chance).unwrap_or(0);
            self.flip(self.lits[lits.start + chosen]);
        }
        self.broken.is_empty()
    }

    /// Makes a false literal true.
    fn flip(&mut self, lit: Lit) {
        let var = lit.var();
        self.values[var.index()] = lit.is_positive();
        for at in self.occurs.range(lit.0) {
            let clause = self.occurs.items[at];
            let (count, held) = &mut self.holding[clause as usize];
            let (before, holder) = (*count, *held);
            *count += 1;
            *held ^= var.0;
            match before {
                0 => {
                    self.repair_clause(clause);
                    self.breaks[var.index()] += 1;
                }
                1 => self.breaks[holder as usize] -= 1,
                _ => {}
            }
        }
        let lost = !lit;
        for at in self.occurs.range(lost.0) {
            let clause = self.occurs.items[at];
            let (count, held) = &mut self.holding[clause as usize];
            *count -= 1;
            *held ^= var.0;
            match (*count, *held) {
                (0, _) => {
                    self.break_clause(clause);
                    self.breaks[var.index()] -= 1;
                }
                (1, holder) => self.breaks[holder as usize] += 1,
                _ => {}
            }
        }
    }

    fn break_clause(&mut self, clause: u32) {
        self.place[clause as usize] = self.broken.len() as u32;
        self.broken.push(clause);
    }

    fn repair_clause(&mut self, clause: u32) {
        let place = self.place[clause as usize];
        self.broken.swap_remove(place as usize);
        if let Some(&moved) = self.broken.get(place as usize) {
            self.place[moved as usize] = place;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::lit::Var;
    use super::*;

    /// Random clauses of three literals that one hidden assignment satisfies.
    fn planted(vars: u64, clauses: usize, seed: u64) -> (Vec<Lit>, Vec<u32>) {
        let mut random = XorShift64(seed ^ 0x9e37_79b9_7f4a_7c15);
        let (mut lits, mut start) = (Vec::new(), vec![0]);
        while start.len() <= clauses {
            let clause: Vec<Lit> = (0..3)
                .map(|_| {
                    Lit::new(Var::from_index(random.below(vars) as usize), random.below(2) == 0)
                })
                .collect();
            let distinct = clause[0].var() != clause[1].var()
                && clause[1].var() != clause[2].var()
                && clause[0].var() != clause[2].var();
            // The hidden assignment: even variables are true.
            if distinct
                && clause.iter().any(|lit| lit.is_positive() == (lit.var().index() % 2 == 0))
            {
                lits.extend(clause);
                start.push(lits.len() as u32);
            }
        }
        (lits, start)
    }

    #[test]
    fn a_walk_meets_models_and_keeps_its_counts() {
        let mut met = 0;
        for seed in 0..40 {
            let (lits, start) = planted(60, 210, seed);
            let mut walk = Walk::new(lits.clone(), start.clone(), vec![false; 60], seed);
            let found = walk.run(20_000);
            let again = Walk::new(lits, start, walk.values.clone(), seed);
            assert_eq!(walk.holding, again.holding);
            assert_eq!(walk.breaks, again.breaks);
            assert_eq!(found, again.broken.is_empty());
            assert_eq!(walk.broken.len(), again.broken.len());
            met += u32::from(found);
        }
        assert!(met >= 35, "{met} of 40");
    }

    #[test]
    fn a_walk_of_no_clauses_ends() {
        assert!(Walk::new(Vec::new(), vec![0], vec![true], 1).run(10));
    }
}
