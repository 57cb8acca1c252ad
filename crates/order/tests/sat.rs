//! The SAT core against brute force, with a theory that uses the whole contract; every proof and
//! core is checked again.

use anyorder_common::random::{Random, SplitMix64};
use anyorder_testkit::effort::cases;
use std::collections::HashMap;

use anyorder_order::sat::{
    Answer, Cause, Core, Limits, Lit, NoTheory, ProofLog, SatStats, Value, Var,
};

use checker::{Checker, sorted};
use random_theory::{Behaviour, Demand, RandomTheory};

#[path = "sat/checker.rs"]
mod checker;

#[path = "sat/random_theory.rs"]
mod random_theory;

/// A seeded generator, so that failures can be reproduced.
struct Rng(SplitMix64);

impl Rng {
    fn below(&mut self, bound: usize) -> usize {
        self.0.index(bound)
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.0.percent(percent)
    }

    fn lit(&mut self, vars: usize) -> Lit {
        Lit::from_index(self.below(2 * vars))
    }

    /// A clause of so many different variables.
    fn clause(&mut self, vars: usize, len: usize) -> Vec<Lit> {
        let mut clause: Vec<Lit> = Vec::new();
        while clause.len() < len.min(vars) {
            let lit = self.lit(vars);
            if clause.iter().all(|other| other.var() != lit.var()) {
                clause.push(lit);
            }
        }
        clause
    }
}

/// An assignment of all variables, one bit each.
fn holds(lit: Lit, assignment: u64) -> bool {
    (assignment >> lit.var().index() & 1 == 1) == lit.is_positive()
}

fn any(lits: &[Lit], assignment: u64) -> bool {
    lits.iter().any(|&lit| holds(lit, assignment))
}

/// A core, its theory, and all clauses and demands added to them.
struct Case {
    core: Core,
    vars: usize,
    clauses: Vec<Vec<Lit>>,
    demands: Vec<Demand>,
    theory: RandomTheory,
}

#[derive(Default, Debug)]
struct Seen {
    sat: u64,
    unsat: u64,
    failed_assumptions: u64,
    proofs: u64,
    created: u64,
    explained: u64,
}

impl Case {
    fn new(rng: &mut Rng) -> Case {
        let vars = 1 + rng.below(9);
        let mut core = Core::new();
        if rng.chance(70) {
            core.log_proof();
        }
        for _ in 0..vars {
            core.new_var(rng.chance(50));
        }
        let demands: Vec<Demand> = (0..rng.below(6))
            .map(|_| {
                let len = 1 + rng.below(6);
                let lits = rng.clause(vars, len);
                match rng.below(3) {
                    0 => Demand::Clause(lits),
                    1 => {
                        let most = rng.below(lits.len() + 1);
                        Demand::AtMost(lits, most)
                    }
                    _ => Demand::Odd(lits),
                }
            })
            .collect();
        let theory = RandomTheory::new(demands.clone(), Rng(SplitMix64(rng.0.bits())));
        Case { core, vars, clauses: Vec::new(), demands, theory }
    }

    /// All assignments that clauses and theory allow.
    fn models(&self) -> impl Iterator<Item = u64> {
        (0..1u64 << self.vars).filter(|&assignment| {
            self.clauses.iter().all(|clause| any(clause, assignment))
                && self.demands.iter().all(|demand| demand.holds(assignment))
        })
    }

    fn grow(&mut self, rng: &mut Rng) {
        for _ in 0..rng.below(4 * self.vars) {
            let len = [1, 2, 2, 3, 3, 3, 3, 4][rng.below(8)];
            let clause: Vec<Lit> = if rng.chance(10) {
                (0..len).map(|_| rng.lit(self.vars)).collect()
            } else {
                rng.clause(self.vars, len)
            };
            self.clauses.push(clause.clone());
            if !self.core.add_clause(&clause) {
                assert_eq!(self.models().count(), 0, "said to be unsatisfiable");
            }
        }
        if !self.demands.is_empty() && rng.chance(30) {
            let mut out = Vec::new();
            let index = rng.below(self.demands.len());
            if let Demand::Clause(lits) = &self.demands[index] {
                out.extend_from_slice(lits);
                self.core.add_lemma(&out, index as u32);
            }
        }
    }

