//! Happens-before, races and coverage by definition. This module follows `docs/happens-before.md`
//! and `docs/android-components.md` literally.
//!
//! **Problem.** Given a trace and a rule set, decide for every two events whether the first happens
//! before the second, list the races, and say which are covered.
//!
//! **Guarantee.** Exact with respect to these two pages, for well-formed traces.
//!
//! **Cost.** Cubic in the events for each round of the fixpoint; suitable for up to a few hundred
//! events.
//!
//! Event-driven EDC and its candidates (`docs/prediction.md`) are in `sections` and `candidates`.
//!
//! The parts: [`base edges`](Edge) of section 1 (`program_order`, `synchronisation`, `inputs`) and
//! of the component rules (`components`); the fixpoint of sections 2 and 3 (`fixpoint`); sections 4
//! and 5 (`race`), 6 (`guards`) and 7 (`lock_memory`).

pub(crate) use components::ComponentRules;
pub use fixpoint::TaskOrder;
pub use guards::only_guards;
pub use lock_memory::{LockInMemory, lock_memory};
pub use oracle::Naive;
pub use rules::{RuleName, RuleSet, Rules};
pub use sections::{Fault, Locks, Section, SectionEdge, Strand};
pub use view::Edge;

mod candidates;
mod components;
pub(crate) mod ended;
mod fixpoint;
mod guards;
mod inputs;
mod lock_memory;
mod matrix;
mod oracle;
mod program_order;
mod race;
mod rules;
mod sections;
mod synchronisation;
mod view;
