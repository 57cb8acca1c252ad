//! Predicts races and order violations from one recorded run.
//!
//! `anyorder-stream` lists *candidates*: pairs of actions that do not commute and that a relation
//! leaves unordered; all its items are here, too. [`event_driven`] finds those of a trace with
//! mailboxes. [`Confirmer`] then searches for a witness: another order of the recorded events in
//! which the two actions are reversed, and returns an [`Answer`]. [`check`](mod@check) groups both
//! by cause. The crate makes no words. The definitions are in `docs/prediction.md` and
//! `docs/witnesses.md`.
//!
//! ```
//! use anyorder_predict::{Analysis, EdcAnalysis, HbAnalysis, MemoryOnly, CandidateOptions, run};
//! use anyorder_trace::{Mailbox, Mode, TraceBlocks, TraceBuilder};
//!
//! let mut b = TraceBuilder::new();
//! let (s, t) = (b.handler("S", Mailbox::None)?, b.handler("T", Mailbox::None)?);
//! let (s, t) = (b.initial(s), b.initial(t));
//! b.write(s, "x")?;
//! b.acquire(s, "m", Mode::EXCLUSIVE)?;
//! b.release(s, "m", Mode::EXCLUSIVE)?;
//! b.acquire(t, "m", Mode::EXCLUSIVE)?;
//! b.release(t, "m", Mode::EXCLUSIVE)?;
//! b.write(t, "x")?;
//! let trace = b.finish();
//!
//! let mut hb = HbAnalysis::new(MemoryOnly, CandidateOptions::default());
//! let mut edc = EdcAnalysis::new(MemoryOnly, CandidateOptions::default());
//! run(&mut TraceBlocks::new(&trace), &mut [&mut hb, &mut edc], |_| {})?;
//! assert_eq!(hb.finish().violations.len(), 0);
//! assert_eq!(edc.finish().violations.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

// Tests of the crate name it as its users do.
#[cfg(test)]
extern crate self as anyorder_predict;

pub use anyorder_stream::{
    Analysis, CandidateOptions, Candidates, Class, ClassTable, Communication, Conditions, Counts,
    DeclareError, Described, DoesntCommute, EdcAnalysis, Engine, Hb, HbAnalysis, Internals,
    LocksInMemory, LocksetUses, MemoryOnly, NoCommunication, Object, ObjectSummary, Observation,
    Point, PredictError, Relation, Report, Side, Specification, Specified, SpecifiedCall,
    SpecifiedCommunication, Stamp, StreamEvent, Types, Unspecified, Violation, ViolationKind,
    WdcAnalysis, hidden_events, run, run_until, without_internals,
};
pub use confirm::{
    Answer, CheckDeadlock, ConfirmOptions, ConfirmStats, Confirmer, Deadlock, DeadlockCut,
    DeadlockEvidence, DeadlockOptions, DeadlockRequest, Deadlocks, Form, GaveUp, InOrderAnswer,
    Permits, Reorders, Scale, Together, WaitsFor, Witness, orders_of_calls,
};
pub use event_driven::{EventDriven, event_driven, event_driven_order};
pub use order_path::{OrderPaths, OrderRule, OrderStep, Ordered};

#[cfg(test)]
pub use confirm::{InOrderFault, Sabotage};

pub mod check;
mod confirm;
mod event_driven;
mod order_path;

#[cfg(test)]
#[path = "../tests/brute/deadlocks/unit.rs"]
mod brute;
