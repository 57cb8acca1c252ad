//! Full explicit-state search.
//!
//! The input is a program as states and transitions, a
//! [`StateSystem`](anyorder_system::StateSystem). The search computes the reachable states. It
//! reports transitions that fail, violated invariants, deadlocks and wrong ends, parts of the
//! program that never run, and triggers without their response. It covers neither time nor states
//! that the system does not generate.
//!
//! An outcome that is [`complete`](Outcome::complete) covers every state. This is exact with
//! [`Storage::Exact`]. With [`Storage::Fingerprints`] it holds unless two of `n` states share a
//! fingerprint, which has probability below `n * n / 2^129`. Counts, paths and the order of
//! findings are the same with any number of threads, except in runs cut by time, memory or the
//! user. Counterexamples are as short as possible. `docs/search.md` has the definitions and the
//! proofs.
//!
//! The types to know: [`SearchOptions`]; [`Search`], which can be stopped, saved and resumed;
//! [`Outcome`], the result; [`Path`], a path through the system that can be replayed.
//!
//! ```
//! use anyorder_search::{SearchOptions, Property, search};
//! use anyorder_system::{Control, Properties, StateSystem, Successor};
//!
//! /// Two processes that each read a counter and then write back one more.
//! struct LostUpdate;
//!
//! #[derive(Clone, PartialEq, Eq, Debug, Default)]
//! struct State {
//!     counter: u8,
//!     /// What each process has read, before it wrote.
//!     read: [Option<u8>; 2],
//!     done: [bool; 2],
//! }
//!
//! impl StateSystem for LostUpdate {
//!     type State = State;
//!     type Action = usize;
//!
//!     fn initial(&self) -> Vec<State> {
//!         vec![State::default()]
//!     }
//!
//!     fn successors(&self, state: &State, out: &mut Vec<Successor<State, usize>>) {
//!         for process in (0..2).filter(|process| !state.done[*process]) {
//!             let mut next = state.clone();
//!             match state.read[process] {
//!                 None => next.read[process] = Some(state.counter),
//!                 Some(read) => {
//!                     next.counter = read + 1;
//!                     next.read[process] = None;
//!                     next.done[process] = true;
//!                 }
//!             }
//!             out.push(Successor { action: process, state: next, failure: None });
//!         }
//!     }
//!
//!     fn encode(&self, state: &State, out: &mut Vec<u8>) {
//!         out.push(state.counter);
//!         for process in 0..2 {
//!             out.extend([state.read[process].map_or(0, |read| read + 1), state.done[process].into()]);
//!         }
//!     }
//!
//!     fn decode(&self, bytes: &[u8]) -> Option<State> {
//!         let [counter, a, a_done, b, b_done] = *bytes else { return None };
//!         let read = [a.checked_sub(1), b.checked_sub(1)];
//!         Some(State { counter, read, done: [a_done == 1, b_done == 1] })
//!     }
//!
//!     fn properties(&self) -> Properties<'_, State> {
//!         Properties::new().invariant("no update is lost", |state: &State| {
//!             state.done != [true, true] || state.counter == 2
//!         })
//!     }
//!
//!     fn describe(&self, state: &State, process: &usize) -> String {
//!         let what = if state.read[*process].is_none() { "reads" } else { "writes" };
//!         format!("process {process} {what}")
//!     }
//! }
//!
//! let outcome = search(&LostUpdate, &SearchOptions::default(), &Control::default())?;
//! assert!(outcome.complete);
//! assert_eq!(outcome.stats.states, 12);
//! let violation = &outcome.violations[0];
//! assert_eq!(violation.property, Property::Invariant(0));
//! assert_eq!(
//!     violation.path.describe(&LostUpdate),
//!     ["process 0 reads", "process 1 reads", "process 0 writes", "process 1 writes"]
//! );
//! # Ok::<(), anyorder_search::SearchError>(())
//! ```

#![forbid(unsafe_code)]

pub use checkpoint::is_checkpoint;
pub use error::SearchError;
pub use export::{Exported, GraphFormat, export};
pub use graph::Graph;
pub use livelock::{EachStep, ExploredGraph, LIVELOCKS_MAX, Livelock, livelocks};
pub use options::{Order, SearchOptions, Stop, Storage};
pub use outcome::{
    DEADLOCKS_MAX, Limit, Outcome, Property, ResponseVerdict, Stats, UpdateConflict, Violation,
    keep_deadlocks, never_run, sort_conflicts, sort_violations,
};
pub use parallel::THREADS_MAX;
pub use path::{Path, PathDifference, PathStep, diff, replay};
pub use search::{Gauge, Pause, Search, SystemInfo, fewer_threads, found_words, search};
pub use shortest::ShortestPaths;
pub use store::{FingerprintTable, Key, NUMBERS_MAX};
pub use switches::{Passes, fewest_switches, switches};
pub use updates::{
    Extent, NumberedPath, Transition, UpdateLists, Writer, conflicts_of, contested, pair,
};
pub use walk::{WalkOptions, WalkOutcome, walk, walk_watched};

// Options, outcome and errors.
mod error;
pub mod example;
mod options;
mod outcome;
mod path;

// The search: rounds over blocks of states, each with two halves.
mod chunk;
mod commit;
mod conclude;
mod expand;
mod frontier;
mod links;
mod parallel;
mod round;
mod search;
mod store;

// Response properties, livelocks and update conflicts, on the graph of all states.
mod graph;
mod livelock;
mod response;
mod shortest;
mod updates;

// The run to show.
mod switches;

// Tools around the search.
mod checkpoint;
mod export;
mod walk;
