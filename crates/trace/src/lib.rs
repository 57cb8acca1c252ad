//! Traces: a recorded run of a concurrent or event-driven program, as data.
//!
//! This crate decides what an event is, how traces look in memory and on disk, and whether a trace
//! is well-formed. It knows nothing of orders, races or reports, and prints nothing.
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

pub use allocations::{Allocated, Allocations};
pub use build::TraceBuilder;
pub use columns::{Block, Columns, Sparse};
pub use error::{Place, Problem, Problems, ReadError, Severity, Unknown};
pub use event::{Action, Event, EventKind, Mode, Op, OperandKind};
pub use ids::{
    ConditionId, EventId, HandlerId, InputId, InvocationId, LocationId, LockId, NameId, SiteId,
    StackId, TaskId,
};
pub use ignored::{Ignored, IgnoredOperation};
pub use interner::{Interner, TableFull};
pub use lock_memory::{address_of, memory_of_lock};
pub use names::{NameIndex, Names};
pub use stream::{CopyError, TraceSink, TraceSource, copy};
pub use tables::{
    Coherence, Handler, Input, InputFamily, Invocation, LabelScheme, Location, Mailbox, Meta,
    Position, Site, Tables, TaskDef, TaskKind, TraceOrder,
};
pub use threads::{ThreadDoubt, Threads};
pub use trace::{TaskSpan, Trace, TraceBlocks};

mod allocations;
mod build;
mod coded;
mod columns;
pub mod detect;
mod error;
mod event;
pub mod foreign;
pub mod format;
mod ids;
mod ignored;
mod interner;
mod labels;
mod lock_memory;
mod names;
pub mod open;
mod stream;
mod tables;
mod threads;
mod trace;
pub mod wellformed;
