//! Witnesses: whether two actions can change places in another run, decided by the order solver.
//!
//! The definitions, and how the search works, are in `docs/witnesses.md`.

pub use answer::{Answer, Form, GaveUp, Witness};
pub use confirmer::{ConfirmOptions, ConfirmStats, Confirmer, Reorders, Scale};

mod answer;

mod confirmer;

mod lists;

mod cells;

mod chains;

mod units;

mod holding;

pub(crate) mod wakes;

mod calls;

mod blocking;

mod waiting;

mod barriers;

mod past;

mod question;

mod reach;

mod window;

mod clause;

mod mailboxes;

mod components;

mod replay;

mod attempt;

mod of_tasks;

mod trim;

mod shorten;
