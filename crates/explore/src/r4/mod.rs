//! Record, reorder, replay, report: exploring a program from one run, one reversal at a time.
//!
//! [`explore`] takes one run of a program whose tasks run one after another (the *recording*) and
//! asks for each conflict in it: what if the two tasks came in the other order? Each such reversal
//! is planned as a whole sequence, run as far as it can be run, compared with the run it came from,
//! and then varied itself, up to a number of reversals from the recording. The definitions are in
//! `docs/r4.md`.
//!
//! **Source.** Jensen, Møller, Raychev, Dimitrov, Vechev: Stateless Model Checking of Event-Driven
//! Applications (OOPSLA 2015), Algorithms 1-4.

pub use explore::explore;
pub use options::{Options, Order, Sleep, UserEvents};
pub use outcome::{
    Counts, Error, FindingKind, Found, Limit, Outcome, Reversal, ReversalKind, RunInfo,
};
pub use verdict::{Comparison, RUN_FAILED, Verdict};

#[cfg(feature = "sabotage")]
pub use sabotage::Sabotage;

// What is asked, and what is answered.

mod options;

mod outcome;

mod sequences;

// What runs are made of.

mod lock;

mod names;

mod footprint;

mod step;

mod store;

// Which order of tasks matters, and how it is reversed.

mod dependence;

mod reversal;

mod waiting;

// How runs are made.

mod course;

mod sleepers;

mod driver;

mod crew;

// What they amount to.

mod verdict;

// The exploration.

mod explore;

mod record;

mod ledger;

mod levels;

mod depth_first;

mod exhaustive;

mod confirm;

mod conclude;

// For tests of the tests.

#[cfg_attr(not(feature = "sabotage"), allow(unreachable_pub, reason = "nobody can ask for it"))]
mod sabotage;
