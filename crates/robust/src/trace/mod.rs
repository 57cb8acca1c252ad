//! Robustness of one recorded run, by its conflicts.
//!
//! Decides two questions about a trace whose events are in the order in which they happened. Is it
//! conflict-serializable: equivalent, by the order of conflicting accesses, to a run of its events
//! one after another? And is each event conflict-deterministic: equivalent to the run of its tasks
//! on one thread? A trace that is neither shows behaviour that a single-threaded program cannot
//! have, up to values. A trace that is both says nothing of other runs.
//!
//! The answer is exact for these definitions (Bouajjani et al., ESOP 2017, definitions 4 and 5):
//! every violation is found, and each finding names real accesses. The definitions do not ask why a
//! conflict has its order: a lock or a wait does not excuse it. Each finding says whether every run
//! has its conflicts in this order (*forced*) or another run can reverse one (*racing*).
//!
//! [`check`] with [`TraceOptions`] gives [`TraceChecked`]. `docs/robustness.md` says what events
//! and the reference order are. [`Forest`] holds the events. Time: linear in the accesses, and n
//! log n in the tasks and the distinct edges; findings add happens-before, and one search each.
//!
//! ```
//! use anyorder_hb::RuleSet;
//! use anyorder_robust::trace::{TraceOptions, check};
//! use anyorder_system::Control;
//! use anyorder_trace::{Mailbox, TraceBuilder};
//!
//! // A click starts `save` in the background; a second click changes the text before it is saved.
//! let mut b = TraceBuilder::new();
//! let (ui, pool) = (b.handler("ui", Mailbox::Fifo)?, b.handler("pool", Mailbox::Bag)?);
//! let environment = b.handler("user", Mailbox::None)?;
//! b.interner.tables.handlers[environment.index()].untracked = true;
//! let (click, again, save) = (b.task("click", ui)?, b.task("again", ui)?, b.task("save", pool)?);
//! b.post(b.initial(environment), click)?;
//! b.post(b.initial(environment), again)?;
//! b.get(click)?;
//! b.write(click, "text")?;
//! b.post(click, save)?;
//! b.end(click)?;
//! b.get(again)?;
//! b.write(again, "text")?;
//! b.end(again)?;
//! b.get(save)?;
//! b.read(save, "text")?;
//! b.end(save)?;
//! let checked = check(&b.finish(), &TraceOptions::new(RuleSet::Mailbox), &Control::default());
//! assert_eq!(checked.counts.components, 1);
//! assert_eq!(checked.groups.len(), 1);
//! # Ok::<(), anyorder_trace::TableFull>(())
//! ```

pub(crate) mod cells;
mod check;
mod conflicts;
mod cycles;
mod determinism;
mod forest;
mod groups;
mod order;
mod reference;
mod serial;

pub use check::{TraceChecked, TraceCounts, TraceOptions, check};
pub use conflicts::{ConflictGroup, EventLink, InputEvent, Shows, TaskRun};
pub use determinism::Violation;
pub use forest::{Forest, Invocation, InvocationIndex};
