//! Full explicit-state search.
//!
//! Given a program as states and transitions, a [`StateSystem`](anyorder_system::StateSystem), this
//! crate decides which states can be reached, and whether a transition fails, an invariant is
//! violated, nothing can happen where something should, a part of the program never runs, or a
//! trigger stays without its response. It says nothing about time, and nothing about states that
//! the system does not give.
//!
//! An outcome that is [`complete`](Outcome::complete) covers every state: exactly with
//! [`Storage::Exact`], and up to two of `n` states having one fingerprint with
//! [`Storage::Fingerprints`], which has probability below `n * n / 2^129`. Everything but a run cut
//! by time, memory or hand is the same with any number of threads: counts, paths, the order of what
//! is found. Counterexamples are as short as they can be. `docs/search.md` has the definitions and
//! the arguments.
//!
//! The types to know: [`Options`], what is asked; [`Search`], which can be stopped, saved and gone
//! on with; [`Outcome`], what was found; [`Path`], a way through the system that replays.
//!
//! ```
//! use anyorder_search::{Options, Property, search};
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
//! let outcome = search(&LostUpdate, &Options::default(), &Control::default())?;
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

pub use checkpoint::is_checkpoint;
pub use error::SearchError;
pub use export::{Exported, GraphFormat, export};
pub use graph::Graph;
pub use options::{Options, Order, Stop, Storage};
pub use outcome::{
    Limit, Outcome, Property, ResponseVerdict, Stats, UpdateConflict, Violation, never_run,
    sort_conflicts, sort_violations,
};
pub use path::{Path, PathDifference, PathStep, diff, replay};
pub use search::{Gauge, Pause, Search, found_words, search};
pub use shortest::ShortestPaths;
pub use store::{FingerprintTable, Key, NUMBERS_MAX};
pub use updates::{NumberedPath, Transition, UpdateLists, Writer, conflicts_of, contested, pair};
pub use walk::{WalkOptions, Walked, walk};

// What is asked and answered.
mod error;
pub mod example;
mod options;
mod outcome;
mod path;

// The search: rounds over blocks of states, each of two halves.
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

// Response properties and update conflicts, on the graph of all states.
mod graph;
mod response;
mod shortest;
mod updates;

// Around the search.
mod checkpoint;
mod export;
mod walk;
