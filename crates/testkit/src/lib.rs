//! Naive oracles and generated traces, for the tests and benchmarks of the other crates.
//!
//! [`naive`] computes happens-before, races and coverage straight from their definitions, in cubic
//! time. It shares nothing with the engines but the trace model, so that agreement means something.
//! [`random`] makes small traces by simulating small programs; every one of them could really have
//! happened. [`script()`] makes a trace of a few lines of text, and [`worked`] holds examples.
//! [`synthetic`] streams traces of any size into a sink, for benchmarks. [`consistency`] decides
//! partial traces by trying all runs, and makes small ones that are hard to decide. [`reorder`]
//! tries all reorderings of a small trace. [`greatest_antichain`] measures how wide an order is.
//! [`python_verdicts`] asks the second checker of certificates.
//!
//! ```
//! use anyorder_testkit::{Naive, RuleSet, Rules, Shape, random_trace};
//!
//! let trace = random_trace(7, &Shape::small());
//! let naive = Naive::new(&trace, Rules::all(RuleSet::Mailbox));
//! for (first, second) in naive.races() {
//!     assert!(!naive.happens_before(first, second));
//! }
//! ```

#![forbid(unsafe_code)]

pub use antichain::greatest_antichain;
pub use naive::{
    Edge, Fault, LockInMemory, Locks, Naive, RuleName, RuleSet, Rules, TaskOrder, lock_memory,
    only_guards,
};
pub use python::python_verdicts;
pub use random::{Act, Shape, random_replies, random_sections, random_trace};
pub use reorder::{Best, Observes, ReorderForm, ReorderRule, Reorderings};
pub use robust::NaiveRobust;
pub use script::{Script, script};
pub use show::show;
pub use threads::threads;

mod antichain;
pub mod concurrent;
pub mod consistency;
pub mod effort;
pub mod litmus;
pub mod naive;
mod python;
pub mod random;
pub mod reorder;
pub mod robust;
mod script;
mod show;
pub mod synthetic;
mod threads;
pub mod worked;
