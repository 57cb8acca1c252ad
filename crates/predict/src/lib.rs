//! Predicts races and order violations from one recorded run.
//!
//! The crate decides which pairs of actions that do not commute a relation leaves unordered. The
//! relation is happens-before ([`HbAnalysis`]), or WDC and its extension to specified actions, EDC
//! ([`EdcAnalysis`]). The pairs are *candidates*: HB guarantees that the first one is a true race,
//! the others guarantee nothing. [`Confirmer`] then searches for a witness: another order of the
//! recorded events in which the two actions are reversed. [`check`](mod@check) groups
//! both by cause. The crate makes no words. The definitions are in `docs/prediction.md` and
//! `docs/witnesses.md`.
//!
//! The main items: [`Analysis`] consumes events, and [`run`] feeds several analyses from one
//! stream. [`Specification`] and [`Specified`] define the actions that do not commute. [`Report`]
//! holds the candidates. [`event_driven`] finds the candidates of a trace with mailboxes.
//! [`Confirmer`] searches for witnesses and returns an [`Answer`].
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

pub use analysis::{Analysis, Stamp, StreamEvent, run, run_until};
pub use class::{Class, ClassTable, Conditions, MemoryOnly, Point, Specification};
pub use confirm::{
    Answer, Communication, ConfirmOptions, ConfirmStats, Confirmer, Form, GaveUp, NoCommunication,
    Observation, Reorders, Scale, Together, Witness,
};
pub use error::PredictError;
pub use event_driven::{EventDriven, event_driven, event_driven_order};
pub use options::{CandidateOptions, Candidates};
pub use order_path::{OrderPaths, OrderRule, OrderStep, Ordered};
pub use relations::engine::Engine;
pub use relations::relation::{DoesntCommute, Hb, Relation};
pub use report::{Counts, Object, Report, Side, Violation, ViolationKind};
pub use specified::{
    DeclareError, Described, Internals, LocksInMemory, ObjectSummary, Specified, SpecifiedCall,
    SpecifiedCommunication, Types, Unspecified, hidden_events, without_internals,
};

/// Happens-before, with epochs.
pub type HbAnalysis<S> = Engine<Hb, S>;

/// WDC: of memory accesses only, or of the locks in memory as well.
pub type WdcAnalysis<S = MemoryOnly> = Engine<DoesntCommute, S>;

/// EDC: WDC with the actions of a specification.
pub type EdcAnalysis<S> = Engine<DoesntCommute, S>;

// The input and output of an analysis.
mod analysis;
mod class;
mod error;
mod options;
mod report;

// Candidates of a stream of events: the relations, the records of objects, critical sections.
mod relations;
mod sections;
mod shadow;
mod specified;

// Candidates of a trace with mailboxes; witnesses; findings.
pub mod check;
mod confirm;
mod event_driven;
mod order_path;
