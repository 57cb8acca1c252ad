//! Small problems by hand.

use anyorder_order::sat::Cause;
use anyorder_order::solver::{
    Answer, Entry, Limits, Problem, ProblemError, Rank, RefutationStep, Sabotage, Solver, Tag,
};

fn solve(problem: Problem) -> (Solver, Answer) {
    let mut solver = Solver::new(problem);
    solver.keep_proof();
    let answer = solver.solve(&[], &mut Limits::default());
    (solver, answer)
}

fn refuted(problem: Problem) -> Vec<RefutationStep> {
    let (solver, answer) = solve(problem);
    assert_eq!(answer, Answer::Impossible { core: Vec::new() });
    solver.refutation().expect("a proof is kept").steps
}

#[test]
fn no_nodes_have_an_order() {
    assert_eq!(solve(Problem::new()).1, Answer::Ordered(Vec::new()));
    let mut problem = Problem::new();
    problem.chain(0).unwrap();
    problem.resource();
    assert_eq!(solve(problem).1, Answer::Ordered(Vec::new()));
}

#[test]
fn a_node_before_itself_is_a_cycle_of_one_link() {
    let mut problem = Problem::new();
    let a = problem.chain(1).unwrap();
    problem.before(a, a, Tag(3)).unwrap();
    let steps = refuted(problem);
    assert!(matches!(&steps[..], [RefutationStep::Cycle(links)] if links.len() == 1), "{steps:?}");
}

#[test]
fn blocks_that_overlap_on_one_chain_have_no_order() {
    for (first, last) in [(1, 3), (0, 1), (2, 4), (1, 1), (4, 5), (2, 2), (0, 5)] {
        let mut problem = Problem::new();
        problem.chain(6).unwrap();
        let resource = problem.resource();
        problem.block(resource, 1, 4, None).unwrap();
        problem.block(resource, first, last, None).unwrap();
        // The search must find it as well: it once let two blocks begin at one key, and then found
        // no order.
        let mut solver = Solver::new(problem.clone());
        solver.sabotage(Sabotage::SearchOnly);
        let answer = solver.solve(&[], &mut Limits::default());
        assert_eq!(answer, Answer::Impossible { core: Vec::new() });
        refuted(problem);
    }
}

#[test]
fn what_cannot_be_named_is_refused() {
    let mut problem = Problem::new();
    problem.chain(2).unwrap();
    problem.chain(2).unwrap();
    let resource = problem.resource();
    assert_eq!(problem.before(0, 4, Tag(0)), Err(ProblemError::NoNode(4)));
    let part = |first, last| Err(ProblemError::NotAPart { first, last });
    assert_eq!(problem.block(resource, 1, 2, None), part(1, 2));
    assert_eq!(problem.block(resource, 1, 0, None), part(1, 0));
    assert_eq!(problem.block(resource, 0, 9, None), Err(ProblemError::NoNode(9)));
    let entry = Some(Entry { node: 7, rank: Rank::Front, tag: Tag(0) });
    assert_eq!(problem.block(resource, 0, 1, entry), Err(ProblemError::NoNode(7)));
    assert_eq!(problem.chain(u32::MAX), Err(ProblemError::TooMany("nodes")));
    assert_eq!(problem.nodes(), 4);
    let mut solver = Solver::new(problem);
    assert_eq!(solver.before(3, 3), Err(ProblemError::SameNode(3)));
    assert_eq!(solver.before(3, 4), Err(ProblemError::NoNode(4)));
}

#[test]
fn told_to_stop_it_says_unknown() {
    let mut problem = Problem::new();
    problem.chain(3).unwrap();
    problem.chain(3).unwrap();
    let resource = problem.resource();
    problem.block(resource, 0, 2, None).unwrap();
    problem.block(resource, 3, 5, None).unwrap();
    let mut solver = Solver::new(problem);
    let mut stop = || true;
    let mut limits = Limits { stop: Some(&mut stop), ..Limits::default() };
    assert_eq!(solver.solve(&[], &mut limits), Answer::Unknown(Cause::Stopped));
    assert_eq!(solver.solve(&[], &mut Limits::default()), Answer::Ordered((0..6).collect()));
}
