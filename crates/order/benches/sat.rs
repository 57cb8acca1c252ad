//! Random 3-SAT at the threshold (4.26 clauses a variable): this SAT core against batsat (a port of
//! MiniSat), in the same run.
//!
//! Run `cargo bench -p anyorder-order --bench sat -- 250` for one size; the default is all of them.
//! Prints seconds per formula, and the ratio (below 1: this core is faster).

#![expect(clippy::print_stdout, reason = "a bench reports on stdout")]

use std::time::Instant;

use anyorder_common::random::{Random, SplitMix64};
use anyorder_order::sat::{Answer, Core, Limits, Lit, NoTheory};
use batsat::{BasicSolver, SolverInterface, lbool};

/// Clauses of three different variables each, as (variable, positive).
fn formula(vars: usize, seed: u64) -> Vec<[(usize, bool); 3]> {
    let mut random = SplitMix64(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ vars as u64);
    let mut below = |bound: u64| random.bits() % bound;
    let clauses = vars * 426 / 100;
    let mut formula = Vec::with_capacity(clauses);
    while formula.len() < clauses {
        let clause = [0; 3].map(|_| (below(vars as u64) as usize, below(2) == 1));
        let [a, b, c] = clause.map(|(var, _)| var);
        if a != b && b != c && a != c {
            formula.push(clause);
        }
    }
    formula
}

fn ours(vars: usize, formula: &[[(usize, bool); 3]]) -> (bool, f64, u64) {
    let mut core = Core::new();
    let table: Vec<_> = (0..vars).map(|_| core.new_var(false)).collect();
    for clause in formula {
        core.add_clause(&clause.map(|(var, positive)| Lit::new(table[var], positive)));
    }
    let begin = Instant::now();
    let answer = core.solve(&[], &mut NoTheory, &mut Limits::default());
    (answer == Answer::Sat, begin.elapsed().as_secs_f64(), core.stats().conflicts)
}

fn theirs(vars: usize, formula: &[[(usize, bool); 3]]) -> (bool, f64, u64) {
    let mut solver = BasicSolver::default();
    let table: Vec<_> = (0..vars).map(|_| solver.new_var_default()).collect();
    for clause in formula {
        let mut lits =
            clause.map(|(var, positive)| batsat::Lit::new(table[var], positive)).to_vec();
        solver.add_clause_reuse(&mut lits);
    }
    let begin = Instant::now();
    let answer = solver.solve_limited(&[]);
    (answer == lbool::TRUE, begin.elapsed().as_secs_f64(), solver.num_conflicts())
}

fn main() {
    // Cargo passes `--bench`.
    let mut sizes: Vec<usize> = std::env::args().filter_map(|word| word.parse().ok()).collect();
    if sizes.is_empty() {
        sizes = vec![200, 250, 300];
    }
    let baseline = std::env::var_os("SAT_BENCH_ALONE").is_none();
    println!(
        "vars answer   formulas  ours_s  ours_max_s  ours_conflicts  batsat_s  batsat_conflicts  ratio"
    );
    for vars in sizes {
        // For each answer: formulas, seconds, greatest seconds, conflicts; the baseline's seconds
        // and conflicts.
        let mut sums = [[0f64; 6]; 2];
        for seed in 0..if vars <= 250 { 20 } else { 8 } {
            let formula = formula(vars, seed);
            let (sat, seconds, conflicts) = ours(vars, &formula);
            let sum = &mut sums[usize::from(sat)];
            sum[0] += 1.0;
            sum[1] += seconds;
            sum[2] = sum[2].max(seconds);
            sum[3] += conflicts as f64;
            if baseline {
                let (their_sat, seconds, conflicts) = theirs(vars, &formula);
                assert_eq!(sat, their_sat, "answers differ on {vars} variables, seed {seed}");
                sum[4] += seconds;
                sum[5] += conflicts as f64;
            }
        }
        for (sum, answer) in sums.iter().zip(["unsat", "sat"]) {
            let [count, ours, most, conflicts, theirs, their_conflicts] = *sum;
            let mean = |sum: f64| sum / count.max(1.0);
            println!(
                "{vars:4} {answer:8} {count:8} {:7.3} {most:11.3} {:15.0} {:9.3} {:17.0} {:6.2}",
                mean(ours),
                mean(conflicts),
                mean(theirs),
                mean(their_conflicts),
                ours / theirs
            );
        }
    }
}
