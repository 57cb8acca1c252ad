//! A theory that uses the whole contract, at random.

use std::collections::HashMap;

use anyorder_order::sat::{Lit, Output, Theory, Value, Values, Var};

use crate::tests::sat::{Rng, holds};

/// A demand of the test theory.
#[derive(Clone, Debug)]
pub(crate) enum Demand {
    Clause(Vec<Lit>),
    AtMost(Vec<Lit>, usize),
    /// An odd number of the literals holds.
    Odd(Vec<Lit>),
}

impl Demand {
    pub(crate) fn lits(&self) -> &[Lit] {
        match self {
            Demand::Clause(lits) | Demand::AtMost(lits, _) | Demand::Odd(lits) => lits,
        }
    }

    /// Whether it holds when exactly the literals at the set bits of `mask` are true.
    pub(crate) fn met(&self, mask: u32) -> bool {
        match self {
            Demand::Clause(_) => mask != 0,
            Demand::AtMost(_, most) => mask.count_ones() as usize <= *most,
            Demand::Odd(_) => mask.count_ones() % 2 == 1,
        }
    }

    pub(crate) fn holds(&self, assignment: u64) -> bool {
        let mask = self
            .lits()
            .iter()
            .enumerate()
            .map(|(at, &lit)| u32::from(holds(lit, assignment)) << at)
            .sum();
        self.met(mask)
    }

    /// All masks that agree with the known literals.
    pub(crate) fn completions(&self, known: impl Fn(Lit) -> Value) -> Vec<u32> {
        let lits = self.lits();
        (0..1u32 << lits.len())
            .filter(|mask| {
                lits.iter().enumerate().all(|(at, &lit)| match known(lit) {
                    Value::True => mask >> at & 1 == 1,
                    Value::False => mask >> at & 1 == 0,
                    Value::Open => true,
                })
            })
            .collect()
    }
}

/// The behaviour of the test theory, in percent.
pub(crate) struct Behaviour {
    pub(crate) lazy: u32,
    pub(crate) imply: u32,
    pub(crate) noise: u32,
    pub(crate) define: u32,
}

/// Has demands and reports their violations late, in any allowed form.
pub(crate) struct RandomTheory {
    pub(crate) demands: Vec<Demand>,
    /// Each new variable is the exclusive or of two literals of earlier ones.
    pub(crate) definitions: Vec<(Var, Lit, Lit)>,
    pub(crate) rng: Rng,
    pub(crate) habits: Behaviour,
    /// By variable: its position on the trail and the literal there, as far as taken.
    pub(crate) positions: HashMap<Var, (usize, Lit)>,
    pub(crate) taken: usize,
    /// For each implied literal: its demand, and the length of the trail.
    pub(crate) reasons: HashMap<Lit, (usize, usize)>,
    pub(crate) explained: u64,
    pub(crate) created: u64,
}

impl RandomTheory {
    pub(crate) fn new(demands: Vec<Demand>, mut rng: Rng) -> RandomTheory {
        let habits = Behaviour {
            lazy: [0, 30, 80, 100][rng.below(4)],
            imply: [0, 50, 100][rng.below(3)],
            noise: [0, 5, 30][rng.below(3)],
            define: [0, 50][rng.below(2)],
        };
        RandomTheory {
            demands,
            definitions: Vec::new(),
            rng,
            habits,
            positions: HashMap::new(),
            taken: 0,
            reasons: HashMap::new(),
            explained: 0,
            created: 0,
        }
    }

    /// Extends an assignment of the first variables to the defined ones.
    pub(crate) fn extend(&self, mut assignment: u64) -> u64 {
        for &(var, a, b) in &self.definitions {
            if holds(a, assignment) != holds(b, assignment) {
                assignment |= 1 << var.index();
            }
        }
        assignment
    }

    pub(crate) fn take(&mut self, trail: &[Lit]) {
        assert!(self.taken <= trail.len(), "the trail was cut without a word");
        for (at, lit) in trail.iter().enumerate().skip(self.taken) {
            self.positions.insert(lit.var(), (at, *lit));
        }
        self.taken = trail.len();
    }

