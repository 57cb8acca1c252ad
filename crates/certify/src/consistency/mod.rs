//! Checks answers about the consistency of an event-driven trace.
//!
//! A trace records the order of events within each task, the write that each read reads from, the
//! order of writes to each location, and who posted each message. The recorded order of the run
//! does not matter. The trace is *consistent* when some total order of its events, the *witness*,
//! can be run by the handlers. [`check_consistency_witness`] runs them along such an order;
//! [`check_inconsistency`] checks a [`ConsistencyProof`] that there is none. Both implement the
//! definitions below and share nothing with the engine whose answers they check.
//!
//! # Which orders are runs
//!
//! *Tasks.* A task without events is ignored. The post of a task that never begins (it was
//! cancelled, or the trace ends first) puts nothing into a mailbox. The *messages* of a handler are
//! its initial tasks and the posted tasks that it ran, those whose first event is their `get`. All
//! other tasks are separate, ordered by program order only: bursts of untracked handlers, and tasks
//! whose handler is not known. All events of an initial task are initial, including those after the
//! first `get` of its handler. Where a handler's own code between its messages should be separate,
//! the checked trace must represent it by bursts.
//!
//! *Events.* Reads, writes, rmws, frees, gets, forks, joins, cancels, what enables, disables and
//! triggers inputs, exits, and the posts of tasks that begin or are cancelled: each comes exactly
//! once. All others (locks, conditions, `begin`, `end` ...) have no effect here. A witness may omit
//! them; those in it must be where their task can run them.
//!
//! An order is a run when
//! - *program*: the events of a task come in trace order;
//! - *handlers*: the messages of a handler come one after another, never interleaved, the initial
//!   ones before the posted ones;
//! - *posted by*: `post(m)` comes before `get(m)`. A task without a post in the trace may begin at
//!   any time, and no mailbox orders it. Of several posts of a task the first in the trace counts;
//! - *mailboxes*: if `post(x)` comes before `post(y)`, both to one handler, and the [`MailboxRule`]
//!   keeps their order, then `x` runs before `y`. One rule holds for all handlers, whatever
//!   mailboxes the trace gives them;
//! - *fork*: a fork of a handler comes before all its events; in an observed trace
//!   ([`TraceOrder::Observed`]) only before those that follow it in the trace;
//! - *join*: all events of a handler come before a join of it; in an observed trace only
//!   those that precede it in the trace. A fork or join by the handler itself constrains nothing;
//! - *ended*: what was cancelled, disabled or has quit does not begin (`ends.rs`, and
//!   `docs/consistency.md`, "What has ended"); a post comes before the cancels of its task, and an
//!   `enable` before each `trigger` that it enables;
//! - *reads from*: a read comes after the write that it reads from, with no other write of the
//!   location (the same [`LocationId`]) in between; a read of the initial value comes before all
//!   writes. A read without a reference reads from the last write before it in an observed trace,
//!   and from any write in other traces;
//! - *coherence*: the writes of a location come in its coherence order if the trace gives one, in
//!   trace order if the trace is observed, and in any order otherwise.
//!
//! A read that refers to an event that is no write of its location occurs in no well-formed trace.
//! Neither a witness nor a proof is accepted because of it.
//!
//! ```
//! use anyorder_certify::consistency::{
//!     MailboxRule, check_consistency_witness, check_inconsistency, read_proof,
//! };
//! use anyorder_trace::{Columns, Mailbox, TraceBuilder};
//!
//! let mut b = TraceBuilder::new();
//! let ui = b.handler("ui", Mailbox::Fifo)?;
//! let io = b.handler("io", Mailbox::None)?;
//! let (load, click) = (b.task("load", ui)?, b.task("click", ui)?);
//! let (p, q) = (b.post(b.initial(io), load)?, b.post(b.initial(io), click)?);
//! let (g, w) = (b.get(load)?, b.write(load, "cache")?);
//! let (k, r) = (b.get(click)?, b.read(click, "cache")?);
//! b.columns.refers.push(r.0, Columns::INITIAL);
//! let trace = b.finish();
//!
//! // The click read the cache before it was loaded: the mailbox did not keep the order of posts.
//! assert_eq!(check_consistency_witness(&trace, MailboxRule::Bag, &[p, q, k, r, g, w]), Ok(()));
//! let proof = "consistency-proof 1
//! cycle 2
//!   4 6 runs load click
//!   6 4 from-reads
//! cycle 2
//!   1 2 program
//!   2 1 runs click load
//! derived";
//! let proof = read_proof(proof.as_bytes(), &trace)?;
//! assert_eq!(check_inconsistency(&trace, MailboxRule::Fifo, &proof)?.cycles, 2);
//! assert!(check_inconsistency(&trace, MailboxRule::Bag, &proof).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`TraceOrder::Observed`]: anyorder_trace::TraceOrder::Observed
//! [`LocationId`]: anyorder_trace::LocationId

pub use fault::{WitnessError, WitnessReason};
pub use mailbox::MailboxRule;
pub use own_code::split_own_code;
pub use proof::{ConsistencyProof, Fact, Link, ProofStats, RefutationStep, Why};
pub use refute::{ProofError, ProofReason, check_inconsistency, check_inconsistency_until};
pub use text::{ReadProofError, read_proof, read_proof_with_lines, read_run, write_proof};
pub use witness::{check_consistency_witness, check_consistency_witness_until};

mod clauses;
mod ends;
mod fault;
mod links;
mod mailbox;
mod model;
mod names;
mod own_code;
mod pending;
mod proof;
mod refute;
mod text;
mod witness;
