//! The words of findings. Engines return what they found as data: groups of pairs of events, with
//! form, category, cycle and class. This layer makes the titles, sites, explanations and hints of
//! findings, and the commands that replay them. Nothing here decides anything, and nothing outside
//! reads its texts.

mod conflicts;
mod deadlocks;
mod events;
mod predicted;
mod races;
mod transactions;
mod unordered;

pub(crate) use conflicts::{FORCED, conflicts};
pub(crate) use deadlocks::{Cycle, DeadlockFinding, deadlocks, requests};
pub(crate) use events::{position, site, why_command};
pub(crate) use predicted::{
    Predicted, UNDECIDED, add_free_reads, form_words, predictions, severity, with_trace,
};
pub(crate) use races::{RaceFinding, level, level_of, races};
pub(crate) use transactions::transactions;
pub(crate) use unordered::order;
