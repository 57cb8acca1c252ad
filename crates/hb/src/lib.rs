//! Happens-before over event-driven and threaded traces, and the races that it leaves.
//!
//! This crate decides which events of a recorded trace are ordered by the rules of the program's world
//! (program order, posts, mailboxes, locks, forks, Android's component callbacks), and which conflicting accesses are not. It does not
//! decide whether a race does harm. `docs/happens-before.md` holds the definitions; what is computed is exactly that relation.
//! With [`Locks::Sections`] it is event-driven EDC (`docs/prediction.md`) instead, in which locks order no more than what does not commute:
//! [`order_candidates`] gives the pairs that it leaves open, for `anyorder-predict`.
//!
//! The types to know: [`check`] with [`Options`] gives [`Checked`]: findings and [`Statistics`];
//! [`why()`] explains the order of two events, with a [`Proof`] that `anyorder-certify` re-checks.
//!
//! ```
//! use anyorder_hb::{Options, RuleSet, check};
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
//! let checked = check(&b.finish(), &Options::new(RuleSet::Mailbox), &Control::default());
//! assert_eq!(checked.statistics.race_pairs, 1);
//! assert_eq!(checked.findings[0].category.as_deref(), Some("cross_posted"));
//! # Ok::<(), anyorder_trace::TableFull>(())
//! ```

pub use anyorder_finding::{CoverageLevel, RaceCategory};
pub use candidates::{CandidateLimits, CandidatePair, OrderCandidates, order_candidates};
pub use check::{Checked, Options, RaceCounts, Statistics, check};
pub use components::{ComponentOrders, component_orders};
pub use describe::chain as chain_of_posts;
pub use filters::Filter;
pub use groups::GroupBy;
pub use locks::Locks;
pub use race_list::{Race, races};
pub use relation::HappensBefore;
pub use rules::{Rule, RuleSet};
pub use sections::{Conflicting, Point, Points};
pub use why::{Proof, ProofStep, Why, why};

// The relation: strands, the orders a trace gives, and the pass that closes them.

mod rules;

mod strands;

mod given;

mod components;

mod locks;

mod sections;

mod chain_map;

mod fifo;

mod state;

mod engine;

mod pass;

mod task_order;

mod relation;

// What it leaves open: races, and which of them matter.

mod conflicts;

mod races;

mod race_list;

mod category;

mod coverage;

mod filters;

mod groups;

mod candidates;

// What is said of them.

mod describe;

mod explain;

mod findings;

mod check;

mod why;