    fn solve(&mut self, rng: &mut Rng, seen: &mut Seen) {
        let assumptions: Vec<Lit> = (0..rng.below(5)).map(|_| rng.lit(self.vars)).collect();
        let answer = self.core.solve(&assumptions, &mut self.theory, &mut Limits::default());
        let meets = |lits: &[Lit], model: u64| lits.iter().all(|&lit| holds(lit, model));
        match answer {
            Answer::Sat => {
                seen.sat += 1;
                let bit =
                    |var| u64::from(self.core.model(Lit::new(Var::from_index(var), true))) << var;
                let model: u64 = (0..self.vars).map(bit).sum();
                assert!(self.models().any(|other| other == model) && meets(&assumptions, model));
            }
            Answer::Unsat { core } => {
                seen.unsat += 1;
                seen.failed_assumptions += u64::from(!core.is_empty());
                assert!(core.iter().all(|lit| assumptions.contains(lit)));
                assert!(!self.models().any(|model| meets(&core, model)), "the core can hold");
                if let Some(log) = self.core.proof() {
                    seen.proofs += 1;
                    let last = self.check_proof(log);
                    let negated: Vec<Lit> = core.iter().map(|&lit| !lit).collect();
                    assert_eq!(last.map(|lits| sorted(&lits)), Some(sorted(&negated)));
                }
            }
            Answer::Unknown(cause) => panic!("unknown without a limit: {cause:?}"),
        }
    }

    fn check_proof(&self, log: &ProofLog) -> Option<Vec<Lit>> {
        let allowed: Vec<u64> = (0..1u64 << self.vars)
            .filter(|&assignment| self.demands.iter().all(|demand| demand.holds(assignment)))
            .map(|assignment| self.theory.extend(assignment))
            .collect();
        Checker::check(log, |lits, _| allowed.iter().all(|&assignment| any(lits, assignment)))
    }
}

fn add(total: &mut SatStats, stats: SatStats) {
    total.conflicts += stats.conflicts;
    total.decisions += stats.decisions;
    total.propagations += stats.propagations;
    total.learned += stats.learned;
    total.theory_conflicts += stats.theory_conflicts;
    total.theory_propagations += stats.theory_propagations;
    total.explanations += stats.explanations;
    total.lemmas += stats.lemmas;
    total.lemmas_conflicting += stats.lemmas_conflicting;
    total.restarts += stats.restarts;
    total.reductions += stats.reductions;
    total.deleted += stats.deleted;
    total.lemmas_conflicting_below += stats.lemmas_conflicting_below;
    total.lemmas_unit += stats.lemmas_unit;
    total.lemmas_open += stats.lemmas_open;
    total.lemmas_satisfied += stats.lemmas_satisfied;
    total.final_checks += stats.final_checks;
}

#[test]
fn agrees_with_brute_force_under_a_whimsical_theory() {
    let mut seen = Seen::default();
    let mut total = SatStats::default();
    for seed in 0..20_000 {
        let mut rng = Rng(SplitMix64(seed));
        let mut case = Case::new(&mut rng);
        for _ in 0..1 + rng.below(5) {
            case.grow(&mut rng);
            case.solve(&mut rng, &mut seen);
        }
        seen.created += case.theory.created;
        seen.explained += case.theory.explained;
        add(&mut total, case.core.stats());
    }
    println!("{seen:?}\n{total:?}");
    assert!(
        seen.sat > 5000
            && seen.unsat > 5000
            && seen.failed_assumptions > 1000
            && seen.proofs > 3000
    );
    assert!(seen.created > 100 && seen.explained > 1000 && seen.explained == total.explanations);
    assert!(total.conflicts > 5000 && total.learned > 1000 && total.theory_conflicts > 1000);
    assert!(total.theory_propagations > 1000 && total.final_checks > 5000);
    assert!(total.lemmas_conflicting_below > 100 && total.lemmas_conflicting > 1000);
    assert!(total.lemmas_unit > 1000 && total.lemmas_open > 100 && total.lemmas_satisfied > 100);
}

/// Solves, and checks the answer and its proof against the clauses alone; returns whether there is
/// a model.
fn solve_and_check(core: &mut Core, clauses: &[Vec<Lit>]) -> bool {
    match core.solve(&[], &mut NoTheory, &mut Limits::default()) {
        Answer::Sat => {
            assert!(clauses.iter().all(|clause| clause.iter().any(|&lit| core.model(lit))));
            true
        }
        Answer::Unsat { core: failed } => {
            assert!(failed.is_empty());
            let log = core.proof().expect("recorded");
            assert_eq!(Checker::check(log, |_, _| false), Some(vec![]));
            false
        }
        Answer::Unknown(cause) => panic!("{cause:?}"),
    }
}

