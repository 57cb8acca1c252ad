//! Checks proofs of happens-before, schedules, witnesses, and answers about consistency, from the
//! trace alone.
//!
//! This crate depends on traces and on no engine. An engine that claims that two events are
//! ordered, or that a race can be made adjacent, supplies a [`Proof`] or an order of events. The
//! simple code here derives every step again. An accepted proof holds by `docs/happens-before.md`.
//! The crate prints nothing.
//!
//! The main functions: [`check_proof`], [`check_schedule`], [`check_adjacent`]; and in
//! [`consistency`], which has its own definitions, [`check_consistency_witness`] and
//! [`check_inconsistency`].
//!
//! ```
//! use anyorder_certify::{Proof, Rule, RuleSet, ProofStep, check_proof};
//! use anyorder_trace::{Mailbox, TraceBuilder};
//!
//! let mut b = TraceBuilder::new();
//! let ui = b.handler("ui", Mailbox::Fifo)?;
//! let io = b.handler("io", Mailbox::None)?;
//! let load = b.task("load", ui)?;
//! let write = b.write(b.initial(io), "cache")?;
//! let post = b.post(b.initial(io), load)?;
//! let get = b.get(load)?;
//! let trace = b.finish();
//!
//! let steps = [ProofStep::new(write, post, Rule::Po), ProofStep::new(post, get, Rule::Post)];
//! let proof = Proof::of(steps);
//! assert_eq!(check_proof(&trace, RuleSet::Mailbox, &proof, write, get), Ok(()));
//! let wrong = Proof::of([ProofStep::new(write, get, Rule::Post)]);
//! let error = check_proof(&trace, RuleSet::Mailbox, &wrong, write, get).unwrap_err();
//! assert_eq!(error.step, Some(0));
//! # Ok::<(), anyorder_trace::TableFull>(())
//! ```

#![forbid(unsafe_code)]

pub use check::{check_proof, check_proof_until};
pub use consistency::{
    ConsistencyProof, MailboxRule, ProofStats, WitnessError, check_consistency_witness,
    check_inconsistency,
};
pub use names::{Names, WrittenNames};
pub use order_text::{ClaimedOrder, OrderLines, read_order, write_order};
pub use proof::{LemmaId, Path, Proof, ProofStep, Rule, RuleSet};
pub use reason::{ProofError, Reason};
pub use reordering::{
    Call, CallRules, Calls, ClaimedDeadlock, ClaimedWitness, Lanes, NoCalls, ReorderingChecker,
    ReorderingError, ReorderingReason, WitnessForm, check_reordering,
};
pub use schedule::{
    ScheduleError, ScheduleReason, check_adjacent, check_claimed_schedule, check_schedule,
};
pub use schedule_text::{ClaimedSchedule, read_schedule, write_schedule};
pub use text::ReadProofError;

mod android;
mod check;
mod component;
pub mod consistency;
mod edges;
mod ended;
mod ends;
mod index;
mod lists;
mod names;
mod order_text;
mod pending;
mod proof;
mod reason;
mod reordering;
mod schedule;
mod schedule_text;
mod strays;
mod text;
mod view;
mod wakes;