    /// Reports consequences of a demand under the current values; true when it is violated.
    pub(crate) fn report(&mut self, index: usize, values: &Values, out: &mut Output) -> bool {
        let demand = self.demands[index].clone();
        let masks = demand.completions(|lit| values.value(lit));
        let good: Vec<u32> = masks.iter().copied().filter(|&mask| demand.met(mask)).collect();
        let falsified = |but: Option<Lit>| {
            let known = demand.lits().iter().filter(move |&&lit| Some(lit) != but);
            let false_now = |&lit: &Lit| match values.value(lit) {
                Value::True => Some(!lit),
                Value::False => Some(lit),
                Value::Open => None,
            };
            known.filter_map(false_now)
        };
        if good.is_empty() {
            out.lemma(&falsified(None).collect::<Vec<_>>(), index as u32);
            return true;
        }
        for (at, &base) in demand.lits().iter().enumerate() {
            if values.value(base) != Value::Open {
                continue;
            }
            let ones = good.iter().filter(|&&mask| mask >> at & 1 == 1).count();
            if ones != 0 && ones != good.len() {
                continue;
            }
            let implied = if ones == 0 { !base } else { base };
            if self.rng.chance(self.habits.imply) {
                // A second demand of the same call may imply the opposite: the core finds it false.
                if let std::collections::hash_map::Entry::Vacant(free) = self.reasons.entry(implied)
                {
                    free.insert((index, self.taken));
                    out.imply(implied);
                }
            } else {
                let lemma: Vec<Lit> = falsified(Some(base)).chain([implied]).collect();
                out.lemma(&lemma, index as u32);
            }
        }
        false
    }

    /// A clause that follows from a demand, whatever the assignment is.
    pub(crate) fn noise(&mut self, out: &mut Output) {
        let index = self.rng.below(self.demands.len());
        let demand = &self.demands[index];
        let bad: Vec<u32> =
            (0..1 << demand.lits().len()).filter(|&mask| !demand.met(mask)).collect();
        if bad.is_empty() {
            return;
        }
        let mask = bad[self.rng.below(bad.len())];
        let flip = |(at, &lit): (usize, &Lit)| if mask >> at & 1 == 1 { !lit } else { lit };
        let mut lemma: Vec<Lit> = demand.lits().iter().enumerate().map(flip).collect();
        // Repetitions are allowed.
        let again = lemma[self.rng.below(lemma.len())];
        lemma.push(again);
        out.lemma(&lemma, index as u32);
    }

    /// Splits an exclusive or with a new variable.
    pub(crate) fn define(&mut self, index: usize, out: &mut Output) {
        let Demand::Odd(lits) = &self.demands[index] else { return };
        if lits.len() < 4 || self.definitions.len() > 8 {
            return;
        }
        let (a, b) = (lits[0], lits[1]);
        let phase = self.rng.chance(50);
        let var = out.new_var(phase);
        let y = Lit::new(var, true);
        let rest = lits[2..].iter().copied().chain([y]).collect();
        for lemma in [[!y, a, b], [!y, !a, !b], [y, !a, b], [y, a, !b]] {
            out.lemma(&lemma, 1000);
        }
        self.definitions.push((var, a, b));
        self.demands.push(Demand::Odd(rest));
        self.created += 1;
    }
}

impl Theory for RandomTheory {
    fn propagate(&mut self, trail: &[Lit], values: &Values, out: &mut Output) {
        if self.demands.is_empty() || self.rng.chance(self.habits.lazy) {
            return;
        }
        self.take(trail);
        for index in 0..self.demands.len() {
            if self.rng.chance(60) {
                self.report(index, values, out);
            }
        }
        if self.rng.chance(self.habits.noise) {
            self.noise(out);
        }
    }

    fn final_check(&mut self, trail: &[Lit], values: &Values, out: &mut Output) {
        self.take(trail);
        for index in 0..self.demands.len() {
            let before = out.is_empty();
            let violated = self.report(index, values, out);
            assert!(violated || before == out.is_empty(), "nothing is open any more");
            if violated && self.rng.chance(self.habits.define) {
                self.define(index, out);
            }
            if violated && self.rng.chance(50) {
                return;
            }
        }
    }

    fn backtrack(&mut self, len: usize) {
        self.taken = self.taken.min(len);
        self.positions.retain(|_, (at, _)| *at < len);
        self.reasons.retain(|_, (_, at)| *at < len);
    }

    fn explain(&mut self, lit: Lit, out: &mut Vec<Lit>) -> u32 {
        let (index, len) = self.reasons.remove(&lit).expect("asked twice, or too late");
        let demand = &self.demands[index];
        let known = |of: Lit| match self.positions.get(&of.var()) {
            _ if of.var() == lit.var() => {
                if of == lit {
                    Value::False
                } else {
                    Value::True
                }
            }
            Some(&(at, truth)) if at < len => {
                if of == truth {
                    Value::True
                } else {
                    Value::False
                }
            }
            _ => Value::Open,
        };
        assert!(
            demand.completions(known).iter().all(|&mask| !demand.met(mask)),
            "the literal was implied"
        );
        let others = demand.lits().iter().filter(|of| of.var() != lit.var());
        out.extend(others.filter_map(|&of| match known(of) {
            Value::True => Some(!of),
            Value::False => Some(of),
            Value::Open => None,
        }));
        self.explained += 1;
        index as u32
    }
}
