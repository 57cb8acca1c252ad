//! Stateful DPOR as published: the baseline for [`stateful`](crate::stateful), and a search that
//! shares no code with it.
//!
//! **Problem.** As for `stateful`: every failure, every local state of every task, every deadlock,
//! from a part of the state graph.
//!
//! **Source.** Trimananda, Luo, Demsky, Xu: *Stateful Dynamic Partial Order Reduction for Model
//! Checking Event-Driven Applications that Do Not Terminate* (VMCAI 2022), Algorithms 1 to 5 and
//! the summaries of its Appendix D.
//!
//! **Guarantee.** That of the paper's Theorem 3, with the correction below; as printed there is
//! none. The proof, in short: for each explored state `s`, each `x` executed there and each path
//! `t1..tn` of the whole system from `s` by events not in `backtrack(s)`, no `ti` conflicts with
//! `x`. Take the least `n`, then walk from `s` along `x` and on until some `ti` is in the backtrack
//! set (line 22 and full cycles ensure that `t1` is not postponed for ever); by induction the rest
//! of the path is explored from there. The search backwards from `tn` carries an access that
//! conflicts with `x` as far as `x`, since only a step that *writes* the place takes it away, and
//! such a step would conflict with `x` itself. So it puts some `ti` into the set, against the
//! assumption.
//!
//! **Naive version.** Without [`PaperOptions::summaries`] each backward search goes along every
//! simple path: exponential. With them a search ends where an event with the same accesses left has
//! passed; searches then follow walks that are not simple as well and may add points that the
//! printed algorithm does not.
//!
//! **Worked example.** Three events, each once: `e1` reads y; `e2` reads y and writes z; `e3` reads
//! z and, if it was written, writes y. After `e1 e2 e3` the search backwards from `e3` conflicts
//! with `e2` on both places. As printed (Algorithm 5, line 16) both accesses are dropped there, so
//! `e2` never gets into `backtrack(s0)` and `e2 e3 e1`, where `e1` reads another y, is missed. The
//! step of the proof that fails is Theorem 1, case 1: "found the conflicting accesses, which is not
//! empty until some event is added": another *reader* between empties it, without itself
//! conflicting with `x`. Here a write is dropped only at a step that writes the place too.
//!
//! **Deviations.** (1) Line 16 as above, unless [`PaperOptions::as_printed`]. (2) Line 5 takes the
//! events of a state in turn; any choice, as printed, need not end. (3) An event may have several
//! successors: each is followed; accesses are those of all of them. (4) A blocked attempt, and one
//! that fails, is an event that changes nothing: a transition back to the state. So its reads
//! count, and full cycles and deadlocks need no separate case. (5) Executing a task reads what it
//! awaits; so a write there conflicts (the paper's shadow places). A task that awaits several
//! places has no counterpart in the paper; those that
//! [`Reducible::tasks`](anyorder_system::Reducible::tasks) lists count as enabled everywhere, those
//! that [`Reducible::pending`](anyorder_system::Reducible::pending) lists as enabled there, and
//! both as blocked where they are not ready. (6) An invariant is an event that reads what it
//! watches, in every state. It is checked when a state is stored; it becomes a transition, with
//! which others may conflict, where a backtracking point asks for it. (7) The effect of a known
//! transition is looked up, not run again; it counts as an execution all the same.
//!
//! **Cost.** With summaries a search step a (state, event, set of accesses left, incoming
//! transition); else exponential. Polls after each execution, and inside it.

pub use engine::explore;
pub use options::{Choice, PaperOptions, Revisit};
pub use outcome::{Backtracking, Cause, Counts, Edge, Outcome, Point, Trail};

// Options and outcome.
mod options;
mod outcome;

// The graph and its parts.
mod accesses;
mod graph;
mod sequence;

// The search.
mod backward;
mod conclude;
mod engine;
mod execute;
