//! Is there a total order such that ...? Satisfiability modulo orders.
//!
//! **Problem.** Input: chains of events, orders that always hold, blocks that exclude one another
//! on a resource (with or without a queue), and clauses whose literals say "this comes before
//! that". Output: a total order of all events in which everything holds, or a proof that there is
//! none.
//!
//! **Method.** Condensation (`condense.rs`) keeps only events where an edge arrives or leaves.
//! Saturation (`saturate.rs`) orders every pair of blocks that has one possible order. A candidate
//! (`candidate.rs`) runs everything forward and decides only what it must. When a cycle blocks it,
//! the pairs in that cycle become Boolean variables, and a [CDCL search](crate::sat) with a theory
//! of orders (`theory.rs`) decides them. Pairs that are in no such cycle never become variables.
//!
//! **Worked example.** Two jobs on two machines; each machine serves one at a time. Job 1 needs the
//! lathe and then the drill, job 2 the drill and then the lathe, and job 2 must have left the drill
//! before job 1 has left the lathe.
//!
//! ```
//! use anyorder_order::solver::{Answer, Limits, Problem, Solver, Tag};
//! let mut problem = Problem::new();
//! let (lathe, drill) = (problem.resource(), problem.resource());
//! let one = problem.chain(4)?; // takes the lathe, leaves it, takes the drill, leaves it
//! let two = problem.chain(4)?; // takes the drill, leaves it, takes the lathe, leaves it
//! problem.block(lathe, one, one + 1, None)?;
//! problem.block(drill, one + 2, one + 3, None)?;
//! problem.block(drill, two, two + 1, None)?;
//! problem.block(lathe, two + 2, two + 3, None)?;
//! problem.before(two + 1, one + 1, Tag(0))?;
//! let mut solver = Solver::new(problem);
//! let Answer::Ordered(order) = solver.solve(&[], &mut Limits::default()) else { panic!() };
//! assert_eq!(order, [0, 4, 5, 1, 2, 3, 6, 7]);
//! // Job 1 cannot be done before job 2 begins.
//! let early = solver.before(one + 3, two)?;
//! let answer = solver.solve(&[early], &mut Limits::default());
//! assert_eq!(answer, Answer::Impossible { core: vec![early] });
//! # Ok::<(), anyorder_order::solver::ProblemError>(())
//! ```
//!
//! **Guarantee.** An answer `Ordered` satisfies all constraints. An answer `Impossible` comes, on
//! request, with a [`Refutation`]; every cycle in it can be checked edge by edge. A limit ends in
//! [`Answer::Unknown`]. Deterministic.
//!
//! **Cost.** Linear where no order is forced; see `saturate.rs` for saturation. The search is
//! exponential in the worst case (the problem is NP-complete).

pub use fact::Fact;
pub use formula::Formula;
pub use problem::{Block, Entry, Node, Problem, ProblemError, Rank, Resource, Tag};
pub use refutation::{Claim, Link, Refutation, RefutationStep, Why};
#[cfg(test)]
pub use sabotage::Sabotage;
pub use solve::{Answer, Solver, SolverStats};
// The limits of a call, the literals of clauses, and the reason for a missing answer.
pub use crate::sat::{Cause, Limits, Lit};

mod blocks;
mod candidate;
mod condense;
mod cone;
mod fact;
mod formula;
mod graph;
mod known;
mod pairs;
mod path;
mod prepare;
mod problem;
mod refutation;
mod sabotage;
mod saturate;
mod solve;
mod theory;
mod variables;
mod witness;
