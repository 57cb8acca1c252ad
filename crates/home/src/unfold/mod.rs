//! Handlers as decision trees: what an app does in reaction to one event, by what it reads.
//!
//! **Problem.** Given the apps and the settings, find for each handler and event the tree of its
//! executions: reads of shared variables branch by value, all else is computed.
//!
//! **Method.** The reference evaluator runs the handler with a list of answers for its reads. A
//! read beyond the list takes the first value of the variable's domain, and plans one run for each
//! other value. A write of a new value extends the domain, and plans runs for all reads of it. A
//! new subscription, timer or event plans the runs of its handler. So domains and trees grow
//! together until nothing is planned.
//!
//! **Guarantee.** The trees are exact up to the limits ([`Limits`]); what a limit cut and what was
//! not understood is a [`Note`]. The answers of the network and dates are abstracted.
//!
//! **Cost.** One run of the evaluator for each path of a tree.

mod call;
mod deed;
mod device;
mod memo;
mod run;
mod thing;
mod things;
mod time;
mod tree;
mod unknown;
mod world;

pub use memo::Memo;
pub(crate) use tree::{Action, Node, Tree};
pub(crate) use world::{EventKey, Origin, Site, Subscription, Unit, UnitId, VarId, VarKind, World};
pub use world::{Limits, Note, NoteKind};
