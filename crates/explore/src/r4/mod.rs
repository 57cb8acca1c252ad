//! Record, reorder, replay, report: exploring a program from one run, one reversal at a time.
//!
//! [`explore`] takes one run of a program whose tasks run one after another (the *recording*) and
//! asks for each conflict in it: what if the two tasks came in the other order? It plans each such
//! reversal (a *backtracking point* of DPOR) as a whole sequence, runs the sequence as far as
//! possible, and compares the run with its parent. It then reverses pairs of the new run, up to a
//! number of reversals from the recording. The definitions are in `docs/r4.md`.
//!
//! **Source.** Jensen, Møller, Raychev, Dimitrov, Vechev: Stateless Model Checking of Event-Driven
//! Applications (OOPSLA 2015), Algorithms 1-4.
//!
//! **Cost.** Worst case: pairs of tasks to the power of the bound, each a run. For each run of n
//! tasks, n² pairs, and n³/64 words for the ancestors in n²/8 bytes, which are compared with the
//! memory limit first. Polls for each pair's first task, every 64 steps of a run, and inside them.

pub use driver::EVERYTHING;
pub use explore::explore;
pub(crate) use explore::explore_any;
pub use kept::{KeptAccess, KeptSite, KeptStep, KeptTask, KeptTexts, KeptValue};
pub use options::{Order, ReversalOptions, Sleep, Swaps, UserEvents};
pub use outcome::{
    Counts, Error, FindingKind, Found, Limit, Outcome, Reversal, ReversalKind, RunInfo,
};
pub use race_counts::RaceCounts;
pub use verdict::{Comparison, RUN_FAILED, Verdict};

#[cfg(test)]
pub use sabotage::Sabotage;

// Options and outcome.
mod options;
mod outcome;

// Runs and their parts.
mod footprint;
mod kept;
mod lock;
mod names;
mod step;
mod store;

// Dependence of tasks, and reversals.
mod ancestors;
mod dependence;
mod queues;
mod race_counts;
mod reversal;
mod waiting;

// Execution of runs.
mod candidate;
mod driver;
mod pool;

// Comparison of runs.
mod refused;
mod verdict;

// The exploration.
mod conclude;
mod confirm;
mod depth_first;
mod exhaustive;
mod explore;
mod levels;
mod recording;
mod run_records;
mod same_inputs;
mod swaps;

// Faults for tests of the tests.
mod sabotage;
