//! Happens-before over event-driven and threaded traces, and races under it.
//!
//! This crate decides two questions about a recorded trace: which events the rules of the program's
//! world order (program order, posts, mailboxes, locks, forks, Android's component callbacks), and
//! which conflicting accesses stay unordered. It does not decide whether a race does harm.
//! `docs/happens-before.md` holds the definitions; the crate computes exactly that relation. With
//! [`Locks::Sections`] it computes event-driven EDC (`docs/prediction.md`) instead. There, locks
//! order only actions that do not commute. [`order_candidates`] gives `anyorder-predict` the pairs
//! that EDC leaves unordered.
//!
//! The types to know: [`check`] with [`RaceOptions`] gives [`Checked`]: groups of races and
//! [`Statistics`]; [`why()`] explains the order of two events, with a [`Proof`] that
//! `anyorder-certify` re-checks.
//!
//! ```
//! use anyorder_hb::{RaceCategory, RaceOptions, RuleSet, check};
//! use anyorder_system::Control;
//! use anyorder_trace::{Mailbox, TraceBuilder};
//!
//! // Two threads post to the user interface; nothing orders their posts.
//! let mut b = TraceBuilder::new();
//! let ui = b.handler("ui", Mailbox::Fifo)?;
//! let (net, disk) = (b.handler("net", Mailbox::None)?, b.handler("disk", Mailbox::None)?);
//! let (reply, saved) = (b.task("reply", ui)?, b.task("saved", ui)?);
//! b.post(b.initial(net), reply)?;
//! b.post(b.initial(disk), saved)?;
//! for task in [reply, saved] {
//!     b.get(task)?;
//!     b.write(task, "document")?;
//!     b.end(task)?;
//! }
//! let (trace, options) = (b.finish(), RaceOptions::new(RuleSet::Mailbox));
//! let checked = check(&trace, &options, &Control::default());
//! assert_eq!(checked.statistics.race_pairs, 1);
//! assert_eq!(checked.groups[0].category, RaceCategory::CrossPosted);
//! # Ok::<(), anyorder_trace::TableFull>(())
//! ```

#![forbid(unsafe_code)]

// Tests of the crate name it as its users do.
#[cfg(test)]
extern crate self as anyorder_hb;

pub use check::{Checked, RaceCounts, RaceOptions, Statistics, check, check_with_calls};
pub use races::candidates::{CandidateLimits, CandidatePair, OrderCandidates, order_candidates};
pub use races::category::RaceCategory;
pub use races::coverage::CoverageLevel;
pub use races::filters::Filter;
pub use races::groups::GroupBy;
pub use races::guards::Guards;
pub use races::list::{Race, races};
pub use races::lock_memory::{LockGroup, LockMemory};
pub use races::race_groups::RaceGroup;
pub use races::unordered::{LostOrder, Reason};
pub use relation::components::{ComponentOrders, component_orders};
pub use relation::ends::{Beginning, EndScope, Ends};
pub use relation::happens_before::HappensBefore;
pub use relation::locks::Locks;
pub use relation::rules::{Rule, RuleSet};
pub use relation::sections::{Conflicting, Point, Points};
pub use why::{OrderExplanation, Proof, ProofStep, why, why_with_calls};

mod check;
mod races;
mod relation;
mod why;

// Its tests put faults into the engine, so they are unit tests of the crate.
#[cfg(test)]
#[path = "../tests/faults/mod.rs"]
mod faults;
