//! Traces: a recorded run of a concurrent or event-driven program, as data.
//!
//! This crate decides what an event is, how traces look in memory, and whether a trace is
//! well-formed. It knows nothing of files (`anyorder-formats` reads and writes them), orders, races
//! or reports, prints nothing, and needs no C compiler: a test library stands on it.
//!
//! The types to know: [`Trace`], a whole trace in memory; [`Event`] and its [`Action`];
//! [`TraceSource`] and [`TraceSink`], the two ends of a stream of [`Block`]s; [`TraceBuilder`], to
//! make a trace by hand.
//!
//! ```
//! use anyorder_trace::{EventKind, Mailbox, TraceBuilder};
//!
//! let mut b = TraceBuilder::new();
//! let ui = b.handler("ui", Mailbox::Fifo)?;
//! let click = b.task("click", ui)?;
//! b.post(b.initial(ui), click)?;
//! b.get(click)?;
//! b.write(click, "counter")?;
//! b.end(click)?;
//! let trace = b.finish();
//! assert_eq!(trace.events().filter(|e| e.kind() == EventKind::Write).count(), 1);
//! # Ok::<(), anyorder_trace::TableFull>(())
//! ```

#![forbid(unsafe_code)]

pub use address_map::AddressMap;
pub use allocations::{Allocated, Allocations};
pub use build::TraceBuilder;
pub use columns::{Block, Columns, Sparse, SparseRows};
pub use error::{Place, Problem, Problems, ReadError, Severity, Unknown};
pub use event::{Action, Event, EventKind, Mode, Op, OperandKind};
pub use ids::{
    ConditionId, EventId, HandlerId, InputId, InvocationId, LocationId, LockId, NameId, SiteId,
    StackId, TaskId,
};
pub use interner::{Interner, TableFull};
pub use lock_memory::{address_of, memory_of_lock};
pub use names::{NameIndex, Names, TextIndex};
pub use stream::{CopyError, TraceSink, TraceSource, copy};
pub use tables::{
    Coherence, Handler, Input, InputFamily, Invocation, LabelScheme, Location, Mailbox, Meta,
    Position, Site, SourcePosition, Tables, TaskDef, TaskKind, TraceOrder,
};
pub use trace::{TaskSpan, Trace, TraceBlocks};

mod address_map;
mod allocations;
mod build;
mod columns;
mod error;
mod event;
mod ids;
mod interner;
mod labels;
mod lock_memory;
mod names;
mod stream;
mod tables;
mod trace;
pub mod wellformed;