#[test]
fn long_searches_restart_and_forget_and_their_proofs_hold() {
    let mut answers = [0; 2];
    let mut total = SatStats::default();
    for seed in 0..12 {
        let mut rng = Rng(SplitMix64(seed));
        let vars = 120;
        let mut core = Core::new();
        core.log_proof();
        for _ in 0..vars {
            core.new_var(true);
        }
        let clauses: Vec<Vec<Lit>> = (0..vars * 43 / 10).map(|_| rng.clause(vars, 3)).collect();
        for clause in &clauses {
            core.add_clause(clause);
        }
        answers[usize::from(solve_and_check(&mut core, &clauses))] += 1;
        add(&mut total, core.stats());
    }
    println!("{answers:?} {total:?}");
    assert!(answers[0] > 2 && answers[1] > 2);
    assert!(total.restarts > 10 && total.reductions > 3 && total.deleted > 100);
}

/// Whether the equations (sets of variables with an odd number of true literals) have a common
/// solution: by elimination.
fn consistent(demands: &[Demand], vars: usize) -> bool {
    let row = |demand: &Demand| {
        let signs = demand.lits().iter().filter(|lit| !lit.is_positive()).count() as u64;
        demand
            .lits()
            .iter()
            .fold(((1 + signs) % 2) << vars, |row, lit| row ^ 1 << lit.var().index())
    };
    let mut rows: Vec<u64> = demands.iter().map(row).collect();
    for var in 0..vars {
        let Some(at) = rows.iter().position(|row| row >> var & 1 == 1) else { continue };
        let pivot = rows.swap_remove(at);
        rows.iter_mut().filter(|row| **row >> var & 1 == 1).for_each(|row| *row ^= pivot);
    }
    rows.iter().all(|&row| row == 0)
}

#[test]
fn systems_of_parities_with_lazy_reasons() {
    let mut answers = [0; 2];
    let mut total = SatStats::default();
    for seed in 0..cases(32) {
        let mut rng = Rng(SplitMix64(seed));
        let vars = 48 + rng.below(8);
        let equations = vars * (90 + rng.below(20)) / 100;
        let demands: Vec<Demand> =
            (0..equations).map(|_| Demand::Odd(rng.clause(vars, 4))).collect();
        let mut theory = RandomTheory::new(demands.clone(), Rng(SplitMix64(seed)));
        theory.habits = Behaviour { lazy: 20, imply: 100, noise: 0, define: 0 };
        let mut core = Core::new();
        core.log_proof();
        for _ in 0..vars {
            core.new_var(false);
        }
        let answer = core.solve(&[], &mut theory, &mut Limits::default());
        assert_eq!(answer == Answer::Sat, consistent(&demands, vars));
        answers[usize::from(answer == Answer::Sat)] += 1;
        // Each lemma follows from the demand that its tag names.
        let valid = |lemma: &[Lit], tag: u32| {
            let demand = &demands[tag as usize];
            let known = |of: Lit| match lemma.iter().find(|lit| lit.var() == of.var()) {
                Some(&lit) if lit == of => Value::False,
                Some(_) => Value::True,
                None => Value::Open,
            };
            demand.completions(known).iter().all(|&mask| !demand.met(mask))
        };
        let last = Checker::check(core.proof().expect("recorded"), valid);
        assert!(answer == Answer::Sat || last == Some(vec![]));
        add(&mut total, core.stats());
    }
    println!("{answers:?} {total:?}");
    assert!(answers[0] > 5 && answers[1] > 5);
    assert!(total.restarts > 10 && total.reductions > 3 && total.explanations > 1000);
}

/// `pigeons` in one hole fewer: clauses place each pigeon, the theory forbids two in one hole.
fn pigeons(pigeons: usize) -> (Core, RandomTheory) {
    let holes = pigeons - 1;
    let mut core = Core::new();
    core.log_proof();
    let sits: Vec<Vec<Lit>> = (0..pigeons)
        .map(|_| (0..holes).map(|_| Lit::new(core.new_var(true), true)).collect())
        .collect();
    for clause in &sits {
        assert!(core.add_clause(clause));
    }
    let demands = (0..holes)
        .map(|hole| Demand::AtMost(sits.iter().map(|lits| lits[hole]).collect(), 1))
        .collect();
    let mut theory = RandomTheory::new(demands, Rng(SplitMix64(7)));
    theory.habits = Behaviour { lazy: 0, imply: 100, noise: 0, define: 0 };
    (core, theory)
}

