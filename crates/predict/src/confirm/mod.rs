//! Witnesses: whether two actions can change places in another run, decided by the order solver.
//!
//! The definitions, and how the search works, are in `docs/witnesses.md`.

pub use answer::{Answer, Form, GaveUp, Witness};
pub use communication::{Communication, NoCommunication, Observation};
pub use confirmer::{ConfirmOptions, ConfirmStats, Confirmer, Reorders, Scale};

mod answer;
mod attempt;
mod barriers;
mod blocking;
mod calls;
mod cells;
mod chains;
mod clause;
pub(crate) mod communication;
mod components;
mod confirmer;
mod holding;
mod lists;
mod mailboxes;
mod past;
mod question;
mod reach;
mod replay;
mod shorten;
mod task_pairs;
mod trim;
mod units;
mod waiting;
pub(crate) mod wakes;
mod window;
