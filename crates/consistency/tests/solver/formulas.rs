//! Images of formulas: the trace is consistent exactly if a SAT solver satisfies the formula.

use crate::tests::solver::support::{REFUTE, control, partial, verdict};
use anyorder_consistency::{MailboxRule, Procedure};
use anyorder_generate::{Family, Request, bi3sat_formula, bi3sat_image, sat3_formula, sat3_image};
use anyorder_testkit::effort::sampled;
use anyorder_trace::Trace;
use batsat::{BasicSolver, Lit, SolverInterface, Var, lbool};

fn satisfiable(clauses: &[Vec<i32>]) -> bool {
    let mut solver = BasicSolver::default();
    let mut vars: Vec<Var> = Vec::new();
    let mut fine = true;
    for clause in clauses {
        let mut lits: Vec<Lit> = Vec::new();
        for &literal in clause {
            while vars.len() < literal.unsigned_abs() as usize {
                vars.push(solver.new_var_default());
            }
            lits.push(Lit::new(vars[literal.unsigned_abs() as usize - 1], literal > 0));
        }
        fine = solver.add_clause_reuse(&mut lits) && fine;
    }
    fine && solver.solve_limited(&[]) == lbool::TRUE
}

fn check(name: &str, trace: &Trace, clauses: &[Vec<i32>], counts: &mut [u32; 3]) {
    let question = partial(trace, MailboxRule::Fifo);
    let outcome = Procedure::Solver.decide(&question, REFUTE, &control()).expect("for all traces");
    let found = verdict(trace, &question, &outcome, false);
    assert_eq!(found, satisfiable(clauses), "{name}: {clauses:?}");
    counts[usize::from(found)] += 1;
    counts[2] += u32::from(!found && outcome.stats.conflicts > 1);
}

#[test]
fn images_of_three_literal_formulas_agree_with_a_sat_solver() {
    let mut counts = [0; 3];
    for size in [3, 5, 8, 12, 20, 30, 45, 60] {
        for seed in 0..24 {
            let ratio = Some([4.26, 3.5, 5.5][seed as usize % 3]);
            let request = Request { seed, ratio, ..Request::new(Family::Sat3, size) };
            let formula = sat3_formula(&request).expect("a size that can be met");
            let trace = sat3_image(size as usize, &formula).expect("a size that can be met");
            let clauses: Vec<Vec<i32>> = formula.iter().map(|clause| clause.to_vec()).collect();
            check("sat3", &trace, &clauses, &mut counts);
        }
    }
    let [inconsistent, consistent, searched] = counts;
    println!(
        "sat3: {consistent} consistent, {inconsistent} inconsistent, {searched} of them after conflicts"
    );
    assert!(consistent > 40 && inconsistent > 40 && searched > 40);
}

#[test]
fn images_of_bounded_formulas_agree_with_a_sat_solver() {
    let mut counts = [0; 3];
    for size in [4, 6, 9, 14, 20, 28] {
        for seed in sampled(8, 24) {
            // Most formulas of this kind are satisfiable, unless they are large and all clauses are
            // short.
            let ratio = Some([1.5, 1.5, 1.45, 1.2][seed as usize % 4]);
            let request = Request { seed, ratio, ..Request::new(Family::Bi3Sat, size) };
            let formula = bi3sat_formula(&request).expect("a size that can be met");
            let trace = bi3sat_image(size as usize, &formula).expect("a size that can be met");
            check("bi3sat", &trace, &formula, &mut counts);
        }
    }
    let [inconsistent, consistent, _] = counts;
    println!("bi3sat: {consistent} consistent, {inconsistent} inconsistent");
    assert!(consistent > 3 && inconsistent > 3);
}