#[test]
fn limits_end_a_search_and_it_can_go_on() {
    let (mut core, mut theory) = pigeons(7);
    let mut solve = |budget: &mut Limits<'_>| core.solve(&[], &mut theory, budget);
    assert_eq!(
        solve(&mut Limits { conflicts: Some(20), ..Limits::default() }),
        Answer::Unknown(Cause::Conflicts)
    );
    assert_eq!(
        solve(&mut Limits { memory_bytes: Some(1000), ..Limits::default() }),
        Answer::Unknown(Cause::Memory)
    );
    let mut asked = 0;
    let mut stop = || {
        asked += 1;
        asked == 3
    };
    assert_eq!(
        solve(&mut Limits { stop: Some(&mut stop), ..Limits::default() }),
        Answer::Unknown(Cause::Stopped)
    );
    assert_eq!(solve(&mut Limits::default()), Answer::Unsat { core: vec![] });
    assert_eq!(Checker::check(core.proof().expect("recorded"), |_, _| true), Some(vec![]));
    assert!(core.stats().memory_bytes > 1000);
}

#[test]
fn the_same_calls_give_the_same_run() {
    let run = || {
        let (mut core, mut theory) = pigeons(6);
        core.solve(&[], &mut theory, &mut Limits::default());
        let steps: Vec<String> = core
            .proof()
            .into_iter()
            .flat_map(ProofLog::steps)
            .map(|step| format!("{step:?}"))
            .collect();
        (core.stats(), steps)
    };
    assert!(run() == run());
}

#[test]
fn corner_cases() {
    let mut core = Core::default();
    assert_eq!(core.solve(&[], &mut NoTheory, &mut Limits::default()), Answer::Sat);
    core.log_proof();
    let a = Lit::new(core.new_var(false), true);
    let b = Lit::new(core.new_var(false), true);
    assert!(core.add_clause(&[a, !a]) && core.add_clause(&[b, b, a]));
    let solve =
        |core: &mut Core, lits: &[Lit]| core.solve(lits, &mut NoTheory, &mut Limits::default());
    assert_eq!(solve(&mut core, &[a, a, a]), Answer::Sat);
    assert_eq!(solve(&mut core, &[b, !b]), Answer::Unsat { core: vec![!b, b] });
    assert!(core.add_lemma(&[!a], 5));
    assert_eq!((core.value(a), core.value(b), core.vars()), (Value::False, Value::True, 2));
    assert_eq!(solve(&mut core, &[a]), Answer::Unsat { core: vec![a] });
    assert!(!core.add_clause(&[!b]) && !core.add_clause(&[a]));
    assert_eq!(solve(&mut core, &[]), Answer::Unsat { core: vec![] });
    assert!(!core.model(a) && !core.model(!a));
    assert_eq!(Checker::check(core.proof().expect("recorded"), |_, tag| tag == 5), Some(vec![]));
    // A proof that would lack its first clauses does not start.
    let mut late = Core::new();
    let c = Lit::new(late.new_var(true), true);
    late.add_clause(&[c]);
    late.log_proof();
    assert!(late.proof().is_none());
    // The first value tried is the phase, unless it is forbidden.
    let mut phases = Core::new();
    let lits: Vec<Lit> = (0..4).map(|at| Lit::new(phases.new_var(at % 2 == 0), true)).collect();
    phases.set_phase(lits[3].var(), true);
    phases.bump(lits[3].var());
    assert_eq!(solve(&mut phases, &[]), Answer::Sat);
    assert_eq!(
        lits.iter().map(|&lit| phases.model(lit)).collect::<Vec<_>>(),
        [true, false, true, true]
    );
}

#[test]
fn the_checker_rejects_what_does_not_follow() {
    let [a, b, c] = [0, 1, 2].map(|var| Lit::new(Var::from_index(var), true));
    let mut checker =
        Checker { clauses: vec![], occurrences: HashMap::new(), by_content: HashMap::new() };
    checker.add(&[a, b]);
    checker.add(&[!a, b]);
    checker.add(&[!b, c, c]);
    assert!(
        checker.implies(&[b])
            && checker.implies(&[c])
            && !checker.implies(&[a])
            && !checker.implies(&[])
    );
}
