//! Candidates of races and order violations, from one recorded run, in one pass over its events.
//!
//! The crate decides which pairs of actions that do not commute a relation leaves unordered. The
//! relation is happens-before ([`HbAnalysis`]), or WDC and its extension to specified actions, EDC
//! ([`EdcAnalysis`]). HB guarantees that the first pair is a true race, the others guarantee
//! nothing: `anyorder-predict` searches for their witnesses. The definitions are in
//! `docs/prediction.md`. The crate reads no file and makes no words. It needs so little that it can
//! run inside the program that it observes.
//!
//! The main items: [`Analysis`] consumes events, and [`run`] feeds several analyses from one
//! stream. [`Specification`] and [`Specified`] define the actions that do not commute. [`Report`]
//! holds the candidates.
//!
//! ```
//! use anyorder_stream::{Analysis, EdcAnalysis, HbAnalysis, MemoryOnly, CandidateOptions, run};
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
pub use error::PredictError;
pub use options::{CandidateOptions, Candidates};
pub use relations::engine::Engine;
pub use relations::overlaps::Overlaps;
pub use relations::relation::{DoesntCommute, Hb, Relation};
pub use report::{Counts, Object, Report, Side, Violation, ViolationKind};
pub use sections::table::LocksetUses;
pub use specified::{
    Communication, DeclareError, Described, Internals, LocksInMemory, NoCommunication,
    ObjectSummary, Observation, Specified, SpecifiedCall, SpecifiedCommunication, Types,
    Unspecified, hidden_events, without_internals,
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

// The relations, the records of objects, critical sections, specified objects.
mod relations;
mod sections;
mod shadow;
mod specified;
