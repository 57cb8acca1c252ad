//! Reduced search over states: every failure, deadlock, invariant and update conflict of a program,
//! by following few of its steps.
//!
//! **Problem.** A [`Reducible`](anyorder_system::Reducible) system says which tasks are ready in a
//! state, what each leads to and which places it touched. Full search follows all of them. If steps
//! do not touch each other's places, one order is enough. But the places that a task would touch in
//! unexplored states are unknown, and a search on a graph with cycles may postpone a task for ever.
//!
//! **Source.** Ours: the stubborn sets of A. Valmari ("Stubborn sets for reduced state space
//! generation", 1991) over dependences that are *learned*, as stateful dynamic partial-order
//! reduction learns them (Trimananda, Luo, Demsky, Xu: "Stateful Dynamic Partial Order Reduction
//! for Model Checking Event-Driven Applications that Do Not Terminate", VMCAI 2022), with a proviso
//! on strongly connected components instead of cycles of the search's stack.
//!
//! **Method.** *Facts* say which tasks were ever seen to read and to write each place; every known
//! task reads what it awaits. Each explored state `s` has a set `S(s)` of tasks, and `X(s)`, its
//! ready members, are followed with all their alternatives:
//!
//! - S1: if `x` of `S(s)` is ready, it was attempted in `s`, and every task with a fact that
//!   conflicts with what `x` touched there is in `S(s)`;
//! - S2: if `e` of `S(s)` is not ready, every task seen to write what `e` awaits is in `S(s)`;
//! - S3: if some ready task leads on, so does one of `X(s)`; else all ready ones were attempted;
//! - S4: in every terminal strongly connected component of the explored graph, each task ready in
//!   some state of it is in `X` of some state of it.
//!
//! When facts grow, sets of earlier states are closed again and the tasks that come in are
//! followed. At the fixpoint all four hold.
//!
//! **Guarantee.** If nothing was cut: (T1) each pair of a task and the values that an attempt of it
//! reads, in order, that the full graph has, the explored graph has too; so it has each failure,
//! and each valuation of the places that an invariant reads. (T2) Each reachable state in which
//! nothing can happen is reached. Update conflicts are exactly those of the full graph. The
//! explored graph is part of the full one. Up to fingerprints of 128 bits that are equal by chance.
//! The reduction does not preserve response properties, nor which parts of a program run
//! *together*. `docs/reduction.md` has the proof.
//!
//! **Worked example.** `once a { y = 1 }`, `once b { x = 1 }`, `once c { if x == 1 { assert y == 1
//! } }`. From the start `a` alone is followed, then `b`, then `c`, which reads `x` and `y`. Now `a`
//! and `b` are known to write what `c` reads: the set of the start, `{a}`, is not closed (S1). With
//! `c` it is `{a, b, c}`, as `c` reads `x` in the start, which `b` writes. `b` then `c` fails.
//!
//! **No run twice.** If `s.y` was found from `s` by `y`, and `x` in `s` touched nothing that `y`
//! conflicts with, then `s.y.x` is `s.x.y`: where `s.x` followed `y`, the edge is taken from there
//! and nothing is run.
//!
//! **Threads.** Threads expand states in blocks, based on the facts known when the block began. One
//! thread commits the results in the order of states. So numbers, facts and findings do not depend
//! on the number of threads.
//!
//! **Cost.** A step costs its run, a look-up of what it touched and one of its target; a set costs
//! a few words of bits for each known task in it. 12 bytes an edge, 32 a state, 29 to 46 in the
//! table; and each state with a ready task that was not followed is stored whole. Worst case: as
//! many states as full search, and for each the square of its ready tasks in words of bits. Polls
//! for each task of a state, and inside the run of a task.
//!
//! ```
//! use anyorder_explore::stateful::{StatefulOptions, explore};
//! use anyorder_system::*;
//!
//! /// Two counters that nothing connects.
//! struct Counters;
//!
//! impl StateSystem for Counters {
//!     type State = [u8; 2];
//!     type Action = usize;
//!
//!     fn initial(&self) -> Vec<[u8; 2]> {
//!         vec![[0, 0]]
//!     }
//!
//!     fn successors(&self, state: &[u8; 2], out: &mut Vec<Successor<[u8; 2], usize>>) {
//!         self.successors_of_tasks(state, out);
//!     }
//!
//!     fn encode(&self, state: &[u8; 2], out: &mut Vec<u8>) {
//!         out.extend(state);
//!     }
//!
//!     fn decode(&self, bytes: &[u8]) -> Option<[u8; 2]> {
//!         bytes.try_into().ok()
//!     }
//! }
//!
//! impl Reducible for Counters {
//!     fn ready(&self, state: &[u8; 2], out: &mut Vec<TaskKey>) {
//!         out.extend((0..2).filter(|counter| state[*counter] < 9).map(|counter| TaskKey(counter as u64)));
//!     }
//!
//!     fn run(&self, state: &[u8; 2], task: TaskKey, out: &mut Effects<[u8; 2], usize>) {
//!         let counter = task.0 as usize;
//!         let mut state = *state;
//!         state[counter] += 1;
//!         out.touched.push(Touched { place: Place(task.0), kind: TouchKind::Write });
//!         out.successors.push(Successor { action: counter, state, failure: None });
//!     }
//!
//!     fn awaits(&self, task: TaskKey, out: &mut Vec<Place>) {
//!         out.push(Place(task.0));
//!     }
//! }
//!
//! let outcome = explore(&Counters, &StatefulOptions::default(), &Control::default())?;
//! assert!(outcome.complete && outcome.violations.is_empty());
//! // Full search would find 100.
//! assert_eq!(outcome.stats.states, 19);
//! # Ok::<(), anyorder_explore::stateful::Error>(())
//! ```

pub use engine::{explore, explore_watched};
pub use error::Error;
pub use options::{GiveUp, StatefulOptions};
pub use outcome::{Counts, Graph, Outcome, Reduction};
#[cfg(test)]
pub use sabotage::Sabotage;

// Options and outcome.
mod error;
mod options;
mod outcome;

// Facts about tasks.
mod footprints;
mod interned;
mod knowledge;
mod numbering;

// The explored graph.
mod space;

// The search.
mod commit;
mod commuting;
mod conclude;
mod engine;
mod expand;
mod follow_all;
mod found;
mod livelocks;
mod recheck;
mod sabotage;
mod seeds;
mod updates;
