//! Is there a total order such that ...? Satisfiability modulo orders.
//!
//! **Problem.** Given chains of events, orders that hold in any case, blocks of which only one at a
//! time can hold a resource (with or without a queue), and clauses whose literals say "this comes
//! before that": find a total order of all events in which everything holds, or prove that there is
//! none.
//!
//! **Method.** Condensation (`condense.rs`) leaves the events where something arrives or leaves.
//! Saturation (`saturate.rs`) orders every pair of blocks that has one possible order. A candidate
//! (`candidate.rs`) runs everything forward and decides only what it must; when it gets stuck, the
//! pairs in the cycles that hold it up become Boolean variables, and a [CDCL search](crate::sat)
//! with a theory of orders (`theory.rs`) decides them. Pairs that no cycle ever concerned are never
//! looked at.
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
//! assert_eq!(solver.solve(&[early], &mut Limits::default()), Answer::Impossible { core: vec![early] });
//! # Ok::<(), anyorder_order::solver::ProblemError>(())
//! ```
//!
//! **Guarantee.** An order satisfies everything; "impossible" comes, if asked for, with a
//! [`Refutation`] whose every cycle can be checked edge by edge; a limit ends in
//! [`Answer::Unknown`]. Deterministic.
//!
//! **Cost.** Linear for what nothing forces; saturation as said there; the search is exponential in
//! the worst case (the problem is NP-complete).

pub use fact::Fact;
pub use formula::Formula;
pub use problem::{Block, Entry, Node, Problem, ProblemError, Rank, Resource, Tag};
pub use refutation::{Claim, Link, Refutation, Step, Why};
#[cfg(feature = "sabotage")]
pub use sabotage::Sabotage;
pub use solve::{Answer, Limits, Solver, Stats};
// The literals of clauses, and why there was no answer.
pub use crate::sat::{Cause, Lit};

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
#[cfg_attr(not(feature = "sabotage"), allow(unreachable_pub, reason = "nobody can ask for it"))]
mod sabotage;
mod saturate;
mod solve;
mod theory;
mod variables;
mod witness;
