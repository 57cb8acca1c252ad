//! Witnesses: decides with the order solver whether another run can reverse two actions.
//!
//! `docs/witnesses.md` has the definitions and explains the search.

pub use answer::{Answer, Form, GaveUp, Together, Witness};
pub use confirmer::{ConfirmOptions, ConfirmStats, Confirmer, Reorders, Scale};
pub use deadlock::{
    CheckDeadlock, Deadlock, DeadlockCut, DeadlockEvidence, DeadlockOptions, DeadlockRequest,
    Deadlocks, Permits, WaitsFor,
};
pub use in_order::InOrderAnswer;
pub use order_of_calls::orders_of_calls;

#[cfg(test)]
pub use deadlock::Sabotage;
#[cfg(test)]
pub use in_order::InOrderFault;

mod answer;
mod attempt;
mod barriers;
mod blocking;
mod calls;
mod cells;
mod chains;
mod clause;
mod components;
mod confirmer;
mod deadlock;
mod free_reads;
mod holding;
mod in_order;
mod lists;
mod mailboxes;
mod openings;
mod order_of_calls;
mod overwritten;
mod past;
mod question;
mod reach;
mod replay;
mod search_state;
mod shorten;
mod task_pairs;
mod trim;
mod units;
mod waiting;
pub(crate) mod wakes;
mod window;
